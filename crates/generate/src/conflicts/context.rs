//! What a strategy works with: the schema, what the product can do, and builders of the plain statements that strategies put in.

use std::ops::Deref;

use eval::Datum;
use model::{
    Rng,
    sql::{
        Action, Assignment, BinaryOp, Conflict, ConflictAction, Delete, Expr, HintAction, Ident, IndexHint,
        IndexWord, Insert, InsertVerb, Lock, LockStrength, Query, QueryPart, Select, SelectItem, Statement,
        TableFactor, TableRef, Update,
    },
};

use crate::{
    rows,
    schema::{Index, Parent, Table, pool},
    statements::Statements,
};

/// A row, a datum for each column.
pub type Row = Vec<Datum>;

/// Makes the statements that conflicts are built of: where [`Statements`] draws, this says exactly which.
#[derive(Clone, Copy)]
pub struct ConflictContext<'a>(pub Statements<'a>);

impl<'a> Deref for ConflictContext<'a> {
    type Target = Statements<'a>;

    fn deref(&self) -> &Statements<'a> {
        &self.0
    }
}

impl<'a> ConflictContext<'a> {
    /// `column = value`, or `column IS NULL`.
    pub fn is(&self, table: &Table, column: usize, value: &Datum) -> Expr {
        let name = &table.columns[column].name;
        match value.is_null() {
            true => Expr::is_null(Expr::column(name), false),
            false => compare(name, BinaryOp::Eq, self.literal(value)),
        }
    }

    /// A condition that this row fulfils, and as few others as can be: by a key, or by all columns.
    pub fn row_is(&self, table: &Table, row: &Row) -> Expr {
        let key = table.identity().map(|key| key.parts.iter().map(|part| part.column).collect::<Vec<_>>());
        let columns = key.unwrap_or_else(|| (0..table.columns.len()).collect());
        self.all(columns.into_iter().map(|column| self.is(table, column, &row[column])))
    }

    /// A condition that this row fulfils, and perhaps others: nothing at all, one column, a range, or the row itself.
    pub fn covers(&self, rng: &mut Rng, table: &Table, row: &Row) -> Option<Expr> {
        let column = rng.below(table.columns.len());
        let name = &table.columns[column].name;
        match rng.below(5) {
            0 | 1 => None,
            2 if !row[column].is_null() => {
                let op = *rng.pick(&[BinaryOp::Ge, BinaryOp::Le]);
                Some(compare(name, op, self.literal(&row[column])))
            }
            2 | 3 => Some(self.is(table, column, &row[column])),
            _ => Some(self.row_is(table, row)),
        }
    }

    /// All of these conditions.
    pub fn all(&self, conditions: impl Iterator<Item = Expr>) -> Expr {
        conditions.reduce(|left, right| Expr::binary(left, BinaryOp::And, right)).unwrap_or(Expr::binary(
            Expr::int(1),
            BinaryOp::Eq,
            Expr::int(1),
        ))
    }

    /// A plain read of all columns.
    pub fn select(&self, table: &Table, filter: Option<Expr>) -> Statement {
        let item = |name: &str| SelectItem::Expr { expr: Expr::column(name), alias: None };
        let items = table.columns.iter().map(|column| item(&column.name)).collect();
        let from = vec![TableRef::table(&table.name)];
        Statement::Query(Query::of(Select { items, from, filter, ..Select::default() }))
    }

    /// A read that locks, where the product has such a thing; a plain one elsewhere.
    pub fn locking(&self, rng: &mut Rng, table: &Table, filter: Option<Expr>) -> Statement {
        let share = self.caps.share.filter(|_| rng.ratio(1, 2));
        self.locked(table, filter, share.or(self.caps.clauses.locking_reads.then_some(LockStrength::Update)))
    }

    /// A read with this lock.
    pub fn locked(&self, table: &Table, filter: Option<Expr>, strength: Option<LockStrength>) -> Statement {
        let mut statement = self.select(table, filter);
        if let (Statement::Query(query), Some(strength)) = (&mut statement, strength) {
            query.locks.push(Lock { strength, of: Vec::new(), wait: None });
        }
        statement
    }

    /// Makes a read use this index, where the product can be told to.
    pub fn by_index(&self, mut statement: Statement, index: &Index) -> Statement {
        if let (true, Statement::Query(query)) = (self.caps.clauses.index_hints, &mut statement)
            && let QueryPart::Select(select) = &mut query.first
            && let Some(TableFactor::Table { hints, .. }) =
                select.from.first_mut().map(|table| &mut table.first)
        {
            let names = vec![Ident::new(index.hint())];
            let (action, word) = (HintAction::Force, IndexWord::Index);
            hints.push(IndexHint::Names { action, word, scope: None, names });
        }
        statement
    }

    /// `UPDATE table SET ... WHERE filter`
    pub fn update(&self, table: &Table, sets: Vec<(usize, Expr)>, filter: Option<Expr>) -> Statement {
        Statement::Update(Update {
            tables: vec![TableRef::table(&table.name)],
            assignments: sets.into_iter().map(|(column, value)| assign(table, column, value)).collect(),
            filter,
            ..Update::default()
        })
    }

    /// The same, to a value of the column's pool.
    pub fn update_any(&self, rng: &mut Rng, table: &Table, column: usize, filter: Option<Expr>) -> Statement {
        let value = self.literal(rng.pick(&table.columns[column].pool));
        self.update(table, vec![(column, value)], filter)
    }

