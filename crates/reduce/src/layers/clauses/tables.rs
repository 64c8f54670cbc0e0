//! FROM and its kin: one table instead of several, and nothing said about it.

use model::sql::{TableFactor, TableRef};

use crate::edit::less;

/// Lists with fewer tables.
pub fn simpler_list(list: &[TableRef]) -> Vec<Vec<TableRef>> {
    let mut found = less(list);
    for at in 0..list.len() {
        for table in simpler(&list[at]) {
            let mut other = list.to_vec();
            other[at] = table;
            found.push(other);
        }
    }
    found
}

/// One of the tables that are joined, or all but one of them.
fn simpler(table: &TableRef) -> Vec<TableRef> {
    let mut found = Vec::new();
    let alone = |first: &TableFactor| TableRef { first: first.clone(), joins: Vec::new() };
    if !table.joins.is_empty() {
        found.push(alone(&table.first));
        found.extend(table.joins.iter().map(|join| alone(&join.table)));
    }
    let with = |joins| TableRef { first: table.first.clone(), joins };
    found.extend(less(&table.joins).into_iter().map(with));
    match &table.first {
        TableFactor::Paren(inner) if table.joins.is_empty() => found.push((**inner).clone()),
        TableFactor::Derived { query, alias } if table.joins.is_empty() => {
            // The table inside, under the name that the query had.
            if let model::sql::QueryPart::Select(select) = &query.first
                && let [TableRef { first: TableFactor::Table { name, .. }, joins }] = &select.from[..]
                && joins.is_empty()
            {
                let first =
                    TableFactor::Table { name: name.clone(), alias: alias.clone(), hints: Vec::new() };
                found.push(TableRef { first, joins: Vec::new() });
            }
        }
        TableFactor::Paren(_) | TableFactor::Derived { .. } | TableFactor::Table { .. } => {}
    }
    found
}

/// The same tables without hints, and without other names.
pub fn plainer_list(list: &[TableRef]) -> Vec<Vec<TableRef>> {
    let mut found = Vec::new();
    for (no_hints, no_alias) in [(true, false), (false, true)] {
        let mut other = list.to_vec();
        for table in &mut other {
            let joined = table.joins.iter_mut().map(|join| &mut join.table);
            for factor in std::iter::once(&mut table.first).chain(joined) {
                plainer(factor, no_hints, no_alias);
            }
        }
        if other != list {
            found.push(other);
        }
    }
    found
}

/// Drops what is said about a table beside its name.
pub fn plainer(factor: &mut TableFactor, no_hints: bool, no_alias: bool) {
    if let TableFactor::Table { alias, hints, .. } = factor {
        if no_hints {
            hints.clear();
        }
        if no_alias {
            *alias = None;
        }
    }
}
