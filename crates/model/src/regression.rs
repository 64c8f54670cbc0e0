//! The case of a finding as a regression test: what should come of the step that is wrong, and what comes instead on the server and at the
//! level where it was found (`fails on`).
//!
//! What the format cannot say, or nobody knows, is left out: then the file just runs, and the oracles judge it. So is what came only because Isopod
//! ended a stall: of transactions that wait for each other the file says that they wait, and of nothing what came then.

use crate::{
    Case, Expectation, Expected, FinalState, Finding, KnownFailure, Outcome, Reply, RowSet, Selector,
    Symptom, Trace,
    casefile::{self, Unwritable},
    expect::{ErrorMatch, ExpectedReply, Literal, ServerMatch},
    value::{Kind, Value},
    verdict::{Response, evidence::Table},
};

/// The file. The case is that of the trace.
pub fn case_file(case: &Case, trace: &Trace, finding: &Finding) -> Result<String, Unwritable> {
    let bare = without_expectations(case);
    casefile::print(&with_expectations(bare.clone(), trace, finding)).or_else(|_| casefile::print(&bare))
}

/// The case as it is run; what is expected of it left out.
pub fn without_expectations(case: &Case) -> Case {
    let mut bare = case.clone();
    bare.steps.iter_mut().for_each(|step| step.expect.clear());
    bare.final_state.clear();
    bare.fails.clear();
    bare
}

fn with_expectations(mut case: Case, trace: &Trace, finding: &Finding) -> Case {
    let violation = &finding.violation;
    // Of two answers nobody knows which is wrong, and what the oracles were told was not true.
    if violation.fingerprint.symptom == Symptom::Logic || !finding.judged_as.is_empty() {
        return case;
    }
    let evidence = &violation.evidence;
    let mut group =
        KnownFailure { at: place(&case, trace, finding), steps: Vec::new(), final_state: Vec::new() };
    let when = Selector { levels: group.at.levels.clone(), servers: Vec::new() };
    match (violation.step, &evidence.expected) {
        // Which of them should be ended is the server's choice.
        (Some(_), _) if !violation.circle().is_empty() => {
            let mut waits = violation.circle().to_vec();
            waits.sort_unstable();
            group.steps.extend(waits.into_iter().map(|step| (step, WAITS)));
        }
        (Some(step), _) if trace.answered_after_stall(step) && !violation.waits_wrongly() => {
            return with_stall(case);
        }
        (None, _) if trace.stalled => return with_stall(case),
        (Some(step), expected) => {
            let (Some(outcome), Some(of)) = (trace.outcomes.get(step), case.steps.get_mut(step)) else {
                return case;
            };
            let waited = trace.waited(step);
            let Some(came) = came(outcome, waited, violation.waits_wrongly()) else {
                return case;
            };
            // It waited, and not for long enough: of that the format has no word.
            let ended_early = |due: &Expected| *due == WAITS && came.waits;
            let due = expected.as_ref().and_then(|expected| due(expected, waited));
            let due = due.filter(|due| *due == came || !ended_early(due));
            // Of a difference that the format does not know nothing can be said.
            if due.as_ref() == Some(&came) {
                return case;
            }
            let (due, came) = shortest(due, came);
            of.expect.extend(due.map(|then| Expectation { when, then }));
            group.steps.push((step, came));
        }
        (None, Some(Response::FinalState(Table { table, rows }))) => {
            let tables = trace.final_state.as_deref().unwrap_or_default();
            let Some((_, held)) = tables.iter().find(|(name, _)| name == table) else { return case };
            let expect = vec![Expectation { when, then: answer(false, exactly(rows)) }];
            case.final_state.push(FinalState { table: table.clone(), expect });
            group.final_state.push((table.clone(), answer(false, exactly(held))));
        }
        (None, _) => return case,
    }
    case.links = finding.known.iter().flat_map(|name| name.split(", ")).map(str::to_string).collect();
    case.fails.push(group);
    case
}

/// Says why nothing is expected.
fn with_stall(mut case: Case) -> Case {
    let note = "it ends in a wait that nobody in it ends: what is wrong comes when Isopod has ended that";
    if !case.notes.iter().any(|have| have == note) {
        case.notes.push(note.to_string());
    }
    case
}

