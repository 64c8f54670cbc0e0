//! What stands right inside an expression: other expressions, and at most one query.

use smallvec::SmallVec;

use super::{Expr, FunctionArgs, InList, Query};

/// The expressions right inside one; most have one or two.
pub type Children<'e> = SmallVec<[&'e Expr; 3]>;

/// The same to read and to change.
macro_rules! children {
    ($children:ident, $query:ident, $collected:ty, $iter:ident, $as_deref:ident $(, $mut:ident)?) => {
        /// The expressions right inside it, in written order; those of a query inside it are the query's.
        pub fn $children(& $($mut)? self) -> $collected {
            match self {
                Expr::Unary { expr, .. }
                | Expr::IsNull { expr, .. }
                | Expr::IsBool { expr, .. }
                | Expr::Collate { expr, .. }
                | Expr::Cast { expr, .. }
                | Expr::In { expr, list: InList::Query(_), .. }
                | Expr::Paren(expr) => [expr].into_iter().map(|expr| & $($mut)? **expr).collect(),
                Expr::Binary { left, right, .. } => {
                    [left, right].into_iter().map(|expr| & $($mut)? **expr).collect()
                }
                Expr::In { expr, list: InList::Exprs(list), .. } => {
                    std::iter::once(& $($mut)? **expr).chain(list.$iter()).collect()
                }
                Expr::Between { expr, low, high, .. } => {
                    [expr, low, high].into_iter().map(|expr| & $($mut)? **expr).collect()
                }
                Expr::Like { expr, pattern, escape, .. } => {
                    let both = [expr, pattern].into_iter().map(|expr| & $($mut)? **expr);
                    both.chain(escape.$as_deref()).collect()
                }
                Expr::Case { operand, whens, otherwise } => {
                    let whens = whens.$iter().flat_map(|w| [& $($mut)? w.when, & $($mut)? w.then]);
                    operand.$as_deref().into_iter().chain(whens).chain(otherwise.$as_deref()).collect()
                }
                Expr::Function { args: FunctionArgs::List(list), .. } | Expr::Row(list) => {
                    list.$iter().collect()
                }
                Expr::Function { args: FunctionArgs::Star, .. }
                | Expr::Literal(_)
                | Expr::Column(_)
                | Expr::Variable(_)
                | Expr::Default
                | Expr::BareFunction(_)
                | Expr::Subquery(_)
                | Expr::Exists(_) => Default::default(),
            }
        }

        /// The query right inside it.
        pub fn $query(& $($mut)? self) -> Option<& $($mut)? Query> {
            match self {
                Expr::Subquery(query) | Expr::Exists(query) | Expr::In { list: InList::Query(query), .. } => {
                    Some(query)
                }
                _ => None,
            }
        }
    };
}

impl Expr {
    children!(children, subquery, Children<'_>, iter, as_deref);
    children!(children_mut, subquery_mut, SmallVec<[&mut Expr; 3]>, iter_mut, as_deref_mut, mut);

    /// Is there a query anywhere inside?
    pub fn has_query(&self) -> bool {
        match self {
            // Lists can be long, and this is asked often.
            Expr::In { expr, list: InList::Exprs(list), .. } => {
                expr.has_query() || list.iter().any(Expr::has_query)
            }
            _ => self.subquery().is_some() || self.children().into_iter().any(Expr::has_query),
        }
    }
}
