//! Drops a session with all its steps, the last one first.

use model::{Case, Product};

use super::without_steps;

/// Without one of the sessions.
pub fn list(case: &Case, _: Product) -> Vec<Case> {
    let without = |session: usize| without_steps(case, |step| case.steps[step].session == session);
    (0..case.sessions.len()).rev().map(without).collect()
}
