//! Simplifies expressions: one is replaced by one of its parts, or by a constant; a conjunct goes, and so does an item of a list.

use model::sql::{Expr, FunctionArgs, InList, Literal, Query, SelectItem, Statement, UnaryOp};

use crate::{
    edit::{Put, each_statement, less},
    view::{Candidate, View},
};

/// With one expression made simpler.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    each_statement(view, statements, statements)
}

/// The statement with one of its expressions made simpler, outer ones first.
fn statements(statement: &Statement) -> Vec<(&'static str, Statement)> {
    let mut all = Vec::new();
    statement.for_each_expr(|expr| all.push(expr));
    let mut found = Vec::new();
    for (at, expr) in all.into_iter().enumerate().rev() {
        for (operation, simpler) in simpler(expr) {
            let mut other = statement.clone();
            other.visit_mut(&mut Put { before: at, other: Some(simpler) });
            found.push((operation, other));
        }
    }
    found
}

const CHILD: &str = "replace by a part";
const TRUTH: &str = "replace by a truth value";
const NULL: &str = "replace by NULL";
const ITEM: &str = "drop item";

fn simpler(expr: &Expr) -> Vec<(&'static str, Expr)> {
    let mut found = Vec::new();
    let null = Expr::Literal(Literal::Null);
    if is_test(expr) {
        found.push((TRUTH, Expr::Literal(Literal::Bool(true))));
        found.push((TRUTH, Expr::Literal(Literal::Bool(false))));
    }
    let composite = !parts(expr).is_empty() || matches!(expr, Expr::Subquery(_) | Expr::Exists(_));
    found.extend(parts(expr).into_iter().map(|part| (CHILD, part)));
    found.extend(lists(expr).into_iter().map(|other| (ITEM, other)));
    if composite && !is_negative(expr) {
        found.push((NULL, null));
    }
    found
}

/// A negative number is a constant.
fn is_negative(expr: &Expr) -> bool {
    matches!(expr, Expr::Unary { op: UnaryOp::Neg, expr } if matches!(**expr, Expr::Literal(_)))
}

/// Does it give a truth value?
fn is_test(expr: &Expr) -> bool {
    use model::sql::BinaryOp::*;
    match expr {
        Expr::IsNull { .. }
        | Expr::IsBool { .. }
        | Expr::In { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::Exists(_)
        | Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, .. } => true,
        Expr::Binary { op, .. } => !matches!(
            op,
            BitOr | BitAnd | Shl | Shr | Add | Sub | Mul | Div | IntDiv | Rem | Mod | BitXor | Power | Concat
        ),
        Expr::Paren(inner) => is_test(inner),
        _ => false,
    }
}

fn parts(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Unary { expr: inner, .. }
        | Expr::IsNull { expr: inner, .. }
        | Expr::IsBool { expr: inner, .. }
        | Expr::Collate { expr: inner, .. }
        | Expr::Cast { expr: inner, .. }
        | Expr::Paren(inner) => vec![(**inner).clone()],
        Expr::Binary { left, right, .. } => vec![(**left).clone(), (**right).clone()],
        Expr::In { expr: inner, list, .. } => {
            let mut found = vec![(**inner).clone()];
            if let InList::Exprs(list) = list {
                found.extend(list.iter().cloned());
                if let [only] = &list[..] {
                    found.push(Expr::binary((**inner).clone(), model::sql::BinaryOp::Eq, only.clone()));
                }
            }
            found
        }
        Expr::Between { expr: inner, low, high, .. } => {
            use model::sql::BinaryOp;
            let side = |op: BinaryOp, to: &Expr| Expr::binary((**inner).clone(), op, to.clone());
            vec![
                (**inner).clone(),
                side(BinaryOp::Ge, low),
                side(BinaryOp::Le, high),
                side(BinaryOp::Eq, low),
            ]
        }
        Expr::Like { expr: inner, pattern, .. } => {
            let same = Expr::binary((**inner).clone(), model::sql::BinaryOp::Eq, (**pattern).clone());
            vec![(**inner).clone(), (**pattern).clone(), same]
        }
        Expr::Case { operand, whens, otherwise } => {
            let mut found: Vec<Expr> = whens.iter().map(|when| when.then.clone()).collect();
            found.extend(otherwise.iter().map(|expr| (**expr).clone()));
            found.extend(operand.iter().map(|expr| (**expr).clone()));
            found.extend(whens.iter().map(|when| when.when.clone()));
            found
        }
        Expr::Function { args: FunctionArgs::List(list), .. } | Expr::Row(list) => list.clone(),
        Expr::Subquery(query) => projected(query).into_iter().collect(),
        Expr::Function { args: FunctionArgs::Star, .. } | Expr::Exists(_) => Vec::new(),
        Expr::Literal(_) | Expr::Column(_) | Expr::Variable(_) | Expr::Default | Expr::BareFunction(_) => {
            Vec::new()
        }
    }
}

/// What a query of one column shows, if that means something outside of it.
fn projected(query: &Query) -> Option<Expr> {
    let model::sql::QueryPart::Select(select) = &query.first else { return None };
    match &select.items[..] {
        [SelectItem::Expr { expr, .. }] => Some(expr.clone()),
        _ => None,
    }
}

/// The same with an item less in its list.
fn lists(expr: &Expr) -> Vec<Expr> {
    let mut found = Vec::new();
    match expr {
        Expr::In { expr: inner, negated, list: InList::Exprs(list) } if list.len() > 1 => {
            for list in less(list) {
                found.push(Expr::In { expr: inner.clone(), negated: *negated, list: InList::Exprs(list) });
            }
        }
        Expr::Case { operand, whens, otherwise } => {
            for whens in less(whens) {
                found.push(Expr::Case { operand: operand.clone(), whens, otherwise: otherwise.clone() });
            }
            if otherwise.is_some() {
                found.push(Expr::Case { operand: operand.clone(), whens: whens.clone(), otherwise: None });
            }
        }
        Expr::Function { name, quantifier, args: FunctionArgs::List(list) } => {
            for list in less(list) {
                let args = FunctionArgs::List(list);
                found.push(Expr::Function { name: name.clone(), quantifier: *quantifier, args });
            }
        }
        Expr::In { expr: inner, negated: true, list } => {
            found.push(Expr::In { expr: inner.clone(), negated: false, list: list.clone() });
        }
        _ => {}
    }
    found
}
