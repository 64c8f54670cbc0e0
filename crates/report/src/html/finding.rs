//! The page of one finding.

use super::{chains, compared, ready, timeline};
use crate::{
    bug_report::BugReport,
    compare::{self, Side},
    scripts::{self, Script, Withheld, ended},
    text,
    trackers::{self, Part},
};

#[derive(askama::Template)]
#[template(path = "finding.html")]
struct Page<'a> {
    title: String,
    foot: String,
    bug: &'a BugReport,
    story: String,
    /// The name under which it is known, with the addresses of its reports.
    known: Vec<Part>,
    runs: String,
    setup: String,
    compared: compared::Section<'a>,
    timeline: timeline::Section,
    chains: chains::Section<'a>,
    why: Vec<Vec<Part>>,
    background: Vec<String>,
    graph: Option<String>,
    log: String,
    flags: String,
    ready: Option<ready::Section<'a>>,
    files: &'a [Script],
    withheld: Vec<Withheld>,
}

/// The page. `files` are those that stand beside it: the case file first, the Markdown, the scripts.
pub fn finding(bug: &BugReport, files: &[Script]) -> String {
    let compared = compare::of(bug);
    let [showed, all] = bug.finding.runs;
    let setup: Vec<String> = bug.execution.case.setup.statements.iter().map(|sql| ended(sql)).collect();
    let log: Vec<&str> = bug.execution.aftermath.log.iter().take(200).map(String::as_str).collect();
    super::render(Page {
        title: bug.title(),
        foot: foot(bug),
        bug,
        story: text::clean(&bug.words().story()),
        known: bug.finding.known.as_deref().map(trackers::parts).unwrap_or_default(),
        runs: format!("{showed} of {all} runs"),
        setup: setup.join("\n"),
        compared: compared::Section::new(bug, &compared),
        timeline: timeline::Section::new(bug),
        chains: chains::Section::new(bug),
        why: bug.why().iter().map(|line| trackers::parts(&text::clean(line))).collect(),
        graph: bug.words().graph(),
        background: bug.background().into_iter().take(60).collect(),
        log: log.join("\n"),
        flags: bug.flags().join("\n"),
        ready: bug.ready.as_ref().map(|list| ready::Section::new(bug, list)),
        files,
        withheld: scripts::withheld(bug),
    })
}

fn foot(bug: &BugReport) -> String {
    let mut parts = vec![format!("isopod {}", bug.isopod), bug.finding.effective_target().to_string()];
    parts.extend((!bug.date.is_empty()).then(|| bug.date.clone()));
    parts.push(format!("seed {}, case {}", bug.finding.seed, bug.finding.case));
    parts.join(" · ")
}
