//! The server must not die, hang, lose connections, answer with an internal error, complain in its error log or hold data
//! that its own check calls corrupt. Nothing else is asked, so this judges every case, read or not.
//!
//! A statement that still waited when the case was over, and was killed by us, is no hang: whether it had to wait is
//! a question for others.

use dialect::sql::{Reach, reach};
use model::{Cause, ErrorClass, Fingerprint, Level, Reply, Verdict, Violation, sql::StatementKind};

use crate::{Answer, Ask, Conversation, Oracle, OracleInfo};

/// The kinds of wrong that it knows.
pub const KINDS: [&str; 6] =
    ["crash", "lost-connection", "hang", "internal-error", "corruption", "error-log"];

/// How a rule begins that is a place in the server's code.
pub const ASSERTION: &str = "assertion ";

/// The oracle.
#[derive(Debug, Default)]
pub struct Crash;

impl Oracle for Crash {
    fn info(&self) -> OracleInfo {
        OracleInfo {
            name: "crash",
            needs_contract: false,
            needs_server: false,
            default: true,
            help: "the server lives, answers and finds its own data whole",
        }
    }

    fn open<'a>(&self, seen: &'a Answer) -> Box<dyn Conversation + 'a> {
        Box::new(Once(seen))
    }
}

struct Once<'a>(&'a Answer);

impl Conversation for Once<'_> {
    fn next(&mut self, _answers: &[Answer]) -> Ask {
        Ask::Done(judge(self.0))
    }
}

/// What is wrong with a step, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    Died,
    Lost,
    Hung,
    Internal,
}

fn judge(seen: &Answer) -> Verdict {
    if let Some((trouble, step)) = worst(seen) {
        if matches!(trouble, Trouble::Died | Trouble::Lost) && asked_for(seen) {
            return Verdict::Holds { by: vec!["a step of the case ends sessions or the server".into()] };
        }
        return Verdict::Violated(of_step(seen, trouble, step));
    }
    // It may have answered before it went down, or gone down while nothing was asked of it.
    if let (None, Some(alarm), Some(step)) = (&seen.trace.final_state, alarms(seen).next(), last_sent(seen)) {
        let mut violation = of_step(seen, Trouble::Died, step);
        violation.story = format!("the server died after {}: {alarm}", who(seen, step));
        return Verdict::Violated(violation);
    }
    let aftermath = &seen.aftermath;
    if let Some(first) = aftermath.damage.first() {
        let story = format!("the server's own check of the data complains: {first}");
        return Verdict::Violated(of_server(
            seen,
            "corruption",
            "integrity-check".into(),
            story,
            &aftermath.damage,
        ));
    }
    if let Some(alarm) = alarms(seen).next() {
        let story = format!("the server's error log says: {alarm}");
        return Verdict::Violated(of_server(seen, "error-log", rule_of(alarm), story, &aftermath.log));
    }
    Verdict::Holds { by: Vec::new() }
}

/// The worst that happened, and at which step: of several that a dead server left behind, the one that was sent last.
fn worst(seen: &Answer) -> Option<(Trouble, usize)> {
    let troubles = seen.trace.outcomes.iter().enumerate().filter_map(|(step, outcome)| {
        let trouble = match &outcome.reply {
            Reply::ServerDied => Trouble::Died,
            Reply::ConnectionLost => Trouble::Lost,
            Reply::Hung => Trouble::Hung,
            Reply::Error(error) if error.class == ErrorClass::Internal => Trouble::Internal,
            _ => return None,
        };
        let sent = seen.trace.rounds.iter().rposition(|round| round.cause == Cause::Sent(step));
        Some((trouble, std::cmp::Reverse(sent), step))
    });
    troubles.min().map(|(trouble, _, step)| (trouble, step))
}

/// The step that was sent last.
fn last_sent(seen: &Answer) -> Option<usize> {
    seen.trace.rounds.iter().rev().find_map(|round| match round.cause {
        Cause::Sent(step) => Some(step),
        Cause::Timeout | Cause::RolledBack(_) | Cause::Killed(_) => None,
    })
}

/// Does a step ask for it: SHUTDOWN, KILL?
fn asked_for(seen: &Answer) -> bool {
    let product = seen.trace.server.product;
    seen.case.steps.iter().any(|step| reach(product, &step.sql).contains(&Reach::Server))
}

