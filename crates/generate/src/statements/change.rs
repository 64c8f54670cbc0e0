//! UPDATE and DELETE.

use eval::Datum;
use model::{
    Rng, SqlType,
    sql::{Assignment, BinaryOp, Delete, Expr, Statement, TableFactor, TableRef, Update},
};

use super::{Filter, Statements};

impl Statements<'_> {
    /// UPDATE. What is not given is drawn.
    pub fn update(
        &self,
        rng: &mut Rng,
        table: usize,
        assignments: Option<Vec<Assignment>>,
        filter: Option<Filter>,
    ) -> Statement {
        let filter = filter.unwrap_or_else(|| self.filter(rng, table)).into_option();
        let assignments = assignments.unwrap_or_else(|| self.assignments(rng, table, filter.as_ref()));
        let hints = self.hint(rng, table, filter.as_ref());
        let mut update = Update {
            modifier: None,
            tables: vec![self.changed(table, hints)],
            assignments,
            from: Vec::new(),
            filter,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        let shape = self.table(table);
        if self.caps.ordered_changes
            && !shape.indexes.is_empty()
            && self.profile.details.order_by_index.draw(rng)
            && rng.ratio(1, 3)
        {
            let index = rng.pick(&shape.indexes);
            update.order_by = self.order(rng, table, index);
            update.limit = self.limit(rng, table, index);
        }
        Statement::Update(update)
    }

    /// DELETE. What is not given is drawn.
    pub fn delete(&self, rng: &mut Rng, table: usize, filter: Option<Filter>) -> Statement {
        let filter = filter.unwrap_or_else(|| self.filter(rng, table)).into_option();
        let hints = if self.caps.indexed_by { self.hint(rng, table, filter.as_ref()) } else { Vec::new() };
        let mut delete = Delete {
            ignore: false,
            table: self.changed(table, hints).first,
            using: Vec::new(),
            filter,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        let shape = self.table(table);
        if self.caps.ordered_changes
            && !shape.indexes.is_empty()
            && self.profile.details.order_by_index.draw(rng)
            && rng.ratio(1, 3)
        {
            let index = rng.pick(&shape.indexes);
            delete.order_by = self.order(rng, table, index);
            delete.limit = self.limit(rng, table, index);
        }
        Statement::Delete(delete)
    }

    pub(super) fn changed(&self, table: usize, hints: Vec<model::sql::IndexHint>) -> TableRef {
        let name = self.table(table).name.as_str().into();
        TableRef { first: TableFactor::Table { name, alias: None, hints }, joins: Vec::new() }
    }

    /// One or two assignments.
    pub fn assignments(&self, rng: &mut Rng, table: usize, filter: Option<&Expr>) -> Vec<Assignment> {
        let shape = self.table(table);
        let keys: Vec<usize> = shape.writable().filter(|&at| shape.in_unique(at)).collect();
        let others: Vec<usize> = shape.writable().filter(|&at| !shape.in_unique(at)).collect();
        let mut columns = Vec::new();
        let key = !keys.is_empty() && (others.is_empty() || self.profile.details.key_update.draw(rng));
        columns.push(*rng.pick(if key { &keys } else { &others }));
        if !others.is_empty() && rng.ratio(1, 4) {
            columns.push(*rng.pick(&others));
        }
        columns.dedup();
        columns.into_iter().map(|at| self.new_value(rng, table, at, filter)).collect()
    }

    /// A new value for a column: a constant, one that is there already, or computed from the old one.
    fn new_value(&self, rng: &mut Rng, table: usize, at: usize, filter: Option<&Expr>) -> Assignment {
        let shape = self.table(table);
        let column = &shape.columns[at];
        let narrow = filter.is_some() || shape.rows.len() < 2;
        if matches!(column.ty, SqlType::Int { .. })
            && shape.parent.as_ref().is_none_or(|parent| !parent.columns.contains(&at))
            && (shape.in_unique(at) && !narrow || rng.ratio(1, 3))
        {
            // Keys move up and down; far enough not to fall on each other, most often.
            let step =
                if shape.in_unique(at) { rng.between(1, 3) as i64 * 20 } else { rng.between(1, 3) as i64 };
            let op = if rng.ratio(1, 2) { BinaryOp::Add } else { BinaryOp::Sub };
            let op =
                if matches!(column.ty, SqlType::Int { unsigned: true, .. }) { BinaryOp::Add } else { op };
            return self.assign_expr(
                table,
                at,
                Expr::binary(Expr::column(&column.name), op, Expr::int(step)),
            );
        }
        let known = self.any_row(rng, table).map(|row| &row[at]).filter(|datum| !datum.is_null());
        let value = match known {
            Some(known) if self.profile.details.known_value.draw(rng) => known.clone(),
            _ if column.nullable && rng.ratio(1, 8) => Datum::Null,
            _ => self.referable(rng, table, at),
        };
        self.assign(table, at, &value)
    }

    /// A value of the pool; of a column that refers, one that its parent has, most often.
    fn referable(&self, rng: &mut Rng, table: usize, at: usize) -> Datum {
        let shape = self.table(table);
        let pool = &shape.columns[at].pool;
        let Some(parent) = shape.parent.as_ref().filter(|parent| parent.columns.contains(&at)) else {
            return rng.pick(pool).clone();
        };
        match self.any_row(rng, parent.table) {
            Some(row) if !row[parent.referred[0]].is_null() => row[parent.referred[0]].clone(),
            _ if shape.columns[at].nullable => Datum::Null,
            _ => rng.pick(pool).clone(),
        }
    }

    /// An UPDATE of several tables, or one that reads a second one.
    pub fn multi_update(&self, rng: &mut Rng, table: usize) -> Statement {
        self.update(rng, table, None, None)
    }

    /// A DELETE from several tables, or one that reads a second one.
    pub fn multi_delete(&self, rng: &mut Rng, table: usize) -> Statement {
        self.delete(rng, table, None)
    }
}
