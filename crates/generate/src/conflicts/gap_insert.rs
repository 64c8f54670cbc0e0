//! One reads or changes a range, the other inserts into it: the range is locked with its gaps, checked by predicate, or not at all.

use model::{
    Rng,
    sql::{BinaryOp, Expr, Statement},
};

use super::{
    context::{ConflictContext, Row, compare},
    interleave::ScriptPair,
};
use crate::schema::Table;

pub(super) fn plan(rng: &mut Rng, context: &ConflictContext) -> Option<ScriptPair> {
    let table = context.table(rng, |_| true)?;
    let row = context.fresh(rng, table)?;
    let range = range(rng, context, table, &row);
    let reader = |rng: &mut Rng| match (rng.below(6), context.idle(table)) {
        (0, Some(idle)) => context.update_any(rng, table, idle, range.clone()),
        (1, _) if table.rows.iter().all(|row| context.deletable(table, row)) => {
            context.delete(table, range.clone())
        }
        (2, _) => context.select(table, range.clone()),
        _ => context.locking(rng, table, range.clone()),
    };
    let mut reads = vec![reader(rng)];
    if rng.ratio(3, 4) {
        reads.push(context.select(table, range.clone()));
    }
    let mut inserts = vec![Statement::Insert(context.insert(table, &row))];
    if rng.ratio(1, 3) {
        inserts.push(context.select(table, range.clone()));
    }
    // The insert first: the reader meets a row that is not committed. The range first: the insert meets its gap.
    let (first, second) = if rng.ratio(2, 3) { (reads, inserts) } else { (inserts, reads) };
    Some(ScriptPair { first, second, meet: (0, 0), shape: None, ending: None })
}

/// A range around the row: by an indexed column if there is one, since gaps belong to indexes.
fn range(rng: &mut Rng, context: &ConflictContext, table: &Table, row: &Row) -> Option<Expr> {
    let mut columns: Vec<usize> = (0..table.columns.len()).filter(|&c| !row[c].is_null()).collect();
    rng.shuffle(&mut columns);
    columns.sort_by_key(|&column| !table.indexed(column));
    let column = *columns.first()?;
    let name = &table.columns[column].name;
    let value = context.literal(&row[column]);
    match rng.below(6) {
        0 => None,
        1 => Some(compare(name, BinaryOp::Eq, value)),
        2 => Some(compare(name, BinaryOp::Le, value)),
        3 => Some(compare(name, BinaryOp::Ge, value)),
        4 => {
            let low = Expr::binary(Expr::column(name), BinaryOp::Ge, value.clone());
            Some(Expr::binary(low, BinaryOp::And, compare(name, BinaryOp::Le, value)))
        }
        _ => {
            let (expr, low, high) = (Box::new(Expr::column(name)), Box::new(value.clone()), Box::new(value));
            Some(Expr::Between { expr, negated: false, low, high })
        }
    }
}
