//! UPDATE and DELETE.

use eval::Datum;
use model::{
    Rng, SqlType,
    sql::{
        Action, Assignment, BinaryOp, Delete, Expr, InsertModifier, Limit, OrderItem, Resolution, Statement,
        TableFactor, TableRef, Update,
    },
};

use super::{Filter, Statements};
use crate::schema::{Parent, pool};

impl Statements<'_> {
    /// UPDATE. What is not given is drawn.
    pub fn update(
        &self,
        rng: &mut Rng,
        table: usize,
        assignments: Option<Vec<Assignment>>,
        filter: Option<Filter>,
    ) -> Statement {
        let filter = filter.unwrap_or_else(|| self.change_filter(rng, table)).into_option();
        let (filter, assignments) = match assignments {
            Some(assignments) => (filter, assignments),
            None => self.assignments(rng, table, filter),
        };
        let hints = self.hint(rng, table, filter.as_ref());
        let modifier = self.update_modifier(rng, table, &assignments);
        let tables = vec![self.changed(table, hints)];
        let (order_by, limit) = self.change_order(rng, table);
        Statement::Update(Update {
            modifier,
            tables,
            assignments,
            filter,
            order_by,
            limit,
            ..Update::default()
        })
    }

    /// ORDER BY and LIMIT, now and then, where changes have them.
    fn change_order(&self, rng: &mut Rng, table: usize) -> (Vec<OrderItem>, Option<Limit>) {
        let indexes = &self.table(table).indexes;
        let ordered = self.caps.ordered_changes
            && !indexes.is_empty()
            && self.profile.details.order_by_index.draw(rng)
            && rng.ratio(1, 3);
        if !ordered {
            return (Vec::new(), None);
        }
        let index = rng.pick(indexes);
        (self.order(rng, table, index), self.limit(rng, table, index))
    }

    /// IGNORE, now and then, where a key may fall on another.
    fn update_modifier(
        &self,
        rng: &mut Rng,
        table: usize,
        assignments: &[Assignment],
    ) -> Option<InsertModifier> {
        let shape = self.table(table);
        let key = |name: &str| {
            (0..shape.columns.len()).any(|at| shape.in_unique(at) && shape.columns[at].name == name)
        };
        if !assignments.iter().any(|one| key(&one.column.name.name)) || !rng.ratio(1, 8) {
            return None;
        }
        match (self.caps.clauses.mysql_changes, self.caps.clauses.sqlite_changes) {
            (true, _) => Some(InsertModifier::Ignore),
            (false, true) => Some(InsertModifier::Or(Resolution::Ignore)),
            (false, false) => None,
        }
    }

    /// DELETE. What is not given is drawn.
    pub fn delete(&self, rng: &mut Rng, table: usize, filter: Option<Filter>) -> Statement {
        let filter = match filter {
            Some(filter) => filter.into_option(),
            None => self.deletable(rng, table),
        };
        let hints =
            if self.caps.clauses.indexed_by { self.hint(rng, table, filter.as_ref()) } else { Vec::new() };
        let (order_by, limit) = self.change_order(rng, table);
        let delete = Delete::new(self.changed(table, hints).first, filter);
        Statement::Delete(Delete { order_by, limit, ..delete })
    }

    pub(super) fn changed(&self, table: usize, hints: Vec<model::sql::IndexHint>) -> TableRef {
        let name = self.table(table).name.as_str().into();
        TableRef { first: TableFactor::Table { name, alias: None, hints }, joins: Vec::new() }
    }

    /// One or two assignments, with a filter that goes with them: a key that becomes a constant does so in one row.
    fn assignments(
        &self,
        rng: &mut Rng,
        table: usize,
        filter: Option<Expr>,
    ) -> (Option<Expr>, Vec<Assignment>) {
        let shape = self.table(table);
        let details = &self.profile.details;
        let keys: Vec<usize> = shape.writable().filter(|&at| shape.in_unique(at)).collect();
        let others: Vec<usize> = shape.writable().filter(|&at| !shape.in_unique(at)).collect();
        if !keys.is_empty() && (others.is_empty() || details.key_update.draw(rng)) {
            let at = *rng.pick(&keys);
            return self.key_change(rng, table, at, filter);
        }
        let mut columns = vec![*rng.pick(&others)];
        if rng.ratio(1, 4) {
            columns.push(*rng.pick(&others));
        }
        columns.dedup();
        let first = if details.subquery.draw(rng) { self.subquery_value(rng, table) } else { None };
        let assignments = match first {
            Some(assignment) => vec![assignment],
            None => columns.into_iter().map(|at| self.new_value(rng, table, at)).collect(),
        };
        (filter, assignments)
    }

    /// A key moves: all up or down far enough not to fall on each other, or one to a place that is most often free.
    fn key_change(
        &self,
        rng: &mut Rng,
        table: usize,
        at: usize,
        filter: Option<Expr>,
    ) -> (Option<Expr>, Vec<Assignment>) {
        let shape = self.table(table);
        let column = &shape.columns[at];
        let referred = self.referred(table, at);
        if let (SqlType::Int { unsigned, .. }, false, true) = (&column.ty, referred, rng.ratio(1, 3)) {
            let up = *unsigned || rng.ratio(1, 2);
            let step = Expr::int(rng.between(1, 3) as i64 * 40);
            let op = if up { BinaryOp::Add } else { BinaryOp::Sub };
            // What stands at the edge of the type cannot move.
            let edge = column.pool.iter().any(far);
            if !edge || rng.ratio(1, 8) {
                let value = Expr::binary(Expr::column(&column.name), op, step);
                return (filter, vec![self.assign_expr(table, at, value)]);
            }
        }
        let Some(row) = self.any_row(rng, table) else {
            let value = rng.pick(&column.pool).clone();
            return (filter, vec![self.assign(table, at, &value)]);
        };
        let known = self.profile.details.known_value.draw(rng) || referred && rng.ratio(3, 4);
        let mut value = row[at].clone();
        if !known {
            let taken = |value: &&Datum| shape.rows.iter().any(|row| pool::alike(&row[at], value));
            let free: Vec<&Datum> = column.pool.iter().filter(|value| !taken(value)).collect();
            if !free.is_empty() && !shape.refers(at) {
                value = (*rng.pick(&free)).clone();
            }
        } else if rng.ratio(1, 4) {
            // One that another row has: a duplicate.
            value = self.any_row(rng, table).map_or(value, |other| other[at].clone());
        }
        (Some(self.key_filter(table, row)), vec![self.assign(table, at, &value)])
    }

    /// Does another table refer to this column?
    fn referred(&self, table: usize, at: usize) -> bool {
        let refers = |parent: &Parent| parent.table == table && parent.referred.contains(&at);
        self.schema.tables.iter().any(|other| other.parents.iter().any(refers))
    }

    /// A filter for DELETE: where rows of other tables refer to these and would not go with them, most often one that finds
    /// rows to which nothing refers.
    fn deletable(&self, rng: &mut Rng, table: usize) -> Option<Expr> {
        let free = |row: &&Vec<Datum>| {
            self.schema.tables.iter().all(|child| {
                child.parents.iter().filter(|parent| parent.table == table).all(|parent| {
                    let goes = matches!(parent.on_delete, Some(Action::Cascade | Action::SetNull));
                    let key = &row[parent.referred[0]];
                    goes || child.rows.iter().all(|other| !pool::alike(&other[parent.columns[0]], key))
                })
            })
        };
        let rows = &self.table(table).rows;
        let apart: Vec<&Vec<Datum>> = rows.iter().filter(free).collect();
        if apart.len() == rows.len() || rng.ratio(1, 8) {
            return self.change_filter(rng, table).into_option();
        }
        let row = if apart.is_empty() { rng.pick(rows) } else { *rng.pick(&apart) };
        Some(self.key_filter(table, row))
    }

    /// A new value for a column that is in no unique key: a constant, one that is there already, or computed.
    fn new_value(&self, rng: &mut Rng, table: usize, at: usize) -> Assignment {
        let shape = self.table(table);
        let column = &shape.columns[at];
        let details = &self.profile.details;
        let refers = shape.refers(at);
        let bound =
            refers || shape.columns.iter().any(|c| c.generated.as_ref().is_some_and(|g| g.from == at));
        let rich =
            if !bound && details.rich_value.draw(rng) { self.rich_value(rng, table, at) } else { None };
        if let Some(value) = rich {
            return self.assign_expr(table, at, value);
        }
        if matches!(column.ty, SqlType::Int { .. })
            && !refers
            && rng.ratio(1, 4)
            && !column.pool.iter().any(far)
        {
            let up = matches!(column.ty, SqlType::Int { unsigned: true, .. }) || rng.ratio(1, 2);
            let op = if up { BinaryOp::Add } else { BinaryOp::Sub };
            let step = Expr::int(rng.between(1, 3) as i64);
            return self.assign_expr(table, at, Expr::binary(Expr::column(&column.name), op, step));
        }
        let known = self.any_row(rng, table).map(|row| &row[at]).filter(|datum| !datum.is_null());
        let value = match known {
            Some(known) if details.known_value.draw(rng) => known.clone(),
            _ if column.nullable && rng.ratio(1, 8) => Datum::Null,
            _ => self.referable(rng, table, at),
        };
        self.assign(table, at, &value)
    }

    /// A value of the pool; of a column that refers, one that its parent has, most often.
    fn referable(&self, rng: &mut Rng, table: usize, at: usize) -> Datum {
        let shape = self.table(table);
        let pool = &shape.columns[at].pool;
        let Some(parent) = shape.referring(at) else {
            return rng.pick(pool).clone();
        };
        match self.any_row(rng, parent.table) {
            Some(row) if !row[parent.referred[0]].is_null() => row[parent.referred[0]].clone(),
            _ if shape.columns[at].nullable => Datum::Null,
            _ => rng.pick(pool).clone(),
        }
    }
}

/// Is the number so far out that a step could leave its type?
fn far(value: &Datum) -> bool {
    match value {
        Datum::Int(n) => n.unsigned_abs() > 99,
        Datum::UInt(n) => *n > 99,
        _ => false,
    }
}
