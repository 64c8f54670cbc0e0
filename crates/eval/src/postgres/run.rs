//! Computes a bound expression over a row, in the order in which the server's executor does: from left to right, and no
//! further than AND, OR, CASE and COALESCE need.

use std::{borrow::Cow, cmp::Ordering};

use super::{
    call::call,
    node::{Comparison, Node},
};
use crate::{Datum, Fault};

/// A value that may be the row's or the tree's own.
pub(super) type Evaluated<'a> = Result<Cow<'a, Datum>, Fault>;

const NO_TRUTH: Fault = Fault::unsure("a condition that is no truth value");

pub(super) fn run<'a>(node: &'a Node, row: &'a [Datum]) -> Evaluated<'a> {
    Ok(match node {
        Node::Const(datum) => Cow::Borrowed(datum),
        Node::Column(at, padded) => return column(row, *at, *padded),
        Node::Call(what, args) => return strict(*what, args, row),
        Node::And(args) => truth(all(args, row, false)?),
        Node::Or(args) => truth(all(args, row, true)?),
        Node::Not(arg) => truth(test(arg, row)?.map(|b| !b)),
        Node::IsNull(arg, negated) => truth(Some(run(arg, row)?.is_null() != *negated)),
        Node::IsBool(arg, wanted, negated) => truth(Some((test(arg, row)? == *wanted) != *negated)),
        Node::Distinct(args, negated, blanks) => {
            let (left, right) = (run(&args[0], row)?, run(&args[1], row)?);
            let equal = match (left.is_null(), right.is_null()) {
                (false, false) => compare(&left, &right, *blanks)? == Ordering::Equal,
                (left, right) => left == right,
            };
            truth(Some(equal == *negated))
        }
        Node::NullIf { args, blanks, .. } => {
            let (left, right) = (run(&args[0], row)?, run(&args[1], row)?);
            let both = !left.is_null() && !right.is_null();
            if both && compare(&left, &right, *blanks)? == Ordering::Equal {
                return Ok(Cow::Owned(Datum::Null));
            }
            left
        }
        Node::Coalesce(args) => {
            for arg in args {
                let found = run(arg, row)?;
                if !found.is_null() {
                    return Ok(found);
                }
            }
            Cow::Owned(Datum::Null)
        }
        Node::Extreme { greatest, blanks, args } => return extreme(*greatest, *blanks, args, row),
        Node::Case { whens, otherwise } => {
            for (when, then) in whens {
                if test(when, row)? == Some(true) {
                    return run(then, row);
                }
            }
            return run(otherwise, row);
        }
        Node::InArray { negated, blanks, item, list } => {
            let found = in_array(item, list, *blanks, row)?;
            truth(found.map(|found| found != *negated))
        }
        Node::Concat { separated, args } => Cow::Owned(concat(*separated, args, row)?),
    })
}

/// Is it true?
pub(super) fn test(node: &Node, row: &[Datum]) -> Result<Option<bool>, Fault> {
    match *run(node, row)? {
        Datum::Bool(b) => Ok(Some(b)),
        Datum::Null => Ok(None),
        _ => Err(NO_TRUTH),
    }
}

fn truth(b: Option<bool>) -> Cow<'static, Datum> {
    Cow::Owned(b.map_or(Datum::Null, Datum::Bool))
}

fn column(row: &[Datum], at: usize, padded: Option<usize>) -> Evaluated<'_> {
    let datum = row.get(at).ok_or(Fault::unsure("a row without a datum for each column"))?;
    if let (Datum::Text(text), Some(length)) = (datum, padded) {
        let short = length.saturating_sub(text.chars().count());
        if short > 0 {
            return Ok(Cow::Owned(Datum::Text(format!("{text}{:short$}", ""))));
        }
    }
    Ok(Cow::Borrowed(datum))
}

