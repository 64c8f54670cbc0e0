//! What a run is to be shown with: for each step and table, whether it came out as expected.

/// Everything beside the trace itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The case as its user knows it (`key-change.iso`); the title is shown if this is empty.
    pub name: String,
    /// For each step of the case; what is missing counts as unspecified.
    pub steps: Vec<Mark>,
    /// For tables at the end, by name; what is missing counts as unspecified.
    pub tables: Vec<(String, Mark)>,
    /// Names under which a deviation is known (`MDEV-32898`); empty if it is not, or if there is none.
    pub known: Vec<String>,
    /// The last line, if there is something to say.
    pub closing: Option<String>,
}

/// Did it come out as expected?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    Met,
    Missed {
        /// What should have come, in the words of the case file.
        expected: String,
    },
    /// That it waits is what is wrong, whatever comes then.
    Waits {
        expected: String,
    },
    /// Nobody said what should come.
    #[default]
    Unspecified,
}

impl Mark {
    pub(crate) fn is_missed(&self) -> bool {
        self.expected().is_some()
    }

    /// What should have come, if something else did.
    pub(crate) fn expected(&self) -> Option<String> {
        match self {
            Mark::Missed { expected } | Mark::Waits { expected } => Some(expected.clone()),
            Mark::Met | Mark::Unspecified => None,
        }
    }

    /// What should have come instead of a wait, or of what came after it.
    pub(crate) fn expected_when(&self, waiting: bool) -> Option<String> {
        let wait = matches!(self, Mark::Waits { .. });
        self.expected().filter(|_| wait == waiting)
    }
}

impl Marks {
    pub fn step(&self, step: usize) -> &Mark {
        self.steps.get(step).unwrap_or(&Mark::Unspecified)
    }

    pub fn table(&self, table: &str) -> &Mark {
        self.tables.iter().find(|(name, _)| name == table).map_or(&Mark::Unspecified, |(_, mark)| mark)
    }

    /// Does it say anything of any step or table?
    pub fn judged(&self) -> bool {
        self.steps.iter().chain(self.tables.iter().map(|(_, mark)| mark)).any(|m| *m != Mark::Unspecified)
    }

    pub fn missed(&self) -> bool {
        self.steps.iter().chain(self.tables.iter().map(|(_, mark)| mark)).any(Mark::is_missed)
    }
}
