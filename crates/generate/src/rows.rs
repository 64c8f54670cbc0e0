//! Rows: the ones that tables begin with, and those that statements insert.

use eval::Datum;
use model::Rng;

use crate::{
    profile::Profile,
    schema::{Schema, Table, pool},
};

/// Fills the tables, parents before children, so that every constraint holds.
pub fn fill(rng: &mut Rng, schema: &mut Schema, profile: &Profile) {
    for at in 0..schema.tables.len() {
        let count =
            if profile.rows.one_row.draw(rng) { 1 } else { rng.below(profile.rows.most as usize + 1) };
        let mut rows: Vec<Vec<Datum>> = Vec::new();
        for _ in 0..count {
            let table = &schema.tables[at];
            // A row for which there is no room is left out.
            let fresh = (0..6)
                .filter_map(|_| row(rng, schema, table, profile).map(|row| close(rng, schema, table, row)))
                .find(|row| rows.iter().all(|other| !table.collide(row, other)));
            rows.extend(fresh);
        }
        schema.tables[at].rows = rows;
    }
}

/// A row of values from the pools, whose parent is among those that the table begins with. None if it would need a parent
/// and there is none.
pub fn row(rng: &mut Rng, schema: &Schema, table: &Table, profile: &Profile) -> Option<Vec<Datum>> {
    let mut row = Vec::with_capacity(table.columns.len());
    for (at, column) in table.columns.iter().enumerate() {
        let refers = table.referring(at);
        let odds = if table.in_unique(at) { profile.rows.null_unique } else { profile.rows.null_other };
        let datum = if column.nullable && odds.draw(rng) {
            Datum::Null
        } else if let Some(parent) = refers {
            let referred = parent.referred[0];
            let keys: Vec<&Datum> = schema.tables[parent.table]
                .rows
                .iter()
                .map(|row| &row[referred])
                .filter(|key| !key.is_null())
                .collect();
            match (keys.is_empty(), column.nullable) {
                (false, _) => (*rng.pick(&keys)).clone(),
                (true, true) => Datum::Null,
                (true, false) => return None,
            }
        } else {
            rng.pick(&column.pool).clone()
        };
        row.push(datum);
    }
    table.compute(&mut row);
    Some(row)
}

/// Most rows with two ways to a table refer to the same row of it by both.
fn close(rng: &mut Rng, schema: &Schema, table: &Table, mut row: Vec<Datum>) -> Vec<Datum> {
    let Some(corner) = schema.corner(table) else { return row };
    let through = &row[corner.through.columns[0]];
    let middle = &schema.tables[corner.through.table];
    let met = middle.rows.iter().find(|other| pool::alike(&other[corner.through.referred[0]], through));
    if let Some(met) = met.filter(|met| !met[corner.onward.columns[0]].is_null() && rng.ratio(3, 4)) {
        row[corner.direct.columns[0]] = met[corner.onward.columns[0]].clone();
    }
    row
}

/// A row that no row of the table stands in the way of, if one is found.
pub fn fresh(rng: &mut Rng, schema: &Schema, table: &Table, profile: &Profile) -> Option<Vec<Datum>> {
    (0..8)
        .filter_map(|_| row(rng, schema, table, profile))
        .find(|row| table.rows.iter().all(|other| !table.collide(row, other)))
}
