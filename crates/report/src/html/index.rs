//! The page of a run: what was found, folded, and how it went.

use super::plots::{self, Chart};
use crate::{
    findings::{clock, share, thousands},
    run::{Group, Run},
};

/// At most so many other findings of a group are linked.
const OTHERS: usize = 12;

#[derive(askama::Template)]
#[template(path = "index.html")]
struct Page<'a> {
    title: String,
    foot: String,
    run: &'a Run,
    heading: String,
    targets: String,
    facts: [(String, &'static str); 6],
    rows: Vec<Row<'a>>,
    plots: plots::Section<'a>,
}

/// A group of findings.
struct Row<'a> {
    id: &'a str,
    new: bool,
    title: &'a str,
    name: String,
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

pub fn index(run: &Run) -> String {
    let cases = run.cases();
    let targets: Vec<String> = run
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
            run.isopod,
            run.seed,
            run.profile,
            run.oracles.join(", ")
        ),
        run,
        heading: heading(run),
        targets: targets.join(" · "),
        facts: [
            (thousands(cases), "cases"),
            (thousands(cases * 1000 / run.elapsed.max(1)), "cases in a second"),
            (clock(run.elapsed), "of hunting"),
            (share(run.sum(|hunted| hunted.conflicts), cases), "with a conflict"),
            (share(run.sum(|hunted| hunted.undecided), cases), "undecided"),
            (thousands(run.sum(|hunted| hunted.flaky)), "flaky suspicions"),
        ],
        rows: run.groups.iter().map(row).collect(),
        plots: plots::Section::new(run),
    })
}

fn heading(run: &Run) -> String {
    let new = run.groups.iter().filter(|group| group.known.is_none()).count();
    match (run.groups.len(), new) {
        (0, _) => "Nothing was found".to_string(),
        (1, 0) => "One finding, known already".to_string(),
        (1, _) => "One new finding".to_string(),
        (all, 0) => format!("{all} findings, all of them known"),
        (all, new) => format!("{all} findings, {new} of them new"),
    }
}

fn row(group: &Group) -> Row<'_> {
    let like = group.like.as_ref().map_or(String::new(), |name| format!("; behaves like {name}"));
    let levels: Vec<&str> = group.levels.keys().map(|level| level.short()).collect();
    let mut others: Vec<&str> =
        group.findings.iter().filter(|id| **id != group.id).map(String::as_str).collect();
    let kept = others.len();
    others.truncate(OTHERS);
    Row {
        id: &group.id,
        new: group.known.is_none(),
        title: &group.title,
        name: group.known.clone().unwrap_or_else(|| group.rule.clone() + &like),
        servers: group.servers.join(", "),
        ready: group
            .ready
            .as_ref()
            .filter(|list| list.known.is_none())
            .map(|list| (list.ready(), list.verdict())),
        kept,
        others,
        cut: kept > OTHERS,
        levels: levels.join(" "),
        first_at: clock(group.first_at),
        cases: thousands(group.cases),
        statements: group.statements,
    }
}
