//! `isopod bench strategies`: each way to make transactions collide against none, in the same number of cases.
//!
//! As Fucci's Figure 7 compares its strategies, but by what can be counted in minutes: cases that truly conflicted,
//! opportunities for each known family, and which kinds of statement met at which level. Several seeds, median and worst.

use campaign::{Counter, sample::truly_conflicts};
use execute::{Reset, Runner};
use generate::{Generator, Profile, Strategy};
use model::{Case, Level, Seed, Target};
use oracles::opportunities::{ALL, Opportunity, OpportunityKind};
use serde::Serialize;

use crate::{Job, Lab, LabError, run_numbered};

pub struct Plan<'a> {
    pub seeds: u64,
    /// For each strategy and seed.
    pub cases: u64,
    /// The first one; the others are derived from it.
    pub seed: Seed,
    /// Its strategies are weighed anew.
    pub profile: &'a Profile,
    pub levels: &'a [Level],
}

/// A figure over the seeds.
#[derive(Serialize)]
pub struct Figure {
    pub name: &'static str,
    pub median: u64,
    pub worst: u64,
}

impl Figure {
    fn of(name: &'static str, mut figures: Vec<u64>) -> Figure {
        figures.sort_unstable();
        Figure { name, median: figures[figures.len() / 2], worst: figures[0] }
    }
}

/// What a strategy came to.
#[derive(Serialize)]
pub struct StrategyFigures {
    pub strategy: &'static str,
    pub conflicting: Figure,
    /// Kinds of statement of two sessions that met at a table, with the level.
    pub pairs: Figure,
    pub families: Vec<Figure>,
}

#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub server: String,
    pub seeds: u64,
    pub cases: u64,
    pub lines: Vec<StrategyFigures>,
}

/// One strategy with one seed.
struct Counts {
    conflicting: u64,
    pairs: u64,
    families: Vec<u64>,
}

/// Measures a target; nothing if the user asked to stop.
pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>, target: &Target) -> crate::Result<Option<Figures>> {
    let levels = plan.levels;
    let mut runner = lab.runner(target, lab.options(Reset::Fast))?;
    let info = runner.info()?;
    let total = Strategy::all().len() as u64 * plan.seeds * plan.cases;
    let mut progress = lab.job(target.to_string(), total);
    let mut lines = Vec::new();
    for strategy in Strategy::all() {
        let mut runs: Vec<Counts> = Vec::new();
        for number in 0..plan.seeds {
            let seed = Seed(plan.seed.sub("strategies", number) >> 16);
            let profile = only(plan.profile, strategy);
            let mut generator = Generator::with(seed, target.product, &info.version, levels, profile);
            match count_one(lab, plan, target, &mut generator, &mut runner, &mut progress)? {
                Some(counts) => runs.push(counts),
                None => return Ok(None),
            }
        }
        lines.push(line(strategy, &runs));
    }
    drop(progress);
    let server = format!("{} {}", info.product, info.version);
    Ok(Some(Figures { target: target.to_string(), server, seeds: plan.seeds, cases: plan.cases, lines }))
}

/// The profile with this strategy alone. Few orders of each set, so that few cases are many sets.
fn only(profile: &Profile, strategy: Strategy) -> Profile {
    let mut profile = profile.clone();
    profile.strategies.values_mut().for_each(|weight| *weight = 0);
    profile.strategies.insert(strategy.name().to_string(), 1);
    profile.cases.orders_per_set = 2;
    profile.cases.sets_per_schema = 10;
    profile
}

fn count_one(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    target: &Target,
    generator: &mut Generator,
    runner: &mut Runner,
    progress: &mut Job<'_>,
) -> crate::Result<Option<Counts>> {
    let mut counter = Counter::default();
    let mut parsed = dialect::ParseCache::new(target.product);
    let mut conflicting = 0;
    for number in 0..plan.cases {
        if lab.stopped() {
            return Ok(None);
        }
        let made = generator.case(number);
        let mut one =
            |case: &Case| Ok::<_, LabError>(run_numbered(runner, number, case, plan.levels[0])?.trace);
        let trace = one(&made.case)?;
        counter.add(&made, &parsed.case(made.case.clone()), &trace);
        conflicting += u64::from(truly_conflicts(&made.case, &trace, one)?);
        progress.step();
    }
    let quality = counter.quality;
    // Only at the levels at which the family can exist.
    let could = |one: &Opportunity| {
        let levels = (one.exists)(target.product).iter();
        levels.map(|&level| quality.could_show(one.name, level)).sum()
    };
    let families = ALL.iter().filter(|o| o.sort == OpportunityKind::Family).map(could).collect();
    Ok(Some(Counts { conflicting, pairs: quality.meetings.len() as u64, families }))
}

fn line(strategy: Strategy, runs: &[Counts]) -> StrategyFigures {
    let families = ALL.iter().filter(|o| o.sort == OpportunityKind::Family).enumerate();
    StrategyFigures {
        strategy: strategy.name(),
        conflicting: Figure::of("conflicting", runs.iter().map(|run| run.conflicting).collect()),
        pairs: Figure::of("pairs", runs.iter().map(|run| run.pairs).collect()),
        families: families
            .map(|(at, family)| Figure::of(family.name, runs.iter().map(|run| run.families[at]).collect()))
            .collect(),
    }
}
