//! What happened to the rows while a case ran, as a model of the engine tells it: who wrote which version of a row, when that was
//! committed or undone, and which of them each read could see. Plain data for people; nothing is judged by it.
//!
//! ```text
//! t  row 1   (1, 10) by the setup    (1, 99) by step 3 of T2, committed in round 3
//!    step 5 of T1 reads by the snapshot of round 2: it sees the first
//! ```

use serde::{Deserialize, Serialize};

/// The story of the rows of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The tables of the setup, in its order.
    pub tables: Vec<TableChains>,
    /// What the reads could see, in the order in which they answered.
    pub reads: Vec<Read>,
    /// So many rounds of the trace are told; no account holds beyond.
    pub rounds: usize,
    /// Are these all of them, and the final state?
    pub whole: bool,
    /// The known deviations of the engine that it takes to believe it, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// The rows of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableChains {
    pub table: String,
    pub columns: Vec<String>,
    /// Each row, as its versions, oldest first.
    pub rows: Vec<Vec<RowVersion>>,
}

/// A version of a row. Rounds are counted from 0, as in the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowVersion {
    /// Who wrote it.
    pub by: Writer,
    /// The values as SQL writes them; none if the row is deleted.
    pub values: Option<Vec<String>>,
    /// Does it only repeat what was there?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same: bool,
    /// The round in which it was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<usize>,
    /// The round in which it was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<usize>,
    /// The reads that could see it (steps, from 0), whatever their conditions selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<usize>,
}

/// Who wrote a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writer {
    /// It was there from the beginning.
    Setup,
    /// This step, counted from 0.
    Step(usize),
    /// Several may have.
    Unknown,
}

/// What a read could see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The step, from 0.
    pub step: usize,
    /// By which rule.
    pub view: View,
    /// The round of which it shows the rows.
    pub taken: usize,
}

/// By which rule a read sees rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// The newest, committed or not.
    Newest,
    /// The newest committed when it ran; it locks them.
    Committed,
    /// A snapshot of its own, taken when it began.
    Fresh,
    /// The snapshot of its transaction.
    Snapshot,
}

impl View {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            View::Newest => "the newest rows, committed or not",
            View::Committed => "the newest committed rows",
            View::Fresh => "a snapshot of its own",
            View::Snapshot => "the transaction's snapshot",
        }
    }
}
