//! Going back to a savepoint that was set before the transaction touched any table: InnoDB then ends the whole transaction, with its
//! locks and its snapshot. The model knows it by its name; here nothing is said of such a case.

use dialect::AccessSet;
use history::{History, StepInfo};
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

#[cfg(test)]
mod tests {
    use dialect::ParsedCase;
    use model::Level;

    use super::*;

    fn early(target: &str, begin: &str, middle: &str) -> bool {
        let text = format!("T1: {begin} => ok\n{middle}\nT1: ROLLBACK TO SAVEPOINT s => ok");
        let server = notation::server(target);
        let (case, trace) = notation::trace(server, Level::RepeatableRead, &[], &text);
        let case = ParsedCase::new(trace.server.product, case);
        goes_back_early(&History::new(&case, &trace))
    }

    #[test]
    fn only_what_was_set_before_any_table_was_touched_is_early() {
        let (set, read) = ("T1: SAVEPOINT s => ok\n", "T1: SELECT a FROM t => none\n");
        assert!(early("mysql@9.7", "BEGIN", &format!("{set}{read}")));
        assert!(early("mysql@9.7", "BEGIN", &format!("T1: SELECT 1 => (1)\n{set}{read}")));
        assert!(!early("mysql@9.7", "BEGIN", &format!("{read}{set}")));
        assert!(!early("sqlite@3.46", "BEGIN", &format!("{set}{read}")));
    }

    #[test]
    fn a_snapshot_that_begin_takes_is_known_to_the_engine() {
        assert!(!early("mysql@9.7", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "T1: SAVEPOINT s => ok"));
    }

    #[test]
    fn a_savepoint_of_the_transaction_before_is_not_gone_back_to() {
        let middle = "T1: SAVEPOINT s => ok\nT1: COMMIT => ok\nT1: BEGIN => ok\n";
        assert!(!early(
            "mysql@9.7",
            "BEGIN",
            &format!("{middle}T1: SELECT a FROM t => none\nT1: SAVEPOINT s => ok")
        ));
    }
}
