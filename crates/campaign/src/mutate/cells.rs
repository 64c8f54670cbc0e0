//! A value of another version: one that the column had elsewhere in the trace.

use std::collections::BTreeSet;

use model::{Rng, RowSet, Trace};

use super::{Mutant, Mutation, Place, pick};

/// A value as the server sent it; none for NULL.
type Cell = Option<Vec<u8>>;

/// Puts another value of its column into a row of a result or of the final state.
pub fn swap(trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
    let places = Place::all(trace);
    let mut swaps: Vec<(&Place, usize, usize, Cell)> = Vec::new();
    for place in &places {
        let Some(set) = place.rows(trace) else { continue };
        for column in 0..set.columns().len() {
            let values = values(trace, &places, set, column);
            for row in 0..set.len() {
                let own = set.cell(row, column);
                let others = values.iter().filter(|value| value.as_deref() != own);
                swaps.extend(others.map(|other| (place, row, column, other.clone())));
            }
        }
    }
    let (place, row, column, value) = pick(rng, &swaps)?;
    let set = place.rows(trace)?;
    let changed = with(set, *row, *column, value.as_deref());
    let what = format!("{}: {} for {}", place.words(trace), changed.row_text(*row), set.row_text(*row));
    Some(Mutant {
        trace: place.with(trace, changed),
        name: Mutation::SwapVersion.name(),
        step: place.step(),
        what,
    })
}

/// The values of columns of this name and kind, wherever they stand.
fn values(trace: &Trace, places: &[Place], set: &RowSet, column: usize) -> BTreeSet<Cell> {
    let wanted = &set.columns()[column];
    let mut found = BTreeSet::new();
    for rows in places.iter().filter_map(|place| place.rows(trace)) {
        let same = |at: &usize| {
            let here = &rows.columns()[*at];
            here.name == wanted.name && here.kind == wanted.kind
        };
        for at in (0..rows.columns().len()).filter(same) {
            found.extend((0..rows.len()).map(|row| rows.cell(row, at).map(<[u8]>::to_vec)));
        }
    }
    found
}

fn with(rows: &RowSet, row: usize, column: usize, value: Option<&[u8]>) -> RowSet {
    let mut changed = RowSet::new(rows.columns().to_vec());
    for r in 0..rows.len() {
        for c in 0..rows.columns().len() {
            changed.push(if (r, c) == (row, column) { value } else { rows.cell(r, c) });
        }
    }
    changed
}
