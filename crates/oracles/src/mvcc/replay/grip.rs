//! For whom a statement may wait: what others may hold, against what it wants.
//!
//! Which records and gaps a statement locks depends on the path that the server takes, and the manual lets it lock more than the
//! rows explain. So a grip is wide: whatever of its tables a statement can have come upon. Three things make it narrower, and a wait
//! that they exclude is wrong:
//!
//! - It holds or wants shared locks only, and these do not exclude each other.
//! - Its tables, those behind foreign keys included, are other ones.
//! - It finds its rows by whole primary keys, where no other unique index and no foreign key is: two such statements meet
//!   only at the same key. Gaps come in where a row is inserted beside somebody who locks ranges.

use model::{
    Product,
    sql::{BinaryOp, Expr, Insert, InsertSource, InsertVerb, LockStrength, Statement, TableFactor},
};

use super::Replay;
use crate::mvcc::{
    compute::Compute,
    names::{nested, reads_one_end},
    world::{Txn, World},
};

/// What a statement may hold or want.
struct Grip {
    tables: u64,
    /// Not only shared locks.
    exclusive: bool,
    /// The whole primary keys by which it finds its rows, if that is all that it does.
    keys: Option<(usize, Vec<Vec<i64>>)>,
    /// Does it bring rows in?
    inserts: bool,
    /// May it keep others from doing so?
    gaps: bool,
}

