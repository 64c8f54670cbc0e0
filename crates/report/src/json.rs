//! The findings of a run as JSON, for other programs. The keys are stable: more may come, none goes or changes its meaning
//! without another `format`. `docs/report.md` lists them.

use model::{Account, FindingGroup, Level, Product, Seed, ShownBy, Symptom, Tally, Target, Version};
use serde::Serialize;

use crate::{
    BugReport, Overview,
    compare::{self, Side},
    ready::Checklist,
    scripts::{self, Script, Withheld},
};

pub const FORMAT: u32 = 2;

#[derive(Serialize)]
struct File<'a> {
    format: u32,
    isopod: &'a str,
    run: &'a str,
    date: &'a str,
    hunt: &'a str,
    seed: Seed,
    elapsed_ms: u64,
    cases: u64,
    targets: Vec<TargetEntry<'a>>,
    groups: Vec<GroupEntry<'a>>,
    findings: Vec<BugEntry<'a>>,
}

#[derive(Serialize)]
struct TargetEntry<'a> {
    target: &'a Target,
    version: Option<&'a str>,
    #[serde(flatten)]
    tally: Tally,
}

#[derive(Serialize)]
struct GroupEntry<'a> {
    #[serde(flatten)]
    group: &'a FindingGroup,
    title: &'a str,
    rule: String,
}

#[derive(Serialize)]
struct BugEntry<'a> {
    id: &'a str,
    known: Option<&'a str>,
    title: String,
    target: Target,
    server: ServerEntry<'a>,
    level: Level,
    oracle: &'a str,
    kind: Symptom,
    rule: String,
    statement: ShownBy,
    step: Option<usize>,
    story: String,
    expected: Option<&'a Side>,
    actual: &'a Side,
    evidence: Vec<String>,
    condition: &'static str,
    runs: Runs,
    statements: usize,
    reduced_from: Option<usize>,
    found_after_ms: u64,
    seed: Seed,
    case: u64,
    replay: &'a str,
    ready: Option<ReadyEntry<'a>>,
    versions: Option<&'a Account>,
    files: Vec<&'a str>,
    /// Why scripts are missing among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<String>,
}

#[derive(Serialize)]
struct ServerEntry<'a> {
    product: Product,
    version: &'a Version,
    text: &'a str,
}

#[derive(Serialize)]
struct Runs {
    showed: u32,
    of: u32,
}

#[derive(Serialize)]
struct ReadyEntry<'a> {
    ready: bool,
    #[serde(flatten)]
    list: &'a Checklist,
}

/// The file. Each finding comes with the names of the files beside its page.
pub fn json(run: &Overview, bugs: &[(&BugReport, &[Script])]) -> String {
    let compared: Vec<compare::Compared> = bugs.iter().map(|(bug, _)| compare::of(bug)).collect();
    let targets = run.summary.targets.iter().map(|hunted| TargetEntry {
        target: &hunted.target,
        version: hunted.version.as_deref(),
        tally: hunted.tally,
    });
    let groups = run.groups.iter().map(|listed| GroupEntry {
        group: &listed.group,
        title: &listed.title,
        rule: listed.group.smallest.violation.fingerprint.label(),
    });
    let bugs = bugs.iter().zip(&compared).map(|((bug, files), compared)| entry(bug, files, compared));
    let file = File {
        format: FORMAT,
        isopod: &run.summary.isopod,
        run: &run.name,
        date: &run.date,
        hunt: &run.hunt,
        seed: run.summary.seed,
        elapsed_ms: run.summary.elapsed_ms,
        cases: run.cases(),
        targets: targets.collect(),
        groups: groups.collect(),
        findings: bugs.collect(),
    };
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

fn entry<'a>(bug: &'a BugReport, files: &'a [Script], compared: &'a compare::Compared) -> BugEntry<'a> {
    let (finding, server) = (&bug.finding, bug.server());
    let (print, [showed, of]) = (&finding.violation.fingerprint, finding.runs);
    BugEntry {
        id: &finding.id,
        known: finding.known.as_deref(),
        title: bug.title(),
        target: finding.effective_target(),
        server: ServerEntry { product: server.product, version: &server.version, text: &server.version_text },
        level: finding.shown_at(),
        oracle: &finding.oracle,
        kind: print.symptom,
        rule: print.label(),
        statement: print.statement,
        step: finding.violation.step.map(|step| step + 1),
        story: bug.words().story(),
        expected: compared.expected.as_ref(),
        actual: &compared.actual,
        evidence: bug.words().lines(),
        condition: finding.condition.words(),
        runs: Runs { showed, of },
        statements: finding.statements,
        reduced_from: finding.reduced_from,
        found_after_ms: finding.found_after_ms,
        seed: finding.seed,
        case: finding.case,
        replay: &bug.replay,
        ready: bug.ready.as_ref().map(|list| ReadyEntry { ready: list.ready(), list }),
        versions: bug.account.as_ref().ok(),
        files: files.iter().map(|file| file.name.as_str()).collect(),
        withheld: scripts::withheld(bug).iter().map(Withheld::to_string).collect(),
    }
}
