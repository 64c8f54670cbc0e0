//! CREATE, DROP and TRUNCATE. They belong to no transaction: an open one of the session is committed first, and those of
//! others that have used the table are waited for.

use execute::RawReply;
use model::sql::Statement;

use crate::{
    database::{Database, Txn},
    error::{StatementResult, Stop, duplicate, error, unsupported},
    locks::TxnId,
    table::Table,
    versions::{ReadView, Rows},
};

/// Runs it, if it is one of these. `open` are the transactions of the other sessions.
pub fn run(base: &mut Database, statement: &Statement, open: &[&Txn]) -> StatementResult<RawReply> {
    match statement {
        Statement::CreateTable(create) => {
            let name = &create.name.name.name;
            if base.find(name).is_ok() {
                return match create.if_not_exists {
                    true => DONE,
                    false => error(1050, "42S01", format!("Table '{name}' already exists")),
                };
            }
            let (id, made) = (base.number(), base.clock);
            base.tables.push(Table::new(id, create, made)?);
        }
        Statement::DropTable(drop) => {
            for name in &drop.names {
                match base.find(&name.name.name) {
                    Ok(at) => {
                        free(base, at, open)?;
                        base.tables.remove(at);
                    }
                    Err(_) if drop.if_exists => {}
                    Err(_) => {
                        return error(1051, "42S02", format!("Unknown table '{}'", name.name.name));
                    }
                }
            }
        }
        Statement::Truncate(truncate) => {
            for name in &truncate.names {
                let at = base.find(&name.name.name)?;
                free(base, at, open)?;
                base.clock += 1;
                let table = &mut base.tables[at];
                (table.rows, table.counter, table.made) = (Rows::default(), 1, base.clock);
            }
        }
        Statement::CreateIndex(create) => {
            let at = base.find(&create.table.name.name)?;
            free(base, at, open)?;
            let mut table = base.tables[at].clone();
            table.create_index(create)?;
            check_unique(&table)?;
            base.tables[at] = table;
        }
        Statement::AlterTable(alter) => {
            let at = base.find(&alter.table.name.name)?;
            free(base, at, open)?;
            let mut table = base.tables[at].clone();
            for added in &alter.added {
                table.add_key(&added.kind)?;
                check_unique(&table)?;
            }
            base.tables[at] = table;
        }
        Statement::DropIndex(drop) => {
            let Some(table) = &drop.table else { return unsupported("DROP INDEX without a table") };
            let at = base.find(&table.name.name)?;
            free(base, at, open)?;
            let name = &drop.name.name.name;
            let indexes = &mut base.tables[at].indexes;
            let Some(found) = indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name)) else {
                return error(1091, "42000", format!("Can't DROP '{name}'; check that column/key exists"));
            };
            indexes.remove(found);
        }
        _ => return unsupported("this statement"),
    }
    DONE
}

const DONE: StatementResult<RawReply> = Ok(RawReply::Done { affected: 0, matched: None });

/// Waits until nobody else uses the table.
fn free(base: &Database, at: usize, open: &[&Txn]) -> StatementResult<()> {
    let users: Vec<TxnId> =
        open.iter().filter(|txn| txn.used.contains(&base.tables[at].id)).map(|txn| txn.id).collect();
    if users.is_empty() { Ok(()) } else { Err(Stop::Blocked(users)) }
}

/// Does every row have values of its own in the newest index?
fn check_unique(table: &Table) -> StatementResult<()> {
    let Some(index) = table.indexes.last().filter(|index| index.unique) else { return Ok(()) };
    let rows: Vec<_> =
        table.rows.iter().filter_map(|(_, row)| row.seen(ReadView::Newest, TxnId(0))).collect();
    for (i, row) in rows.iter().enumerate() {
        for other in &rows[..i] {
            if table.same_key(index, row, other)? {
                return Err(Stop::Error(duplicate(&index.name)));
            }
        }
    }
    Ok(())
}
