//! Writes a schema as statements: CREATE TABLE, CREATE INDEX and INSERT, and nothing else, so that the executor understands
//! the setup as data and can reset it fast. Where indexes come after the rows it runs the setup anew now and then.

use dialect::Capabilities;
use eval::Datum;
use model::{
    schema::KeyKind,
    sql::{
        AlterTable, ColumnOption, Constraint, CreateIndex, CreatePartition, CreateTable, Direction, Expr,
        ForeignKeyAction, Ident, IndexColumn, IndexWord, Insert, PartitionBy, Partitioning, References,
        Statement, TableColumn, TableConstraint, TableItem, TableOption,
    },
};

use super::{Column, Index, Parent, Part, Schema, Table};

/// CREATE TABLE, and CREATE INDEX where indexes stand apart.
pub fn create(schema: &Schema, table: &Table, caps: &Capabilities) -> Vec<Statement> {
    let mut items: Vec<TableItem> = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        items.push(TableItem::Column(define(table, at, column, caps)));
    }
    let mut apart = Vec::new();
    for index in table.indexes.iter().filter(|index| !index.late) {
        match index.kind {
            KeyKind::Primary if index.parts.len() == 1 => {}
            KeyKind::Unique | KeyKind::Plain if !caps.clauses.mysql_ddl => {
                apart.push(create_index(table, index));
            }
            _ => items.push(constraint(key(table, index))),
        }
    }
    items.extend(table.parents.iter().map(|parent| foreign_key(schema, table, parent)));
    for check in &table.checks {
        items.push(constraint(Constraint::Check(check.clone())));
    }
    let mut options = Vec::new();
    if table.without_rowid {
        let words = ["WITHOUT", "ROWID"].map(str::to_string).to_vec();
        options.push(TableOption { words, equals: false, value: None });
    }
    let create = Statement::CreateTable(CreateTable {
        temporary: false,
        if_not_exists: false,
        name: table.name.as_str().into(),
        items,
        options,
        partition: partitioning(table, caps),
    });
    [create].into_iter().chain(parts(table, caps)).chain(apart).collect()
}

/// The indexes that are made after the rows.
pub fn late(table: &Table, caps: &Capabilities) -> Vec<Statement> {
    let make = |index: &Index| match caps.clauses.mysql_ddl {
        true => Statement::AlterTable(AlterTable {
            table: table.name.as_str().into(),
            added: vec![TableConstraint { name: None, kind: key(table, index) }],
        }),
        false => create_index(table, index),
    };
    table.indexes.iter().filter(|index| index.late).map(make).collect()
}

/// A key or index as a part of CREATE TABLE.
fn key(table: &Table, index: &Index) -> Constraint {
    let columns = index_columns(table, index);
    let (name, word) = (index.name.as_deref().map(Ident::new), IndexWord::Key);
    match index.kind {
        KeyKind::Primary => Constraint::PrimaryKey(columns),
        KeyKind::Unique => Constraint::Unique { word: Some(word), index: name, columns },
        KeyKind::Plain => Constraint::Index { word, index: name, columns },
    }
}

/// How many partitions a partitioned table has.
const PARTITIONS: u64 = 3;

/// By the first column of the primary key, which every unique key of such a table holds.
fn partitioning(table: &Table, caps: &Capabilities) -> Option<Partitioning> {
    let key = table.primary().filter(|_| table.partitioned)?;
    let by = PartitionBy::Hash(Expr::column(&table.columns[key.parts[0].column].name));
    Some(Partitioning { by, count: (!caps.named_partitions).then(|| PARTITIONS.to_string()) })
}

/// The partitions themselves, where they are tables of their own.
fn parts(table: &Table, caps: &Capabilities) -> Vec<Statement> {
    let named = table.partitioned && caps.named_partitions;
    let part = |remainder: u64| {
        Statement::CreatePartition(CreatePartition {
            name: format!("{}_{remainder}", table.name).as_str().into(),
            of: table.name.as_str().into(),
            modulus: PARTITIONS.to_string(),
            remainder: remainder.to_string(),
        })
    };
    (0..PARTITIONS).filter(|_| named).map(part).collect()
}

fn constraint(kind: Constraint) -> TableItem {
    TableItem::Constraint(TableConstraint { name: None, kind })
}

fn define(table: &Table, at: usize, column: &Column, caps: &Capabilities) -> TableColumn {
    let mut options = Vec::new();
    if let Some(generated) = &column.generated {
        let expr = generated.formula.expr(&table.columns[generated.from].name);
        options.push(ColumnOption::Generated { words: true, expr, storage: Some(generated.storage.into()) });
    }
    let primary = table.primary().filter(|key| key.has(at));
    let own = primary.is_some_and(|key| key.parts.len() == 1);
    // SQLite's primary keys may be NULL unless that is said.
    if !column.nullable && (primary.is_none() || caps.clauses.indexed_by) {
        options.push(ColumnOption::NotNull);
    }
    if own {
        options.push(ColumnOption::PrimaryKey(None));
    }
    if let Some(default) = &column.default {
        options.push(ColumnOption::Default(plain_literal(default, caps)));
    }
    TableColumn { name: column.name.as_str().into(), ty: Some(caps.type_name(&column.ty)), options }
}

/// A constant of a column's type, as short as it can be: the column says what it is.
pub fn plain_literal(datum: &Datum, caps: &Capabilities) -> Expr {
    match datum.literal(caps.product) {
        Expr::Cast { expr, .. } => *expr,
        other => other,
    }
}

fn index_column(table: &Table, part: &Part) -> IndexColumn {
    IndexColumn {
        name: table.columns[part.column].name.as_str().into(),
        length: part.prefix.map(|n| n.to_string()),
        direction: part.descending.then_some(Direction::Desc),
    }
}

fn index_columns(table: &Table, index: &Index) -> Vec<IndexColumn> {
    index.parts.iter().map(|part| index_column(table, part)).collect()
}

fn create_index(table: &Table, index: &Index) -> Statement {
    Statement::CreateIndex(CreateIndex {
        unique: index.kind == KeyKind::Unique,
        if_not_exists: false,
        name: index.hint().into(),
        table: table.name.as_str().into(),
        using: None,
        columns: index_columns(table, index),
        filter: None,
    })
}

fn foreign_key(schema: &Schema, table: &Table, parent: &Parent) -> TableItem {
    let other = &schema.tables[parent.table];
    let names = |table: &Table, columns: &[usize]| -> Vec<Ident> {
        columns.iter().map(|&at| table.columns[at].name.as_str().into()).collect()
    };
    let action = |on_update, action: Option<_>| action.map(|action| ForeignKeyAction { on_update, action });
    let references = References {
        table: other.name.as_str().into(),
        columns: names(other, &parent.referred),
        actions: [action(false, parent.on_delete), action(true, parent.on_update)]
            .into_iter()
            .flatten()
            .collect(),
    };
    constraint(Constraint::ForeignKey { index: None, columns: names(table, &parent.columns), references })
}

/// One INSERT with all rows; none if there are none.
pub fn fill(table: &Table, caps: &Capabilities) -> Option<Statement> {
    if table.rows.is_empty() {
        return None;
    }
    let columns: Vec<usize> = table.writable().collect();
    let values = |row: &Vec<Datum>| columns.iter().map(|&at| plain_literal(&row[at], caps)).collect();
    let names = columns.iter().map(|&at| table.columns[at].name.as_str().into()).collect();
    Some(Statement::Insert(Insert::values(&table.name, names, table.rows.iter().map(values).collect())))
}
