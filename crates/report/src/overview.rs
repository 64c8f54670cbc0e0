//! A run as its page shows it.

use model::{FindingGroup, RunSummary, Tally};

use crate::ready::Checklist;

/// What a run came to, and when.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The name of its folder.
    pub name: String,
    /// When it began, in UTC; empty where that was not kept.
    pub date: String,
    /// The command that does it again.
    pub hunt: String,
    /// Its findings are in `groups`.
    pub summary: RunSummary,
    /// Lines of the log that could not be read.
    pub unreadable: usize,
    /// First found first.
    pub groups: Vec<ListedGroup>,
    /// When each finding was filed, in milliseconds of hunting.
    pub found_after_ms: Vec<u64>,
    /// Cases done by then, over all targets: time and count.
    pub progress: Vec<(u64, u64)>,
}

/// A group of findings in words.
#[derive(Clone, Debug)]
pub struct ListedGroup {
    pub group: FindingGroup,
    /// What goes wrong.
    pub title: String,
    /// Is it ready to be filed? None if nobody has asked.
    pub ready: Option<Checklist>,
}

impl Overview {
    /// Cases done, over all targets.
    pub fn cases(&self) -> u64 {
        self.sum(|tally| tally.cases)
    }

    /// A count, over all targets.
    pub fn sum(&self, count: impl Fn(&Tally) -> u64) -> u64 {
        self.summary.targets.iter().map(|hunted| count(&hunted.tally)).sum()
    }
}
