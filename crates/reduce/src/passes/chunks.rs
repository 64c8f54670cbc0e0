//! Drops many steps in a row: halves, quarters, and so on, down to two.

use model::{Case, Product};

use super::{pieces, without_steps};

/// Without a piece of the schedule.
pub fn list(case: &Case, _: Product) -> Vec<Case> {
    let without = |piece: std::ops::Range<usize>| without_steps(case, |step| piece.contains(&step));
    pieces(case.steps.len(), 2).into_iter().map(without).collect()
}
