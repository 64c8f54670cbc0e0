//! A column has one type: in the result of a SELECT that shows it as it is, and where the whole table is read.
//!
//! Nothing is known here of what a type is called: the server describes the column twice, and both descriptions must be the same. Where a
//! value has its type from itself and not from its column, nothing is compared. Nor is what may go through a temporary table that the server
//! makes up: DISTINCT, groups, UNION.

use dialect::sql::Schema;
use history::History;
use model::{
    Symptom,
    rows::Column,
    sql::{Query, QueryPart},
    verdict::evidence::Sighting,
};

use super::{InvariantViolation, projection::projection};

pub fn check(history: &History<'_>, schema: &Schema, found: &mut Vec<InvariantViolation>) {
    let typed = dialect::of(history.trace.server.product).semantics.columns_have_types;
    let Some(tables) = history.trace.final_state.as_ref().filter(|_| typed) else { return };
    for (number, step) in history.steps.iter().enumerate() {
        let (Some(query), Some(rows)) = (step.query(), step.rows()) else { continue };
        let Some(of) = projection(schema, query).filter(|_| shows_columns(query)) else { continue };
        let table = &schema.tables[of.table];
        let whole = tables.iter().find(|(name, _)| name.eq_ignore_ascii_case(&table.name));
        let (Some((_, whole)), true) = (whole, of.columns.len() == rows.columns().len()) else { continue };
        let described = |name: &str| {
            whole.columns().iter().find(|column: &&Column| column.name.eq_ignore_ascii_case(name))
        };
        let shown = of.columns.iter().zip(rows.columns());
        let other = shown.into_iter().find_map(|(column, shown)| {
            let name = &table.columns[(*column)?].name;
            let described = described(name)?;
            let same = (described.kind, &described.type_name) == (shown.kind, &shown.type_name);
            (!same).then(|| Sighting::Type {
                table: table.name.clone(),
                column: name.clone(),
                described: described.type_name.clone(),
                shown: shown.type_name.clone(),
            })
        });
        found.extend(other.map(|sighting| InvariantViolation {
            symptom: Symptom::WrongTypes,
            step: Some(number),
            sighting,
            by: None,
        }));
    }
}

/// Are the columns of its result those of the table itself?
fn shows_columns(query: &Query) -> bool {
    matches!(&query.first, QueryPart::Select(select) if select.quantifier.is_none())
}
