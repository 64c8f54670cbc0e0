//! Indexes that go on behind the columns of a foreign key: in the twin they are not there.

use model::{Reason, sql::Statement};

use super::{TwinDraft, Why};

/// Leaves out the indexes of several columns that are made by statements of their own and are not unique.
pub fn left_out(draft: &mut TwinDraft<'_>) -> Result<(), Why> {
    let product = draft.seen.trace.server.product;
    let before = draft.setup.len();
    draft.setup.retain(|text| match dialect::sql::parse(product, text).tree() {
        Some(Statement::CreateIndex(create)) => create.unique || create.columns.len() < 2,
        Some(_) | None => true,
    });
    if draft.setup.len() == before { Err(Reason::NoIndexToLeaveOut) } else { Ok(()) }
}
