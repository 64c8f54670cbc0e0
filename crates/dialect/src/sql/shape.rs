//! How tightly a whole expression binds. Parser and printer both ask here.

use model::sql::{CastSpelling, Expr};

use super::rules::{ANY, Binding, PRIMARY, Rules};

/// The level of an expression's outermost operator. An operator that the dialect does not have counts as
/// loosest, which puts parentheses around it; the server will refuse it anyway.
pub(super) fn level(rules: &Rules, expr: &Expr) -> Binding {
    match expr {
        Expr::Unary { op, .. } => rules.prefix(*op).map_or(ANY, |p| p.level),
        Expr::Binary { op, .. } => rules.infix(*op).map_or(ANY, |i| i.level),
        Expr::IsNull { .. } => rules.is_null.own,
        Expr::IsBool { .. } => rules.is_bool.own,
        Expr::In { .. } => rules.in_list.own,
        Expr::Between { .. } => rules.between.own,
        Expr::Like { op, .. } => rules.like(*op).map_or(ANY, |shape| shape.own),
        Expr::Collate { .. } => rules.collate.own,
        Expr::Cast { spelling: CastSpelling::Colons, .. } => rules.cast.own,
        // All others have no operator, or close it in.
        _ => PRIMARY,
    }
}
