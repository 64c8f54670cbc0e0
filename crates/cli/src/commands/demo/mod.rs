//! `isopod demo`: a bug planted in Isopod's own engine, and how Isopod says so. Nothing is installed, nothing is random.

use std::time::Duration;

use campaign::Panel;
use dialect::Execution;
use execute::Options;
use model::{Case, JudgeOverrides, Level, Target, Violation, shell};
use oracles::expectations::{CheckReport, StepCheck, check};
use reference::Bug;
use report::findings::{self, What};

use crate::{
    arguments::How,
    errors::{Advised, style},
    judged, loading,
    output::say,
    targets,
};

/// Which bug.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  isopod demo                    which bugs there are, and one of them
  isopod demo lost-update
  isopod demo --list             which bugs there are
  isopod hunt 'reference?plant=crash' --cases 2000      let a hunt find it")]
pub struct Args {
    /// Its name; without one all are listed and the first is shown
    #[arg(value_name = "BUG")]
    bug: Option<String>,
    /// Only list the bugs
    #[arg(long, conflicts_with = "bug")]
    list: bool,
    #[command(flatten)]
    how: How,
}

/// A statement of the demo that says nothing for so long is hung: everything else there takes microseconds.
const HUNG_AFTER: Duration = Duration::from_millis(200);

/// The case is run so often.
const RUNS: u32 = 3;

/// The bug that is shown if none is named.
const FIRST: Bug = Bug::AbortedRead;

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let bug = match &args.bug {
        Some(name) => named(name)?,
        None => {
            list();
            if args.list {
                return Ok(0);
            }
            say!("\nisopod demo BUG shows one of them, such as this:\n");
            FIRST
        }
    };
    show(bug, &args.how)?;
    Ok(0)
}

/// The bug of this name.
pub fn named(name: &str) -> anyhow::Result<Bug> {
    let found = Bug::ALL.iter().find(|bug| bug.name().eq_ignore_ascii_case(name)).copied();
    found.ok_or_else(|| {
        let error = reference::BadPlant::Bug(name.to_string());
        Advised::new(error.to_string(), error.advice()).into()
    })
}

fn list() {
    say!("Bugs that can be planted in the reference engine, Isopod's own:\n");
    let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or(0);
    for bug in Bug::ALL {
        say!("  {:width$}  {}", bug.name(), bug.sentence());
    }
}

/// Runs the bug's case with it and without it.
fn show(bug: Bug, how: &How) -> anyhow::Result<()> {
    let mut case = loading::parse(&format!("{}.iso", bug.name()), bug.case())?;
    // It knows what goes wrong; here it is to be a surprise.
    case.fails.clear();
    let level = case.sessions.first().and_then(|session| session.level).unwrap_or(Level::RepeatableRead);
    let planted = reference::target(Some(bug));
    let (run, found) = runs(&planted, how, &case, level)?;
    let (silent_run, silent) = runs(&reference::target(None), how, &case, level)?;
    if let Some((oracle, violation)) = silent.iter().flatten().next() {
        anyhow::bail!(
            "{oracle} complains without a bug: {}",
            judged::words(violation, planted.product).story()
        );
    }
    let report = check(&case, &run.trace);
    if report.should.holds() || !check(&case, &silent_run.trace).should.holds() {
        anyhow::bail!("{} does not show in its own case: that is a bug of Isopod's own", bug.name());
    }
    let by_oracle = found.iter().flatten().next();
    let (what, oracle, level, showed) = match by_oracle {
        Some((oracle, violation)) => {
            let what = What::of(&judged::words(violation, planted.product));
            let level = violation.fingerprint.level.unwrap_or(level);
            (what, oracle.as_str(), level, found.iter().flatten().count() as u32)
        }
        // That needs no oracle.
        None => (missed(&case, &report, level), "the expectations of the case", level, RUNS),
    };
    let story = findings::Story {
        known: None,
        id: bug.name().to_string(),
        server: run.trace.server.version_text.clone(),
        level: level.sql(),
        runs: [showed, RUNS],
        what,
        oracle: oracle.to_string(),
        condition: String::new(),
        statements: run.trace.outcomes.len(),
        reduced_from: None,
        replay: shell::command(["isopod", "demo", bug.name()]),
    };
    say!("{}", judged::timeline(&case, &run.trace, &report, &[], &format!("{} planted", bug.name())));
    say!("{}", findings::story(&story, &style()).trim_end());
    say!("\nPlanted: {}", bug.sentence());
    if !case.links.is_empty() {
        say!("Real servers have had it: {}.", case.links.join(", "));
    }
    let hunts = match by_oracle {
        Some(_) => {
            let hunt = ["isopod", "hunt", &planted.to_string(), "--cases", "20000"];
            format!(" A hunt finds it too: {}", shell::command(hunt))
        }
        None => String::new(),
    };
    say!("Without it the same case comes out as expected.{hunts}");
    Ok(())
}

/// What came otherwise than the case says.
fn missed(case: &Case, report: &CheckReport, level: Level) -> What {
    let steps = report.should.steps.iter().enumerate().filter_map(|(i, finding)| {
        let name = &case.sessions[case.steps[i].session].name;
        let (got, expected) = differs(finding)?;
        Some(format!("{name}'s step {} gave {got}, and should give {expected}.", i + 1))
    });
    let tables = report.should.tables.iter().filter_map(|(table, finding)| {
        let (got, expected) = differs(finding)?;
        Some(format!("Table {table} ends as {got}, and should end as {expected}."))
    });
    let mut said = steps.chain(tables);
    What {
        story: said.next().unwrap_or_default(),
        rule: format!("as the case says for {}", level.sql()),
        evidence: said.next().unwrap_or_default(),
    }
}

fn differs(finding: &StepCheck) -> Option<(&str, String)> {
    match finding {
        StepCheck::Missed { expected, got } => Some((got, expected.to_string())),
        StepCheck::Met | StepCheck::Unspecified => None,
    }
}

/// What an oracle complained about, and which.
type Complaint = Option<(String, Violation)>;

/// Runs a case a few times: the last run, and what the oracles say of each.
fn runs(
    target: &Target,
    how: &How,
    case: &Case,
    level: Level,
) -> anyhow::Result<(Execution, Vec<Complaint>)> {
    let options = Options { hung_after: HUNG_AFTER, label: true, ..Options::default() };
    let mut runner = targets::runner(target, how, options)?;
    let panel = Panel::new(oracles::without_server(), JudgeOverrides::default());
    let (mut complaints, mut last) = (Vec::new(), None);
    for _ in 0..RUNS {
        let run = runner.run(case, level).map_err(|error| anyhow::anyhow!(error))?;
        let first = panel.violations_of_stored(&run).next();
        complaints.push(first.map(|(judge, violation)| (judge.oracle.name().to_string(), violation)));
        last = Some(run);
    }
    Ok((last.ok_or_else(|| anyhow::anyhow!("nothing was run"))?, complaints))
}
