//! Draws keys and indexes.

use dialect::Capabilities;
use model::{Rng, SqlType, schema::KeyKind};

use super::{
    Index, Part, Table,
    columns::{keyable, needs_prefix},
};
use crate::profile::Profile;

/// The primary key, or none.
pub fn primary(rng: &mut Rng, table: &mut Table, profile: &Profile) {
    if profile.schema.no_primary.draw(rng) {
        return;
    }
    let mut columns = candidates(table);
    if columns.is_empty() {
        return;
    }
    // The first column is the usual one.
    if rng.ratio(1, 3) {
        rng.shuffle(&mut columns);
    }
    let composite = profile.schema.composite_primary.draw(rng);
    columns.truncate(if composite { 2 } else { 1 });
    for &column in &columns {
        table.columns[column].nullable = false;
    }
    table.indexes.push(Index { name: None, kind: KeyKind::Primary, parts: parts(&columns) });
}

/// UNIQUE keys.
pub fn unique(rng: &mut Rng, table: &mut Table, profile: &Profile) {
    if !profile.schema.unique.draw(rng) {
        return;
    }
    for _ in 0..rng.between(1, 2) {
        let mut columns = candidates(table);
        rng.shuffle(&mut columns);
        columns.truncate(if profile.schema.composite_unique.draw(rng) { 2 } else { 1 });
        if columns.is_empty() || table.indexes.iter().any(|index| same(index, &columns)) {
            continue;
        }
        let primary = table.primary().map(|index| index.parts.clone()).unwrap_or_default();
        for &column in &columns {
            if !primary.iter().any(|part| part.column == column) {
                table.columns[column].nullable = profile.schema.nullable_unique.draw(rng);
            }
        }
        push(table, KeyKind::Unique, parts(&columns));
    }
}

/// Plain indexes.
pub fn plain(rng: &mut Rng, table: &mut Table, caps: &Capabilities, profile: &Profile) {
    let odds = &profile.schema;
    let all = odds.all_indexed.draw(rng);
    if !all && !odds.index.draw(rng) {
        return;
    }
    let able: Vec<usize> = (0..table.columns.len()).filter(|&i| can_be_indexed(table, i, caps)).collect();
    if able.is_empty() {
        return;
    }
    let firsts: Vec<usize> =
        if all { able.clone() } else { (0..rng.between(1, 2)).map(|_| *rng.pick(&able)).collect() };
    for first in firsts {
        let mut columns = vec![first];
        let second = *rng.pick(&able);
        if second != first && odds.composite_index.draw(rng) {
            columns.push(second);
        }
        let led = |index: &Index| index.parts[0].column == first;
        if all && table.indexes.iter().any(led) || table.indexes.iter().any(|index| same(index, &columns)) {
            continue;
        }
        let mut parts = parts(&columns);
        for part in &mut parts {
            let ty = &table.columns[part.column].ty;
            part.descending = caps.descending && odds.descending.draw(rng);
            part.prefix = match ty {
                _ if !caps.prefixes => None,
                ty if needs_prefix(ty) || table.columns[part.column].is_long() => {
                    Some(rng.between(1, 10) as u16)
                }
                SqlType::Char(n) | SqlType::Varchar(n) if odds.prefix.draw(rng) => Some(1 + n / 3),
                _ => None,
            };
        }
        push(table, KeyKind::Plain, parts);
    }
}

fn push(table: &mut Table, kind: KeyKind, parts: Vec<Part>) {
    let name = format!("{}_i{}", table.name, table.indexes.len());
    table.indexes.push(Index { name: Some(name), kind, parts });
}

fn parts(columns: &[usize]) -> Vec<Part> {
    columns.iter().map(|&column| Part { column, prefix: None, descending: false }).collect()
}

fn same(index: &Index, columns: &[usize]) -> bool {
    index.parts.len() == columns.len() && index.parts.iter().zip(columns).all(|(p, c)| p.column == *c)
}

/// Columns that may be in a unique key.
fn candidates(table: &Table) -> Vec<usize> {
    table.writable().filter(|&i| keyable(&table.columns[i].ty)).collect()
}

fn can_be_indexed(table: &Table, column: usize, caps: &Capabilities) -> bool {
    let column = &table.columns[column];
    // A long value fits into an index only by a part of it.
    let long = column.is_long();
    let stored = column.generated.as_ref().is_none_or(|g| g.storage == "STORED" || caps.virtual_indexes);
    stored && (!long || caps.prefixes)
}
