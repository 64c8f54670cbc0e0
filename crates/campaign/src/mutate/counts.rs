//! A count of affected rows that is one more or less.

use dialect::sql;
use model::{Case, Reply, Rng, Trace};

use super::{Mutant, Mutation, pick};

/// Changes the count of a statement that changes rows.
pub fn change(case: &Case, trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
    let product = trace.server.product;
    let writes = |sql: &str| sql::parse(product, sql).tree().is_some_and(|tree| sql::facts(&tree).writes);
    let counted = |step: &usize| {
        matches!(trace.outcomes[*step].reply, Reply::Done { .. }) && writes(&case.steps[*step].sql)
    };
    let steps: Vec<usize> = (0..trace.outcomes.len()).filter(counted).collect();
    let step = *pick(rng, &steps)?;
    let up = rng.ratio(1, 2);
    let mut trace = trace.clone();
    let Reply::Done { affected, .. } = &mut trace.outcomes[step].reply else { return None };
    let before = *affected;
    *affected = if up || before == 0 { before + 1 } else { before - 1 };
    let what = format!("step {}: {affected} for {before}", step + 1);
    Some(Mutant { trace, name: Mutation::ChangeCount.name(), step: Some(step), what })
}
