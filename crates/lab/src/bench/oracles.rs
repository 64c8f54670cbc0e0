//! `isopod bench oracles`: what the oracles see and what they cost, on the same cases in one run.
//!
//! Every case is executed once, as a hunt does it, and then judged by each oracle in turn on the same server: what an oracle
//! asks for (single statements on views, further runs) counts as its own time. Nothing is confirmed or reduced.

use std::time::{Duration, Instant};

use campaign::{CleanRuns, Panel, panel::admissible};
use execute::Reset;
use generate::{Generator, Profile};
use model::{JudgeOverrides, Seed, Target, Verdict, Verdicts};
use serde::Serialize;

use crate::{Lab, levels};

pub struct Plan<'a> {
    pub cases: u64,
    pub seed: Seed,
    pub profile: &'a Profile,
    /// Who judges; the caller has checked the names.
    pub oracles: &'a [String],
}

#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub profile: String,
    pub cases: u64,
    /// Cases per minute, executed and not judged.
    pub executed_per_minute: f64,
    pub oracles: Vec<Judged>,
    /// Cases that the model and the decoupled run both decide, and of these those about which they do not agree.
    pub decided_by_both: u64,
    pub disagreements: u64,
}

/// What one oracle did.
#[derive(Serialize)]
pub struct Judged {
    pub oracle: String,
    pub decided: u64,
    pub violated: u64,
    /// Fingerprints among these.
    pub kinds: usize,
    /// Cases per minute, executed and judged.
    pub per_minute: f64,
    /// Of the same cases executed and not judged.
    pub ratio: f64,
}

/// Measures a target; nothing if the user asked to stop.
pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>, target: &Target) -> crate::Result<Option<Figures>> {
    let profile = plan.profile;
    let mut server = lab.clean_server(target)?;
    server.set_postchecks(false);
    let info = server.info()?;
    let levels = levels(target.product);
    let mut generator = Generator::with(plan.seed, info.product, &info.version, levels, profile.clone());
    let panel = Panel::new(crate::oracles(plan.oracles)?, JudgeOverrides::default());
    // What each oracle said, and how long it took.
    let mut all: Vec<(&str, Verdicts, Duration)> =
        panel.judges().map(|judge| (judge.oracle.name(), Verdicts::default(), Duration::ZERO)).collect();
    let mut progress = lab.job(target.to_string(), plan.cases);
    let (mut executed, mut both, mut disagreements) = (Duration::ZERO, 0, 0);
    for number in 0..plan.cases {
        if lab.stopped() {
            return Ok(None);
        }
        let begun = Instant::now();
        let made = generator.case(number);
        let seen = server.run(&made.case, levels[0], Reset::Fast)?;
        executed += begun.elapsed();
        if !admissible(&seen) {
            continue;
        }
        let mut said = Vec::new();
        for (judge, (oracle, verdicts, took)) in panel.judges().zip(&mut all) {
            let begun = Instant::now();
            let verdict = judge.verdict(&seen, &mut server);
            *took += begun.elapsed();
            verdicts.add(&verdict);
            said.push((*oracle, wrong(&verdict)));
        }
        let of = |name: &str| said.iter().find(|(oracle, _)| *oracle == name).and_then(|(_, said)| *said);
        if let (Some(one), Some(two)) = (of("model"), of("decoupled")) {
            both += 1;
            disagreements += u64::from(one != two);
        }
        progress.reached(number + 1);
    }
    drop(progress);
    let minutes = |time: Duration| plan.cases as f64 / time.as_secs_f64() * 60.0;
    let judged = |(oracle, verdicts, took): &(&str, Verdicts, Duration)| Judged {
        oracle: oracle.to_string(),
        decided: verdicts.holds + verdicts.violations(),
        violated: verdicts.violations(),
        kinds: verdicts.violated.len(),
        per_minute: minutes(executed + *took),
        ratio: executed.as_secs_f64() / (executed + *took).as_secs_f64(),
    };
    Ok(Some(Figures {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        profile: profile.name.clone(),
        cases: plan.cases,
        executed_per_minute: minutes(executed),
        oracles: all.iter().map(judged).collect(),
        decided_by_both: both,
        disagreements,
    }))
}

/// Is something wrong? Nothing where it cannot be told.
fn wrong(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Holds { .. } => Some(false),
        Verdict::Violated(_) => Some(true),
        Verdict::Undecided { .. } => None,
    }
}
