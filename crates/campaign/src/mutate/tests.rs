//! Each mutation on a trace written by hand: what it changes, and that it changes nothing else.

use model::{
    Case, Cause, Kind, Level, Open, Outcome, Product, Reply, Rng, Round, RowSet, ServerInfo, SessionSpec,
    Step, Trace, Version, Wait, rows::Column,
};

use super::Mutation;

fn rows(cells: &[[&str; 2]]) -> RowSet {
    let column = |name: &str| Column { name: name.into(), kind: Kind::Integer, type_name: "INT".into() };
    let mut rows = RowSet::new(vec![column("a"), column("b")]);
    cells.iter().flatten().for_each(|cell| rows.push(Some(cell.as_bytes())));
    rows
}

fn answered(reply: Reply) -> Outcome {
    Outcome { reply, warnings: Vec::new(), transaction: Open::Yes }
}

/// T1 updates, T2 waits for it, T1 commits; T2 reads.
fn run() -> (Case, Trace) {
    let steps = [
        (0, "BEGIN"),
        (0, "UPDATE t SET b = 5 WHERE a = 1"),
        (1, "DELETE FROM t WHERE a = 1"),
        (0, "SELECT * FROM t"),
        (0, "COMMIT"),
        (1, "SELECT * FROM t"),
    ];
    let step = |&(session, sql): &(usize, &str)| Step { session, sql: sql.into(), expect: Vec::new() };
    let case = Case {
        sessions: vec![SessionSpec::plain("T1"), SessionSpec::plain("T2")],
        steps: steps.iter().map(step).collect(),
        ..Case::default()
    };
    let round = |step: usize, answered: &[usize], waits: &[usize]| Round {
        cause: Cause::Sent(step),
        answered: answered.to_vec(),
        waiting: waits.iter().map(|&step| Wait { step, blockers: vec![0] }).collect(),
    };
    let done = |affected: u64| answered(Reply::Done { affected, matched: None });
    let trace = Trace {
        server: ServerInfo {
            product: Product::Mysql,
            version: Version(vec![9, 7]),
            version_text: String::new(),
            settings: Default::default(),
            flags: Vec::new(),
        },
        level: Level::RepeatableRead,
        rounds: vec![
            round(0, &[0], &[]),
            round(1, &[1], &[]),
            round(2, &[], &[2]),
            round(3, &[3], &[]),
            round(4, &[4, 2], &[]),
            round(5, &[5], &[]),
        ],
        outcomes: vec![
            done(0),
            done(1),
            done(1),
            answered(Reply::Rows(rows(&[["1", "5"], ["2", "6"]]))),
            done(0),
            answered(Reply::Rows(rows(&[["2", "6"]]))),
        ],
        stalled: false,
        false_decisions: 0,
        final_state: Some(vec![("t".into(), rows(&[["2", "6"]]))]),
    };
    (case, trace)
}

/// What many draws give.
fn drawn(mutation: Mutation) -> Vec<super::Mutant> {
    let (case, trace) = run();
    let mutants: Vec<_> =
        (0..200).map(|seed| mutation.of(&case, &trace, &mut Rng::new(seed)).unwrap()).collect();
    for mutant in &mutants {
        assert!(!mutant.trace.same(&trace), "{}", mutant.what);
        crate::traces::fits(&case, &mutant.trace).unwrap();
    }
    let again = mutation.of(&case, &trace, &mut Rng::new(7)).unwrap();
    assert_eq!(again, mutants[7]);
    mutants
}

fn all_of(mutation: Mutation) -> Vec<String> {
    let mut found: Vec<String> = drawn(mutation).into_iter().map(|mutant| mutant.what).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn rows_of_results_and_of_the_final_state_go() {
    assert_eq!(
        all_of(Mutation::DropRow),
        [
            "final t: without (2, 6)",
            "step 4: without (1, 5)",
            "step 4: without (2, 6)",
            "step 6: without (2, 6)"
        ]
    );
}

#[test]
fn values_come_from_elsewhere_in_their_column() {
    assert_eq!(
        all_of(Mutation::SwapVersion),
        [
            "final t: (1, 6) for (2, 6)",
            "final t: (2, 5) for (2, 6)",
            "step 4: (1, 6) for (1, 5)",
            "step 4: (1, 6) for (2, 6)",
            "step 4: (2, 5) for (1, 5)",
            "step 4: (2, 5) for (2, 6)",
            "step 6: (1, 6) for (2, 6)",
            "step 6: (2, 5) for (2, 6)",
        ]
    );
}

#[test]
fn counts_of_writes_only() {
    assert_eq!(
        all_of(Mutation::ChangeCount),
        ["step 2: 0 for 1", "step 2: 2 for 1", "step 3: 0 for 1", "step 3: 2 for 1"]
    );
}

#[test]
fn a_wait_that_was_none_answers_where_it_was_sent() {
    let mut mutants = drawn(Mutation::FlipWait);
    mutants.retain(|mutant| mutant.name == "drop-wait");
    let Trace { rounds, .. } = &mutants[0].trace;
    assert_eq!((mutants[0].what.as_str(), &rounds[2].answered[..]), ("step 3: did not wait", &[2][..]));
    assert!(rounds[2].waiting.is_empty() && rounds[4].answered == [4]);
}

#[test]
fn a_wait_that_is_added_ends_before_its_session_goes_on() {
    // T1's UPDATE could only wait while T2 sends, T1's own SELECT is followed by its own COMMIT, and nothing follows T2's.
    let both = ["step 2: waited until round 3", "step 3: did not wait"];
    assert_eq!(all_of(Mutation::FlipWait), both);
    let mut mutants = drawn(Mutation::FlipWait);
    mutants.retain(|mutant| mutant.name == "add-wait");
    assert!((60..140).contains(&mutants.len()), "{}", mutants.len());
    assert!(mutants[0].trace.waited(1) && mutants[0].trace.rounds[1].answered.is_empty());
}

#[test]
fn a_trace_without_such_a_place_has_no_mutant() {
    let (case, mut trace) = run();
    trace.rounds.iter_mut().for_each(|round| round.waiting.clear());
    trace.outcomes.iter_mut().for_each(|outcome| outcome.reply = Reply::NotSent);
    trace.final_state = None;
    for mutation in [Mutation::DropRow, Mutation::SwapVersion, Mutation::ChangeCount] {
        assert_eq!(mutation.of(&case, &trace, &mut Rng::new(1)), None, "{}", mutation.name());
    }
}