/// All arguments are computed before NULL is looked for.
fn strict<'a>(what: super::node::Call, args: &'a [Node], row: &'a [Datum]) -> Evaluated<'a> {
    let null = || Ok(Cow::Owned(Datum::Null));
    match args {
        [only] => {
            let only = run(only, row)?;
            if only.is_null() { null() } else { call(what, &[&only]).map(Cow::Owned) }
        }
        [left, right] => {
            let (left, right) = (run(left, row)?, run(right, row)?);
            if left.is_null() || right.is_null() {
                null()
            } else {
                call(what, &[&left, &right]).map(Cow::Owned)
            }
        }
        more => {
            let found = more.iter().map(|arg| run(arg, row)).collect::<Result<Vec<_>, _>>()?;
            if found.iter().any(|datum| datum.is_null()) {
                return null();
            }
            let refs: Vec<&Datum> = found.iter().map(|datum| &**datum).collect();
            call(what, &refs).map(Cow::Owned)
        }
    }
}

/// AND ends at the first that is false, OR at the first that is true.
fn all(args: &[Node], row: &[Datum], ends: bool) -> Result<Option<bool>, Fault> {
    let mut known = true;
    for arg in args {
        match test(arg, row)? {
            Some(b) if b == ends => return Ok(Some(ends)),
            Some(_) => {}
            None => known = false,
        }
    }
    Ok(known.then_some(!ends))
}

fn extreme<'a>(greatest: bool, blanks: bool, args: &'a [Node], row: &'a [Datum]) -> Evaluated<'a> {
    let wanted = if greatest { Ordering::Greater } else { Ordering::Less };
    let mut best: Option<Cow<Datum>> = None;
    for arg in args {
        let found = run(arg, row)?;
        if found.is_null() {
            continue;
        }
        let better = match &best {
            Some(best) => compare(&found, best, blanks)? == wanted,
            None => true,
        };
        if better {
            best = Some(found);
        }
    }
    Ok(best.unwrap_or(Cow::Owned(Datum::Null)))
}

fn in_array(item: &Node, list: &[Node], blanks: bool, row: &[Datum]) -> Result<Option<bool>, Fault> {
    let item = run(item, row)?;
    let (mut found, mut unknown) = (false, item.is_null());
    for other in list {
        let other = run(other, row)?;
        if other.is_null() {
            unknown = true;
        } else if !item.is_null() && compare(&item, &other, blanks)? == Ordering::Equal {
            found = true;
        }
    }
    Ok(if found { Some(true) } else { (!unknown).then_some(false) })
}

fn concat(separated: bool, args: &[Node], row: &[Datum]) -> Result<Datum, Fault> {
    let mut found = args.iter().map(|arg| run(arg, row)).collect::<Result<Vec<_>, _>>()?;
    let separator = match separated.then(|| found.remove(0)).as_deref() {
        Some(Datum::Text(text)) => text.clone(),
        Some(_) => return Ok(Datum::Null),
        None => String::new(),
    };
    let texts = found.iter().filter_map(|datum| match &**datum {
        Datum::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Ok(Datum::Text(texts.collect::<Vec<_>>().join(&separator)))
}

/// The order of two values of one kind, none of them NULL.
pub(super) fn compare(a: &Datum, b: &Datum, blanks: bool) -> Result<Ordering, Fault> {
    Ok(match (a, b) {
        (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
        (Datum::Int(a), Datum::Int(b)) => a.cmp(b),
        (Datum::Decimal(a), Datum::Decimal(b)) => a.compare(*b),
        // NaN equals itself and is above all others; -0 equals 0.
        (Datum::Double(a), Datum::Double(b)) => {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (Datum::Text(a), Datum::Text(b)) if blanks => {
            a.trim_end_matches(' ').as_bytes().cmp(b.trim_end_matches(' ').as_bytes())
        }
        (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
        (Datum::Date(..) | Datum::DateTime(..), Datum::Date(..) | Datum::DateTime(..)) => {
            moment(a).cmp(&moment(b))
        }
        _ => return Err(Fault::unsure("a comparison of values of two kinds")),
    })
}

/// A day is its midnight.
fn moment(datum: &Datum) -> Option<(i32, u8, u8, u32)> {
    match *datum {
        Datum::Date(y, m, d) => Some((y, m, d, 0)),
        Datum::DateTime(y, m, d, s) => Some((y, m, d, s)),
        _ => None,
    }
}

impl Comparison {
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Eq => order.is_eq(),
            Comparison::Ne => order.is_ne(),
            Comparison::Lt => order.is_lt(),
            Comparison::Le => order.is_le(),
            Comparison::Gt => order.is_gt(),
            Comparison::Ge => order.is_ge(),
        }
    }
}
