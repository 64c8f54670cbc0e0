//! The checklist of a finding: is it ready to be filed?

use crate::{
    bug_report::BugReport,
    ready::{Checklist, Item},
    text,
};

pub struct Section<'a> {
    pub good: bool,
    /// For the head of the page.
    pub short: &'static str,
    pub lead: String,
    pub items: &'a [Item],
}

impl<'a> Section<'a> {
    pub fn new(bug: &BugReport, list: &'a Checklist) -> Section<'a> {
        let short = match (&list.known, list.ready()) {
            (Some(_), _) => "nothing to file",
            (None, true) => "ready to file",
            (None, false) => "not ready to file",
        };
        // Who was checked, if not this finding itself.
        let checked = match list.items.is_empty() || list.checked == bug.finding.id {
            true => ".".to_string(),
            false => format!(". Checked with {}, the smallest of its signature.", list.checked),
        };
        Section {
            good: list.ready(),
            short,
            lead: text::upper(&list.verdict()) + &checked,
            items: &list.items,
        }
    }
}
