//! Drops one step, the last one first.

use model::{Case, Product};

use super::without_steps;

/// Without one of the steps.
pub fn list(case: &Case, _: Product) -> Vec<Case> {
    (0..case.steps.len()).rev().map(|step| without_steps(case, |at| at == step)).collect()
}