impl Replay<'_> {
    /// May a statement wait for a transaction?
    pub(super) fn may_wait(&self, step: usize, other: &Txn) -> bool {
        if other.locking & self.reach[step].tables == 0 {
            return false;
        }
        // Before its first statement: SQLite's BEGIN IMMEDIATE.
        if other.steps.is_empty() {
            return true;
        }
        let wanted = self.grip(step);
        other.steps.iter().any(|&held| self.conflict(&wanted, &self.grip(held)))
    }

    /// The sessions for which a statement of this one may wait.
    pub(super) fn blockers(&self, world: &World, session: usize, step: usize) -> Vec<usize> {
        let others = world.sessions.iter().enumerate().filter(|(other, _)| *other != session);
        others
            .filter(|(_, state)| state.txn.as_ref().is_some_and(|txn| self.may_wait(step, txn)))
            .map(|(other, _)| other)
            .collect()
    }

    /// May a statement of this session close a circle of those that wait for each other?
    pub(super) fn circle(&self, world: &World, session: usize, step: usize) -> bool {
        let mut seen = Vec::new();
        let mut next = self.blockers(world, session, step);
        while let Some(other) = next.pop() {
            if other == session {
                return true;
            }
            if seen.contains(&other) {
                continue;
            }
            seen.push(other);
            if let Some(waiting) = &world.sessions[other].waiting {
                next.extend(self.blockers(world, other, waiting.step));
            }
        }
        false
    }

    fn conflict(&self, wanted: &Grip, held: &Grip) -> bool {
        if wanted.tables & held.tables == 0 || !wanted.exclusive && !held.exclusive {
            return false;
        }
        match (&wanted.keys, &held.keys) {
            (Some((table, wants)), Some((other, holds))) if table == other => {
                wants.iter().any(|key| holds.contains(key)) || wanted.inserts && held.gaps
            }
            _ => true,
        }
    }

    fn grip(&self, step: usize) -> Grip {
        let tables = self.reach[step].tables;
        let tree = self.trees[step].as_deref();
        let exclusive = match tree {
            Some(Statement::Query(query)) => query.locks.iter().any(|lock| match lock.strength {
                LockStrength::Update | LockStrength::NoKeyUpdate => true,
                LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode => false,
            }),
            Some(_) | None => true,
        };
        let ranges = self.rules(self.seen.case.steps[step].session).is_none_or(|rules| rules.ranges.is);
        let keys = self.keys(step);
        let plain = matches!(tree, Some(Statement::Insert(insert)) if plain(insert));
        let failed = self.seen.trace.outcomes[step].error().is_some();
        Grip {
            tables,
            exclusive,
            keys,
            inserts: matches!(tree, Some(Statement::Insert(_))),
            // A row that is in the way of an INSERT is locked, and the gap before it may be.
            gaps: ranges || failed || matches!(tree, Some(Statement::Insert(_))) && !plain,
        }
    }

    /// The whole primary keys by which a statement finds its rows, where it comes upon nothing else.
    fn keys(&self, step: usize) -> Option<(usize, Vec<Vec<i64>>)> {
        let reach = &self.reach[step];
        let table = reach.target?;
        let of = &self.schema.tables[table];
        // What is behind other keys is met, too; the reference engine has no keys in its locks.
        let alone = reach.tables == 1 << table.min(63) && !reach.inner && of.uniques.len() == 1 && of.primary;
        if !alone || self.seen.trace.server.product == Product::Reference {
            return None;
        }
        let key = of.uniques.first()?;
        let compute = Compute { known: None, ..self.compute() };
        let whole = |expr: &Expr| match compute.value(&[], expr, &[]) {
            Ok(eval::Datum::Int(number)) => Some(number),
            Ok(_) | Err(_) => None,
        };
        let integers = key.iter().all(|&at| matches!(of.columns[at].ty, model::SqlType::Int { .. }));
        if !integers {
            return None;
        }
        let by_filter = |filter: Option<&Expr>, factor: &TableFactor| -> Option<Vec<Vec<i64>>> {
            let TableFactor::Table { hints, .. } = factor else { return None };
            if !hints.is_empty() {
                return None;
            }
            let mut equal = Vec::new();
            equalities(filter?, &mut equal);
            let value = |&at: &usize| {
                let named = |(column, _): &&(&str, &Expr)| column.eq_ignore_ascii_case(&of.columns[at].name);
                equal.iter().find(named).and_then(|(_, value)| whole(value))
            };
            Some(vec![key.iter().map(value).collect::<Option<Vec<i64>>>()?])
        };
        let keys = match self.trees[step].as_deref()? {
            Statement::Query(query) => match &query.first {
                model::sql::QueryPart::Select(select) if query.rest.is_empty() => match &select.from[..] {
                    // An end of an index may answer MIN and MAX: then it is looked for there.
                    [from] if !reads_one_end(select) => by_filter(select.filter.as_ref(), &from.first)?,
                    _ => return None,
                },
                model::sql::QueryPart::Select(_) | model::sql::QueryPart::Paren(_) => return None,
            },
            Statement::Update(update) => {
                let moves = |assigned: &str| key.iter().any(|&at| of.position(assigned) == Some(at));
                let generated = key.iter().any(|&at| of.traits[at].generated.is_some());
                if generated || update.assignments.iter().any(|one| moves(&one.column.name.name)) {
                    return None;
                }
                by_filter(update.filter.as_ref(), &update.tables.first()?.first)?
            }
            Statement::Delete(delete) => by_filter(delete.filter.as_ref(), &delete.table)?,
            Statement::Insert(insert) => {
                let InsertSource::Values { rows, .. } = &insert.source else { return None };
                if !insert.on_duplicate.is_empty() {
                    return None;
                }
                let position = |at: usize| match &insert.columns {
                    None => Some(at),
                    Some(names) => {
                        names.iter().position(|name| name.name.eq_ignore_ascii_case(&of.columns[at].name))
                    }
                };
                let of_row = |row: &Vec<Expr>| {
                    key.iter()
                        .map(|&at| {
                            position(at).and_then(|at| row.get(at)).filter(|e| !nested(e)).and_then(whole)
                        })
                        .collect::<Option<Vec<i64>>>()
                };
                rows.iter().map(of_row).collect::<Option<Vec<_>>>()?
            }
            _ => return None,
        };
        Some((table, keys))
    }
}

/// An INSERT that does nothing about rows that are there already.
fn plain(insert: &Insert) -> bool {
    insert.verb == InsertVerb::Insert && insert.modifier.is_none() && insert.on_duplicate.is_empty()
}

/// The columns that a condition sets equal to something, all of it being true.
fn equalities<'e>(expr: &'e Expr, found: &mut Vec<(&'e str, &'e Expr)>) {
    match expr {
        Expr::Binary { left, op: BinaryOp::And, right } => {
            equalities(left, found);
            equalities(right, found);
        }
        Expr::Binary { left, op: BinaryOp::Eq, right } => match (left.as_ref(), right.as_ref()) {
            (Expr::Column(column), value) | (value, Expr::Column(column)) => {
                found.push((&column.name.name, value));
            }
            _ => {}
        },
        _ => {}
    }
}
