//! `isopod selftest mutation`: traces that an oracle accepted are made wrong in one place each and shown to it again. What share of
//! them does it notice, and what let the others through?
//!
//! The traces are run for this, or are those that a hunt has kept.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    path::PathBuf,
};

use campaign::{
    mutate::{Mutant, Mutation},
    record::traces::{self, TraceReader},
};
use dialect::Execution;
use execute::Reset;
use generate::{Generator, Profile};
use model::{Level, Seed, Target, Verdict, verdict::Justification};
use oracles::Oracle;
use serde::Serialize;

use crate::{Lab, run_numbered};

/// What is changed, and who must notice.
pub struct Plan<'a> {
    /// At most, run or read.
    pub cases: Option<u64>,
    /// Stop when so many were accepted.
    pub accepted: Option<u64>,
    /// Where the cases and the mutations come from.
    pub seed: Seed,
    /// Who judges; the caller has checked the name.
    pub oracle: &'a str,
    /// At most so many of each mutation that went through are given as examples.
    pub examples: usize,
}

/// In percent.
pub const WANTED: u64 = 95;

/// So many cases are run if nobody says otherwise.
const CASES: u64 = 2000;

/// What came of one kind of mutation.
#[derive(Default, Serialize)]
pub struct Counted {
    pub mutants: u64,
    /// Called violated, or suspected to lack a lock.
    pub flagged: u64,
    /// Of these, only suspected: further runs would have to show the damage.
    pub suspected: u64,
    /// What let the others through: exemptions that the true trace did not need, reasons for being undecided, or nothing.
    pub through: BTreeMap<String, u64>,
    /// Some of these: the number of the case, and what was changed.
    pub examples: Vec<String>,
}

#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub oracle: String,
    pub cases: u64,
    /// Cases that the oracle accepted.
    pub accepted: u64,
    pub mutants: u64,
    pub flagged: u64,
    pub mutations: BTreeMap<&'static str, Counted>,
}

/// Traces of cases that are run for this.
pub fn measure(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    target: &Target,
    profile: Profile,
    levels: &[Level],
) -> crate::Result<Figures> {
    let mut runner = lab.runner(target, lab.options(Reset::Fast))?;
    let info = runner.info()?;
    let mut generator = Generator::with(plan.seed, info.product, &info.version, levels, profile);
    let server = format!("{} {}", info.product, info.version);
    let mut test = Test::new(plan, target.to_string(), server)?;
    let cases = plan.cases.unwrap_or(CASES);
    let mut progress = lab.job(target.to_string(), cases);
    for number in 0..cases {
        if lab.stopped() || test.enough() {
            break;
        }
        let run = run_numbered(&mut runner, number, &generator.case(number).case, levels[0])?;
        progress.step();
        test.take(number, run);
    }
    drop(progress);
    Ok(test.result())
}

/// Traces that were kept, each server apart.
pub fn read(lab: &Lab<'_>, plan: &Plan<'_>, files: &[PathBuf]) -> crate::Result<Vec<Figures>> {
    let mut tests: BTreeMap<String, Test<'_>> = BTreeMap::new();
    for path in files {
        for file in traces::files(path)? {
            for kept in TraceReader::open(&file)? {
                let (number, execution) = kept?;
                let server = &execution.trace.server;
                let name = format!("{} {}", server.product, server.version);
                let test = match tests.entry(name) {
                    Entry::Occupied(found) => found.into_mut(),
                    Entry::Vacant(new) => {
                        let name = new.key().clone();
                        new.insert(Test::new(plan, "kept traces".to_string(), name)?)
                    }
                };
                let cases = plan.cases.unwrap_or(u64::MAX);
                if lab.stopped() || test.enough() || test.result.cases >= cases {
                    break;
                }
                test.take(number, execution);
            }
        }
    }
    Ok(tests.into_values().map(Test::result).collect())
}

/// The traces of one server, one after the other.
struct Test<'a> {
    plan: &'a Plan<'a>,
    oracle: Box<dyn Oracle>,
    result: Figures,
}

impl<'a> Test<'a> {
    fn new(plan: &'a Plan<'a>, target: String, server: String) -> crate::Result<Test<'a>> {
        let oracle = crate::oracle(plan.oracle)?;
        let result = Figures {
            target,
            server,
            oracle: plan.oracle.to_string(),
            cases: 0,
            accepted: 0,
            mutants: 0,
            flagged: 0,
            mutations: BTreeMap::new(),
        };
        Ok(Test { plan, oracle, result })
    }

    /// Were as many accepted as are wanted?
    fn enough(&self) -> bool {
        self.plan.accepted.is_some_and(|accepted| self.result.accepted >= accepted)
    }

    /// Changes a trace in every way, if it is accepted.
    fn take(&mut self, number: u64, run: Execution) {
        // What was seen beside the trace says nothing about a trace that was changed.
        let seen = Execution { aftermath: Default::default(), ..run };
        self.result.cases += 1;
        if !campaign::panel::admissible(&seen) {
            return;
        }
        let Verdict::Holds { by } = oracles::judge(self.oracle.as_ref(), &seen) else { return };
        self.result.accepted += 1;
        for mutation in Mutation::ALL {
            let mut rng = self.plan.seed.rng(mutation.name(), number);
            if let Some(mutant) = mutation.of(&seen.case, &seen.trace, &mut rng) {
                self.judge(number, &seen, &by, mutant);
            }
        }
    }

    fn judge(&mut self, number: u64, seen: &Execution, before: &BTreeSet<Justification>, mutant: Mutant) {
        let shown = seen.with_trace(mutant.trace);
        let counted = self.result.mutations.entry(mutant.name).or_default();
        counted.mutants += 1;
        let through = match oracles::judge(self.oracle.as_ref(), &shown) {
            Verdict::Violated(_) => {
                counted.flagged += 1;
                return;
            }
            verdict @ Verdict::Undecided { .. } if oracles::mvcc::suspects(&verdict) => {
                counted.flagged += 1;
                counted.suspected += 1;
                return;
            }
            Verdict::Undecided { reason } => vec![format!("undecided: {reason}")],
            Verdict::Holds { by } => {
                let new: Vec<String> = by.difference(before).map(ToString::to_string).collect();
                if new.is_empty() { vec!["holds as before".to_string()] } else { new }
            }
        };
        if counted.examples.len() < self.plan.examples {
            let step = mutant.step.map(|step| &seen.case.steps[step]);
            let level =
                step.and_then(|step| seen.case.sessions[step.session].level).unwrap_or(seen.trace.level);
            let sql = step.map_or(String::new(), |step| format!(" · {level}: {}", step.sql));
            counted.examples.push(format!("case {number} · {} · {}{sql}", mutant.what, through.join(", ")));
        }
        through.into_iter().for_each(|name| *counted.through.entry(name).or_default() += 1);
    }

    fn result(mut self) -> Figures {
        let all = || self.result.mutations.values();
        (self.result.mutants, self.result.flagged) =
            (all().map(|counted| counted.mutants).sum(), all().map(|counted| counted.flagged).sum());
        self.result
    }
}
