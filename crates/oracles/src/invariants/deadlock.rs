//! Transactions that wait for each other's row locks in a circle are a deadlock, and the server ends one of them.
//!
//! The executor looks when nothing is left to be sent, and looks again after the server's search had time (`execute/src/end.rs`). When a deadlock is
//! reported is the server's choice; that nobody in the circle can ever go on is not. The manuals promise it for row locks: beside locks of whole
//! tables, and where the search is switched off, nothing is said.

use dialect::Execution;
use history::History;
use model::{Symptom, sql::StatementKind, verdict::evidence::Sighting};

use super::{InvariantViolation, exemptions};

pub fn check(seen: &Execution, history: &History<'_>, found: &mut Vec<InvariantViolation>) {
    let steps = &seen.aftermath.circle;
    let Some(last) = steps.iter().copied().max_by_key(|&step| history.steps[step].sent) else { return };
    let server = &seen.trace.server;
    let switch = dialect::of(server.product).deadlock_search;
    if switch.and_then(|name| server.settings.get(name)).is_some_and(|value| value == "OFF") {
        return;
    }
    let locks_tables = history
        .steps
        .iter()
        .any(|step| matches!(step.kind(), None | Some(StatementKind::Ddl | StatementKind::LockTable)));
    found.push(InvariantViolation {
        symptom: Symptom::UnreportedDeadlock,
        step: Some(last),
        sighting: Sighting::Circle { steps: steps.clone() },
        by: exemptions::table_locks(server.product).filter(|_| locks_tables),
    });
}
