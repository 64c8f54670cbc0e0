//! Statements with a condition on one table: what Fucci's strategies work on, and the 13 pairs of its Table 2.

use model::{
    Rng,
    sql::{Expr, LockStrength, Query, QueryPart, Statement, TableFactor, TableRef},
};

use super::{Body, context::ConflictContext};
use crate::{orders::Place, schema::Table};

/// One side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A plain SELECT.
    Select,
    /// SELECT ... FOR SHARE.
    Share,
    /// SELECT ... FOR UPDATE.
    ForUpdate,
    /// Either of the two.
    Locking,
    Update,
    Delete,
    Insert,
}

/// The pairs of Table 2, in its order, with the feature that names each. The first nine have a condition on both sides.
pub const PAIRS: [(Side, Side, &str); 13] = [
    (Side::Share, Side::Share, "pair:01"),
    (Side::ForUpdate, Side::ForUpdate, "pair:02"),
    (Side::Update, Side::Update, "pair:03"),
    (Side::Delete, Side::Delete, "pair:04"),
    (Side::Select, Side::Update, "pair:05"),
    (Side::Select, Side::Delete, "pair:06"),
    (Side::Locking, Side::Update, "pair:07"),
    (Side::Locking, Side::Delete, "pair:08"),
    (Side::Update, Side::Delete, "pair:09"),
    (Side::Select, Side::Insert, "pair:10"),
    (Side::Locking, Side::Insert, "pair:11"),
    (Side::Update, Side::Insert, "pair:12"),
    (Side::Delete, Side::Insert, "pair:13"),
];

/// How many of them have a condition on both sides.
pub const WITH_CONDITIONS: usize = 9;

/// The only table of a statement, without another name, if it is one that has a condition.
pub fn table_of(statement: &Statement) -> Option<&str> {
    match statement {
        Statement::Query(query) => match (&query.first, query.rest.is_empty()) {
            (QueryPart::Select(select), true) => match &select.from[..] {
                [table] if select.group_by.is_empty() => bare(table),
                [] | [_] | [_, _, ..] => None,
            },
            (QueryPart::Select(_) | QueryPart::Paren(_), _) => None,
        },
        Statement::Update(update) => match (&update.tables[..], update.from.is_empty()) {
            ([table], true) => bare(table),
            _ => None,
        },
        Statement::Delete(delete) if delete.using.is_empty() => name(&delete.table),
        _ => None,
    }
}

fn bare(table: &TableRef) -> Option<&str> {
    if table.joins.is_empty() { name(&table.first) } else { None }
}

fn name(factor: &TableFactor) -> Option<&str> {
    match factor {
        TableFactor::Table { name, alias: None, .. } => Some(&name.name.name),
        TableFactor::Table { .. } | TableFactor::Derived { .. } | TableFactor::Paren(_) => None,
    }
}

/// The condition of a statement.
pub fn filter(statement: &mut Statement) -> Option<&mut Option<Expr>> {
    match statement {
        Statement::Query(query) => match &mut query.first {
            QueryPart::Select(select) => Some(&mut select.filter),
            QueryPart::Paren(_) => None,
        },
        Statement::Update(update) => Some(&mut update.filter),
        Statement::Delete(delete) => Some(&mut delete.filter),
        _ => None,
    }
}

/// Is a statement such a side, on this table?
fn is(statement: &Statement, side: Side, table: &str) -> bool {
    let strength = |query: &Query| query.locks.first().map(|lock| lock.strength);
    let shared = |s: LockStrength| matches!(s, LockStrength::Share | LockStrength::InShareMode);
    let kind = match (side, statement) {
        (Side::Select, Statement::Query(query)) => query.locks.is_empty(),
        (Side::Share, Statement::Query(query)) => strength(query).is_some_and(shared),
        (Side::ForUpdate, Statement::Query(query)) => strength(query) == Some(LockStrength::Update),
        (Side::Locking, Statement::Query(query)) => !query.locks.is_empty(),
        (Side::Update, Statement::Update(_)) | (Side::Delete, Statement::Delete(_)) => true,
        _ => false,
    };
    kind && table_of(statement) == Some(table)
}

/// A side built from nothing, with this condition.
pub fn build(
    rng: &mut Rng,
    context: &ConflictContext,
    side: Side,
    table: &Table,
    filter: Option<Expr>,
) -> Option<Statement> {
    let update = context.caps.clauses.locking_reads.then_some(LockStrength::Update);
    Some(match side {
        Side::Select => context.select(table, filter),
        Side::Share => context.locked(table, filter, context.caps.share),
        Side::ForUpdate => context.locked(table, filter, update),
        Side::Locking => context.locking(rng, table, filter),
        Side::Update => {
            let idle = table.idle_columns();
            let set = if idle.is_empty() {
                // Every column is in a key: a write that changes nothing locks all the same.
                let column = table.writable().next()?;
                (column, Expr::column(&table.columns[column].name))
            } else {
                let column = *rng.pick(&idle);
                (column, context.literal(rng.pick(&table.columns[column].pool)))
            };
            context.update(table, vec![set], filter)
        }
        Side::Delete => context.delete(table, filter),
        Side::Insert => Statement::Insert(context.insert(table, &context.fresh(rng, table)?)),
    })
}

/// A statement of a session that is such a side, on this table: one that is there, or a new one.
pub fn find_or_put(
    rng: &mut Rng,
    context: &ConflictContext,
    bodies: &mut [Body],
    session: usize,
    side: Side,
    table: &Table,
) -> Option<Place> {
    let statements = &bodies[session].statements;
    let fits = |index: &usize| is(&statements[*index], side, &table.name);
    let found: Vec<usize> = (0..statements.len()).filter(fits).collect();
    if !found.is_empty() {
        return Some(Place { session, index: *rng.pick(&found) });
    }
    let row = (!table.rows.is_empty()).then(|| rng.pick(&table.rows).clone());
    let filter = row.and_then(|row| context.covers(rng, table, &row));
    let statement = build(rng, context, side, table, filter)?;
    let index = rng.between(0, statements.len());
    bodies[session].statements.insert(index, statement);
    Some(Place { session, index })
}
