//! Which tables a statement reaches: those that it names, and those behind their foreign keys.

use model::sql::{ObjectName, Query, Statement, TableFactor, Visit};

use super::schema::Schema;

#[derive(Clone, Copy, Debug, Default)]
pub struct TableFootprint {
    /// The tables, as bits.
    pub tables: u64,
    /// The one table of its own, if there is one.
    pub target: Option<usize>,
    /// Does it have a subquery?
    pub inner: bool,
    /// The tables that subqueries name, as bits.
    pub read_inside: u64,
}

pub fn footprint(schema: &Schema, statement: &Statement) -> TableFootprint {
    struct Names<'s> {
        schema: &'s Schema,
        bits: u64,
        queries: usize,
    }
    impl Visit<'_> for Names<'_> {
        fn object(&mut self, name: &ObjectName) {
            if let Some(table) = self.schema.find(&name.name.name) {
                self.bits |= 1 << table.min(63);
            }
        }
        fn query(&mut self, _: &Query) {
            self.queries += 1;
        }
    }
    let (target, outer) = match statement {
        Statement::Query(query) => {
            let table = match &query.first {
                model::sql::QueryPart::Select(select) => match &select.from[..] {
                    [from] if from.joins.is_empty() => named(schema, &from.first),
                    _ => None,
                },
                model::sql::QueryPart::Paren(_) => None,
            };
            (table, 1)
        }
        Statement::Insert(insert) => (schema.find(&insert.table.name.name), 0),
        Statement::Update(update) => match &update.tables[..] {
            [from] if from.joins.is_empty() => (named(schema, &from.first), 0),
            _ => (None, 0),
        },
        Statement::Delete(delete) if delete.using.is_empty() => (named(schema, &delete.table), 0),
        Statement::Delete(_) => (None, 0),
        _ => return TableFootprint::default(),
    };
    let mut names = Names { schema, bits: 0, queries: 0 };
    statement.visit(&mut names);
    let mut bits = names.bits;
    // Foreign keys lead on, both ways, as far as they go.
    for _ in 0..schema.tables.len() {
        for (child, table) in schema.tables.iter().enumerate() {
            for foreign in &table.parents {
                let pair = 1 << child.min(63) | 1 << foreign.parent.min(63);
                if bits & pair != 0 {
                    bits |= pair;
                }
            }
        }
    }
    let inside = statement.footprint().inner.into_iter().filter_map(|name| schema.find(&name.name.name));
    let read_inside = inside.fold(0, |bits, table| bits | 1 << table.min(63));
    TableFootprint { tables: bits, target, inner: names.queries > outer, read_inside }
}

fn named(schema: &Schema, factor: &TableFactor) -> Option<usize> {
    match factor {
        TableFactor::Table { name, .. } => schema.find(&name.name.name),
        TableFactor::Paren(inner) if inner.joins.is_empty() => named(schema, &inner.first),
        TableFactor::Paren(_) | TableFactor::Derived { .. } => None,
    }
}
