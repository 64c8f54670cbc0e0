//! No value that nobody wrote, and no value of a writer that was undone.
//!
//! For each column there is a set of constants that somebody wrote. A value outside of it was written by nobody. A value
//! that is in it only because of statements that were undone must not be seen by other transactions, unless the level is
//! READ UNCOMMITTED and the read takes no locks (a transaction sees its own work, undone later or not).
//!
//! ```text
//! setup: t(a, b) = (1, 10)      T1: UPDATE t SET b = 20    T1: ROLLBACK
//! T2 reads b = 10   the setup wrote it
//! T2 reads b = 20   only T1 wrote it, and T1 was undone: aborted read
//! T2 reads b = 15   nobody wrote it
//! ```

use dialect::sql::Schema;
use history::History;
use model::{RowSet, Symptom, verdict::evidence::Sighting};

use super::{
    InvariantViolation,
    constants::StoredValue,
    exemptions::{self, Obligation},
    projection::{Projection, projection},
    writers::{ColumnWrites, Writer},
};

/// Looks at every result and at the final state.
pub fn check(history: &History<'_>, schema: &Schema, found: &mut Vec<InvariantViolation>) {
    let mut look = ProvenanceCheck { history, schema, writers: None, found };
    for (i, step) in history.steps.iter().enumerate() {
        let (Some(rows), Some(query)) = (step.rows(), step.query()) else { continue };
        if rows.is_empty() {
            continue;
        }
        if let Some(projection) = projection(schema, query) {
            let clean =
                exemptions::committed_values(history.trace.server.product, history.level(i), step.kind());
            look.rows(Some(i), &projection, rows, clean);
        }
    }
    for (name, rows) in history.trace.final_state.iter().flatten() {
        if let Some(table) = schema.find(name) {
            let columns = (0..schema.tables[table].columns.len()).map(Some).collect();
            look.rows(None, &Projection { table, columns }, rows, Obligation::Yes);
        }
    }
}

struct ProvenanceCheck<'a, 'b> {
    history: &'a History<'b>,
    schema: &'a Schema,
    writers: Option<ColumnWrites>,
    found: &'a mut Vec<InvariantViolation>,
}

impl ProvenanceCheck<'_, '_> {
    fn rows(&mut self, step: Option<usize>, seen: &Projection, rows: &RowSet, clean: Obligation) {
        if seen.columns.len() != rows.columns().len() || self.schema.tables[seen.table].other_engine {
            return;
        }
        let (history, schema) = (self.history, self.schema);
        let writers = self.writers.get_or_insert_with(|| ColumnWrites::of(history, schema));
        for (at, column) in seen.columns.iter().enumerate() {
            let Some(column) = *column else { continue };
            let values = PossibleValues::of(history, writers, (seen.table, column), step);
            // Somebody whose work may be seen writes more than constants.
            if values.vague {
                continue;
            }
            for row in 0..rows.len() {
                let cell = rows.cell(row, at);
                let holds = |values: &[&StoredValue]| {
                    values.iter().any(|known| matches!(known, Some(v) if v.as_deref() == cell))
                };
                if holds(&values.possible) {
                    continue;
                }
                let table = &schema.tables[seen.table];
                let sighting = || Sighting::Value {
                    table: table.name.clone(),
                    column: table.columns[column].name.clone(),
                    row: rows.only(&[row]),
                    at,
                };
                if holds(&values.undone) {
                    let by = match clean {
                        Obligation::Yes => None,
                        Obligation::Not(exemption) => Some(exemption),
                        Obligation::Unclear => continue,
                    };
                    let symptom = Symptom::AbortedRead;
                    self.found.push(InvariantViolation { symptom, step, sighting: sighting(), by });
                } else if !values.undone_vague {
                    let symptom = Symptom::ValueFromNowhere;
                    self.found.push(InvariantViolation { symptom, step, sighting: sighting(), by: None });
                }
                return;
            }
        }
    }
}

/// What may be in a column, seen from one reader.
struct PossibleValues<'w> {
    /// What those wrote whose work may be seen.
    possible: Vec<&'w StoredValue>,
    /// Does one of them write what we cannot tell?
    vague: bool,
    /// What those wrote whose work was undone.
    undone: Vec<&'w StoredValue>,
    /// Does one of these write what we cannot tell?
    undone_vague: bool,
}

impl<'w> PossibleValues<'w> {
    fn of(
        history: &History<'_>,
        writers: &'w ColumnWrites,
        place: (usize, usize),
        reader: Option<usize>,
    ) -> PossibleValues<'w> {
        let mut values =
            PossibleValues { possible: Vec::new(), vague: false, undone: Vec::new(), undone_vague: false };
        let own = reader.and_then(|step| history.steps[step].transaction);
        for written in writers.of_column(place.0, place.1) {
            let undone = match written.by {
                Writer::Setup => false,
                Writer::Step(step) => {
                    let step_info = &history.steps[step];
                    // What was never sent wrote nothing, whatever it says.
                    let Some(transaction) = step_info.transaction else { continue };
                    step_info.undone.is_some() && own != Some(transaction)
                }
            };
            match (undone, &written.value) {
                (false, None) => values.vague = true,
                (true, None) => values.undone_vague = true,
                (false, known) => values.possible.push(known),
                (true, known) => values.undone.push(known),
            }
        }
        values
    }
}
