//! Finding rows: by a view, without any lock; or by what is newest, with locks.
//!
//! A locking scan looks at the rows to which its [`ScanRange`] leads, in the order of the key. A row that another
//! transaction is writing may be in two states, as it was and as it will be; if either is on the path, the scan meets it.
//!
//! * At REPEATABLE READ and SERIALIZABLE each row that it meets is locked and stays so, whether the condition holds or not, and
//!   so does the range: nobody else brings a row into it. One value of a unique key that is there needs no range.
//! * Below, only rows for which the condition holds are locked. An UPDATE that meets a row which another transaction has
//!   locked judges its last committed state first, and passes it by if the condition does not hold for that ("semi-consistent
//!   read"); not so if a unique key led to it.

use std::rc::Rc;

use model::sql::{Expr, LockWait};

use crate::{
    access::{self, ScanRange},
    error::{StatementResult, Stop, error, raw},
    locks::{Mode, TableId},
    plants::Bug,
    resume_state::BlockingRow,
    statement_run::{NamedTable, StatementRun},
    versions::{ReadView, Row, RowId, Values},
};

/// How a locking scan locks, and what it does where it cannot.
#[derive(Clone, Debug)]
pub struct LockingScan<'a> {
    /// Shared or exclusive.
    pub mode: Mode,
    /// May it pass rows by that did not match before somebody locked them?
    pub semi_consistent: bool,
    /// What to do instead of waiting.
    pub wait: Option<&'a LockWait>,
    pub limit: Option<usize>,
}

impl LockingScan<'_> {
    /// Locks in this mode, and waits.
    pub fn plain(mode: Mode) -> LockingScan<'static> {
        LockingScan { mode, semi_consistent: false, wait: None, limit: None }
    }
}

