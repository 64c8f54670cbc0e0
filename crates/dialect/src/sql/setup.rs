//! A setup as data: its tables with their columns and keys, and the statements that fill them.
//!
//! A setup is data if its tables can be emptied and filled again without making them anew. So it may only
//! create tables and indexes and insert constants. Everything else is refused with the reason, and such a setup is run anew
//! each time. An index that comes after the first row of its table is noted: filling the tables again is not quite the same then.

use model::{
    Product,
    schema::{ColumnDef, Key, KeyKind, SetupData, Table},
    sql::{AlterTable, CreateIndex, Expr, InsertSource, Statement, StatementClass},
};

use super::{
    Opaque, facts,
    print::Out,
    rules::Rules,
    schema::{Schema, TableDefinition},
    try_parse,
};

/// Understands a setup as data, or says why it is none. The reason counts statements from 1.
pub fn setup(product: Product, statements: &[String]) -> Result<SetupData, Opaque> {
    let trees: Vec<Option<Statement>> =
        statements.iter().map(|text| try_parse(Rules::of(product), text).ok()).collect();
    read(product, statements, trees.iter().map(Option::as_ref)).1
}

/// The tables of a setup; and all of it as data.
pub(crate) fn read<'t>(
    product: Product,
    texts: &[String],
    trees: impl Iterator<Item = Option<&'t Statement>>,
) -> (Result<Schema, Opaque>, Result<SetupData, Opaque>) {
    let mut schema = Schema::new(product);
    let mut data = Ok(SetupData::default());
    for (i, (text, tree)) in texts.iter().zip(trees).enumerate() {
        let named = |o: Opaque| Opaque { reason: format!("statement {}: {}", i + 1, o.reason), at: o.at };
        let refused = |reason: String| named(Opaque { reason, at: 0 });
        let Some(statement) = tree else {
            let why = try_parse(Rules::of(product), text).err().map(named);
            let why = why.unwrap_or_else(|| refused("it has no tree".to_string()));
            return (Err(why.clone()), data.and(Err(why)));
        };
        if data.is_ok()
            && let Err(reason) = refuse(statement)
        {
            data = Err(refused(reason));
        }
        if let Err(reason) = schema.add(i, statement) {
            return (Err(refused(reason.clone())), data.and(Err(refused(reason))));
        }
        if let Ok(data) = &mut data {
            data.late_index |= is_late(&schema, statement);
            match statement.class() {
                StatementClass::Ddl => data.ddl.push(text.clone()),
                _ => data.inserts.push(text.clone()),
            }
        }
    }
    if let Ok(data) = &mut data {
        data.tables = schema.tables.iter().map(|table| as_data(product, table)).collect();
    }
    (Ok(schema), data)
}

/// Why a statement keeps a setup from being data, if it does.
fn refuse(statement: &Statement) -> Result<(), String> {
    if facts(statement).names_schema() {
        return Err("it names a database".to_string());
    }
    match statement {
        Statement::Insert(insert) => {
            if let InsertSource::Query(_) = insert.source {
                return Err("it inserts what a query gives".to_string());
            }
            let mut constant = true;
            statement.for_each_expr(|expr| constant &= !is_free(expr));
            if constant { Ok(()) } else { Err("it inserts more than constants".to_string()) }
        }
        // What it sets is not set again when the tables are filled again.
        Statement::Pragma(_) => {
            Err("neither CREATE TABLE, CREATE INDEX, ALTER TABLE ... ADD nor INSERT".to_string())
        }
        _ => Ok(()),
    }
}

/// Does it make an index of a table that has rows?
fn is_late(schema: &Schema, statement: &Statement) -> bool {
    let (Statement::CreateIndex(CreateIndex { table, .. }) | Statement::AlterTable(AlterTable { table, .. })) =
        statement
    else {
        return false;
    };
    let at = schema.position(&table.name).ok();
    schema.insertions.iter().any(|insertion| Some(insertion.table) == at)
}

/// A table as the resets know it: the primary key first, and without what holds only for some rows.
fn as_data(product: Product, table: &TableDefinition) -> Table {
    let type_text = |column: &super::schema::ColumnDefinition| match &column.type_name {
        Some(ty) => {
            let mut out = Out::new(Rules::of(product));
            out.type_name(ty);
            out.text()
        }
        None => String::new(),
    };
    let columns = table.columns.iter().map(|column| ColumnDef {
        name: column.name.clone(),
        type_text: type_text(column),
        nullable: column.nullable,
        auto_increment: column.counts,
    });
    let keys = table.keys.iter().filter(|key| !key.partial).map(|key| Key {
        name: key.name.clone(),
        kind: key.kind,
        columns: key.columns.iter().map(|column| table.columns[*column].name.clone()).collect(),
    });
    let mut keys: Vec<Key> = keys.collect();
    keys.sort_by_key(|key| key.kind != KeyKind::Primary);
    Table { name: table.name.clone(), columns: columns.collect(), keys, foreign_keys: table.joined }
}

/// Is it more than a constant, whatever stands inside it?
fn is_free(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Variable(_)
            | Expr::BareFunction(_)
            | Expr::Function { .. }
            | Expr::Subquery(_)
            | Expr::Exists(_)
    )
}