/// It waits, and nothing is said of what comes then.
const WAITS: Expected = Expected { waits: true, answer: None };

/// Where it was found. A level counts only if a session has none of its own.
fn place(case: &Case, trace: &Trace, finding: &Finding) -> Selector {
    let server = &trace.server;
    let in_force = |(name, value): &(String, String)| {
        server.settings.get(name).is_some_and(|have| have.eq_ignore_ascii_case(value))
    };
    let found_on = ServerMatch {
        product: server.product,
        from: Some(server.version.clone()),
        to: Some(server.version.clone()),
        settings: finding.effective_target().settings.into_iter().filter(in_force).collect(),
    };
    let own = case.sessions.iter().all(|session| session.level.is_some());
    Selector { levels: if own { Vec::new() } else { vec![trace.level] }, servers: vec![found_on] }
}

fn answer(waits: bool, answer: ExpectedReply) -> Expected {
    Expected { waits, answer: Some(answer) }
}

/// The rows that matched are said only where nothing else tells the two apart.
fn shortest(due: Option<Expected>, came: Expected) -> (Option<Expected>, Expected) {
    let short = |mut expected: Expected| {
        if let Some(ExpectedReply::Affected { of, .. }) = &mut expected.answer {
            *of = None;
        }
        expected
    };
    match due.clone().map(short) == Some(short(came.clone())) {
        true => (due, came),
        false => (due.map(short), short(came)),
    }
}

/// What came of a step; `wait`: that it waits is what is wrong.
fn came(outcome: &Outcome, waited: bool, wait: bool) -> Option<Expected> {
    if wait {
        return Some(WAITS);
    }
    Some(answer(waited, reply(outcome)?))
}

fn reply(outcome: &Outcome) -> Option<ExpectedReply> {
    Some(match &outcome.reply {
        Reply::Rows(rows) => exactly(rows),
        Reply::Done { affected, matched } => ExpectedReply::Affected { count: *affected, of: *matched },
        Reply::Error(error) => ExpectedReply::Error { what: ErrorMatch::Class(error.class), over: None },
        Reply::RolledBack => ExpectedReply::RolledBack,
        _ => return None,
    })
}

/// What should have come; none where the format has no word for it.
fn due(expected: &Response, waited: bool) -> Option<Expected> {
    Some(match expected {
        Response::Rows(rows) => answer(waited, exactly(rows)),
        Response::Count { affected, matched } => match affected.as_slice() {
            [count] => answer(waited, ExpectedReply::Affected { count: *count, of: *matched }),
            _ => return None,
        },
        Response::Error(class) => {
            answer(waited, ExpectedReply::Error { what: ErrorMatch::Class(*class), over: None })
        }
        Response::Outcome(outcome) => answer(waited, reply(outcome)?),
        Response::Wait | Response::WaitFor(_) => WAITS,
        // An error without a conflict is unlikely to be what should come of what waits for nobody.
        Response::AnAnswer { .. } => answer(false, ExpectedReply::Ok),
        Response::Success => answer(waited, ExpectedReply::Ok),
        _ => return None,
    })
}

fn exactly(rows: &RowSet) -> ExpectedReply {
    let row = |row: usize| rows.row(row).map(|value| literal(&value)).collect();
    ExpectedReply::Rows { ordered: false, rows: (0..rows.len()).map(row).collect() }
}

