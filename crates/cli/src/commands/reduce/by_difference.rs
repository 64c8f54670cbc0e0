//! What is kept is how two targets differ: the kind of the first statement that comes out differently, and in which way.

use campaign::{CleanRuns, CleanServer, symptoms::difference};
use execute::Reset;
use model::{Case, Level, Target};
use reduce::Scope;

use super::{Done, Search};
use crate::{
    errors::{self, Advised},
    targets,
};

pub fn smaller(
    search: &mut Search<'_>,
    (name, case): (&str, &Case),
    (server, target): (&mut CleanServer, &Target),
    other: &Target,
    level: Level,
) -> anyhow::Result<Done> {
    let how = &search.args.on.how;
    let other = targets::resolve(other)?;
    targets::check(name, case, &other, how)?;
    let mut second = targets::clean_server(&other, how)?;
    server.set_postchecks(false);
    second.set_postchecks(false);
    let failed = |error| errors::of_case(name, case, error);
    let one = server.run(case, level, Reset::Clean).map_err(failed)?;
    let two = second.run(case, level, Reset::Clean).map_err(failed)?;
    let product = target.product;
    let Some(wanted) = difference(product, case, &one.trace, &two.trace) else {
        anyhow::bail!(Advised::new(
            format!("{name} comes out the same on {} and on {}", target.bare(), other.bare()),
            ["what happened: isopod run CASE --target ONE --target OTHER"]
        ));
    };
    let mut holds = |case: &Case| {
        let one = server.rerun(case, level, Reset::Clean);
        let two = second.rerun(case, level, Reset::Clean);
        match (one, two) {
            (Some(one), Some(two)) => {
                difference(product, case, &one.trace, &two.trace).as_ref() == Some(&wanted)
            }
            (None, _) | (_, None) => false,
        }
    };
    let (case, tried, finished) = search.without_oracle(case, product, Scope::Whole, &mut holds)?;
    let oracle = format!("{} against {}", target.bare(), other.bare());
    Ok(Done { oracle, keeps: wanted, violation: None, case, tried, finished })
}
