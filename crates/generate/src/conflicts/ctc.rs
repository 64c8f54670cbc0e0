//! Fucci's conflict tuple containment: one row is made to fulfil the conditions of both statements, over all 13 pairs.
//!
//! Where the condition is false of the row it is negated, where it is NULL it becomes a test for that; where it cannot be
//! told, the row's own key takes its place. Fucci asks the server for that; the evaluator answers here.

use eval::{Column, Evaluator};
use model::{
    Rng,
    sql::{Expr, Statement, UnaryOp},
};

use super::{
    Body, Collision,
    context::{ConflictContext, Row},
    filtered::{PAIRS, Side, filter, find_or_put},
    interleave,
    psf::paren,
};
use crate::{
    orders::{Pair, Place},
    schema::Table,
};

pub(super) fn collide(rng: &mut Rng, context: &ConflictContext, bodies: &mut [Body]) -> Option<Collision> {
    let (mut one, mut two) = interleave::sessions(rng, bodies)?;
    let (a, b, name) = *rng.pick(&PAIRS);
    if rng.ratio(1, 2) {
        (one, two) = (two, one);
    }
    let inserts = b == Side::Insert;
    let table = context.table(rng, |table| inserts || !table.rows.is_empty())?;
    let first = find_or_put(rng, context, bodies, one, a, table)?;
    let (second, row) = if inserts {
        // A statement of our own, whose row is known.
        let row = context.fresh(rng, table)?;
        let index = rng.between(0, bodies[two].statements.len());
        bodies[two].statements.insert(index, Statement::Insert(context.insert(table, &row)));
        (Place { session: two, index }, row)
    } else {
        (find_or_put(rng, context, bodies, two, b, table)?, rng.pick(&table.rows).clone())
    };
    for place in [first, second] {
        if let Some(condition) = filter(&mut bodies[place.session].statements[place.index]) {
            *condition = condition.take().map(|old| met_by(context, table, &row, old));
        }
    }
    let (first, second) = if rng.ratio(1, 2) { (first, second) } else { (second, first) };
    Some(Collision { pairs: vec![Pair { first, second, shape: None }], features: vec![name] })
}

/// The condition, changed so that the row meets it.
fn met_by(context: &ConflictContext, table: &Table, row: &Row, condition: Expr) -> Expr {
    let column = |c: &crate::schema::Column| Column {
        table: Some(table.name.clone()),
        name: c.name.clone(),
        ty: c.ty.clone(),
        collation: None,
    };
    let columns: Vec<Column> = table.columns.iter().map(column).collect();
    let evaluator =
        Evaluator { product: context.caps.product, version: &context.caps.version, columns: &columns };
    match evaluator.truth(&condition, row) {
        Ok(Some(true)) => condition,
        Ok(Some(false)) => Expr::Unary { op: UnaryOp::Not, expr: Box::new(paren(condition)) },
        Ok(None) => Expr::is_null(paren(condition), false),
        Err(_) => context.row_is(table, row),
    }
}