impl StatementRun<'_> {
    /// The rows of a condition as a plain read sees them.
    pub fn look(
        &mut self,
        table: &NamedTable,
        filter: Option<&Expr>,
    ) -> StatementResult<Vec<(RowId, Values)>> {
        let view = self.view();
        let of = &self.base.tables[table.at];
        if let ReadView::At(stamp) = view
            && of.made > stamp
        {
            return error(1412, "HY000", "Table definition has changed, please retry transaction");
        }
        let sheet = self.sheet(table);
        let mut found = Vec::new();
        for (number, row) in of.rows.iter() {
            let Some(values) = self.seen(row, view) else { continue };
            let judged = self.judged(row, view, values);
            if filter.map_or(Ok(true), |filter| sheet.holds(filter, judged))? {
                found.push((number, values.clone()));
            }
        }
        self.shadow(table, &mut found)?;
        of.in_order(&mut found)?;
        Ok(found)
    }

    /// What a transaction has written itself stands before what its snapshot holds under the same key. Another may
    /// have deleted a row and made it anew since: whoever has changed the new one does not see the old one any more.
    fn shadow(&self, table: &NamedTable, found: &mut Vec<(RowId, Values)>) -> StatementResult<()> {
        let (of, id) = (&self.base.tables[table.at], self.txn.id);
        let mut own: Vec<RowId> =
            self.txn.undo.iter().filter(|(number, _)| *number == of.id).map(|(_, row)| *row).collect();
        own.sort_unstable();
        own.dedup();
        let (Some(key), false) = (of.key(), own.is_empty() || self.txn.view.is_none()) else {
            return Ok(());
        };
        let written: Vec<&Values> =
            own.iter().filter_map(|row| of.rows.get(*row)).flat_map(|row| row.written(id)).collect();
        let mut failed = None;
        found.retain(|(row, values)| {
            let mut hidden = false;
            if own.binary_search(row).is_err() {
                for other in &written {
                    match of.same_key(key, values, other) {
                        Ok(same) => hidden |= same,
                        Err(stop) => failed = Some(stop),
                    }
                }
            }
            !hidden
        });
        failed.map_or(Ok(()), Err)
    }

    /// The rows of a condition as they are now, locked.
    pub fn lock(
        &mut self,
        table: &NamedTable,
        filter: Option<&Expr>,
        how: &LockingScan,
    ) -> StatementResult<Vec<(RowId, Values)>> {
        let path = access::path(&self.base.tables[table.at], filter, table.hints)?;
        let (id, strict) = (self.txn.id, self.strict());
        let number = self.base.tables[table.at].id;
        let mut found = Vec::new();
        let mut there = false;
        let mut passed = Vec::new();
        for row in self.met(table, &path)? {
            if self.passed_before(number, row) {
                continue;
            }
            if how.limit.is_some_and(|limit| found.len() >= limit) {
                break;
            }
            let in_the_way = self.base.locks.in_the_way(id, number, row, how.mode);
            if !in_the_way.is_empty() {
                match how.wait {
                    Some(LockWait::SkipLocked) => continue,
                    _ if self.passes_by(table, &path, filter, how, row)? => {
                        passed.push((number, row));
                        continue;
                    }
                    Some(LockWait::Nowait) => return Err(Stop::Error(would_wait())),
                    Some(LockWait::Seconds(_)) | None => {
                        self.remember(table, row, passed);
                        return Err(Stop::Blocked(in_the_way));
                    }
                }
            }
            let of = &self.base.tables[table.at];
            let Some(values) = of.rows.get(row).and_then(|row| row.current(id)).cloned() else { continue };
            there = true;
            let matches = filter.map_or(Ok(true), |filter| self.sheet(table).holds(filter, &values))?;
            // The planted bug: the lock of the index is taken for that of the row.
            let what = || format!("{} {values:?}", self.statement.text);
            let forgets = path.secondary && self.base.plants.hits(Bug::MissingRowLock, what);
            if (strict || matches) && !forgets {
                self.base.locks.take(id, number, row, how.mode);
            }
            match matches {
                true => found.push((row, values)),
                false => passed.push((number, row)),
            }
        }
        if strict && !(path.point && there) {
            self.base.locks.take_range(id, number, &path);
        }
        Ok(found)
    }

    /// What there is to remember of a wait.
    fn remember(&mut self, table: &NamedTable, row: RowId, passed: Vec<(TableId, RowId)>) {
        let of = &self.base.tables[table.at];
        let before = of.rows.get(row).and_then(Row::committed).and_then(|version| version.data.clone());
        self.memory.stuck = Some(BlockingRow { table: of.id, row, before });
        self.memory.passed.extend(passed);
    }

    /// The planted bug: a row that was left alone before the wait is not looked at again.
    fn passed_before(&self, table: TableId, row: RowId) -> bool {
        let hits = || self.base.plants.hits(Bug::ResumedScan, || self.statement.text.clone());
        self.memory.passed.contains(&(table, row)) && hits()
    }

    /// The rows to which a path leads in any of the states that they may be in, in order.
    fn met(&self, table: &NamedTable, path: &Rc<ScanRange>) -> StatementResult<Vec<RowId>> {
        let of = &self.base.tables[table.at];
        let mut met: Vec<(RowId, Values)> = Vec::new();
        for (number, row) in of.rows.iter() {
            for values in row.possible(self.txn.id) {
                if path.leads_to(of, values)? {
                    met.push((number, values.clone()));
                    break;
                }
            }
        }
        of.in_order(&mut met)?;
        Ok(met.into_iter().map(|(number, _)| number).collect())
    }

    /// May the scan pass a locked row by, because its last committed state does not match?
    fn passes_by(
        &self,
        table: &NamedTable,
        path: &ScanRange,
        filter: Option<&Expr>,
        how: &LockingScan,
        row: RowId,
    ) -> StatementResult<bool> {
        if self.strict() || !how.semi_consistent || path.point {
            return Ok(false);
        }
        let row = self.base.tables[table.at].rows.get(row);
        let before = row.and_then(Row::committed).and_then(|version| version.data.as_ref());
        match (before, filter) {
            (None, _) => Ok(true),
            (Some(_), None) => Ok(false),
            (Some(before), Some(filter)) => Ok(!self.sheet(table).holds(filter, before)?),
        }
    }
}

fn would_wait() -> execute::RawError {
    raw(
        3572,
        "HY000",
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.",
    )
}
