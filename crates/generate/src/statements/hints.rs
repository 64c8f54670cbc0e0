//! Which index a statement is told to use. Without a hint the access path, and with it what is locked, is the planner's
//! choice, which depends on what others have not committed yet.

use model::{
    Rng, SqlType,
    sql::{BinaryOp, Expr, HintAction, Ident, InList, IndexHint, IndexWord},
};

use super::Statements;

impl Statements<'_> {
    /// A hint for a statement with this filter, if there is an index that serves it; drawn.
    pub fn hint(&self, rng: &mut Rng, table: usize, filter: Option<&Expr>) -> Vec<IndexHint> {
        let Some(filter) = filter else { return Vec::new() };
        if !(self.caps.clauses.index_hints || self.caps.clauses.indexed_by)
            || !self.profile.details.hint.draw(rng)
        {
            return Vec::new();
        }
        let shape = self.table(table);
        let mut columns = Vec::new();
        served(filter, &mut columns);
        // A name that SQLite could not call an index by, or a comparison that its index cannot serve, is an error there.
        let fits = |ty: &SqlType| !self.caps.clauses.indexed_by || matches!(ty, SqlType::Int { .. });
        let serving: Vec<&str> = shape
            .indexes
            .iter()
            .filter(|index| {
                let first = &shape.columns[index.parts[0].column];
                columns.contains(&first.name.as_str()) && fits(&first.ty)
            })
            .filter(|index| index.name.is_some() || self.caps.clauses.index_hints)
            .map(|index| index.hint())
            .collect();
        if serving.is_empty() {
            return Vec::new();
        }
        let name = Ident::new(*rng.pick(&serving));
        vec![if self.caps.clauses.index_hints {
            IndexHint::Names {
                action: HintAction::Force,
                word: IndexWord::Index,
                scope: None,
                names: vec![name],
            }
        } else {
            IndexHint::IndexedBy(name)
        }]
    }
}

/// Columns that the filter compares with constants, so that an index on them serves it.
fn served<'e>(filter: &'e Expr, found: &mut Vec<&'e str>) {
    let column = |expr: &'e Expr, found: &mut Vec<&'e str>| {
        if let Expr::Column(column) = expr {
            found.push(&column.name.name);
        }
    };
    match filter {
        Expr::Binary { left, op: BinaryOp::And, right } => {
            served(left, found);
            served(right, found);
        }
        Expr::Binary {
            left,
            op: BinaryOp::Eq | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            right,
        } if constant(right) => {
            column(left, found);
        }
        Expr::Between { expr, negated: false, low, high } if constant(low) && constant(high) => {
            column(expr, found)
        }
        Expr::In { expr, negated: false, list: InList::Exprs(list) } if list.iter().all(constant) => {
            column(expr, found)
        }
        _ => {}
    }
}

fn constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Unary { expr, .. } | Expr::Cast { expr, .. } => constant(expr),
        _ => false,
    }
}
