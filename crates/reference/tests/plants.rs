//! Every bug that can be planted, on its own small case: the clean engine does what the case says, and the other one does not.

mod common;

use common::{runner, show};
use model::{Case, Level};
use oracles::expectations::{CheckStatus, Surprise, check};
use reference::Bug;

fn case(bug: Bug) -> (Case, Level) {
    let case = model::casefile::parse(bug.case()).unwrap_or_else(|error| panic!("{}: {error:?}", bug.name()));
    let case = case.into_case();
    let level = case.sessions[0].level.unwrap();
    assert!(case.sessions.iter().all(|session| session.level.is_some()), "{}", bug.name());
    (case, level)
}

#[test]
fn every_bug_shows_in_its_case_and_only_there() {
    for &bug in Bug::ALL {
        let (case, level) = case(bug);
        let run = runner("reference").run(&case, level).unwrap();
        let report = check(&case, &run.trace);
        assert_eq!(report.status, CheckStatus::Pass, "{} clean\n{}", bug.name(), show(&case, &run));
        let (_, _, unspecified) = report.should.counts();
        assert!(unspecified <= 3, "{} says little", bug.name());
        let mut planted = runner(&format!("reference?plant={}", bug.name()));
        for _ in 0..3 {
            let run = planted.run(&case, level).unwrap();
            let expected = match bug {
                // No case file can expect a server that dies or says nothing.
                Bug::Crash | Bug::Hang => CheckStatus::Surprise(Surprise::UnexpectedFailure),
                _ => CheckStatus::KnownFailure,
            };
            assert_eq!(check(&case, &run.trace).status, expected, "{}\n{}", bug.name(), show(&case, &run));
        }
    }
}
