//! What a fast reset leaves behind, written into a setup: rows that were there and are deleted again.
//!
//! The rows are those that the case before began with and those that it ended with. They are inserted and deleted before the
//! case's own rows come, so that the indexes hold the delete-marked entries which the fast reset had left there.

use dialect::{Dialect, sql};
use model::{
    Case, RowSet,
    schema::SetupData,
    sql::{ColumnOption, Statement, TableItem},
};

/// The case with the leftovers of the one before it; none if its setup is not data, or the tables are not the same.
pub fn with(case: &Case, before: &Case, ended: &[(String, RowSet)], dialect: &Dialect) -> Option<Case> {
    let own = sql::setup(dialect.product, &case.setup.statements).ok()?;
    let past = sql::setup(dialect.product, &before.setup.statements).ok()?;
    if own.ddl != past.ddl {
        return None;
    }
    let mut statements = own.ddl.clone();
    let empty: Vec<String> = own
        .tables
        .iter()
        .rev()
        .map(|table| dialect.tables.empty_fast.replace("{}", &dialect.quoted(&table.name)))
        .collect();
    statements.extend(past.inserts.iter().cloned());
    statements.extend(empty.iter().cloned());
    let last = rows(&own, ended, dialect);
    if !last.is_empty() {
        statements.extend(last);
        statements.extend(empty);
    }
    statements.extend(own.inserts);
    let mut case = case.clone();
    case.setup.statements = statements;
    Some(case)
}

/// The rows that tables ended with, as INSERT statements in the order in which the tables are created.
fn rows(setup: &SetupData, ended: &[(String, RowSet)], dialect: &Dialect) -> Vec<String> {
    let generated = generated(setup, dialect);
    let mut inserts = Vec::new();
    for table in &setup.tables {
        let Some((_, rows)) = ended.iter().find(|(name, _)| *name == table.name) else { continue };
        let kept: Vec<usize> = (0..rows.columns().len())
            .filter(|&i| !generated.contains(&(table.name.clone(), rows.columns()[i].name.clone())))
            .collect();
        if rows.is_empty() || kept.is_empty() {
            continue;
        }
        let names: Vec<String> = kept.iter().map(|&i| dialect.quoted(&rows.columns()[i].name)).collect();
        let row = |row: usize| {
            let cells: Vec<String> = kept.iter().map(|&i| literal(rows.cell(row, i))).collect();
            format!("({})", cells.join(", "))
        };
        let values: Vec<String> = (0..rows.len()).map(row).collect();
        let (table, names) = (dialect.quoted(&table.name), names.join(", "));
        inserts.push(format!("INSERT INTO {table} ({names}) VALUES {}", values.join(", ")));
    }
    inserts
}

/// Columns that the server computes and that nobody may insert: table and column.
fn generated(setup: &SetupData, dialect: &Dialect) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for text in &setup.ddl {
        let sql::Parsed::Tree(Statement::CreateTable(create)) = sql::parse(dialect.product, text) else {
            continue;
        };
        for item in &create.items {
            if let TableItem::Column(column) = item
                && column.options.iter().any(|option| matches!(option, ColumnOption::Generated { .. }))
            {
                found.push((create.name.name.name.clone(), column.name.name.clone()));
            }
        }
    }
    found
}

/// A cell as every server takes it back: numbers and texts between quotation marks, bytes that are no text in hexadecimal.
fn literal(cell: Option<&[u8]>) -> String {
    let Some(bytes) = cell else { return "NULL".to_string() };
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(['\\', '\0']) => format!("'{}'", text.replace('\'', "''")),
        _ => format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}
