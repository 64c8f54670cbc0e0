//! What PostgreSQL's planner computes ahead: every part that is constant, with its errors. `CASE WHEN a > 0 THEN 1/0 END`
//! is an error over any row, for the division is constant; but a branch behind a constant condition is never looked at.
//!
//! Only what never changes is computed ahead. What depends on a setting (how a date is written) waits for the row.

use super::{
    node::{Call, Node},
    run::run,
    types::Ty,
};
use crate::{Datum, Fault};

/// The expression with its constant parts computed, or the error that this gave.
pub(super) fn fold(node: Node) -> Result<Node, Fault> {
    Ok(match node {
        Node::Const(_) | Node::Column(..) => node,
        Node::Call(call, args) => {
            let args = all(args)?;
            if args.iter().any(|arg| constant(arg).is_some_and(Datum::is_null)) {
                return Ok(Node::Const(Datum::Null));
            }
            let ahead = immutable(call) && args.iter().all(|arg| constant(arg).is_some());
            settled(Node::Call(call, args), ahead)?
        }
        Node::And(args) => truths(args, false)?,
        Node::Or(args) => truths(args, true)?,
        Node::Not(arg) => one(fold(*arg)?, Node::Not)?,
        Node::IsNull(arg, negated) => one(fold(*arg)?, |arg| Node::IsNull(arg, negated))?,
        Node::IsBool(arg, wanted, negated) => one(fold(*arg)?, |arg| Node::IsBool(arg, wanted, negated))?,
        Node::Distinct(args, negated, blanks) => two(*args, |args| Node::Distinct(args, negated, blanks))?,
        Node::NullIf { args, blanks, ahead } => null_if(*args, blanks, ahead)?,
        Node::Coalesce(args) => coalesce(args)?,
        Node::Extreme { greatest, blanks, args } => {
            let args = all(args)?;
            let ahead = args.iter().all(|arg| constant(arg).is_some());
            settled(Node::Extreme { greatest, blanks, args }, ahead)?
        }
        Node::Case { whens, otherwise } => case(whens, *otherwise)?,
        Node::InArray { negated, blanks, item, list } => {
            let (item, list) = (Box::new(fold(*item)?), all(list)?);
            let ahead = constant(&item).is_some() && list.iter().all(|arg| constant(arg).is_some());
            settled(Node::InArray { negated, blanks, item, list }, ahead)?
        }
        Node::Concat { separated, args } => Node::Concat { separated, args: all(args)? },
    })
}

fn all(args: Vec<Node>) -> Result<Vec<Node>, Fault> {
    args.into_iter().map(fold).collect()
}

fn constant(node: &Node) -> Option<&Datum> {
    match node {
        Node::Const(datum) => Some(datum),
        _ => None,
    }
}

/// Computes it, if it may be computed ahead.
fn settled(node: Node, ahead: bool) -> Result<Node, Fault> {
    if !ahead {
        return Ok(node);
    }
    let datum = run(&node, &[])?.into_owned();
    Ok(Node::Const(datum))
}

fn one(arg: Node, make: impl FnOnce(Box<Node>) -> Node) -> Result<Node, Fault> {
    let ahead = constant(&arg).is_some();
    settled(make(Box::new(arg)), ahead)
}

fn two(args: [Node; 2], make: impl FnOnce(Box<[Node; 2]>) -> Node) -> Result<Node, Fault> {
    let [left, right] = args;
    let args = [fold(left)?, fold(right)?];
    let ahead = args.iter().all(|arg| constant(arg).is_some());
    settled(make(Box::new(args)), ahead)
}

/// NULL equals nothing, so beside one the first operand is all.
fn null_if(args: [Node; 2], blanks: bool, ahead: bool) -> Result<Node, Fault> {
    let [left, right] = args;
    let (left, right) = (fold(left)?, fold(right)?);
    let constants = [constant(&left), constant(&right)];
    if ahead && constants.iter().flatten().any(|datum| datum.is_null()) {
        return Ok(left);
    }
    let settle = ahead && constants.iter().all(Option::is_some);
    settled(Node::NullIf { args: Box::new([left, right]), blanks, ahead }, settle)
}

/// AND and OR: what follows a constant that decides is not looked at; constants that do not decide are left out.
fn truths(args: Vec<Node>, ends: bool) -> Result<Node, Fault> {
    let (mut rest, mut unknown) = (Vec::with_capacity(args.len()), false);
    for arg in args {
        match fold(arg)? {
            Node::Const(Datum::Bool(b)) if b == ends => return Ok(Node::Const(Datum::Bool(ends))),
            Node::Const(Datum::Bool(_)) => {}
            Node::Const(Datum::Null) => unknown = true,
            other => rest.push(other),
        }
    }
    if rest.is_empty() {
        return Ok(Node::Const(if unknown { Datum::Null } else { Datum::Bool(!ends) }));
    }
    if unknown {
        rest.push(Node::Const(Datum::Null));
    }
    Ok(if ends { Node::Or(rest) } else { Node::And(rest) })
}

fn coalesce(args: Vec<Node>) -> Result<Node, Fault> {
    let mut rest = Vec::with_capacity(args.len());
    for arg in args {
        match fold(arg)? {
            Node::Const(Datum::Null) => {}
            constant @ Node::Const(_) => {
                rest.push(constant);
                break;
            }
            other => rest.push(other),
        }
    }
    Ok(match rest.len() {
        0 => Node::Const(Datum::Null),
        1 if constant(&rest[0]).is_some() => rest.remove(0),
        _ => Node::Coalesce(rest),
    })
}

fn case(whens: Vec<(Node, Node)>, otherwise: Node) -> Result<Node, Fault> {
    let mut rest = Vec::with_capacity(whens.len());
    for (when, then) in whens {
        match fold(when)? {
            Node::Const(Datum::Bool(true)) => return finish(rest, fold(then)?),
            Node::Const(_) => {}
            when => rest.push((when, fold(then)?)),
        }
    }
    finish(rest, fold(otherwise)?)
}

fn finish(whens: Vec<(Node, Node)>, otherwise: Node) -> Result<Node, Fault> {
    Ok(if whens.is_empty() { otherwise } else { Node::Case { whens, otherwise: Box::new(otherwise) } })
}

/// Does it give the same under all settings? Dates are read and written as DateStyle says.
fn immutable(call: Call) -> bool {
    match call {
        Call::Cast(from, to) => {
            let time = |ty| matches!(ty, Ty::Date | Ty::Timestamp);
            time(from) == time(to)
        }
        _ => true,
    }
}
