//! `isopod selftest determinism`: random cases, twice, the second time in shuffled order. How many give another trace?

use std::{collections::BTreeMap, time::Duration};

use execute::{Reset, Runner};
use model::{Level, Seed, Target, Trace};
use serde::Serialize;

use super::differences::{Why, why};
use crate::{Lab, run_numbered};

pub struct Plan {
    pub cases: u64,
    pub seed: Seed,
    /// After each decision that statements wait, how long an answer is awaited that proves it false.
    pub watch: Duration,
}

/// What one target and level came to.
#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub level: Level,
    pub settle: &'static str,
    pub realtime: bool,
    /// Cases that ran twice.
    pub cases: u64,
    /// Cases that ran at least once; more than `cases` only after Ctrl-C.
    pub begun: u64,
    pub statements: u64,
    pub waits: u64,
    pub false_decisions: u64,
    pub differ: u64,
    pub why: BTreeMap<Why, u64>,
    /// The numbers of the cases that differ without an explanation.
    pub unexplained: Vec<u64>,
}

pub fn measure(lab: &Lab<'_>, plan: &Plan, target: &Target, level: Level) -> crate::Result<Figures> {
    let mut options = lab.options(Reset::Clean);
    options.watch = Some(plan.watch);
    options.tries = 1;
    let mut runner = lab.runner(target, options)?;
    let product = target.product;
    let mut progress = lab.job(format!("{target} {level}"), plan.cases * 2);
    let mut one = |number: u64, runner: &mut Runner| -> crate::Result<Trace> {
        let case = generate::workload::case(plan.seed, number, product);
        let run = run_numbered(runner, number, &case, level)?;
        progress.step();
        Ok(run.trace)
    };
    let mut first = Vec::new();
    for number in 0..plan.cases {
        if lab.stopped() {
            break;
        }
        first.push(one(number, &mut runner)?);
    }
    let mut order: Vec<usize> = (0..first.len()).collect();
    plan.seed.rng("shuffle", 0).shuffle(&mut order);
    let (mut compared, mut differ) = (0, 0);
    let mut reasons: BTreeMap<Why, u64> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for number in order {
        if lab.stopped() {
            break;
        }
        let second = one(number as u64, &mut runner)?;
        compared += 1;
        // A trace with a false decision is no evidence; the decision itself is counted.
        if first[number].false_decisions + second.false_decisions > 0 {
            continue;
        }
        if let Some(reason) = why(&first[number], &second) {
            differ += 1;
            *reasons.entry(reason).or_default() += 1;
            if reason == Why::Unexplained {
                unexplained.push(number as u64);
            }
        }
    }
    drop(progress);
    let counts = runner.counts();
    let info = runner.info()?;
    Ok(Figures {
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        level,
        settle: runner.executor()?.settles_by(),
        realtime: runner.placed().realtime,
        cases: compared,
        begun: first.len() as u64,
        statements: counts.statements,
        waits: counts.waits,
        false_decisions: counts.false_decisions,
        differ,
        why: reasons,
        unexplained,
    })
}
