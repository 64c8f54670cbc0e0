//! Expressions as PostgreSQL computes them, in its own three steps:
//!
//! 1. [`bind`] settles the types, as its parser does. Types are strict: most of what is wrong is wrong here.
//! 2. [`fold`] computes what is constant, as its planner does. A constant division by zero is an error even where no row
//!    would come to it, but not behind a constant condition that rules it out.
//! 3. [`run`] computes the rest over a row, from left to right, and no further than needed.
//!
//! In a list of columns this is exact. As a condition the planner may ask the parts of an AND in another order: see
//! [`truth`]. Text is compared by its bytes, which is what the "C" collation of Isopod's instances means.

mod bind;
mod bind_function;
mod call;
mod cast;
mod fold;
mod functions;
mod like;
mod node;
mod numeric;
mod run;
#[cfg(test)]
mod tests;
mod types;

use model::{SqlType, sql::Expr};

use crate::{Datum, Evaluator, Fault};
use node::Node;
use types::{Ty, TypeModifier};

/// The value of an expression over a row.
pub(crate) fn value(of: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Datum, Fault> {
    let bound = bind::bind(of, expr)?;
    let node = fold::fold(bound.node)?;
    run::run(&node, row).map(|found| found.into_owned())
}

/// Is it true as a condition? The parts of an AND are asked in an order of the planner's choice: where one of them is an
/// error and another is not true, nobody knows which comes first.
pub(crate) fn truth(of: &Evaluator, expr: &Expr, row: &[Datum]) -> Result<Option<bool>, Fault> {
    let bound = bind::bind(of, expr)?.coerced(Ty::Bool)?;
    let node = fold::fold(bound.node)?;
    let mut parts = Vec::new();
    conjuncts(node, false, &mut parts);
    let mut found = Some(true);
    let mut fault = None;
    for part in &parts {
        match run::test(part, row) {
            Ok(truth) => found = crate::logic::and(found, truth),
            // What is unknown counts as false in WHERE, and so a part of an OR may be left out.
            Err(_) if matches!(part, Node::Or(_)) => {
                return Err(Fault::unsure("an error in a part of a condition that may not be reached"));
            }
            Err(error) if fault.as_ref().is_some_and(|known| *known != error) => {
                return Err(Fault::unsure("one of two errors of a condition"));
            }
            Err(error) => fault = Some(error),
        }
    }
    match fault {
        None => Ok(found),
        Some(error) if found == Some(true) => Err(error),
        Some(_) => Err(Fault::unsure("an error in a part of a condition that may not be reached")),
    }
}

/// The parts of which all must hold. As the planner does, NOT is taken inside: NOT (a OR b) is NOT a AND NOT b.
fn conjuncts(node: Node, negated: bool, parts: &mut Vec<Node>) {
    match (node, negated) {
        (Node::And(args), false) | (Node::Or(args), true) => {
            args.into_iter().for_each(|arg| conjuncts(arg, negated, parts));
        }
        (Node::And(args), true) => {
            parts.push(Node::Or(args.into_iter().map(|arg| Node::Not(Box::new(arg))).collect()));
        }
        (Node::Not(arg), _) => conjuncts(*arg, !negated, parts),
        (other, true) => parts.push(Node::Not(Box::new(other))),
        (other, false) => parts.push(other),
    }
}

/// What a column holds after the value was stored there. A text is taken for a string, not for a constant in quotes.
pub(crate) fn store(_of: &Evaluator, value: &Datum, ty: &SqlType) -> Result<Datum, Fault> {
    let to = Ty::of_column(ty);
    let from = match value {
        Datum::Null => return Ok(Datum::Null),
        Datum::Bool(_) => Ty::Bool,
        Datum::Int(_) | Datum::UInt(_) => Ty::Int8,
        Datum::Decimal(_) => Ty::Numeric,
        // A short number stays what it is as a long one.
        Datum::Double(_) => Ty::Float8,
        Datum::Text(_) => Ty::Text,
        Datum::Bytes(_) => Ty::Bytea,
        Datum::Date(..) => Ty::Date,
        Datum::DateTime(..) => Ty::Timestamp,
    };
    let time = |ty| matches!(ty, Ty::Date | Ty::Timestamp);
    let allowed =
        from == to || to.is_string() || from.is_number() && to.is_number() || time(from) && time(to);
    if !allowed {
        return Err(match from {
            Ty::Text => {
                Fault::unsure("a text for a column of another type: a constant in quotes, or an error")
            }
            _ => bind::ILL_TYPED,
        });
    }
    let value = cast::cast(from, to, value)?;
    match (ty, &value) {
        (SqlType::Decimal { precision, scale }, _) => {
            cast::fit(TypeModifier::Numeric(*precision, *scale), &value)
        }
        (SqlType::Char(n) | SqlType::Varchar(n), Datum::Text(text)) => {
            // Only blanks may be cut off.
            let length = usize::from(*n);
            if text.chars().skip(length).any(|c| c != ' ') {
                return Err(cast::RANGE);
            }
            cast::fit(
                if to == Ty::Bpchar { TypeModifier::Char(length) } else { TypeModifier::Varchar(length) },
                &value,
            )
        }
        _ => Ok(value),
    }
}
