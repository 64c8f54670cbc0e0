//! A transaction that was opened READ ONLY changes no rows.
//!
//! The manuals exempt temporary tables only, and the tables of a setup are none.

use dialect::sql::Schema;
use history::History;
use model::{
    Symptom,
    sql::{ObjectName, Statement, TransactionMode},
    verdict::evidence::Sighting,
};

use super::InvariantViolation;

pub fn check(history: &History<'_>, schema: &Schema, found: &mut Vec<InvariantViolation>) {
    let read_only = |step: usize| match history.steps[step].statement() {
        Some(Statement::Begin(begin)) => begin.modes.contains(&TransactionMode::ReadOnly),
        Some(_) | None => false,
    };
    for transaction in &history.transactions {
        let [begin, steps @ ..] = &transaction.steps[..] else { continue };
        if !read_only(*begin) || !history.steps[*begin].succeeded() {
            continue;
        }
        let ordinary = |name: &ObjectName| schema.find(&name.name.name).is_some();
        let changed = steps.iter().find(|&&step| {
            let step = &history.steps[step];
            let ordinary = |statement: &Statement| statement.footprint().writes.into_iter().any(ordinary);
            step.affected() > 0 && step.statement().is_some_and(ordinary)
        });
        found.extend(changed.map(|&step| InvariantViolation {
            symptom: Symptom::MissingError,
            step: Some(step),
            sighting: Sighting::ReadOnly,
            by: None,
        }));
    }
}
