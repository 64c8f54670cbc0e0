//! Expected against actual, side by side.

use crate::{
    bug_report::BugReport,
    compare::{About, Compared, Side},
    text,
};

pub struct Section<'a> {
    /// What it is about: words, code, words.
    pub before: String,
    pub code: Option<String>,
    pub after: &'static str,
    pub columns: &'a [String],
    /// Class, title and answer.
    pub cards: [(&'static str, &'static str, Option<&'a Side>); 2],
}

impl<'a> Section<'a> {
    pub fn new(bug: &BugReport, compared: &'a Compared) -> Section<'a> {
        let (before, code, after) = match &compared.about {
            About::Step(step) => {
                let sent = &bug.execution.case.steps[*step];
                let before = format!("Step {} of {}: ", step + 1, bug.session(sent.session));
                (before, Some(text::clean(&sent.sql)), "")
            }
            About::Table(table) => ("The rows of ".to_string(), Some(table.clone()), " in the end"),
            About::Run => ("The run as a whole".to_string(), None, ""),
        };
        let cards = [
            ("card expected", "Expected", compared.expected.as_ref()),
            ("card bad actual", "Actual", Some(&compared.actual)),
        ];
        Section { before, code, after, columns: &compared.columns, cards }
    }
}
