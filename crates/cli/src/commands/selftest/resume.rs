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

use anyhow::Context;
use campaign::Folder;
use dialect::Runs;
use model::{Seed, Target, seed::Rng};
use serde::Serialize;

use crate::{
    arguments::{Where, count},
    interrupt,
    output::{plural, say},
    progress::Progress,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How many times the hunt is killed
    #[arg(long, default_value_t = 10, value_parser = count)]
    times: u64,
    /// How many cases it hunts for
    #[arg(long, default_value_t = 3000, value_parser = count)]
    cases: u64,
    /// How many workers it has
    #[arg(long, default_value_t = 2, value_parser = count)]
    workers: u64,
    /// Draws the cases and the moment of each kill
    #[arg(long, default_value = "150D-0000-0001")]
    seed: Seed,
    /// The counts, as JSON
    #[arg(long)]
    json: bool,
}

/// What one target came to.
#[derive(Serialize)]
struct Result {
    target: String,
    /// How often the hunt was killed, and in how many hunts.
    killed: u64,
    hunts: u64,
    cases: u64,
    /// Findings of the undisturbed hunt.
    findings: usize,
    /// Are findings compared? On a server they may depend on what it is free to choose.
    findings_compared: bool,
    /// What differs, a line each.
    differences: Vec<String>,
}

/// What a hunt has left behind.
struct Left {
    /// Cases done, by schema.
    cases: Vec<u64>,
    findings: BTreeSet<String>,
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut results = Vec::new();
    for target in &args.on.targets(None)? {
        if interrupt::asked() {
            break;
        }
        let folder = std::env::temp_dir().join(format!("isopod-resume-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let result = measure(args, target, &folder);
        let keep = !matches!(&result, Ok(result) if result.differences.is_empty());
        if keep {
            eprintln!("note: what the hunts left behind is in {}", folder.display());
        } else {
            let _ = fs::remove_dir_all(&folder);
        }
        let result = result?;
        if !args.json {
            show(&result);
        }
        results.push(result);
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&results)?);
    }
    let failed = results.iter().any(|result| !result.differences.is_empty());
    Ok(if interrupt::asked() { 2 } else { u8::from(failed) })
}

fn measure(args: &Args, target: &Target, folder: &Path) -> anyhow::Result<Result> {
    let mut progress = Progress::new(target.to_string(), args.times);
    let whole = folder.join("undisturbed");
    let begun = Instant::now();
    let mut hunt = begin(args, target, &whole)?;
    wait(&mut hunt, None)?;
    let usual = begun.elapsed();
    let expected = left(&whole)?;
    let mut rng = args.seed.rng("kills", 0);
    let mut result = Result {
        target: target.to_string(),
        killed: 0,
        hunts: 0,
        cases: expected.cases.iter().sum(),
        findings: expected.findings.len(),
        findings_compared: dialect::of(target.product).runs != Runs::Server,
        differences: Vec::new(),
    };
    if result.cases != args.cases {
        result.differences.push(format!("the undisturbed hunt did {} cases", result.cases));
    }
    // A hunt that ended before its kill is compared, and another one is begun for the kills that are left.
    while result.killed < args.times && !interrupt::asked() {
        result.hunts += 1;
        let path = folder.join(format!("killed-{}", result.hunts));
        let mut over = false;
        while !over && result.killed < args.times && !interrupt::asked() {
            let mut hunt = if path.exists() { resume(&path)? } else { begin(args, target, &path)? };
            over = wait(&mut hunt, Some(moment(&mut rng, usual, args.times)))?;
            result.killed += u64::from(!over);
            progress.reached(result.killed);
            // Killed before it had settings to go on with: then it has done nothing.
            if !over && !path.join("settings.json").exists() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        if !over {
            let mut hunt = if path.exists() { resume(&path)? } else { begin(args, target, &path)? };
            wait(&mut hunt, None)?;
        }
        compare(&mut result, &expected, &left(&path)?);
    }
    progress.end();
    Ok(result)
}

/// When to strike: short enough that a hunt is struck several times.
fn moment(rng: &mut Rng, usual: Duration, times: u64) -> Duration {
    let longest = usual.mul_f64(2.0 / times.min(8) as f64).max(Duration::from_millis(300));
    longest.mul_f64(rng.below(1000) as f64 / 1000.0)
}

fn begin(args: &Args, target: &Target, out: &Path) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("hunt").arg(target.to_string()).arg("--out").arg(out);
    command.args(["--cases", &args.cases.to_string(), "--seed", &args.seed.to_string()]);
    command.args(["--workers", &args.workers.to_string(), "--keep", "1000000", "--no-reduce"]);
    start(&mut command)
}

fn resume(path: &Path) -> anyhow::Result<Child> {
    start(Command::new(std::env::current_exe()?).arg("hunt").arg("--resume").arg(path))
}

fn start(command: &mut Command) -> anyhow::Result<Child> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("isopod hunt could not be started")
}

/// Waits until it ends, or kills it after a while. True if it ended by itself.
fn wait(hunt: &mut Child, kill: Option<Duration>) -> anyhow::Result<bool> {
    let begun = Instant::now();
    loop {
        if let Some(status) = hunt.try_wait()? {
            return match status.code() {
                Some(0 | 1) => Ok(true),
                _ => Err(anyhow::anyhow!("isopod hunt ended with {status}; try the same hunt by hand")),
            };
        }
        if kill.is_some_and(|kill| begun.elapsed() >= kill) {
            hunt.kill()?;
            hunt.wait()?;
            return Ok(false);
        }
        if interrupt::asked() {
            hunt.kill()?;
            hunt.wait()?;
            anyhow::bail!("interrupted");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn left(path: &Path) -> anyhow::Result<Left> {
    let (folder, _) = Folder::resume(path)?;
    let cases = folder.progress(0)?.iter().map(|tally| tally.cases).collect();
    let findings =
        folder.findings()?.into_iter().map(|filed| format!("case {} {}", filed.case, filed.id)).collect();
    Ok(Left { cases, findings })
}

fn compare(result: &mut Result, expected: &Left, found: &Left) {
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

fn show(result: &Result) {
    let hunts = plural(result.hunts, "hunt");
    say!(
        "{} · killed {} in {hunts} of {} each",
        result.target,
        plural(result.killed, "time"),
        plural(result.cases, "case")
    );
    let findings = plural(result.findings as u64, "finding");
    match (result.differences.is_empty(), result.findings_compared) {
        (true, true) => say!("  the same cases and the same {findings} as without a kill"),
        (true, false) => {
            say!("  the same cases as without a kill (findings depend on the server and are not compared)")
        }
        (false, _) => result.differences.iter().for_each(|line| say!("  {line}")),
    }
}
