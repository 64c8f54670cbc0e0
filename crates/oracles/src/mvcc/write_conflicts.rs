//! Rows that a commit of another has changed since the snapshot, where the contract refuses to lock or change such a row.
//!
//! The error is owed for every row that the condition selects now, and for every row that it selects in the snapshot: one that was deleted, or
//! changed so that it does not match any more, is a row that changed, too.

use dialect::contract::OnStaleWrite;
use model::ErrorClass;

use super::{
    deviations::{KnownDeviation, MissedConflict},
    from_clause::FromClause,
    statement_context::{Condition, Scan, StatementContext},
};

/// What the contract says to a statement that comes to rows that are newer than its snapshot.
pub struct StaleRows {
    pub class: ErrorClass,
    /// Is the error owed? Else it may come.
    pub owed: bool,
    /// If it is: the deviation by which it may be missing.
    pub missed_by: Option<&'static KnownDeviation>,
}

impl StatementContext<'_> {
    /// Does a statement that finds this come to such a row? `shared`: the columns that it reads, if it locks no more than that takes.
    pub fn stale(
        &self,
        from: &FromClause,
        condition: &Condition,
        scan: &Scan,
        shared: Option<u64>,
    ) -> Option<StaleRows> {
        let OnStaleWrite::Refused(class) = self.rules.stale.is else { return None };
        let view = self.snapshot()?;
        let tables: Vec<usize> = from.tables.iter().map(|named| named.table).collect();
        let newer = |table: usize, row: usize| self.hypothesis.tables[table][row].changed_at(self.me) > view;
        let found = scan.met(&tables).any(|(table, row)| newer(table, row));
        let gone = || match tables[..] {
            [table] => self.hypothesis.tables[table].iter().enumerate().any(|(row, chain)| {
                let then = chain.seen(self.me, view).filter(|_| newer(table, row));
                then.is_some_and(|then| self.holds(from, condition, then) == Ok(true))
            }),
            _ => false,
        };
        if !found && !gone() {
            return self.perhaps_stale(&tables).map(|class| StaleRows {
                class,
                owed: false,
                missed_by: None,
            });
        }
        let misses = |deviation: &&'static KnownDeviation| match deviation.misses_conflict {
            None => false,
            Some(MissedConflict::All) => true,
            Some(MissedConflict::GoneRow) => {
                let by_index = |table: &usize| self.schema.tables[*table].second_indexes().next().is_some();
                !found && tables.iter().all(by_index)
            }
            Some(MissedConflict::CoveredRead) => {
                let covered =
                    |table: &usize| shared.is_some_and(|read| self.schema.tables[*table].covers(read));
                tables.iter().all(covered)
            }
        };
        let missed_by = self.deviations.iter().copied().find(misses);
        Some(StaleRows { class, owed: true, missed_by })
    }

    /// The error that may come because something in these tables, or where foreign keys lead, is newer than the snapshot.
    pub fn perhaps_stale(&self, tables: &[usize]) -> Option<ErrorClass> {
        let OnStaleWrite::Refused(class) = self.rules.stale.is else { return None };
        let view = self.snapshot()?;
        let touched =
            |table: usize| self.hypothesis.tables[table].iter().any(|chain| chain.touched_at(self.me) > view);
        self.related(tables).into_iter().any(touched).then_some(class)
    }

    /// The snapshot of its transaction, or the one that the statement itself took when it was sent.
    fn snapshot(&self) -> Option<u32> {
        self.view.or_else(|| self.waited.filter(|waited| waited.opened_view).map(|waited| waited.clock))
    }
}
