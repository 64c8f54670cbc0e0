//! How good generated cases are: they are run and counted.
//!
//! All of them are run once from the fast reset and counted as a hunt counts them. A sample is also run in serial orders and
//! session by session, which tells whether a case truly conflicted and which statements would fail without anybody else.

use campaign::{Counter, Sample, quality::chances};
use execute::Reset;
use generate::{Generator, Profile};
use model::{Case, Chance, Level, Product, Quality, Seed, Target};
use serde::Serialize;

use crate::{Lab, LabError, run_numbered};

pub struct Plan<'a> {
    pub first: u64,
    pub cases: u64,
    pub seed: Seed,
    pub profile: &'a Profile,
    pub levels: &'a [Level],
    /// At most so many are compared with serial orders, and their sessions run alone.
    pub sample: u64,
}

/// What one target came to.
#[derive(Serialize)]
pub struct Stats {
    #[serde(skip)]
    pub product: Product,
    pub target: String,
    pub server: String,
    pub seed: String,
    pub profile: String,
    pub profile_hash: String,
    pub levels: Vec<Level>,
    pub quality: Quality,
    pub sample: Sample,
    pub chances: Vec<Chance>,
    /// Features that the product has and that did not occur.
    pub never: Vec<&'static str>,
}

pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>, target: &Target) -> crate::Result<Stats> {
    let &Plan { cases, profile, levels, .. } = plan;
    let mut runner = lab.runner(target, lab.options(Reset::Fast))?;
    let info = runner.info()?;
    let mut generator = Generator::with(plan.seed, target.product, &info.version, levels, profile.clone());
    let mut counter = Counter::default();
    let mut parsed = dialect::ParseCache::new(target.product);
    let mut sample = Sample::default();
    let mut progress = lab.job(target.to_string(), cases);
    // Spread over all schemas: a step that shares no factor with what a schema and a set hold.
    let every = (cases / plan.sample.max(1)).max(1);
    for number in plan.first..plan.first.saturating_add(cases) {
        if lab.stopped() {
            break;
        }
        let made = generator.case(number);
        let mut one =
            |case: &Case| Ok::<_, LabError>(run_numbered(&mut runner, number, case, levels[0])?.trace);
        let trace = one(&made.case)?;
        counter.add(&made, &parsed.case(made.case.clone()), &trace);
        if number % every == number / every % every && sample.cases < plan.sample {
            sample.add(number, &made.case, &trace, one)?;
        }
        progress.step();
    }
    drop(progress);
    let quality = counter.quality;
    Ok(Stats {
        product: target.product,
        target: target.to_string(),
        server: format!("{} {}", info.product, info.version),
        seed: plan.seed.to_string(),
        profile: profile.name.clone(),
        profile_hash: profile.hash(),
        chances: chances(&quality, target.product),
        never: never(&quality, target.product, &info.version),
        levels: levels.to_vec(),
        quality,
        sample,
    })
}

/// Features that the server can have, and that did not occur.
fn never(quality: &Quality, product: Product, version: &model::Version) -> Vec<&'static str> {
    let possible = generate::features::possible(&dialect::capabilities(product, version));
    possible.into_iter().filter(|name| !quality.features.contains_key(*name)).collect()
}
