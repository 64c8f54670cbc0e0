//! What was asked: decided or not, and which operators with which families of operands.

use std::collections::BTreeMap;

use eval::Fault;
use generate::expressions::{ExprColumn, Family, family::family};
use model::{Product, sql::Expr};
use serde::Serialize;

use super::compare::{Expected, Question};

#[derive(Default, Serialize)]
pub struct Census {
    /// Expressions of which the evaluator said what comes, an error included.
    pub decided: u64,
    /// Of these, expressions that are an error.
    pub errors: u64,
    /// Of these, conditions that were asked for every row in WHERE.
    pub as_where: u64,
    /// Expressions that the evaluator left open, and why.
    pub unsure: BTreeMap<&'static str, u64>,
    /// Made and decided, by operator and family.
    #[serde(skip)]
    pairs: BTreeMap<(String, &'static str), (u64, u64)>,
}

impl Census {
    pub fn count(&mut self, question: &Question, columns: &[ExprColumn], product: Product) {
        let decided = match &question.expected {
            Err(Fault::Unsure(reason)) => {
                *self.unsure.entry(reason.name()).or_default() += 1;
                false
            }
            Err(Fault::Error(_)) => {
                self.errors += 1;
                true
            }
            Ok(_) => true,
        };
        self.decided += u64::from(decided);
        self.as_where += u64::from(decided && matches!(question.expected, Ok(Expected::Rows(_))));
        walk(&question.expr, &mut |expr| {
            let Some(name) = operator(expr) else { return };
            for child in expr.children() {
                let family = family(product, columns, child);
                // NULL alone is no type.
                if family == Family::Null {
                    continue;
                }
                let key = (name.clone(), family.name());
                let counts = self.pairs.entry(key).or_default();
                counts.0 += 1;
                counts.1 += u64::from(decided);
            }
        });
    }

    /// Decided, by operator and family.
    pub fn table(&self) -> BTreeMap<String, BTreeMap<&'static str, u64>> {
        let mut table: BTreeMap<String, BTreeMap<&'static str, u64>> = BTreeMap::new();
        for ((operator, family), (_, decided)) in &self.pairs {
            table.entry(operator.clone()).or_default().insert(family, *decided);
        }
        table
    }

    /// Pairs decided less often than that.
    pub fn rare(&self, enough: u64) -> Vec<String> {
        let rare = self.pairs.iter().filter(|(_, (_, decided))| *decided < enough);
        rare.map(|((operator, family), (made, decided))| format!("{operator} {family} ({decided} of {made})"))
            .collect()
    }
}

/// Visits an expression and all inside it.
pub fn walk(expr: &Expr, visit: &mut impl FnMut(&Expr)) {
    visit(expr);
    for child in expr.children() {
        walk(child, visit);
    }
}

/// What an expression does, if it does anything.
pub fn operator(expr: &Expr) -> Option<String> {
    Some(match expr {
        Expr::Unary { op, .. } => format!("unary {op:?}"),
        Expr::Binary { op, .. } => format!("{op:?}"),
        Expr::IsNull { .. } => "IS NULL".to_string(),
        Expr::IsBool { test, .. } => format!("IS {test:?}"),
        Expr::In { .. } => "IN".to_string(),
        Expr::Between { .. } => "BETWEEN".to_string(),
        Expr::Like { op, .. } => format!("{op:?}"),
        Expr::Collate { .. } => "COLLATE".to_string(),
        Expr::Case { operand: None, .. } => "CASE WHEN".to_string(),
        Expr::Case { operand: Some(_), .. } => "CASE x WHEN".to_string(),
        Expr::Cast { ty, .. } => format!("CAST {}", ty.words.join(" ")),
        Expr::Function { name, .. } => format!("{}()", name.name),
        Expr::Row(_)
        | Expr::Subquery(_)
        | Expr::Exists(_)
        | Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Variable(_)
        | Expr::Default
        | Expr::BareFunction(_)
        | Expr::Paren(_) => return None,
    })
}
