//! The page of a run: what was found, folded, and how it went.

use super::plots::{self, Chart};
use crate::{
    findings::{clock, share, thousands},
    overview::{ListedGroup, Overview},
    trackers::{self, Part},
};

/// At most so many other findings of a group are linked.
const OTHERS: usize = 12;

#[derive(askama::Template)]
#[template(path = "index.html")]
struct Page<'a> {
    title: String,
    foot: String,
    run: &'a Overview,
    heading: String,
    targets: String,
    facts: [(String, &'static str); 6],
    rows: Vec<GroupRow<'a>>,
    plots: plots::Section<'a>,
}

/// A group of findings.
struct GroupRow<'a> {
    id: &'a str,
    new: bool,
    title: &'a str,
    name: Vec<Part>,
    servers: String,
    /// Is it ready to be filed, and in words? None for what is known, or was not checked.
    ready: Option<(bool, String)>,
    /// How many findings are kept beside this one, the first of them, and whether these are not all.
    kept: usize,
    others: Vec<&'a str>,
    cut: bool,
    levels: String,
    first_at: String,
    cases: String,
    statements: usize,
}

pub fn index(run: &Overview) -> String {
    let cases = run.cases();
    let targets: Vec<String> = run
        .summary
        .targets
        .iter()
        .map(|hunted| match &hunted.version {
            Some(version) => format!("{} ({version})", hunted.target),
            None => format!("{} (never came up)", hunted.target),
        })
        .collect();
    super::render(Page {
        title: format!("isopod: {}", run.name),
        foot: format!(
            "isopod {} · seed {} · profile {} · oracles: {}",
            run.summary.isopod,
            run.summary.seed,
            run.summary.profile,
            run.summary.oracles.join(", ")
        ),
        run,
        heading: heading(run),
        targets: targets.join(" · "),
        facts: [
            (thousands(cases), "cases"),
            (thousands(cases * 1000 / run.summary.elapsed_ms.max(1)), "cases in a second"),
            (clock(run.summary.elapsed_ms), "of hunting"),
            (share(run.sum(|tally| tally.conflicts), cases), "with a conflict"),
            (share(run.sum(|tally| tally.undecided), cases), "undecided"),
            (thousands(run.sum(|tally| tally.flaky)), "flaky suspicions"),
        ],
        rows: run.groups.iter().map(row).collect(),
        plots: plots::Section::new(run),
    })
}

fn heading(run: &Overview) -> String {
    let new = run.groups.iter().filter(|listed| listed.group.is_new()).count();
    match (run.groups.len(), new) {
        (0, _) => "Nothing was found".to_string(),
        (1, 0) => "One group of findings, known already".to_string(),
        (1, _) => "One new group of findings".to_string(),
        (all, 0) => format!("{all} groups of findings, all of them known"),
        (all, new) => format!("{all} groups of findings, {new} of them new"),
    }
}

fn row(listed: &ListedGroup) -> GroupRow<'_> {
    let group = &listed.group;
    let mut more = group.resembles.as_ref().map_or(String::new(), |name| format!("; behaves like {name}"));
    more += &group.gone_in.as_ref().map_or(String::new(), |version| format!("; gone in {version}"));
    let fresh =
        group.not_reproduced().map_or(String::new(), |on| format!("; not reproduced on {}", on.words()));
    let label = group.smallest.violation.fingerprint.label();
    let name = group.known.clone().unwrap_or(label + &more) + &fresh;
    let levels: Vec<&str> = group.levels.keys().map(|level| level.short()).collect();
    let mut others: Vec<&str> =
        group.findings.iter().filter(|id| **id != group.id).map(String::as_str).collect();
    let kept = others.len();
    let servers: Vec<&str> = group.servers.iter().map(String::as_str).collect();
    others.truncate(OTHERS);
    GroupRow {
        id: &group.id,
        new: group.is_new(),
        title: &listed.title,
        name: trackers::parts(&name),
        servers: servers.join(", "),
        ready: listed
            .ready
            .as_ref()
            .filter(|list| list.known.is_none())
            .map(|list| (list.ready(), list.verdict())),
        kept,
        others,
        cut: kept > OTHERS,
        levels: levels.join(" "),
        first_at: clock(group.found_after_ms),
        cases: thousands(group.cases),
        statements: group.smallest.statements,
    }
}
