//! `isopod demo`: a bug planted in Isopod's own engine, and how Isopod says so. Nothing is installed, nothing is random.

use std::time::Duration;

use execute::{Options, Run};
use model::{Case, Level, Place, Product, Target, Verdict, Violation};
use oracles::{Answer, Oracle};
use reference::Bug;
use report::{Mark, Marks, Style, findings, timeline};

use crate::{
    arguments::How,
    errors::{Advised, colour},
    loading,
    output::say,
    targets,
};

/// Which bug.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod demo                    which bugs there are, and one of them
  isopod demo crash
  isopod hunt 'reference?plant=crash' --cases 2000      let a hunt find it")]
pub struct Args {
    /// Its name; without one all are listed and the first is shown
    #[arg(value_name = "BUG")]
    bug: Option<String>,
    #[command(flatten)]
    how: How,
}

/// A statement of the demo that says nothing for so long is hung: everything else there takes microseconds.
const HUNG_AFTER: Duration = Duration::from_millis(200);

/// The case is run so often.
const RUNS: u32 = 3;

/// The bug that is shown if none is named.
const FIRST: Bug = Bug::AbortedRead;

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let bug = match &args.bug {
        Some(name) => named(name)?,
        None => {
            list();
            FIRST
        }
    };
    show(bug, &args.how)?;
    Ok(0)
}

fn named(name: &str) -> anyhow::Result<Bug> {
    let found = Bug::ALL.iter().find(|bug| bug.name().eq_ignore_ascii_case(name)).copied();
    found.ok_or_else(|| {
        let error = reference::BadPlant::Bug(name.to_string());
        Advised { message: error.to_string(), advice: error.advice() }.into()
    })
}

fn list() {
    say!("Bugs that can be planted in the reference engine, Isopod's own:\n");
    let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or(0);
    for bug in Bug::ALL {
        say!("  {:width$}  {}", bug.name(), bug.sentence());
    }
    say!("\nisopod demo BUG shows one of them, such as this:\n");
}

fn text(bug: Bug) -> &'static str {
    match bug {
        Bug::Crash => include_str!("crash.iso"),
        Bug::Hang => include_str!("hang.iso"),
        Bug::InternalError => include_str!("internal-error.iso"),
        Bug::AbortedRead => include_str!("aborted-read.iso"),
        Bug::DuplicateUnique => include_str!("duplicate-unique.iso"),
    }
}

/// Runs the bug's case with it and without it.
fn show(bug: Bug, how: &How) -> anyhow::Result<()> {
    let case = loading::parse(&format!("{}.iso", bug.name()), text(bug))?;
    let level = case.sessions.first().and_then(|session| session.level).unwrap_or(Level::RepeatableRead);
    let planted = target(Some(bug));
    let (run, found) = runs(&planted, how, &case, level)?;
    let clean = target(None);
    let (_, silent) = runs(&clean, how, &case, level)?;
    let Some((oracle, violation)) = found.iter().flatten().next() else {
        anyhow::bail!("no oracle sees {}: that is a bug of Isopod's own", bug.name());
    };
    let seen = found.iter().flatten().count() as u32;
    if let Some((oracle, violation)) = silent.iter().flatten().next() {
        anyhow::bail!("{oracle} complains without a bug: {}", violation.story);
    }
    let style = Style { colour: colour(), ..Style::default() };
    let marks = Marks {
        name: format!("{} planted", bug.name()),
        steps: case.steps.iter().map(|_| Mark::Unspecified).collect(),
        ..Marks::default()
    };
    say!("{}", timeline(&case, &run.trace, &marks, &style));
    say!("{}", findings::story(&story(bug, &run, level, oracle, violation, seen), &style).trim_end());
    say!("\nPlanted: {}", bug.sentence());
    say!(
        "Without it the same case is run in silence. A hunt finds it too: isopod hunt '{planted}' --cases 2000"
    );
    Ok(())
}

fn target(bug: Option<Bug>) -> Target {
    let settings = bug.map(|bug| ("plant".to_string(), bug.name().to_string())).into_iter().collect();
    Target { product: Product::Reference, version: None, settings, place: Place::Cache }
}

/// What an oracle complained about, and which.
type Complaint = Option<(String, Violation)>;

/// Runs a case a few times: the last run, and what the oracles say of each.
fn runs(target: &Target, how: &How, case: &Case, level: Level) -> anyhow::Result<(Run, Vec<Complaint>)> {
    let options = Options { hung_after: HUNG_AFTER, label: true, ..Options::default() };
    let mut runner = targets::runner(target, how, options)?;
    let judges = oracles::all();
    let mut complaints = Vec::new();
    let mut last = None;
    for _ in 0..RUNS {
        let run = runner.run(case, level).map_err(|error| anyhow::anyhow!(error))?;
        complaints.push(complaint(&judges, case, &run));
        last = Some(run);
    }
    Ok((last.ok_or_else(|| anyhow::anyhow!("nothing was run"))?, complaints))
}

fn complaint(judges: &[Box<dyn Oracle>], case: &Case, run: &Run) -> Complaint {
    let seen = Answer { case: case.clone(), trace: run.trace.clone(), aftermath: Default::default() };
    judges.iter().find_map(|oracle| match oracles::judge(oracle.as_ref(), &seen) {
        Verdict::Violated(violation) => Some((oracle.name().to_string(), violation)),
        Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
    })
}

fn story(
    bug: Bug,
    run: &Run,
    level: Level,
    oracle: &str,
    violation: &Violation,
    seen: u32,
) -> findings::Story {
    findings::Story {
        known: None,
        id: bug.name().to_string(),
        server: run.trace.server.version_text.clone(),
        level: violation.fingerprint.level.unwrap_or(level).sql(),
        runs: [seen, RUNS],
        story: violation.story.clone(),
        rule: violation.fingerprint.rule.clone(),
        evidence: violation.evidence.clone(),
        oracle: oracle.to_string(),
        condition: String::new(),
        statements: run.trace.outcomes.len(),
        replay: format!("isopod demo {}", bug.name()),
    }
}
