//! The page of one finding.

use super::{chains, compared, ready, timeline};
use crate::{
    bug_report::BugReport,
    compare::{self, Side},
    findings,
    scripts::Script,
    text,
};

#[derive(askama::Template)]
#[template(path = "finding.html")]
struct Page<'a> {
    title: String,
    foot: String,
    bug: &'a BugReport,
    /// Each line, the last one with a command.
    story: Vec<(&'a str, Option<&'a str>)>,
    compared: compared::Section<'a>,
    timeline: timeline::Section,
    chains: chains::Section<'a>,
    rule: String,
    evidence: Vec<String>,
    graph: Option<String>,
    log: String,
    flags: String,
    ready: Option<ready::Section<'a>>,
    files: &'a [Script],
}

/// The page. `files` are those that stand beside it: the case file first, the Markdown, the scripts.
pub fn finding(bug: &BugReport, files: &[Script]) -> String {
    let compared = compare::of(bug);
    let (seed, case) = (bug.finding.seed, bug.finding.case);
    let lines = findings::lines(&bug.story());
    let mut story: Vec<(&str, Option<&str>)> = lines.iter().map(|line| (line.as_str(), None)).collect();
    if let [_, .., last] = story.as_mut_slice()
        && let Some((words, command)) = last.0.split_once(": ")
    {
        *last = (words, Some(command));
    }
    let log: Vec<&str> = bug.execution.aftermath.log.iter().take(200).map(String::as_str).collect();
    super::render(Page {
        title: bug.title(),
        foot: format!(
            "isopod {} · seed {seed} · case {case} · {}",
            bug.isopod,
            bug.finding.effective_target()
        ),
        bug,
        story,
        compared: compared::Section::new(bug, &compared),
        timeline: timeline::Section::new(bug),
        chains: chains::Section::new(bug),
        rule: text::upper(bug.rule().trim_end_matches('.')),
        graph: bug.words().graph(),
        evidence: bug.words().lines().iter().take(60).map(|line| text::clean(line)).collect(),
        log: log.join("\n"),
        flags: bug.flags().join("\n"),
        ready: bug.ready.as_ref().map(|list| ready::Section::new(bug, list)),
        files,
    })
}
