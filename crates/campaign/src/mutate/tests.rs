//! Each mutation on a trace written by hand: what it changes, and that it changes nothing else.

use model::{Case, Level, Reply, Rng, Trace};

use super::Mutation;

/// T1 updates, T2 waits for it, T1 commits; T2 reads.
fn run() -> (Case, Trace) {
    let text = "T1: BEGIN => ok
        T1: UPDATE t SET b = 5 WHERE a = 1 => 1 row
        T2: DELETE FROM t WHERE a = 1 => waits
        T1: SELECT * FROM t => (1, 5) (2, 6)
        T1: COMMIT => ok | 1 row
        T2: SELECT * FROM t => (2, 6)
        final t: (2, 6)";
    notation::trace(notation::server("mysql@9.7"), Level::RepeatableRead, &[], text)
}

/// What many draws give.
fn drawn(mutation: Mutation) -> Vec<super::Mutant> {
    let (case, trace) = run();
    let mutants: Vec<_> =
        (0..200).map(|seed| mutation.of(&case, &trace, &mut Rng::new(seed)).unwrap()).collect();
    for mutant in &mutants {
        assert!(!mutant.trace.same(&trace), "{}", mutant.what);
        dialect::Execution::check(&case, &mutant.trace).unwrap();
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
