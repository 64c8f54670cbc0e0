//! Traces for tests, written down with their case: a line is `T1: statement => answer`.
//!
//! ```text
//! T1: BEGIN => ok
//! T1: UPDATE t SET b = 11 WHERE a = 1 => 1 of 1
//! T2: UPDATE t SET b = 12 WHERE a = 1 => waits
//! T1: COMMIT => ok | 1 of 1
//! final t: (1, 12)
//! ```
//!
//! Behind `|` are the answers of those that a step has woken, in the order in which they began to wait. Whether a transaction is open after
//! an answer follows from BEGIN and COMMIT, unless ` *` (yes), ` -` (no), ` !` (a failed one) or ` ?` (not said) stands behind it.
//! `T1 is rolled back` is the end of a case with something open. What cannot be read panics, with the line: whoever writes these is a test.

use model::{
    Case, DbError, Ends, ErrorClass, Level, Open, Outcome, Reply, Round, RoundCause, RowSet, ServerInfo,
    SessionSpec, Setup, Step, Target, Trace, Wait, rows::Column, value::Kind,
};

/// A server that says of itself what a target asks for: `mariadb@11.8.6?innodb_snapshot_isolation=ON`.
pub fn server(target: &str) -> ServerInfo {
    let Ok(Target { product, version: Some(version), settings, .. }) = target.parse() else {
        panic!("not a target with a version: {target}")
    };
    ServerInfo { settings, ..ServerInfo::bare(product, version) }
}

/// The case and its trace.
pub fn trace(server: ServerInfo, level: Level, setup: &[&str], text: &str) -> (Case, Trace) {
    let mut script = Script {
        trace: Trace::empty(server, level),
        steps: Vec::new(),
        waiting: Vec::new(),
        open: [false; 9],
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix("final ").and_then(|rest| rest.split_once(": ")) {
            Some((table, cells)) => {
                script.trace.final_state.get_or_insert_default().push((table.to_string(), rows(cells)));
            }
            None => script
                .rolled_back(line)
                .or_else(|| script.line(line))
                .unwrap_or_else(|| panic!("`T1: statement => answer` is not how this reads: {line}")),
        }
    }
    let sessions = 1 + script.steps.iter().map(|step| step.session).max().unwrap_or(0);
    let case = Case {
        sessions: (1..=sessions).map(|i| SessionSpec::plain(format!("T{i}"))).collect(),
        setup: Setup { statements: setup.iter().map(|text| text.to_string()).collect() },
        steps: script.steps,
        ..Case::default()
    };
    (case, script.trace)
}

/// What was read so far.
struct Script {
    trace: Trace,
    steps: Vec<Step>,
    /// The steps that wait, in the order in which they began to.
    waiting: Vec<usize>,
    /// Which sessions have an open transaction?
    open: [bool; 9],
}

impl Script {
    fn rolled_back(&mut self, line: &str) -> Option<()> {
        let cause = RoundCause::RolledBack(session(line.strip_suffix(" is rolled back")?)?);
        self.trace.rounds.push(Round { cause, answered: Vec::new(), waiting: Vec::new() });
        Some(())
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (who, rest) = line.split_once(": ")?;
        let (sql, answers) = rest.split_once(" => ")?;
        let session = session(who)?;
        let step = self.steps.len();
        self.steps.push(Step { session, sql: sql.to_string(), expect: Vec::new() });
        self.trace.outcomes.push(Outcome::bare(Reply::NotSent));
        let mut round = Round { cause: RoundCause::Sent(step), answered: Vec::new(), waiting: Vec::new() };
        let mut answers = answers.split(" | ");
        match answers.next()? {
            "not sent" => return Some(()),
            "waits" => {
                round.waiting.push(Wait { step, blockers: Vec::new() });
                self.waiting.push(step);
            }
            own => {
                round.answered.push(step);
                self.answered(step, own);
            }
        }
        for woken in answers {
            let step = self.waiting.remove(0);
            round.answered.push(step);
            self.answered(step, woken);
        }
        self.trace.rounds.push(round);
        Some(())
    }

    fn answered(&mut self, step: usize, text: &str) {
        let Step { session, sql, .. } = &self.steps[step];
        let (text, said) = match text.rsplit_once(' ') {
            Some((text, "*")) => (text, Some(Open::Yes)),
            Some((text, "-")) => (text, Some(Open::No)),
            Some((text, "!")) => (text, Some(Open::Failed)),
            Some((text, "?")) => (text, Some(Open::Unknown)),
            _ => (text, None),
        };
        let (reply, open) = (reply(text), &mut self.open[*session]);
        match sql.split_whitespace().next().unwrap_or_default() {
            "BEGIN" | "START" => *open = true,
            "COMMIT" => *open = false,
            "ROLLBACK" if !sql.contains(" TO ") => *open = false,
            _ => {}
        }
        if matches!(&reply, Reply::Error(error) if error.ends == Ends::Transaction) {
            *open = false;
        }
        match said {
            Some(Open::Yes | Open::Failed) => *open = true,
            Some(Open::No) => *open = false,
            Some(Open::Unknown) | None => {}
        }
        let transaction = said.unwrap_or(if *open { Open::Yes } else { Open::No });
        self.trace.outcomes[step] = Outcome { reply, warnings: Vec::new(), transaction };
    }
}

