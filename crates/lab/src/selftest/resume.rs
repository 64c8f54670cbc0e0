//! `isopod selftest resume`: `isopod hunt` is killed at random moments and resumed each time. In the end it must have done what an
//! undisturbed hunt did: the same cases, each once, and the same findings.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use campaign::{RunReader, record::Recorded};
use dialect::Hosting;
use model::{Seed, Target, seed::Rng};
use serde::Serialize;

use crate::Lab;

/// What is hunted and killed.
pub struct Plan<'a> {
    /// How many times the hunt is killed.
    pub times: u64,
    pub cases: u64,
    pub workers: u64,
    /// Draws the cases and the moment of each kill.
    pub seed: Seed,
    /// Isopod's own binary.
    pub exe: &'a Path,
    /// Where the hunts write; who made it removes it.
    pub folder: &'a Path,
}

/// What one target came to.
#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    /// How often the hunt was killed, and in how many hunts.
    pub killed: u64,
    pub hunts: u64,
    pub cases: u64,
    /// Findings of the undisturbed hunt.
    pub findings: usize,
    /// Are findings compared? On a server they may depend on what it is free to choose.
    pub findings_compared: bool,
    /// What differs, a line each.
    pub differences: Vec<String>,
}

/// What a hunt has left behind.
struct Left {
    /// Cases done, by schema.
    cases: Vec<u64>,
    findings: BTreeSet<String>,
}

pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>, target: &Target) -> crate::Result<Figures> {
    let folder = plan.folder;
    let mut progress = lab.job(target.to_string(), plan.times);
    let whole = folder.join("undisturbed");
    let begun = Instant::now();
    let mut hunt = begin(plan, target, &whole)?;
    wait(lab, &mut hunt, None)?;
    let usual = begun.elapsed();
    let expected = left(&whole)?;
    let mut rng = plan.seed.rng("kills", 0);
    let mut result = Figures {
        target: target.to_string(),
        killed: 0,
        hunts: 0,
        cases: expected.cases.iter().sum(),
        findings: expected.findings.len(),
        findings_compared: dialect::of(target.product).runs != Hosting::Server,
        differences: Vec::new(),
    };
    if result.cases != plan.cases {
        result.differences.push(format!("the undisturbed hunt did {} cases", result.cases));
    }
    // A hunt that ended before its kill is compared, and another one is begun for the kills that are left.
    while result.killed < plan.times && !lab.stopped() {
        result.hunts += 1;
        let path = folder.join(format!("killed-{}", result.hunts));
        let mut over = false;
        while !over && result.killed < plan.times && !lab.stopped() {
            let mut hunt = if path.exists() { resume(plan, &path)? } else { begin(plan, target, &path)? };
            over = wait(lab, &mut hunt, Some(moment(&mut rng, usual, plan.times)))?;
            result.killed += u64::from(!over);
            progress.reached(result.killed);
            // Killed before it had settings to go on with: then it has done nothing.
            if !over && !path.join("settings.json").exists() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        if !over {
            let mut hunt = if path.exists() { resume(plan, &path)? } else { begin(plan, target, &path)? };
            wait(lab, &mut hunt, None)?;
        }
        compare(&mut result, &expected, &left(&path)?);
    }
    drop(progress);
    Ok(result)
}

/// When to strike: short enough that a hunt is struck several times.
fn moment(rng: &mut Rng, usual: Duration, times: u64) -> Duration {
    let longest = usual.mul_f64(2.0 / times.min(8) as f64).max(Duration::from_millis(300));
    longest.mul_f64(rng.below(1000) as f64 / 1000.0)
}

fn begin(plan: &Plan<'_>, target: &Target, out: &Path) -> crate::Result<Child> {
    let mut command = Command::new(plan.exe);
    command.arg("hunt").arg(target.to_string()).arg("--out").arg(out);
    command.args(["--cases", &plan.cases.to_string(), "--seed", &plan.seed.to_string()]);
    command.args(["--workers", &plan.workers.to_string(), "--keep", "1000000", "--no-reduce"]);
    start(&mut command)
}

fn resume(plan: &Plan<'_>, path: &Path) -> crate::Result<Child> {
    start(Command::new(plan.exe).arg("hunt").arg("--resume").arg(path))
}

fn start(command: &mut Command) -> crate::Result<Child> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("isopod hunt could not be started: {error}").into())
}

/// Waits until it ends, or kills it after a while. True if it ended by itself.
fn wait(lab: &Lab<'_>, hunt: &mut Child, kill: Option<Duration>) -> crate::Result<bool> {
    let begun = Instant::now();
    loop {
        if let Some(status) = hunt.try_wait()? {
            return match status.code() {
                Some(0 | 1) => Ok(true),
                _ => Err(format!("isopod hunt ended with {status}; try the same hunt by hand").into()),
            };
        }
        if kill.is_some_and(|kill| begun.elapsed() >= kill) {
            hunt.kill()?;
            hunt.wait()?;
            return Ok(false);
        }
        if lab.stopped() {
            hunt.kill()?;
            hunt.wait()?;
            return Err("interrupted".into());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn left(path: &Path) -> crate::Result<Left> {
    let run = RunReader::read(path)?;
    let cases = run.progress[0].iter().map(|tally| tally.cases).collect();
    let name = |recorded: &Recorded| format!("case {} {}", recorded.finding.case, recorded.finding.id);
    let findings = run.findings.iter().map(name).collect();
    Ok(Left { cases, findings })
}

fn compare(result: &mut Figures, expected: &Left, found: &Left) {
    let hunt = result.hunts;
    if expected.cases != found.cases {
        let numbers = |cases: &[u64]| cases.iter().sum::<u64>();
        result.differences.push(format!(
            "hunt {hunt}: {} cases done, {} when undisturbed, or other ones",
            numbers(&found.cases),
            numbers(&expected.cases)
        ));
    }
    if result.findings_compared {
        let missing =
            expected.findings.difference(&found.findings).map(|name| format!("hunt {hunt}: lost {name}"));
        let more =
            found.findings.difference(&expected.findings).map(|name| format!("hunt {hunt}: more {name}"));
        let all: Vec<String> = missing.chain(more).take(10).collect();
        result.differences.extend(all);
    }
}
