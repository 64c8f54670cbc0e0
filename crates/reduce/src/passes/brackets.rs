//! Drops what begins and what ends a transaction, and keeps what is between: each statement is then a transaction of its own.

use model::{Case, Product};

use super::{transactions::spans, without_steps};

/// Without the brackets of one of the transactions.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let without = |span: Vec<usize>| {
        let ends = [span.first().copied(), span.last().copied()];
        without_steps(case, |step| ends.contains(&Some(step)))
    };
    spans(case, product).into_iter().rev().filter(|span| span.len() > 2).map(without).collect()
}