/// `T1` is the first.
fn session(name: &str) -> Option<usize> {
    name.strip_prefix('T')?.parse::<usize>().ok()?.checked_sub(1)
}

/// `(1, 10) (2, 20)`, `none`, `2 rows`, `2 of 3` (changed of matched), `ok`, `duplicate`, `constraint`, `runtime`, `conflict`, `deadlock`, `busy`, `gone` (an error that
/// ends the session), `lost`, `died`, `killed`, `rolled back`.
pub fn reply(text: &str) -> Reply {
    let error = |class, code, ends| {
        Reply::Error(DbError { code, sqlstate: String::new(), class, ends, message: String::new() })
    };
    let count = |count: &str| count.parse().unwrap_or_else(|_| panic!("not an answer: {text}"));
    match text {
        "ok" => Reply::Done { affected: 0, matched: None },
        "duplicate" => error(ErrorClass::DuplicateKey, 1062, Ends::Statement),
        "conflict" => error(ErrorClass::WriteConflict, 1020, Ends::Transaction),
        "deadlock" => error(ErrorClass::Deadlock, 1213, Ends::Transaction),
        "stale" => error(ErrorClass::WriteConflict, 517, Ends::Statement),
        "constraint" => error(ErrorClass::Constraint, 1452, Ends::Statement),
        "runtime" => error(ErrorClass::Runtime, 1241, Ends::Statement),
        "no savepoint" => error(ErrorClass::Other, 1305, Ends::Statement),
        "busy" => error(ErrorClass::Busy, 5, Ends::Statement),
        "gone" => error(ErrorClass::GoneAway, 2013, Ends::Session),
        "lost" => Reply::ConnectionLost,
        "died" => Reply::ServerDied,
        "killed" => Reply::Killed,
        "rolled back" => Reply::RolledBack,
        "none" => Reply::Rows(rows(text)),
        _ if text.starts_with('(') => Reply::Rows(rows(text)),
        _ => match text.split_once(" of ") {
            Some((changed, matched)) => {
                Reply::Done { affected: count(changed), matched: Some(count(matched)) }
            }
            None => {
                let affected = text.trim_end_matches(" rows").trim_end_matches(" row");
                Reply::Done { affected: count(affected), matched: None }
            }
        },
    }
}

/// `(1, 10) (2, NULL)` or `none`: whole numbers, in columns a, b, c.
pub fn rows(text: &str) -> RowSet {
    let list: Vec<Vec<&str>> = match text {
        "none" => Vec::new(),
        _ => {
            let rows = text.trim_matches(|c| c == '(' || c == ')').split(") (");
            rows.map(|row| row.split(',').map(str::trim).collect()).collect()
        }
    };
    let width = list.first().map_or(3, Vec::len);
    let names = ('a'..='z').take(width);
    let column =
        |name: char| Column { name: name.to_string(), kind: Kind::Integer, type_name: String::new() };
    let mut set = RowSet::new(names.map(column).collect());
    for cell in list.iter().flatten() {
        set.push(Some(*cell).filter(|cell| *cell != "NULL").map(str::as_bytes));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_and_answers_become_rounds() {
        let (case, trace) = trace(
            server("mysql@9.7.4?log_bin=OFF"),
            Level::ReadCommitted,
            &["CREATE TABLE t(a INT, b INT)"],
            "T1: BEGIN => ok
             T1: UPDATE t SET b = 1 => 1 of 2
             T2: DELETE FROM t => waits
             T1: COMMIT => ok | 2 rows
             T2: SELECT * FROM t => none
             final t: (1, NULL)",
        );
        assert_eq!((case.sessions.len(), case.steps.len()), (2, 5));
        assert_eq!(trace.server.settings.get("log_bin").map(String::as_str), Some("OFF"));
        assert!(trace.waited(2) && trace.rounds[3].answered == [3, 2]);
        let open: Vec<Open> = trace.outcomes.iter().map(|outcome| outcome.transaction).collect();
        assert_eq!(open, [Open::Yes, Open::Yes, Open::No, Open::No, Open::No]);
        assert_eq!(trace.final_state, Some(vec![("t".to_string(), rows("(1, NULL)"))]));
    }

    #[test]
    fn what_the_server_says_of_transactions_may_be_written_down() {
        let text = "T1: BEGIN => ok
                    T1: COMMIT => busy *
                    T1: SELECT a FROM t => none ?
                    T1: SELECT a FROM t => lost -
                    T1: SELECT a FROM t => not sent
                    T1 is rolled back";
        let (case, trace) = trace(server("mysql@9.7.4"), Level::ReadCommitted, &[], text);
        let open: Vec<Open> = trace.outcomes.iter().map(|outcome| outcome.transaction).collect();
        assert_eq!(open, [Open::Yes, Open::Yes, Open::Unknown, Open::No, Open::No]);
        assert_eq!((case.steps.len(), trace.rounds.len()), (5, 5));
        assert_eq!(trace.rounds[4].cause, RoundCause::RolledBack(0));
    }

    #[test]
    #[should_panic(expected = "is not how this reads: T1 BEGIN")]
    fn what_cannot_be_read_is_shown() {
        trace(server("mysql@9.7.4"), Level::ReadCommitted, &[], "T1 BEGIN");
    }
}