    /// `DELETE FROM table WHERE filter`
    pub fn delete(&self, table: &Table, filter: Option<Expr>) -> Statement {
        Statement::Delete(Delete::new(TableRef::table(&table.name).first, filter))
    }

    /// `INSERT INTO table(columns) VALUES (row)`
    pub fn insert(&self, table: &Table, row: &Row) -> Insert {
        let writable: Vec<usize> = table.writable().collect();
        let columns = writable.iter().map(|&c| table.columns[c].name.as_str().into()).collect();
        Insert::values(&table.name, columns, vec![writable.iter().map(|&c| self.literal(&row[c])).collect()])
    }

    /// The row, as one of the ways in which it can be put where one with its key may already be.
    pub fn put(&self, rng: &mut Rng, table: &Table, row: &Row, key: &Index) -> Statement {
        let mut insert = self.insert(table, row);
        let column = self.idle(table).or_else(|| table.writable().next());
        let set = |column: usize| vec![assign(table, column, self.literal(&row[column]))];
        match rng.below(4) {
            0 if self.caps.clauses.replace => insert.verb = InsertVerb::Replace,
            1 | 2 if self.caps.clauses.mysql_changes => {
                insert.on_duplicate = column.map(set).unwrap_or_default()
            }
            1 | 2 if self.caps.clauses.on_conflict => {
                let target =
                    key.parts.iter().map(|p| Ident::new(table.columns[p.column].name.clone())).collect();
                let action = match column.filter(|_| rng.ratio(2, 3)) {
                    Some(column) => ConflictAction::Update { assignments: set(column), filter: None },
                    None => ConflictAction::Nothing,
                };
                insert.on_conflict.push(Conflict { target, action });
            }
            _ => {}
        }
        Statement::Insert(insert)
    }

    /// A row that does not collide with those that are there.
    pub fn fresh(&self, rng: &mut Rng, table: &Table) -> Option<Row> {
        rows::fresh(rng, self.schema, table, self.profile)
    }

    /// A table of those that fit.
    pub fn table(&self, rng: &mut Rng, fits: impl Fn(&Table) -> bool) -> Option<&'a Table> {
        let tables: Vec<&'a Table> = self.schema.tables.iter().filter(|table| fits(table)).collect();
        (!tables.is_empty()).then(|| *rng.pick(&tables))
    }

    /// A column whose value nothing else depends on: in no unique key, no reference, not generated.
    pub fn idle(&self, table: &Table) -> Option<usize> {
        table.idle_columns().first().copied()
    }

    /// A value of a column's pool other than this one.
    pub fn other(&self, rng: &mut Rng, table: &Table, column: usize, than: &Datum) -> Option<Datum> {
        let others: Vec<&Datum> =
            table.columns[column].pool.iter().filter(|v| !pool::alike(v, than)).collect();
        (!others.is_empty()).then(|| (*rng.pick(&others)).clone())
    }

    /// Values of the pool that no row of the table has in this column, in random order.
    pub fn free(&self, rng: &mut Rng, table: &Table, column: usize) -> Vec<Datum> {
        let taken = |value: &Datum| table.rows.iter().any(|row| pool::alike(&row[column], value));
        let mut free: Vec<Datum> = table.columns[column].pool.iter().filter(|v| !taken(v)).cloned().collect();
        rng.shuffle(&mut free);
        free
    }

    /// Key columns that can be changed without breaking a reference, unique keys first if there are any.
    pub fn movable(&self, table: &Table) -> Vec<usize> {
        let at = self.schema.tables.iter().position(|t| t.name == table.name);
        let held = |column: usize| {
            self.schema.tables.iter().flat_map(|t| &t.parents).any(|parent| {
                Some(parent.table) == at
                    && parent.referred.contains(&column)
                    && parent.on_update != Some(Action::Cascade)
            })
        };
        table
            .writable()
            .filter(|&c| table.in_unique(c) && !table.refers(c) && !held(c) && !feeds(table, c))
            .collect()
    }

    /// Can this row be deleted without breaking a reference of the rows that are there?
    pub fn deletable(&self, table: &Table, row: &Row) -> bool {
        let at = self.schema.tables.iter().position(|t| t.name == table.name);
        self.schema.tables.iter().all(|child| {
            let holds = |parent: &Parent| Some(parent.table) == at && !lets_go(parent.on_delete);
            child.parents.iter().filter(|parent| holds(parent)).all(|parent| {
                let same = |other: &Row| pool::alike(&other[parent.columns[0]], &row[parent.referred[0]]);
                !child.rows.iter().any(same)
            })
        })
    }
}

fn lets_go(action: Option<Action>) -> bool {
    matches!(action, Some(Action::Cascade | Action::SetNull))
}

/// Is another column computed from it? Then it must stay small, which the pool sees to.
fn feeds(table: &Table, column: usize) -> bool {
    table
        .columns
        .iter()
        .any(|c| c.generated.as_ref().is_some_and(|g| g.from == column && table.in_unique(column)))
}

fn assign(table: &Table, column: usize, value: Expr) -> Assignment {
    Assignment { column: table.columns[column].name.as_str().into(), value }
}

/// `column op value`
pub fn compare(column: &str, op: BinaryOp, value: Expr) -> Expr {
    Expr::binary(Expr::column(column), op, value)
}
