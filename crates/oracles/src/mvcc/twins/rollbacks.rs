//! Transactions that were rolled back: in the twin they are not there.

use model::Reason;
use model::sql::{Rollback, Statement};

use super::{TwinDraft, Why};

/// Leaves out the transactions of others that are rolled back.
pub fn left_out(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let reader = draft.session(step);
    let mut gone: Vec<usize> = Vec::new();
    for end in 0..draft.trees.len() {
        let rolls =
            matches!(draft.trees[end].as_deref(), Some(Statement::Rollback(Rollback { to: None, .. })));
        let session = draft.session(end);
        if !rolls || session == reader {
            continue;
        }
        let begins = |at: &usize| {
            draft.session(*at) == session && matches!(draft.trees[*at].as_deref(), Some(Statement::Begin(_)))
        };
        let begin = (0..end).rev().find(begins).ok_or(Reason::NoBegin)?;
        gone.extend((begin..=end).filter(|at| draft.session(*at) == session));
    }
    if gone.is_empty() {
        return Err(Reason::NoTransactionRolledBack);
    }
    draft.steps.retain(|(number, _)| !gone.contains(number));
    Ok(())
}
