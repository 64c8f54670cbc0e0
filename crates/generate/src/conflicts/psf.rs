//! Fucci's partially shared filters: the second statement's condition is met by whatever meets the first one's, and by more.
//!
//! Both parts stand in parentheses: without them an AND or a BETWEEN in one would bind into the other.

use model::{
    Rng,
    sql::{BinaryOp, Expr},
};

use super::{Body, Collision, context::ConflictContext, fsf};

pub(super) fn collide(rng: &mut Rng, context: &ConflictContext, bodies: &mut [Body]) -> Option<Collision> {
    fsf::share(rng, context, bodies, |theirs, shared| match theirs {
        Some(theirs) => Expr::binary(paren(shared), BinaryOp::Or, paren(theirs)),
        None => shared,
    })
}

/// In parentheses, once.
pub(super) fn paren(expr: Expr) -> Expr {
    match expr {
        Expr::Paren(_) => expr,
        expr => Expr::Paren(Box::new(expr)),
    }
}
