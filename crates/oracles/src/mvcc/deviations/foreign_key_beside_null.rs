//! A foreign key is not enforced where an index that begins with its columns goes on with one that is NULL.

use eval::{Datum, Fault};
use model::{Reason, sql::Statement};

use super::{
    super::{
        allowed_outcome::AllowedOutcome,
        schema::{Foreign, Table},
        twins::{TwinDraft, Why},
    },
    AffectedServers, Alternatives, KnownDeviation, ModelChange, NO_HOOKS, Status,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "foreign-key-beside-null",
    status: Status::Found,
    source: "not reported; MySQL 9.7, corpus/found/foreign-key-beside-null.iso",
    // 9.7.4 has it, 8.0.33 does not.
    affects: AffectedServers { product: Some("mysql"), since: &[9], ..AffectedServers::ALL },
    alternatives: Some(alternatives),
    alone: true,
    twin: Some(without_long_indexes),
    ..NO_HOOKS
};

static UNENFORCED: ModelChange =
    ModelChange { ignores_foreign_key: Some(index_goes_on_with_null), ..ModelChange::NONE };

fn alternatives(statement: &Alternatives<'_, '_>) -> Result<Vec<AllowedOutcome>, Fault> {
    if statement.reads() { Ok(Vec::new()) } else { statement.new_with(&UNENFORCED) }
}

fn index_goes_on_with_null(table: &Table, foreign: &Foreign, row: &[Datum]) -> bool {
    let goes_on = |index: &[usize]| {
        index.starts_with(&foreign.columns)
            && index[foreign.columns.len()..].iter().any(|&at| row[at].is_null())
    };
    table.indexes.iter().any(|index| goes_on(&index.columns))
}

/// The twin: without the indexes of several columns that are made by statements of their own and are not unique.
fn without_long_indexes(draft: &mut TwinDraft<'_>, _: usize) -> Result<(), Why> {
    let product = draft.seen.trace.server.product;
    let before = draft.setup.len();
    draft.setup.retain(|text| match dialect::sql::parse(product, text).tree() {
        Some(Statement::CreateIndex(create)) => create.unique || create.columns.len() < 2,
        Some(_) | None => true,
    });
    if draft.setup.len() == before { Err(Reason::NoIndexToLeaveOut) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::names_on, *};

    #[test]
    fn it_is_new_in_mysql_9() {
        let has = |target| names_on(target).contains(&DEVIATION.name);
        assert!(has("mysql@9.7.4") && !has("mysql@8.0.33") && !has("mariadb@10.11.19"));
    }
}