fn literal(value: &Value<'_>) -> Literal {
    let Some(bytes) = value.bytes else { return Literal::Null };
    match (value.kind, std::str::from_utf8(bytes)) {
        (Kind::Integer | Kind::Decimal | Kind::Float, Ok(text)) => Literal::Number(text.to_string()),
        (Kind::Bytes | Kind::Bit, _) | (_, Err(_)) => Literal::Bytes(bytes.to_vec()),
        (_, Ok(text)) => Literal::Text(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DbError, Ends, ErrorClass, Evidence, Fingerprint, Level, Open, Round, RoundCause, ServerInfo,
        ShownBy, Target, Version, Violation, Wait, rows::Column, verdict,
    };

    fn rows(numbers: &[&str]) -> RowSet {
        let column = Column { name: "a".into(), kind: Kind::Integer, type_name: "INT".into() };
        let mut rows = RowSet::new(vec![column]);
        numbers.iter().for_each(|number| rows.push(Some(number.as_bytes())));
        rows
    }

    fn outcome(reply: Reply) -> Outcome {
        Outcome { reply, warnings: Vec::new(), transaction: Open::No }
    }

    /// A read at step 2 that came back with this.
    fn found(actual: Outcome, expected: Option<Response>, waited: bool) -> String {
        let text = "for mariadb\nsession T1 level RC\nsession T2 level RC\nsetup\n  CREATE TABLE t(a INT);\n\
                    steps\n  T1: BEGIN;\n  T2: SELECT a FROM t FOR UPDATE;\n  T1: COMMIT;\n";
        let case = casefile::parse(text).unwrap().into_case();
        let mut server = ServerInfo::bare(crate::Product::Mariadb, Version(vec![10, 11, 19]));
        server.settings.insert("innodb_snapshot_isolation".into(), "OFF".into());
        let done = outcome(Reply::Done { affected: 0, matched: None });
        let wait = Wait { step: 1, blockers: Vec::new() };
        let round = |step: usize, answered: Vec<usize>, waiting: Vec<Wait>| Round {
            cause: RoundCause::Sent(step),
            answered,
            waiting,
        };
        let rounds = match waited {
            true => {
                vec![round(0, vec![0], vec![]), round(1, vec![], vec![wait]), round(2, vec![2, 1], vec![])]
            }
            false => (0..3).map(|step| round(step, vec![step], vec![])).collect(),
        };
        let trace = Trace {
            rounds,
            outcomes: vec![done.clone(), actual, done],
            ..Trace::empty(server, Level::RepeatableRead)
        };
        let fingerprint = Fingerprint {
            symptom: Symptom::WrongRows,
            cause: verdict::Cause::Unknown,
            statement: ShownBy::FinalState,
            level: Some(Level::ReadCommitted),
        };
        let evidence = Box::new(Evidence { expected, ..Evidence::default() });
        let target: Target = "mariadb@10.11?innodb_snapshot_isolation=OFF&basedir_like=1".parse().unwrap();
        let mut finding = Finding::bare("9b1f", target, Violation { fingerprint, step: Some(1), evidence });
        finding.known = Some("MDEV-1, MySQL#2".into());
        case_file(&case, &trace, &finding).unwrap()
    }

    #[test]
    fn the_file_says_what_should_come_and_what_comes_where() {
        let text = found(outcome(Reply::Rows(rows(&["1"]))), Some(Response::Rows(rows(&["1", "0"]))), true);
        assert!(text.contains("link    MDEV-1, MySQL#2\n"), "{text}");
        assert!(text.contains("      => waits, then (1) (0)\n"), "{text}");
        let fails =
            "fails on\n  mariadb@10.11.19 innodb_snapshot_isolation=OFF:\n    step 2 => waits, then (1)\n";
        assert!(text.ends_with(fails), "{text}");
    }

    #[test]
    fn an_error_and_what_nobody_can_name() {
        let error = DbError {
            code: 1020,
            sqlstate: "HY000".into(),
            class: ErrorClass::WriteConflict,
            ends: Ends::Transaction,
            message: String::new(),
        };
        let text = found(outcome(Reply::Error(error)), Some(Response::Rows(rows(&["1"]))), false);
        assert!(text.contains("      => (1)\n") && text.contains("step 2 => error write-conflict"), "{text}");
        let text = found(outcome(Reply::Rows(rows(&["1"]))), None, false);
        assert!(!text.contains("      =>") && text.contains("step 2 => (1)\n"), "{text}");
        // The same by the words of the format: the difference is elsewhere.
        let text = found(outcome(Reply::Rows(rows(&["1"]))), Some(Response::Rows(rows(&["1"]))), false);
        assert!(!text.contains("fails on"), "{text}");
    }

    #[test]
    fn rows_that_matched_are_said_where_only_they_differ() {
        let done = |affected, matched| outcome(Reply::Done { affected, matched: Some(matched) });
        let count =
            |affected, matched| Some(Response::Count { affected: vec![affected], matched: Some(matched) });
        let text = found(done(1, 3), count(1, 2), false);
        assert!(
            text.contains("      => 1 of 2 rows\n") && text.contains("step 2 => 1 of 3 rows\n"),
            "{text}"
        );
        let text = found(done(1, 3), count(2, 2), false);
        assert!(text.contains("      => 2 rows\n") && text.contains("step 2 => 1 row\n"), "{text}");
    }

    /// T1 and T2 wait when nothing is left to be sent, until we roll back T3; then the step at the end of the case answers.
    fn stalled(symptom: Symptom, evidence: Evidence) -> String {
        let text = "for mariadb\nsession T1 level RC\nsession T2 level RC\nsession T3 level RC\nsetup\n  CREATE TABLE t(a INT);\n\
                    steps\n  T3: SELECT 1;\n  T1: UPDATE t SET a = 1;\n  T2: UPDATE t SET a = 2;\n";
        let case = casefile::parse(text).unwrap().into_case();
        let round = |cause, answered: &[usize], waiting: &[usize]| Round {
            cause,
            answered: answered.to_vec(),
            waiting: waiting.iter().map(|&step| Wait { step, blockers: Vec::new() }).collect(),
        };
        let done = outcome(Reply::Done { affected: 2, matched: None });
        let trace = Trace {
            rounds: vec![
                round(RoundCause::Sent(0), &[0], &[]),
                round(RoundCause::Sent(1), &[], &[1]),
                round(RoundCause::Sent(2), &[], &[2]),
                round(RoundCause::RolledBack(2), &[2, 1], &[]),
            ],
            outcomes: vec![done.clone(), done.clone(), done],
            stalled: true,
            final_state: Some(vec![("t".into(), rows(&["1"]))]),
            ..Trace::empty(
                ServerInfo::bare(crate::Product::Mariadb, Version(vec![11, 8])),
                Level::RepeatableRead,
            )
        };
        assert_eq!((trace.stalled_at(), trace.standing_waits()), (Some(3), vec![1, 2]));
        let fingerprint = Fingerprint {
            symptom,
            cause: verdict::Cause::Unknown,
            statement: ShownBy::FinalState,
            level: Some(Level::ReadCommitted),
        };
        let in_the_end = symptom == Symptom::WrongFinalState;
        let step = (!in_the_end).then_some(2);
        let violation = Violation { fingerprint, step, evidence: Box::new(evidence) };
        case_file(&case, &trace, &Finding::bare("9b1f", "mariadb@11.8".parse().unwrap(), violation)).unwrap()
    }

    #[test]
    fn nothing_is_demanded_that_came_only_because_a_stall_was_ended() {
        let circle = Some(verdict::evidence::Sighting::Circle { steps: vec![2, 1] });
        let text = stalled(Symptom::UnreportedDeadlock, Evidence { sighting: circle, ..Evidence::default() });
        assert!(
            text.ends_with("fails on\n  mariadb@11.8:\n    step 2 => waits\n    step 3 => waits\n"),
            "{text}"
        );
        assert!(!text.contains("      =>"), "{text}");
        let count = || Some(Response::Count { affected: vec![1], matched: None });
        for (symptom, expected) in [
            (Symptom::WrongCount, count()),
            (Symptom::MissingWait, Some(Response::Wait)),
            (
                Symptom::WrongFinalState,
                Some(Response::FinalState(Table { table: "t".into(), rows: rows(&["2"]) })),
            ),
        ] {
            let text = stalled(symptom, Evidence { expected, ..Evidence::default() });
            assert!(!text.contains("=>") && !text.contains("fails on"), "{symptom}: {text}");
            assert!(text.contains("note    it ends in a wait that nobody in it ends"), "{text}");
        }
        // That it waits is what is wrong, and was seen before.
        let expected = Some(Response::AnAnswer { nobody_in_the_way: false });
        let text = stalled(Symptom::NeedlessWait, Evidence { expected, ..Evidence::default() });
        assert!(text.contains("      => ok\n") && text.ends_with("step 3 => waits\n"), "{text}");
    }

    #[test]
    fn a_wait_that_ended_too_early_is_no_wait_that_should_come() {
        let done = outcome(Reply::Done { affected: 0, matched: None });
        let text = found(done, Some(Response::Wait), true);
        assert!(!text.contains("      =>") && text.ends_with("step 2 => waits, then 0 rows\n"), "{text}");
    }
}
