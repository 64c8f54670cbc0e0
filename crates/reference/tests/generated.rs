//! Generated cases on the reference engine: without a bug nobody complains, with one somebody does, and the same case always
//! gives the same trace.

mod common;

use common::{complaint, generator, runner, show};
use model::{ErrorClass, Level};
use reference::Bug;

#[test]
fn a_clean_engine_is_left_alone() {
    let (mut runner, mut generator) = (runner("reference"), generator(1));
    let (mut statements, mut refused, mut waited) = (0, Vec::new(), 0);
    for number in 0..3_000 {
        let case = generator.case(number).case;
        let run = runner.run(&case, Level::RepeatableRead).unwrap();
        if let Some((kind, story)) = complaint(&run) {
            panic!("case {number}: {kind}: {story}");
        }
        statements += case.steps.len();
        waited += run.trace.rounds.iter().map(|round| round.waiting.len()).sum::<usize>();
        for (step, outcome) in case.steps.iter().zip(&run.trace.outcomes) {
            if let Some(error) = outcome.error().filter(|error| error.class == ErrorClass::Other) {
                refused.push(format!("{}: {}", error.message, step.sql));
            }
        }
        assert_eq!(run.trace.false_decisions, 0, "{}", show(&case, &run));
    }
    assert!(waited * 50 > statements, "{waited} of {statements} waited");
    // What the evaluator is not sure about is refused, never guessed; that must stay rare.
    assert!(refused.len() * 100 < statements, "{} of {statements}: {:#?}", refused.len(), &refused[..20]);
}

#[test]
fn the_same_case_gives_the_same_trace() {
    let (mut one, mut other, mut generator) = (runner("reference"), runner("reference"), generator(2));
    let cases: Vec<_> = (0..400).map(|number| generator.case(number).case).collect();
    let first: Vec<_> =
        cases.iter().map(|case| one.run(case, Level::RepeatableRead).unwrap().trace).collect();
    for (case, trace) in cases.iter().zip(&first).rev() {
        let again = other.run(case, Level::RepeatableRead).unwrap();
        assert_eq!(&again.trace, trace, "{}", show(case, &again));
    }
}

/// What the oracles that need no model call each bug; none if they need not see it.
fn called(bug: Bug) -> Option<&'static str> {
    match bug {
        Bug::Crash => Some("crash unknown"),
        Bug::Hang => Some("hang unknown"),
        Bug::InternalError => Some("internal-error 1815"),
        Bug::AbortedRead => Some("aborted-read invariant"),
        Bug::DuplicateUnique | Bug::MissingUniqueLock => Some("unique-value-twice invariant"),
        _ => None,
    }
}

#[test]
fn every_planted_bug_is_found_and_nothing_else() {
    for (bug, called) in Bug::ALL.iter().filter_map(|&bug| Some((bug, called(bug)?))) {
        let mut runner = runner(&format!("reference?plant={}", bug.name()));
        let mut generator = generator(3);
        let found = (0..4_000).find_map(|number| {
            let case = generator.case(number).case;
            let run = runner.run(&case, Level::RepeatableRead).unwrap();
            complaint(&run)
        });
        let (kind, story) = found.unwrap_or_else(|| panic!("{} was not found", bug.name()));
        assert_eq!(kind, called, "{story}");
    }
}

/// Does one of so many cases come out otherwise where the bug is planted?
fn shows(bug: Bug, cases: u64) -> bool {
    let (mut clean, mut planted) = (runner("reference"), runner(&format!("reference?plant={}", bug.name())));
    let mut generator = generator(5);
    (0..cases).any(|number| {
        let case = generator.case(number).case;
        let run = clean.run(&case, Level::RepeatableRead).unwrap();
        !planted.run(&case, Level::RepeatableRead).unwrap().trace.same(&run.trace)
    })
}

#[test]
fn every_planted_bug_shows_in_generated_cases() {
    for &bug in Bug::ALL {
        assert!(shows(bug, 5_000), "{}", bug.name());
    }
}

#[test]
fn a_rate_makes_a_bug_rare_and_keeps_it_repeatable() {
    let count = |target: &str| {
        let (mut runner, mut generator) = (runner(target), generator(4));
        let hits = (0..1_500).filter(|&number| {
            let case = generator.case(number).case;
            let run = runner.run(&case, Level::RepeatableRead).unwrap();
            complaint(&run).is_some()
        });
        hits.collect::<Vec<_>>()
    };
    let all = count("reference?plant=internal-error");
    let some = count("reference?plant=internal-error&one_in=4");
    assert!(!some.is_empty() && some.len() * 2 < all.len(), "{} of {}", some.len(), all.len());
    assert!(some.iter().all(|number| all.contains(number)));
    assert_eq!(some, count("reference?plant=internal-error&one_in=4"));
}
