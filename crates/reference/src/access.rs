//! Which rows a condition makes a statement look at: the part of it that an index can answer.
//!
//! `a = 1 AND b > 5` with an index on `a` looks at the rows with `a = 1` only; without an index it looks at all. What was
//! looked at is what a locking read locks, at REPEATABLE READ and above whether the rest of the condition holds or not.
//!
//! A [`ScanRange`] is a list of terms of the condition, each over one column and constants. It doubles as a range lock: a row
//! is in the range if all terms hold for it.

use std::rc::Rc;

use eval::Datum;
use model::sql::{BinaryOp, Expr, HintAction, InList, IndexHint, UnaryOp};

use crate::{
    error::{StatementResult, error},
    table::{Index, PRIMARY, Table},
};

/// The rows that a statement looks at: those for which all terms hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRange {
    terms: Vec<Expr>,
    /// Do they name one value of a unique key, so that one row at most can fit?
    pub point: bool,
    /// Is it one of a secondary index?
    pub secondary: bool,
}

impl ScanRange {
    pub fn all() -> ScanRange {
        ScanRange { terms: Vec::new(), point: false, secondary: false }
    }

    /// Does it lead to this row?
    pub fn leads_to(&self, table: &Table, row: &[Datum]) -> StatementResult<bool> {
        for term in &self.terms {
            if !table.sheet.holds(term, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// How a term limits its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnBound {
    Value,
    /// To NULL: in a unique key there may be many of those.
    Null,
    Range,
}

/// The path by which the rows of a condition are found.
pub fn path(table: &Table, filter: Option<&Expr>, hints: &[IndexHint]) -> StatementResult<Rc<ScanRange>> {
    check_hints(table, hints)?;
    let mut terms = Vec::new();
    if let Some(filter) = filter {
        split(filter, &mut terms);
    }
    let limits: Vec<(usize, ColumnBound, &Expr)> =
        terms.into_iter().filter_map(|term| limit(table, term)).collect();
    let mut best = ScanRange::all();
    for index in table.indexes.iter().filter(|index| allowed(index, hints)) {
        let found = by_index(index, &limits);
        if (found.point, found.terms.len()) > (best.point, best.terms.len()) {
            best = found;
        }
    }
    Ok(Rc::new(best))
}

/// The terms of a chain of ANDs.
fn split<'a>(expr: &'a Expr, terms: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Paren(inner) => split(inner, terms),
        Expr::Binary { left, op: BinaryOp::And | BinaryOp::AndAmps, right } => {
            split(left, terms);
            split(right, terms);
        }
        _ => terms.push(expr),
    }
}

/// Which column a term limits, and how.
fn limit<'a>(table: &Table, term: &'a Expr) -> Option<(usize, ColumnBound, &'a Expr)> {
    let column = |expr: &Expr| match expr {
        Expr::Column(column) => table.column(&column.name.name).ok(),
        _ => None,
    };
    match term {
        Expr::Binary { left, op, right } => {
            let limit = match op {
                BinaryOp::Eq => ColumnBound::Value,
                BinaryOp::NullSafeEq => ColumnBound::Null,
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => ColumnBound::Range,
                _ => return None,
            };
            let other = |side: &Expr, other: &Expr| column(side).filter(|_| constant(other));
            Some((other(left, right).or_else(|| other(right, left))?, limit, term))
        }
        Expr::Between { expr, negated: false, low, high } if constant(low) && constant(high) => {
            Some((column(expr)?, ColumnBound::Range, term))
        }
        Expr::In { expr, negated: false, list: InList::Exprs(list) } if list.iter().all(constant) => {
            Some((column(expr)?, ColumnBound::Range, term))
        }
        Expr::IsNull { expr, negated: false, .. } => Some((column(expr)?, ColumnBound::Null, term)),
        _ => None,
    }
}

fn constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Paren(inner) | Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr: inner } => constant(inner),
        _ => false,
    }
}

/// The term with the bare name of its column: what the table is called in one statement means nothing to others.
fn plain(term: &Expr) -> Expr {
    let mut term = term.clone();
    let strip = |expr: &mut Expr| {
        if let Expr::Column(column) = expr {
            column.table = None;
        }
    };
    match &mut term {
        Expr::Binary { left, right, .. } => [left, right].into_iter().for_each(|side| strip(side)),
        Expr::Between { expr, .. } | Expr::In { expr, .. } | Expr::IsNull { expr, .. } => strip(expr),
        _ => {}
    }
    term
}

/// What an index can answer: values for its first columns, and then a range.
fn by_index(index: &Index, limits: &[(usize, ColumnBound, &Expr)]) -> ScanRange {
    let mut terms = Vec::new();
    let mut values = 0;
    for &column in &index.columns {
        let of: Vec<&(usize, ColumnBound, &Expr)> =
            limits.iter().filter(|(of, _, _)| *of == column).collect();
        if let Some((_, limit, term)) = of.iter().find(|(_, limit, _)| *limit != ColumnBound::Range) {
            terms.push(plain(term));
            values += usize::from(*limit == ColumnBound::Value);
        } else {
            terms.extend(of.iter().map(|(_, _, term)| plain(term)));
            break;
        }
    }
    ScanRange {
        point: index.unique && values == index.columns.len(),
        secondary: index.name != PRIMARY,
        terms,
    }
}

fn allowed(index: &Index, hints: &[IndexHint]) -> bool {
    let mut wanted: Option<bool> = None;
    for hint in hints {
        if let IndexHint::Names { action, scope: None, names, .. } = hint {
            let named = names.iter().any(|name| name.name.eq_ignore_ascii_case(&index.name));
            match action {
                HintAction::Use | HintAction::Force => wanted = Some(wanted.unwrap_or(false) || named),
                HintAction::Ignore if named => return false,
                HintAction::Ignore => {}
            }
        }
    }
    wanted.unwrap_or(true)
}

fn check_hints(table: &Table, hints: &[IndexHint]) -> StatementResult<()> {
    for hint in hints {
        if let IndexHint::Names { names, .. } = hint {
            let there = |name: &str| table.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name));
            if let Some(name) = names.iter().find(|name| !there(&name.name)) {
                return error(1176, "42000", format!("Key '{}' doesn't exist", name.name));
            }
        }
    }
    Ok(())
}
