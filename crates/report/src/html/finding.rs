//! The page of one finding.

use super::{chains, compared, ready, timeline};
use crate::{
    compare::{self, Side},
    finding::Finding,
    findings,
    scripts::Script,
    text,
};

#[derive(askama::Template)]
#[template(path = "finding.html")]
struct Page<'a> {
    title: String,
    foot: String,
    finding: &'a Finding,
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
pub fn finding(finding: &Finding, files: &[Script]) -> String {
    let compared = compare::of(finding);
    let (seed, case) = &finding.origin;
    let lines = findings::lines(&finding.story());
    let mut story: Vec<(&str, Option<&str>)> = lines.iter().map(|line| (line.as_str(), None)).collect();
    if let [_, .., last] = story.as_mut_slice()
        && let Some((words, command)) = last.0.split_once(": ")
    {
        *last = (words, Some(command));
    }
    let log: Vec<&str> = finding.aftermath.log.iter().take(200).map(String::as_str).collect();
    super::render(Page {
        title: finding.title(),
        foot: format!("isopod {} · seed {seed} · case {case} · {}", finding.isopod, finding.target),
        finding,
        story,
        compared: compared::Section::new(finding, &compared),
        timeline: timeline::Section::new(finding),
        chains: chains::Section::new(finding),
        rule: text::upper(finding.rule().trim_end_matches('.')),
        graph: finding.words().graph(),
        evidence: finding.words().lines().iter().take(60).map(|line| text::clean(line)).collect(),
        log: log.join("\n"),
        flags: finding.flags().join("\n"),
        ready: finding.ready.as_ref().map(|list| ready::Section::new(finding, list)),
        files,
    })
}
