//! No PRIMARY or UNIQUE value twice in one result, nor in the final state.
//!
//! Where a result has all columns of such a key, two rows with the same bytes in them are two rows with the same key, whatever
//! the collation. NULL is equal to nothing. Bytes that differ may still be the same value; that is not looked for.

use dialect::sql::{Schema, schema::KeyDefinition};
use history::{History, Transaction};
use model::{Level, RowSet, Symptom, schema::KeyKind, value, verdict::evidence::Sighting};

use super::{
    InvariantViolation,
    exemptions::{self, Obligation, ReaderState},
    projection::{Projection, projection},
};

/// Looks at every result and at the final state.
pub fn check(history: &History<'_>, schema: &Schema, found: &mut Vec<InvariantViolation>) {
    for (i, step) in history.steps.iter().enumerate() {
        let (Some(rows), Some(query)) = (step.rows(), step.query()) else { continue };
        if rows.len() < 2 {
            continue;
        }
        let Some(seen) = projection(schema, query) else { continue };
        let Some(twice) = twice(schema, &seen, rows) else { continue };
        let owed = exemptions::distinct_keys(
            history.trace.server.product,
            history.level(i),
            step.kind(),
            reader(history, i),
        );
        let by = match owed {
            Obligation::Yes => None,
            Obligation::Not(exemption) => Some(exemption),
            Obligation::Unclear => continue,
        };
        found.push(InvariantViolation {
            symptom: twice.symptom,
            step: Some(i),
            sighting: twice.sighting,
            by,
        });
    }
    for (name, rows) in history.trace.final_state.iter().flatten() {
        let Some(table) = schema.find(name) else { continue };
        let columns = (0..schema.tables[table].columns.len()).map(Some).collect();
        if let Some(twice) = twice(schema, &Projection { table, columns }, rows) {
            found.push(InvariantViolation {
                symptom: twice.symptom,
                step: None,
                sighting: twice.sighting,
                by: None,
            });
        }
    }
}

fn reader(history: &History<'_>, step: usize) -> ReaderState {
    let own = history.transaction_of(step);
    ReaderState {
        wrote: wrote_before(history, step),
        committed: own.is_some_and(Transaction::committed),
        all_serializable: history.transactions.iter().all(|t| t.level == Some(Level::Serializable)),
    }
}

/// Did the transaction of a step try to change rows before it? A change of any table counts: foreign keys reach far.
fn wrote_before(history: &History<'_>, step: usize) -> bool {
    let own = history.transaction_of(step);
    own.is_some_and(|own| {
        own.steps.iter().take_while(|of| **of != step).any(|of| history.steps[*of].writes())
    })
}

struct DuplicateKey {
    symptom: Symptom,
    sighting: Sighting,
}

/// The first key that two rows share.
fn twice(schema: &Schema, seen: &Projection, rows: &RowSet) -> Option<DuplicateKey> {
    let table = &schema.tables[seen.table];
    if seen.columns.len() != rows.columns().len() || table.other_engine {
        return None;
    }
    for key in table.uniques() {
        let Some(places) = places(schema, seen, rows, key) else { continue };
        let mut cells: Vec<(Vec<&[u8]>, usize)> = (0..rows.len())
            .filter_map(|row| {
                let cells: Option<Vec<&[u8]>> = places.iter().map(|&at| rows.cell(row, at)).collect();
                cells.map(|cells| (cells, row))
            })
            .collect();
        cells.sort_unstable();
        if let Some(pair) = cells.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let columns = key.columns.iter().map(|&column| table.columns[column].name.clone()).collect();
            let symptom = if key.kind == KeyKind::Primary {
                Symptom::PrimaryValueTwice
            } else {
                Symptom::UniqueValueTwice
            };
            let rows = rows.only(&[pair[0].1, pair[1].1]);
            return Some(DuplicateKey {
                symptom,
                sighting: Sighting::Twice { table: table.name.clone(), columns, rows },
            });
        }
    }
    None
}

/// Where a key's columns are in a result, if all are there and values that are written alike are the same.
fn places(schema: &Schema, seen: &Projection, rows: &RowSet, key: &KeyDefinition) -> Option<Vec<usize>> {
    let columns = &schema.tables[seen.table].columns;
    let place = |&column: &usize| {
        let at = seen.position(column)?;
        // SQLite keeps values of several types in one column; such a column has no kind.
        let sure = !matches!(rows.columns()[at].kind, value::Kind::Other | value::Kind::Float);
        (columns[column].stored.shows_all() && sure).then_some(at)
    };
    key.columns.iter().map(place).collect()
}
