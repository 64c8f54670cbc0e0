//! The same SELECT twice in one transaction at REPEATABLE READ or SERIALIZABLE, without a change of its own in between, gives
//! the same.
//!
//! For plain reads of tables only: a locking read sees the newest rows at REPEATABLE READ, and that is its purpose. Changes of
//! the transaction's own that were undone again (the statement failed, a savepoint was gone back to) count as none.
//! LIMIT, functions that may give something else each time, and text that cannot be read are left out.

use dialect::sql::Schema;
use history::{History, StepInfo, UndoneBy};
use model::{
    Level, Symptom,
    sql::{Expr, Query, Select, SelectItem, Statement, StatementKind, TableFactor, Visit},
    verdict::evidence::Sighting,
};

use super::InvariantViolation;

/// Functions whose value depends on their arguments only, and not on the order of rows.
const STEADY: &[&str] = &[
    "abs",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "count",
    "floor",
    "greatest",
    "hex",
    "if",
    "ifnull",
    "instr",
    "least",
    "left",
    "length",
    "locate",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nullif",
    "replace",
    "right",
    "rtrim",
    "sign",
    "substr",
    "substring",
    "trim",
    "unhex",
    "upper",
];

/// Looks at every pair of equal texts in a transaction.
pub fn check(history: &History<'_>, schema: &Schema, found: &mut Vec<InvariantViolation>) {
    let texts = &history.case.steps;
    for transaction in &history.transactions {
        let binds = matches!(transaction.level, Some(Level::RepeatableRead | Level::Serializable));
        if !binds || transaction.steps.len() < 3 {
            continue;
        }
        for (at, &second) in transaction.steps.iter().enumerate() {
            if !history.steps[second].is(StatementKind::Select) {
                continue;
            }
            let same = |&&first: &&usize| {
                history.steps[first].is(StatementKind::Select) && texts[first].sql == texts[second].sql
            };
            // The one just before is enough: what differs from an earlier one differs from one in between.
            let Some(&first) = transaction.steps[..at].iter().rev().find(same) else { continue };
            let mut between = transaction.steps[..at].iter().copied().skip_while(|&step| step != first);
            if between.any(|step| {
                let step = &history.steps[step];
                changes(step, second) || goes_behind(step, first)
            }) {
                continue;
            }
            let (Some(before), Some(after)) = (history.steps[first].rows(), history.steps[second].rows())
            else {
                continue;
            };
            if before.same_rows(after) || !steady(history, schema, second) {
                continue;
            }
            let sighting = Sighting::UnlikeStep { step: first, rows: before.clone() };
            found.push(InvariantViolation {
                symptom: Symptom::ReadNotRepeatable,
                step: Some(second),
                sighting,
                by: None,
            });
        }
    }
}

/// Did a step change rows, or something that we cannot tell? What was undone before the second read counts as nothing; what
/// was undone after it counts.
fn changes(step: &StepInfo<'_>, second: usize) -> bool {
    match step.kind() {
        Some(StatementKind::Insert | StatementKind::Update | StatementKind::Delete) => {
            let gone = matches!(step.undone, Some(UndoneBy::Savepoint(by)) if by < second);
            step.outcome.error().is_none() && !gone
        }
        Some(
            StatementKind::Select
            | StatementKind::LockingSelect
            | StatementKind::Savepoint
            | StatementKind::LockTable,
        ) => false,
        Some(_) | None => true,
    }
}

/// Does a step go back to a savepoint that was set before the first read? That undoes what the read may have seen.
fn goes_behind(step: &StepInfo<'_>, first: usize) -> bool {
    let goes_back =
        matches!(step.statement(), Some(Statement::Rollback(_))) && step.outcome.error().is_none();
    goes_back && step.savepoint.is_none_or(|set| set < first)
}

/// Does the query give the same whenever the rows are the same?
fn steady(history: &History<'_>, schema: &Schema, step: usize) -> bool {
    let Some(query) = history.steps[step].query() else { return false };
    let mut look = RepeatableQuery { schema, steady: true };
    query.visit(&mut look);
    look.steady
}

struct RepeatableQuery<'a> {
    schema: &'a Schema,
    steady: bool,
}

impl Visit<'_> for RepeatableQuery<'_> {
    fn query(&mut self, query: &Query) {
        self.steady &= query.limit.is_none();
        self.steady &= query.selects().all(|select| self.select(select));
    }

    fn expr(&mut self, expr: &Expr) {
        self.steady &= match expr {
            Expr::Function { name, .. } => STEADY.contains(&name.name.to_ascii_lowercase().as_str()),
            Expr::Variable(_) | Expr::BareFunction(_) => false,
            _ => true,
        };
    }
}

impl RepeatableQuery<'_> {
    /// Only tables of the setup, and no column that stands for a whole group.
    fn select(&self, select: &Select) -> bool {
        let known = |factor: &TableFactor| match factor {
            TableFactor::Table { name, .. } => self
                .schema
                .find(&name.name.name)
                .is_some_and(|at| name.schema.is_none() && !self.schema.tables[at].other_engine),
            TableFactor::Derived { .. } => true,
            TableFactor::Paren(_) => false,
        };
        let plain = |item: &SelectItem| match item {
            SelectItem::Expr { expr: Expr::Function { .. }, .. } => true,
            SelectItem::Star | SelectItem::TableStar(_) | SelectItem::Expr { .. } => {
                select.group_by.is_empty()
            }
        };
        select
            .from
            .iter()
            .all(|table| known(&table.first) && table.joins.iter().all(|join| known(&join.table)))
            && select.items.iter().all(plain)
    }
}
