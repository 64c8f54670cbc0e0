//! Can a condition be true for some row at all? `a = NULL`, `1 = 0` and `a < 1 AND a > 2` cannot, whatever the tables hold.
//!
//! It is tried: every column that the condition names takes the values that may matter, which are those that the condition and the table
//! hold, their neighbours and NULL. What is true for none of these is called impossible. For comparisons with constants that is exact; of
//! others more may be called impossible than are.

use eval::Datum;
use model::sql::Expr;

use super::{
    from_clause::FromClause,
    query_analysis::find_column,
    statement_context::{Condition, StatementContext},
};

/// At most this many rows are tried.
const ROWS: usize = 4_096;

impl StatementContext<'_> {
    /// May it be that no row can make the condition true?
    pub fn impossible(&self, from: &FromClause, condition: &Condition) -> bool {
        let conditions: Vec<&Expr> =
            condition.expr.as_deref().into_iter().chain(from.on.iter().copied()).collect();
        let (mut named, mut constants) = (Vec::new(), vec![Datum::Int(0), Datum::Int(1)]);
        for expr in &conditions {
            expr.for_each_expr(|part| match part {
                Expr::Column(column) => {
                    named.extend(find_column(from, column).filter(|at| !named.contains(at)));
                }
                Expr::Literal(_) | Expr::Unary { .. } => {
                    constants.extend(self.evaluator.value(&[], part, &[]).ok());
                }
                _ => {}
            });
        }
        constants.extend(condition.values.iter().cloned());
        let near: Vec<Datum> =
            constants.iter().filter_map(number).flat_map(|n| [n - 1, n + 1]).map(Datum::Int).collect();
        constants.extend(near);
        // A partition that holds nothing is not asked either.
        let partitioned =
            |named: &super::from_clause::Named| self.schema.tables[named.table].partitions.is_some();
        if from.tables.iter().any(partitioned) {
            return true;
        }
        let mut rows: Vec<Vec<Datum>> = vec![vec![Datum::Null; from.columns.len()]];
        for at in named {
            let values = self.values_to_try(from, at, &constants);
            if rows.len() * values.len() > ROWS {
                return true;
            }
            let with = |row: &Vec<Datum>, value: &Datum| {
                let mut row = row.clone();
                row[at] = value.clone();
                row
            };
            rows = rows.iter().flat_map(|row| values.iter().map(move |value| with(row, value))).collect();
        }
        let columns: Vec<eval::Column> = from.columns.iter().chain(&condition.columns).cloned().collect();
        let holds = |mut row: Vec<Datum>| {
            row.extend(condition.values.iter().cloned());
            let truth = |expr: &&Expr| self.evaluator.truth(&columns, expr, &row) == Ok(Some(true));
            conditions.iter().all(truth)
        };
        !rows.into_iter().any(holds)
    }

    fn values_to_try(&self, from: &FromClause, at: usize, constants: &[Datum]) -> Vec<Datum> {
        let mut start = 0;
        for named in &from.tables {
            let table = &self.schema.tables[named.table];
            if at < start + table.columns.len() {
                let column = at - start;
                let stored = constants.iter().filter(|value| !value.is_null());
                let mut values: Vec<Datum> = stored
                    .filter_map(|value| self.evaluator.store(value, &table.columns[column].ty).ok())
                    .collect();
                let versions =
                    self.hypothesis.tables[named.table].iter().flat_map(|chain| chain.versions.iter());
                values.extend(versions.filter_map(|version| Some(version.data.as_ref()?[column].clone())));
                values.extend((!table.traits[column].not_null).then_some(Datum::Null));
                let mut each: Vec<Datum> = Vec::new();
                for value in values {
                    if !each.contains(&value) {
                        each.push(value);
                    }
                }
                return each;
            }
            start += table.columns.len();
        }
        Vec::new()
    }
}

fn number(value: &Datum) -> Option<i64> {
    match value {
        Datum::Int(n) if n.checked_add(1).is_some() && n.checked_sub(1).is_some() => Some(*n),
        _ => None,
    }
}
