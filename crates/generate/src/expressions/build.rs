//! Pieces of trees. What is not simple gets parentheses wherever it is an operand: those are part of the tree.

use model::sql::{BinaryOp, CastSpelling, Expr, FunctionArgs, Ident, Literal, TypeName, UnaryOp, When};

/// The expression as an operand: in parentheses unless it is simple.
pub(super) fn operand(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Function { .. }
        | Expr::Paren(_)
        | Expr::Case { .. }
        | Expr::Cast { spelling: CastSpelling::Call, .. } => expr,
        other => Expr::Paren(Box::new(other)),
    }
}

pub(super) fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(operand(expr))
}

pub(super) fn binary(left: Expr, op: BinaryOp, right: Expr) -> Expr {
    Expr::Binary { left: boxed(left), op, right: boxed(right) }
}

pub(super) fn unary(op: UnaryOp, expr: Expr) -> Expr {
    Expr::Unary { op, expr: boxed(expr) }
}

pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Function { name: Ident::new(name), quantifier: None, args: FunctionArgs::List(args) }
}

pub(super) fn cast(expr: Expr, ty: TypeName) -> Expr {
    Expr::Cast { expr: Box::new(expr), ty, spelling: CastSpelling::Call }
}

pub(super) fn case(operand: Option<Expr>, whens: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    Expr::Case {
        operand: operand.map(Box::new),
        whens: whens.into_iter().map(|(when, then)| When { when, then }).collect(),
        otherwise: otherwise.map(Box::new),
    }
}

/// A type of several words with arguments: `DECIMAL(10, 2)`.
pub(super) fn type_name(words: &str, args: &[u16]) -> TypeName {
    TypeName {
        words: words.split(' ').map(str::to_string).collect(),
        args: args.iter().map(|n| Literal::number(u64::from(*n))).collect(),
        suffix: Vec::new(),
    }
}
