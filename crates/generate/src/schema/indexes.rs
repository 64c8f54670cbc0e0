//! Draws keys and indexes.

use dialect::Capabilities;
use model::{Rng, SqlType, schema::KeyKind};

use super::{
    Index, Part, Schema, Table,
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
    table.indexes.push(Index { name: None, kind: KeyKind::Primary, parts: parts(&columns), late: false });
}

/// A primary key of one column, which others can refer to.
pub fn one_column_primary(table: &mut Table) {
    if table.primary().is_some_and(|key| key.parts.len() == 1) {
        return;
    }
    table.indexes.clear();
    table.columns[0].ty = SqlType::Int { bits: 32, unsigned: false };
    table.columns[0].nullable = false;
    table.indexes.push(Index { name: None, kind: KeyKind::Primary, parts: parts(&[0]), late: false });
}

/// At least one UNIQUE key that lets NULL in and one that does not, beside the primary key and where there are columns for them:
/// servers keep them in different orders.
pub fn unique_with_and_without_null(rng: &mut Rng, table: &mut Table) {
    for nullable in [true, false] {
        let lets_in = |index: &Index| index.parts.iter().any(|part| table.columns[part.column].nullable);
        let there = |index: &Index| index.kind == KeyKind::Unique && lets_in(index) == nullable;
        let free: Vec<usize> = candidates(table).into_iter().filter(|&c| !table.in_unique(c)).collect();
        if table.indexes.iter().any(there) || free.is_empty() {
            continue;
        }
        let column = *rng.pick(&free);
        table.columns[column].nullable = nullable;
        push(table, KeyKind::Unique, parts(&[column]));
    }
}

/// Most indexes are made after the rows, unless another table refers to them. Of the UNIQUE keys most often those without NULL,
/// which servers put before the others in their own list, whenever they were made.
pub fn put_off(rng: &mut Rng, schema: &mut Schema) {
    for at in 0..schema.tables.len() {
        let parents = schema.tables.iter().flat_map(|table| &table.parents);
        let referred: Vec<usize> =
            parents.filter(|parent| parent.table == at).flat_map(|parent| parent.referred.clone()).collect();
        let Table { columns, indexes, .. } = &mut schema.tables[at];
        for index in indexes {
            let held = index.kind == KeyKind::Primary || referred.contains(&index.parts[0].column);
            let lets_null_in = index.parts.iter().any(|part| columns[part.column].nullable);
            let early = index.kind == KeyKind::Unique && lets_null_in;
            index.late = !held && rng.ratio(if early { 1 } else { 3 }, 4);
        }
    }
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
    table.indexes.push(Index { name: Some(name), kind, parts, late: false });
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
