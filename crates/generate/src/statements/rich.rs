//! Random expressions in statements, aimed: the evaluator says for which of the table's rows a condition holds, and what would
//! be an error is drawn again.

use eval::{Column, Datum, Evaluator, Fault};
use model::{Rng, SqlType, sql::Expr};

use super::Statements;
use crate::expressions::{ExprColumn, Expressions, Weights};

/// At most this many times a condition is drawn again that holds for no row.
const TRIES: usize = 4;

impl Statements<'_> {
    /// A random condition; it holds for one of the rows that the table begins with if such a one comes up.
    ///
    /// In a statement that changes rows nothing is converted: a server in strict mode calls it an error there.
    pub fn rich_condition(&self, rng: &mut Rng, table: usize, changes: bool) -> Option<Expr> {
        let (columns, known) = (self.expression_columns(table), self.evaluated_columns(table));
        let (expressions, evaluator) = self.expressions(&columns, &known, !changes);
        let mut fallback = None;
        for _ in 0..TRIES {
            let depth = rng.between(1, 2);
            let expr = expressions.condition(rng, depth);
            let mut holds = false;
            let mut fails = false;
            for row in &self.table(table).rows {
                match evaluator.truth(&expr, row) {
                    Ok(truth) => holds |= truth == Some(true),
                    Err(Fault::Error(_)) => fails = true,
                    Err(Fault::Unsure(_)) => {}
                }
            }
            if fails {
                continue;
            }
            if holds {
                return Some(expr);
            }
            fallback = Some(expr);
        }
        fallback
    }

    /// A random value that the column can take in every row that the table begins with.
    pub fn rich_value(&self, rng: &mut Rng, table: usize, at: usize) -> Option<Expr> {
        let (columns, known) = (self.expression_columns(table), self.evaluated_columns(table));
        let (expressions, evaluator) = self.expressions(&columns, &known, false);
        let column = &self.table(table).columns[at];
        let fits = |expr: &Expr, row: &[Datum]| match evaluator.value(expr, row) {
            Ok(value) if value.is_null() => column.nullable,
            Ok(value) => !matches!(evaluator.store(&value, &column.ty), Err(Fault::Error(_))),
            Err(Fault::Error(_)) => false,
            Err(Fault::Unsure(_)) => true,
        };
        (0..TRIES)
            .map(|_| {
                let depth = rng.between(1, 2);
                expressions.value(rng, &column.ty, depth)
            })
            .find(|expr| self.table(table).rows.iter().all(|row| fits(expr, row)))
    }

    /// What makes expressions over these columns, mixing families of types or not, and what computes them.
    fn expressions<'c>(
        &'c self,
        columns: &'c [ExprColumn<'c>],
        known: &'c [Column],
        mixes: bool,
    ) -> (Expressions<'c>, Evaluator<'c>) {
        let (product, version) = (self.caps.product, &self.caps.version);
        let plain = Weights::default();
        let weights = if mixes { plain } else { Weights { mix: usize::MAX, ..plain } };
        (Expressions { product, version, columns, weights }, Evaluator { product, version, columns: known })
    }

    /// The columns that expressions name: all but the long one, whose constants would fill pages.
    fn expression_columns(&self, table: usize) -> Vec<ExprColumn<'_>> {
        let columns = self.table(table).columns.iter();
        columns
            .filter(|column| !column.is_long())
            .map(|column| ExprColumn {
                table: None,
                name: &column.name,
                ty: column.ty.clone(),
                nullable: column.nullable,
                pool: &column.pool,
            })
            .collect()
    }

    fn evaluated_columns(&self, table: usize) -> Vec<Column> {
        let column = |column: &crate::schema::Column| Column {
            table: None,
            name: column.name.clone(),
            ty: column.ty.clone(),
            collation: None,
        };
        self.table(table).columns.iter().map(column).collect()
    }
}

/// Are two types so much alike that their values can be compared everywhere?
pub(super) fn comparable(one: &SqlType, other: &SqlType) -> bool {
    matches!((one, other), (SqlType::Int { .. }, SqlType::Int { .. })) || one == other
}
