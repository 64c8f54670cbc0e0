//! A read that sorts: in the twin it does not.

use model::{Reason, sql::Statement};

use super::{TwinDraft, Why};

/// The statement without ORDER BY.
pub fn left_out(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let Some(Statement::Query(query)) = draft.trees[step].as_deref() else { return Err(Reason::NoQuery) };
    let mut query = query.clone();
    query.order_by.clear();
    draft.rewrite(step, &Statement::Query(query));
    Ok(())
}
