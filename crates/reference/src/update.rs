//! UPDATE and DELETE: first all rows are found and locked, then they are changed one after the other.

use std::cmp::Ordering;

use eval::Datum;
use execute::RawReply;
use model::sql::{
    Assignment, Delete, Direction, Expr, InsertModifier, Limit, OrderItem, TableFactor, Update,
};

use crate::{
    error::{StatementResult, Stop, duplicate, unsupported},
    expressions::{ColumnScope, stored},
    locks::Mode,
    plants::Bug,
    scan::LockingScan,
    select::{QueryPosition, sort},
    statement_run::{NamedTable, StatementRun, count},
    versions::{ReadView, RowId, Values},
};

impl StatementRun<'_> {
    pub fn update(&mut self, update: &Update) -> StatementResult<RawReply> {
        self.may_write()?;
        if !update.from.is_empty() {
            return unsupported("UPDATE ... FROM");
        }
        let ignore = match update.modifier {
            None => false,
            Some(InsertModifier::Ignore) => true,
            Some(InsertModifier::Or(_)) => return unsupported("UPDATE OR"),
        };
        let table = self.one_table(&update.tables)?;
        let filter = update
            .filter
            .as_ref()
            .map(|filter| self.resolved(filter, QueryPosition::InChange))
            .transpose()?;
        let mut assignments = Vec::new();
        for Assignment { column, value } in &update.assignments {
            let column = self.base.tables[table.at].column(&column.name.name)?;
            assignments.push((column, self.resolved(value, QueryPosition::InChange)?.into_owned()));
        }
        let exprs: Vec<&Expr> =
            filter.as_deref().into_iter().chain(assignments.iter().map(|a| &a.1)).collect();
        self.check_names(self.sheet(&table), &exprs, &[])?;
        let semi_consistent = true;
        let how = LockingScan { semi_consistent, ..LockingScan::plain(Mode::Exclusive) };
        let rows = self.targets(&table, filter.as_deref(), how, &update.order_by, update.limit.as_ref())?;
        self.waited_in_vain(&rows)?;
        let sheet = self.sheet(&table).clone();
        let (mut affected, matched) = (0, rows.len() as u64);
        for (row, old) in rows {
            match self.change(table.at, row, &old, &assignments, &sheet) {
                Ok(changed) => affected += u64::from(changed),
                Err(Stop::Error(error)) if ignore && error.code == 1062 => {
                    self.warnings.push((error.code, error.message));
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(RawReply::Done { affected, matched: Some(matched) })
    }

    pub fn delete(&mut self, delete: &Delete) -> StatementResult<RawReply> {
        self.may_write()?;
        if !delete.using.is_empty() || !delete.returning.is_empty() {
            return unsupported("DELETE of several tables");
        }
        let factor: &TableFactor = &delete.table;
        let table = self.named(factor)?;
        let filter =
            delete.filter.as_ref().map(|filter| self.resolved(filter, QueryPosition::InOther)).transpose()?;
        let exprs: Vec<&Expr> = filter.as_deref().into_iter().collect();
        self.check_names(self.sheet(&table), &exprs, &[])?;
        let how = LockingScan::plain(Mode::Exclusive);
        let mut rows =
            self.targets(&table, filter.as_deref(), how, &delete.order_by, delete.limit.as_ref())?;
        self.miss_a_row(&table, &mut rows)?;
        self.waited_in_vain(&rows)?;
        let affected = rows.len() as u64;
        for (row, _) in rows {
            self.put(table.at, row, None);
        }
        Ok(RawReply::Done { affected, matched: None })
    }

    /// The planted bug: after a wait the scan goes on upwards from where the row stood.
    fn miss_a_row(&self, table: &NamedTable, rows: &mut Vec<(RowId, Values)>) -> StatementResult<()> {
        let of = &self.base.tables[table.at];
        let Some(stuck) = self.memory.stuck.as_ref().filter(|stuck| stuck.table == of.id) else {
            return Ok(());
        };
        let (Some(before), Some(at)) = (&stuck.before, rows.iter().position(|(row, _)| *row == stuck.row))
        else {
            return Ok(());
        };
        let behind = of.by_key(&rows[at].1, before)? == Ordering::Less;
        let what = || format!("{} {before:?}", self.statement.text);
        if behind && self.base.plants.hits(Bug::DeleteMissesMovedRow, what) {
            rows.remove(at);
        }
        Ok(())
    }

    /// The planted bug: after a wait there must be something to do.
    fn waited_in_vain(&self, rows: &[(RowId, Values)]) -> StatementResult<()> {
        let vain = self.waited && rows.is_empty();
        match vain && self.base.plants.hits(Bug::Crash, || self.statement.text.clone()) {
            true => Err(Stop::Crash),
            false => Ok(()),
        }
    }

    /// The rows to change, locked, in the order in which they are changed.
    fn targets(
        &mut self,
        table: &NamedTable,
        filter: Option<&Expr>,
        mut how: LockingScan,
        order_by: &[OrderItem],
        limit: Option<&Limit>,
    ) -> StatementResult<Vec<(RowId, Values)>> {
        let limit = limit.map(|limit| count(&limit.count)).transpose()?;
        if limit == Some(0) {
            return Ok(Vec::new());
        }
        how.limit = limit.filter(|_| order_by.is_empty());
        let mut rows = self.lock(table, filter, &how)?;
        if !order_by.is_empty() {
            let sheet = self.sheet(table);
            let mut keyed = Vec::with_capacity(rows.len());
            for row in rows {
                let keys = order_by.iter().map(|order| sheet.value(&order.expr, &row.1));
                keyed.push((keys.collect::<StatementResult<Vec<Datum>>>()?, row));
            }
            let orders: Vec<(&Expr, bool)> = order_by
                .iter()
                .map(|order| (&order.expr, order.direction == Some(Direction::Desc)))
                .collect();
            sort(&mut keyed, &orders, &self.base.tables[table.at].columns)?;
            rows = keyed.into_iter().map(|(_, row)| row).collect();
        }
        rows.truncate(limit.unwrap_or(usize::MAX));
        Ok(rows)
    }

    /// Changes one row that is locked already. Did that change anything? If not, a version is written all the same, so that
    /// whoever updates a row sees it as it is from then on.
    pub fn change(
        &mut self,
        at: usize,
        row: RowId,
        old: &Values,
        assignments: &[(usize, Expr)],
        sheet: &ColumnScope,
    ) -> StatementResult<bool> {
        let mut new = self.base_of_change(at, row, old).to_vec();
        for (column, value) in assignments {
            let table = &self.base.tables[at];
            if table.traits[*column].generated.is_some() {
                return unsupported("writing generated columns");
            }
            let value = match (value, &table.traits[*column].default) {
                (Expr::Default, Some(default)) => sheet.value(default, &new)?,
                (Expr::Default, None) => Datum::Null,
                (value, _) => sheet.value(value, &new)?,
            };
            new[*column] = stored(&value, &table.columns[*column].ty)?;
        }
        let new = self.complete(at, new)?;
        let changed = new != *old;
        if changed {
            if let Some(taken) = self.taken(at, &new, Some((row, old)), Mode::Shared)? {
                return Err(Stop::Error(duplicate(&taken.key)));
            }
            self.make_room(at, &new, Some(old))?;
        }
        let what = || format!("{} {new:?}", self.statement.text);
        // The planted bug: there is nothing to do.
        if !changed && self.base.plants.hits(Bug::NoopUpdateNoVersion, what) {
            return Ok(false);
        }
        // The planted bug: a row is its key, so with another key it is another row.
        let moved = self.base.tables[at].by_key(old, &new)? != Ordering::Equal;
        if moved && self.base.plants.hits(Bug::KeyChangeLeavesOldRow, what) {
            self.put(at, row, None);
            self.add(at, new)?;
            return Ok(true);
        }
        self.put(at, row, Some(new));
        Ok(changed)
    }

    /// The values from which an UPDATE computes new ones: the newest. The planted bug: those of the snapshot.
    fn base_of_change<'b>(&'b self, at: usize, row: RowId, newest: &'b Values) -> &'b Values {
        let row = self.base.tables[at].rows.get(row);
        let view = self.txn.view.map(ReadView::At);
        match view.and_then(|view| row?.seen(view, self.txn.id)).filter(|old| *old != newest) {
            Some(old)
                if self.base.plants.hits(Bug::LostUpdate, || format!("{} {old:?}", self.statement.text)) =>
            {
                old
            }
            _ => newest,
        }
    }
}
