//! A row that is missing.

use model::{Rng, RowSet, Trace};

use super::{Mutant, Mutation, Place};

/// Leaves out a row of a result or of the final state.
pub fn drop(trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
    let places = Place::all(trace);
    let rows = |place: &Place| place.rows(trace).map_or(0, RowSet::len);
    let count: usize = places.iter().map(rows).sum();
    if count == 0 {
        return None;
    }
    let mut at = rng.below(count);
    for place in places {
        let Some(set) = place.rows(trace) else { continue };
        if at >= set.len() {
            at -= set.len();
            continue;
        }
        let what = format!("{}: without {}", place.words(trace), set.row_text(at));
        return Some(Mutant {
            trace: place.with(trace, without(set, at)),
            name: Mutation::DropRow.name(),
            step: place.step(),
            what,
        });
    }
    None
}

fn without(rows: &RowSet, at: usize) -> RowSet {
    let mut left = RowSet::new(rows.columns().to_vec());
    for row in (0..rows.len()).filter(|row| *row != at) {
        if rows.columns().is_empty() {
            left.push_bare();
        }
        (0..rows.columns().len()).for_each(|column| left.push(rows.cell(row, column)));
    }
    left
}
