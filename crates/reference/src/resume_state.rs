//! What a statement remembers from before it waited.
//!
//! The engine itself needs none of it: it begins anew after each wait. Engines that go on where they stood do, and so do the
//! bugs that they are known for.

use crate::{
    locks::TableId,
    versions::{RowId, Values},
};

#[derive(Debug, Default)]
pub struct ResumeState {
    /// Where it waited last.
    pub stuck: Option<BlockingRow>,
    /// The rows that it had met before it waited, and left alone.
    pub passed: Vec<(TableId, RowId)>,
}

/// A row that was in the way.
#[derive(Debug)]
pub struct BlockingRow {
    pub table: TableId,
    pub row: RowId,
    /// As it was when it was last committed.
    pub before: Option<Values>,
}
