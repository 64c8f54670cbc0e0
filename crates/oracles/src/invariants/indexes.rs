//! The final state is the same through every index.
//!
//! Where the executor read the tables through each of their indexes, every way must give what the plain read gave.

use super::Found;
use crate::Answer;

/// Compares the ways.
pub fn check(seen: &Answer, found: &mut Vec<Found>) {
    for through in &seen.aftermath.through {
        let plain = seen.trace.final_state.iter().flatten().find(|(table, _)| *table == through.table);
        if let Some((table, rows)) = plain
            && !rows.same_rows(&through.rows)
        {
            let index = if through.index.is_empty() { "the primary key" } else { &through.index };
            let story =
                format!("{table} read through {index} holds {}, and {rows} by a plain read", through.rows);
            found.push(Found { rule: "index-disagrees", step: None, story, by: None });
        }
    }
}
