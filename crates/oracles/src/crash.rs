//! The server must not die, hang, lose connections, answer with an internal error, complain in its error log or hold data
//! that its own check calls corrupt. Nothing else is asked, so this judges every case, read or not.
//!
//! A statement that still waited when the case was over, and was killed by us, is no hang: whether it had to wait is
//! a question for others.

use dialect::Execution;
use dialect::sql::{Reach, reach};
use model::{
    ErrorClass, Evidence, Fingerprint, Level, Reply, ShownBy, Symptom, Verdict, Violation, trace,
    verdict::{Cause, Justification, Response, evidence::Sighting},
};

use crate::{Ask, Conversation, Oracle, OracleInfo};

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

    fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
        Box::new(CrashCheck(seen))
    }
}

struct CrashCheck<'a>(&'a Execution);

impl Conversation for CrashCheck<'_> {
    fn next(&mut self, _answers: &[Execution]) -> Ask {
        Ask::Done(judge(self.0))
    }
}

/// What is wrong with a step, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StepFailure {
    Died,
    Lost,
    Hung,
    Internal,
}

fn judge(seen: &Execution) -> Verdict {
    if let Some((trouble, step)) = worst(seen) {
        if matches!(trouble, StepFailure::Died | StepFailure::Lost) && asked_for(seen) {
            return Verdict::Holds { by: [Justification::AskedFor].into() };
        }
        return Verdict::Violated(of_step(seen, trouble, step));
    }
    // It may have answered before it went down, or gone down while nothing was asked of it.
    if let (None, Some(_), Some(step)) = (&seen.trace.final_state, alarms(seen).next(), last_sent(seen)) {
        let mut violation = of_step(seen, StepFailure::Died, step);
        violation.evidence.sighting = Some(Sighting::DiedLater);
        return Verdict::Violated(violation);
    }
    let aftermath = &seen.aftermath;
    if !aftermath.damage.is_empty() {
        return of_server(seen, Symptom::Corruption, Cause::IntegrityCheck, &aftermath.damage);
    }
    if let Some(alarm) = alarms(seen).next() {
        return of_server(seen, Symptom::ErrorLog, cause_of(alarm), &aftermath.log);
    }
    Verdict::holds()
}

/// The worst that happened, and at which step: of several that a dead server left behind, the one that was sent last.
fn worst(seen: &Execution) -> Option<(StepFailure, usize)> {
    let troubles = seen.trace.outcomes.iter().enumerate().filter_map(|(step, outcome)| {
        let trouble = match &outcome.reply {
            Reply::ServerDied => StepFailure::Died,
            Reply::ConnectionLost => StepFailure::Lost,
            Reply::Hung => StepFailure::Hung,
            Reply::Error(error) if error.class == ErrorClass::Internal => StepFailure::Internal,
            _ => return None,
        };
        let sent = seen.trace.rounds.iter().rposition(|round| round.cause == trace::RoundCause::Sent(step));
        Some((trouble, std::cmp::Reverse(sent), step))
    });
    troubles.min().map(|(trouble, _, step)| (trouble, step))
}

/// The step that was sent last.
fn last_sent(seen: &Execution) -> Option<usize> {
    seen.trace.rounds.iter().rev().find_map(|round| match round.cause {
        trace::RoundCause::Sent(step) => Some(step),
        trace::RoundCause::Timeout | trace::RoundCause::RolledBack(_) | trace::RoundCause::Killed(_) => None,
    })
}

/// Does a step ask for it: SHUTDOWN, KILL?
fn asked_for(seen: &Execution) -> bool {
    let product = seen.trace.server.product;
    seen.case.steps.iter().any(|step| reach(product, &step.sql).contains(&Reach::Server))
}

fn of_step(seen: &Execution, trouble: StepFailure, step: usize) -> Violation {
    let case_step = &seen.case.steps[step];
    let session = &seen.case.sessions[case_step.session];
    let (symptom, cause) = match trouble {
        StepFailure::Died => (Symptom::Crash, alarms(seen).next().map_or(Cause::Unknown, cause_of)),
        StepFailure::Lost => (Symptom::LostConnection, Cause::Unknown),
        StepFailure::Hung => (Symptom::Hang, Cause::Unknown),
        StepFailure::Internal => {
            let code = match seen.trace.outcomes[step].error() {
                Some(error) if error.code == 0 => error.sqlstate.clone(),
                Some(error) => error.code.to_string(),
                None => String::new(),
            };
            (Symptom::InternalError, Cause::ErrorCode(code))
        }
    };
    let mut log: Vec<String> = alarms(seen).map(str::to_string).collect();
    log.extend(seen.aftermath.stack.iter().flat_map(|stack| stack.lines().map(str::to_string)));
    let evidence = Evidence {
        session: session.name.clone(),
        sql: case_step.sql.clone(),
        actual: Some(Response::Outcome(Box::new(seen.trace.outcomes[step].clone()))),
        log,
        ..Evidence::default()
    };
    let statement = ShownBy::Statement(seen.case.kind(step));
    let level = Some(session.level.unwrap_or(seen.trace.level));
    let fingerprint = Fingerprint { symptom, cause, statement, level };
    Violation { fingerprint, step: Some(step), evidence: Box::new(evidence) }
}

fn of_server(seen: &Execution, symptom: Symptom, cause: Cause, lines: &[String]) -> Verdict {
    let levels: Vec<Level> =
        seen.case.sessions.iter().map(|session| session.level.unwrap_or(seen.trace.level)).collect();
    let level = levels.first().copied().filter(|first| levels.iter().all(|level| level == first));
    let fingerprint = Fingerprint { symptom, cause, statement: ShownBy::FinalState, level };
    let evidence = Evidence { log: lines.to_vec(), ..Evidence::default() };
    Verdict::Violated(Violation { fingerprint, step: None, evidence: Box::new(evidence) })
}

/// Lines of the log that say that something is wrong with the server itself.
fn alarms(seen: &Execution) -> impl Iterator<Item = &str> {
    let alarm = dialect::of(seen.trace.server.product).checks.alarms;
    seen.aftermath
        .log
        .iter()
        .map(String::as_str)
        .filter(move |line| alarm.iter().any(|word| line.contains(word)))
}

/// A line of the log as a cause: where the code complained if it says so (`lock0lock.cc:77`, `in file x.cc line 77`), else its
/// words without what changes from run to run.
fn cause_of(line: &str) -> Cause {
    let source = |word: &str| [".cc", ".c", ".ic", ".h", ".cpp"].iter().any(|end| word.ends_with(end));
    let number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || "()[]\"',:;".contains(c))
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("line"))
        .collect();
    match words.windows(2).find(|pair| source(pair[0]) && number(pair[1])) {
        Some(pair) => {
            Cause::CrashSite(format!("{}:{}", pair[0].rsplit('/').next().unwrap_or(pair[0]), pair[1]))
        }
        None => {
            let steady = words.iter().filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
            Cause::LogWords(steady.take(8).copied().collect::<Vec<_>>().join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cause_of;

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
            assert_eq!(cause_of(line).to_string(), rule, "{line}");
        }
    }
}
