//! Writing rows: what a row must be, whose unique values it may not take, whose ranges it may not enter.

use eval::Datum;

use crate::{
    error::{StatementResult, Stop, error, not_null, raw},
    expressions::stored,
    locks::Mode,
    plants::Bug,
    statement_run::StatementRun,
    table::PRIMARY,
    versions::{RowId, Values},
};

/// A row that has a unique value already, and the key.
pub struct ExistingKey {
    pub row: RowId,
    pub key: String,
}

impl StatementRun<'_> {
    /// Refuses to write in a transaction that said it would not.
    pub fn may_write(&self) -> StatementResult<()> {
        match self.txn.read_only {
            true => error(1792, "25006", "Cannot execute statement in a READ ONLY transaction."),
            false => Ok(()),
        }
    }

    /// Computes generated columns and holds a row against NOT NULL and CHECK.
    pub fn complete(&self, at: usize, mut row: Vec<Datum>) -> StatementResult<Values> {
        let table = &self.base.tables[at];
        for (i, traits) in table.traits.iter().enumerate() {
            if let Some(expr) = &traits.generated {
                row[i] = stored(&table.sheet.value(expr, &row)?, &table.columns[i].ty)?;
            }
            if traits.not_null && row[i].is_null() {
                return Err(Stop::Error(not_null(&table.columns[i].name)));
            }
        }
        for check in &table.checks {
            if table.sheet.fails(check, &row)? {
                return Err(Stop::Error(raw(3819, "HY000", "Check constraint is violated.")));
            }
        }
        Ok(row.into())
    }

    /// Does another row have one of the unique values of this one? `old` is what it was before, if it was. A row that may
    /// come to have the value, or lose it, when another transaction ends, is waited for.
    pub fn taken(
        &mut self,
        at: usize,
        new: &[Datum],
        old: Option<(RowId, &[Datum])>,
        mode: Mode,
    ) -> StatementResult<Option<ExistingKey>> {
        // The planted bug: the key was looked at before the wait, so it is taken for free.
        let careless = self.waited
            && self.base.plants.hits(Bug::DuplicateUnique, || format!("{} {new:?}", self.statement.text));
        let (id, number) = (self.txn.id, self.base.tables[at].id);
        for i in 0..self.base.tables[at].indexes.len() {
            let (table, locks) = (&self.base.tables[at], &mut self.base.locks);
            let index = &table.indexes[i];
            let unchanged = |(_, old): (RowId, &[Datum])| table.same_key(index, old, new);
            if !index.unique || careless && index.name != PRIMARY || old.map_or(Ok(false), unchanged)? {
                continue;
            }
            for (row, versions) in table.rows.iter() {
                if old.is_some_and(|(own, _)| own == row) {
                    continue;
                }
                let mut may_have = false;
                for values in versions.possible(id) {
                    may_have |= table.same_key(index, values, new)?;
                }
                if !may_have {
                    continue;
                }
                let in_the_way = locks.in_the_way(id, number, row, mode);
                if !in_the_way.is_empty() {
                    // The planted bug: what another has not committed is not there yet.
                    let what = || format!("{} {new:?}", self.statement.text);
                    if index.name != PRIMARY && self.base.plants.hits(Bug::MissingUniqueLock, what) {
                        continue;
                    }
                    return Err(Stop::Blocked(in_the_way));
                }
                locks.take(id, number, row, mode);
                if versions.current(id).map_or(Ok(false), |now| table.same_key(index, now, new))? {
                    return Ok(Some(ExistingKey { row, key: format!("{}.{}", table.name, index.name) }));
                }
            }
        }
        Ok(None)
    }

    /// Waits for those who have read a range into which the row would come.
    pub fn make_room(&self, at: usize, new: &[Datum], old: Option<&[Datum]>) -> StatementResult<()> {
        let table = &self.base.tables[at];
        let mut in_the_way = Vec::new();
        for range in self.base.locks.ranges(self.txn.id, table.id) {
            let was_there = old.map_or(Ok(false), |old| range.path.leads_to(table, old))?;
            if !was_there && range.path.leads_to(table, new)? && !in_the_way.contains(&range.owner) {
                in_the_way.push(range.owner);
            }
        }
        if in_the_way.is_empty() { Ok(()) } else { Err(Stop::Blocked(in_the_way)) }
    }

    /// Adds a row that nothing speaks against.
    pub fn add(&mut self, at: usize, values: Values) -> StatementResult<()> {
        self.make_room(at, &values, None)?;
        let table = &mut self.base.tables[at];
        let row = table.rows.number();
        let number = table.id;
        self.put(at, row, Some(values));
        self.base.locks.take(self.txn.id, number, row, Mode::Exclusive);
        Ok(())
    }

    /// Gives a row that is locked already new values, or deletes it.
    pub fn put(&mut self, at: usize, row: RowId, values: Option<Values>) {
        // The planted bug: who begins to write lets go of the snapshot, and the next read takes another.
        if self.txn.undo.is_empty()
            && self.txn.view.is_some()
            && self.base.plants.hits(Bug::SnapshotTooLate, || format!("{} {values:?}", self.statement.text))
        {
            self.txn.view = None;
        }
        let table = &mut self.base.tables[at];
        table.rows.write(row, self.txn.id, values);
        self.txn.undo.push((table.id, row));
    }
}