fn of_step(seen: &Answer, trouble: Trouble, step: usize) -> Violation {
    let case_step = &seen.case.steps[step];
    let who = who(seen, step);
    let (kind, rule, story) = match trouble {
        Trouble::Died => {
            let rule = alarms(seen).next().map_or("server-gone".to_string(), rule_of);
            ("crash", rule, format!("the server died while it ran {who}"))
        }
        Trouble::Lost => {
            let rule = "lost-connection".to_string();
            (
                "lost-connection",
                rule,
                format!("the connection ended while it ran {who}, and the server lives"),
            )
        }
        Trouble::Hung => {
            let rule = "hung-statement".to_string();
            ("hang", rule, format!("{who} neither answered nor waited for a lock, and was killed"))
        }
        Trouble::Internal => {
            let (code, message) = match &seen.trace.outcomes[step].reply {
                Reply::Error(error) if error.code == 0 => (error.sqlstate.clone(), error.message.clone()),
                Reply::Error(error) => (error.code.to_string(), error.message.clone()),
                _ => (String::new(), String::new()),
            };
            ("internal-error", code.clone(), format!("{who} got the internal error {code}: {message}"))
        }
    };
    let statement =
        dialect::sql::parse(seen.trace.server.product, &case_step.sql).tree().map(|tree| tree.kind());
    let mut evidence = vec![case_step.sql.clone()];
    evidence.extend(alarms(seen).map(str::to_string));
    evidence.extend(seen.aftermath.stack.iter().flat_map(|stack| stack.lines().map(str::to_string)));
    Violation {
        fingerprint: Fingerprint {
            kind: kind.into(),
            rule,
            statement: StatementKind::label(statement).into(),
            level: Some(level(seen, step)),
        },
        step: Some(step),
        story,
        evidence,
    }
}

fn who(seen: &Answer, step: usize) -> String {
    format!("{}'s step {}", seen.case.sessions[seen.case.steps[step].session].name, step + 1)
}

fn level(seen: &Answer, step: usize) -> Level {
    seen.case.sessions[seen.case.steps[step].session].level.unwrap_or(seen.trace.level)
}

fn of_server(seen: &Answer, kind: &str, rule: String, story: String, evidence: &[String]) -> Violation {
    let levels: Vec<Level> =
        seen.case.sessions.iter().map(|session| session.level.unwrap_or(seen.trace.level)).collect();
    let level = levels.first().copied().filter(|first| levels.iter().all(|level| level == first));
    Violation {
        fingerprint: Fingerprint { kind: kind.into(), rule, statement: "final".into(), level },
        step: None,
        story,
        evidence: evidence.to_vec(),
    }
}

/// Lines of the log that say that something is wrong with the server itself.
fn alarms(seen: &Answer) -> impl Iterator<Item = &str> {
    let alarm = dialect::of(seen.trace.server.product).checks.alarms;
    seen.aftermath
        .log
        .iter()
        .map(String::as_str)
        .filter(move |line| alarm.iter().any(|word| line.contains(word)))
}

/// A line of the log as a rule: where the code complained if it says so (`lock0lock.cc:77`, `in file x.cc line 77`), else its
/// words without what changes from run to run.
fn rule_of(line: &str) -> String {
    let source = |word: &str| [".cc", ".c", ".ic", ".h", ".cpp"].iter().any(|end| word.ends_with(end));
    let number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || "()[]\"',:;".contains(c))
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("line"))
        .collect();
    match words.windows(2).find(|pair| source(pair[0]) && number(pair[1])) {
        Some(pair) => format!("{ASSERTION}{}:{}", pair[0].rsplit('/').next().unwrap_or(pair[0]), pair[1]),
        None => {
            let steady = words.iter().filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
            steady.take(8).copied().collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rule_of;

    #[test]
    fn a_line_of_the_log_gives_the_same_rule_every_time() {
        for (line, rule) in [
            (
                "2026-11-16T14:00:00.123456Z 8 [ERROR] [MY-013183] [InnoDB] Assertion failure: row0mysql.cc:1234:node",
                "assertion row0mysql.cc:1234",
            ),
            ("mysqld: /build/sql/handler.cc:77: int f(): Assertion `x' failed.", "assertion handler.cc:77"),
            ("TRAP: failed Assert(\"a\"), File: \"heapam.c\", Line: 12, PID: 4", "assertion heapam.c:12"),
            ("InnoDB: Assertion failure in file ./storage/row0sel.cc line 99", "assertion row0sel.cc:99"),
            ("14:00:00 UTC - mysqld got signal 11 ;", "UTC - mysqld got signal"),
        ] {
            assert_eq!(rule_of(line), rule, "{line}");
        }
    }
}
