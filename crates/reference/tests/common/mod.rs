//! What the tests of the reference engine share: a runner on one, and what the oracles say.
#![allow(dead_code)] // not every test needs all of it

use std::time::Duration;

use dialect::Execution;
use execute::{Options, Placement, Runner};
use generate::Generator;
use model::{Case, Level, Product, Seed, Target, Verdict, Version};
use reference::ReferenceServer;

/// Runs cases on the engine of this target.
pub fn runner(target: &str) -> Runner {
    let target: Target = target.parse().unwrap();
    let launch = Box::new(move || Ok(Box::new(ReferenceServer::start(&target)?) as Box<_>));
    let options = Options { hung_after: Duration::from_millis(20), ..Options::default() };
    Runner::new(launch, options, Placement { pin: false, realtime: false, cpu: None }).unwrap()
}

/// The cases of a seed, at all levels.
pub fn generator(seed: u64) -> Generator {
    Generator::new(Seed(seed), Product::Reference, &Version(vec![1, 0]), &Level::ALL)
}

/// What the oracles that need no contract complain about: kind and rule, and the story.
pub fn complaint(run: &Execution) -> Option<(String, String)> {
    let all = oracles::without_server();
    all.iter().filter(|oracle| ["crash", "invariants"].contains(&oracle.name())).find_map(|oracle| {
        match oracles::judge(oracle.as_ref(), run) {
            Verdict::Violated(violation) => Some((
                format!("{} {}", violation.fingerprint.symptom, violation.fingerprint.cause),
                format!("{:?}\n{}", violation.evidence, show(&run.case, run)),
            )),
            Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
        }
    })
}

/// A case and what came of it, for the message of a test that fails.
pub fn show(case: &Case, run: &Execution) -> String {
    let mut text = case.setup.statements.join(";\n") + "\n";
    for (step, outcome) in case.steps.iter().zip(&run.trace.outcomes) {
        text += &format!("T{}: {}\n    => {outcome}\n", step.session + 1, step.sql);
    }
    text + &format!("rounds: {:?}\n", run.trace.rounds)
}
