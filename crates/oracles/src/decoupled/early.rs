//! Going back to a savepoint that was set before the transaction touched any table: InnoDB then ends the whole transaction, with its
//! locks and its snapshot. No manual promises that, and the model knows it as such; here nothing is said of such a case.

use history::{AccessSet, History, StepInfo};
use model::sql::{Statement, TransactionMode};

/// Does a session do that?
pub fn goes_back_early(history: &History<'_>) -> bool {
    if !dialect::of(history.trace.server.product).semantics.early_savepoint_ends_all {
        return false;
    }
    history.transactions.iter().any(|transaction| {
        let early = |set: usize| {
            let before = transaction.steps.iter().take_while(|step| **step < set);
            !before.into_iter().any(|step| touches(&history.steps[*step]))
        };
        let goes_back = |step: &&StepInfo<'_>| matches!(step.statement(), Some(Statement::Rollback(_)));
        history.steps_of(transaction).filter(goes_back).filter_map(|step| step.savepoint).any(early)
    })
}

/// Does the engine know of the transaction because of this step?
fn touches(step: &StepInfo<'_>) -> bool {
    match step.statement() {
        Some(Statement::Begin(begin)) => begin.modes.contains(&TransactionMode::ConsistentSnapshot),
        _ => step.access().is_none_or(AccessSet::touches_tables),
    }
}
