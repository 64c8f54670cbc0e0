//! The final state is the same through every index.
//!
//! Where the executor read the tables through each of their indexes, every way must give what the plain read gave.

use super::InvariantViolation;
use dialect::Execution;
use model::{Symptom, verdict::evidence::Sighting};

/// Compares the ways.
pub fn check(seen: &Execution, found: &mut Vec<InvariantViolation>) {
    for scan in &seen.aftermath.index_scans {
        let plain = seen.trace.final_state.iter().flatten().find(|(table, _)| *table == scan.table);
        if let Some((table, rows)) = plain
            && !rows.same_rows(&scan.rows)
        {
            let sighting = Sighting::Index {
                table: table.clone(),
                index: scan.index.clone(),
                rows: scan.rows.clone(),
                plain: rows.clone(),
            };
            found.push(InvariantViolation {
                symptom: Symptom::IndexDisagrees,
                step: None,
                sighting,
                by: None,
            });
        }
    }
}
