//! One case on one version of a product after the other.

use execute::Reset;
use model::{Case, Level, Target, target::Settings};
use oracles::expectations::{CheckReport, check};

use super::changes::{AtLevel, Behaviour};
use crate::{CaseFailed, Job, Lab, LabError};

/// What is run, and how often on each version.
pub struct Plan<'a> {
    pub name: &'a str,
    pub case: &'a Case,
    pub levels: &'a [Level],
    pub repeat: u64,
}

/// What came of it, and the versions that could not be run.
pub struct Bisected {
    pub levels: Vec<AtLevel>,
    pub failed: Vec<(Target, LabError)>,
}

/// Runs the case on each version, oldest first, until the user asks to stop.
pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>, targets: &[Target]) -> Bisected {
    let mut progress = lab.job("", (targets.len() * plan.levels.len()) as u64 * plan.repeat);
    let mut found: Vec<Vec<Behaviour>> = plan.levels.iter().map(|_| Vec::new()).collect();
    let settings_differ = targets
        .windows(2)
        .any(|pair| pair[0].settings != pair[1].settings && pair[0].version == pair[1].version);
    let mut failed = Vec::new();
    for (i, target) in targets.iter().enumerate() {
        if lab.stopped() {
            break;
        }
        progress.reached((i * plan.levels.len()) as u64 * plan.repeat);
        progress.now(format!("{} of {}: {target}", i + 1, targets.len()));
        match version(lab, plan, target, &mut progress) {
            Ok(behaviours) => {
                for (all, mut behaviour) in found.iter_mut().zip(behaviours) {
                    if settings_differ {
                        let settings = target.settings.iter().map(|(name, value)| format!(" {name}={value}"));
                        behaviour.version.extend(settings);
                    }
                    all.push(behaviour);
                }
            }
            Err(error) => failed.push((target.clone(), error)),
        }
    }
    let levels = plan.levels.iter().zip(found);
    let levels = levels.map(|(&level, behaviours)| AtLevel::new(plan.case, level, behaviours)).collect();
    Bisected { levels, failed }
}

/// Runs the case on one version, at each level.
fn version(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    target: &Target,
    progress: &mut Job<'_>,
) -> crate::Result<Vec<Behaviour>> {
    let Plan { name, case, .. } = plan;
    let mut runner = lab.runner(target, lab.options(Reset::Clean))?;
    let mut behaviours = Vec::new();
    for &level in plan.levels {
        let mut first: Option<Behaviour> = None;
        for _ in 0..plan.repeat {
            if lab.stopped() {
                break;
            }
            let run = runner.run(case, level).map_err(|error| CaseFailed::boxed(*name, case, error))?;
            let trace = run.trace;
            let behaviour = first.get_or_insert_with(|| Behaviour {
                version: trace.server.version.to_string(),
                target: target.to_string(),
                status: words(case, &check(case, &trace)),
                runs: 0,
                alike: 0,
                trace: trace.clone(),
            });
            behaviour.count(&trace);
            progress.step();
        }
        behaviours.extend(first);
    }
    lab.notes(&runner);
    Ok(behaviours)
}

/// The settings as this version knows them: one that it does not have is left out if that is how it behaves anyway. Else an error that names it.
pub fn fitted(settings: &Settings, target: &Target) -> Result<Settings, String> {
    let dialect = dialect::of(target.product);
    let mut fitted = Settings::new();
    for (name, value) in settings {
        match target.version.as_ref().and_then(|version| dialect.lacks(version, name)) {
            None => {
                fitted.insert(name.clone(), value.clone());
            }
            Some(without) if without.eq_ignore_ascii_case(value) => {}
            Some(_) => return Err(format!("{name}={value}")),
        }
    }
    Ok(fitted)
}

fn words(case: &Case, report: &CheckReport) -> String {
    let known = report.known_as(case);
    match report.name() {
        "pass" => "as it should be".to_string(),
        "known-failure" => format!("fails as known ({})", known.join(", ")),
        "nothing-expected" => "the file expects nothing here".to_string(),
        "unexpected-pass" => "as it should be, but known to fail here".to_string(),
        "invalid" => "no evidence: an answer came after the server had been called settled".to_string(),
        "unexpected-failure" => "not as expected".to_string(),
        "other-failure" => "fails, but not as known".to_string(),
        other => other.to_string(),
    }
}
