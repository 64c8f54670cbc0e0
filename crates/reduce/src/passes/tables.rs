//! Drops a table that nobody names, with its rows, indexes and partitions.

use dialect::sql;
use model::{Case, Product, sql::Statement};

use super::with_setup;
use crate::names::mentions;

/// Without one of the tables.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let all = &case.setup.statements;
    let trees: Vec<Option<Statement>> = all.iter().map(|text| sql::parse(product, text).tree()).collect();
    let mut found = Vec::new();
    for tree in trees.iter().rev().flatten() {
        let Statement::CreateTable(create) = tree else { continue };
        let name = &create.name.name.name;
        if case.steps.iter().any(|step| mentions(product, &step.sql, name)) {
            continue;
        }
        let belongs = |at: usize| trees[at].as_ref().is_some_and(|tree| is_of(tree, name));
        let rest: Vec<String> = (0..all.len()).filter(|at| !belongs(*at)).map(|at| all[at].clone()).collect();
        // Another table may refer to it.
        if !rest.iter().any(|text| mentions(product, text, name)) {
            found.push(with_setup(case, rest));
        }
    }
    found
}

/// Does the statement make this table, an index or a part of it, or fill it?
fn is_of(tree: &Statement, table: &str) -> bool {
    let same = |name: &model::sql::ObjectName| name.name.name.eq_ignore_ascii_case(table);
    match tree {
        Statement::CreateTable(create) => same(&create.name),
        Statement::CreatePartition(create) => same(&create.of),
        Statement::CreateIndex(create) => same(&create.table),
        Statement::Insert(insert) => same(&insert.table),
        Statement::Query(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::DropTable(_)
        | Statement::DropIndex(_)
        | Statement::Truncate(_)
        | Statement::Begin(_)
        | Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Savepoint(_)
        | Statement::Release(_)
        | Statement::Set(_)
        | Statement::SetTransaction(_)
        | Statement::LockTable(_)
        | Statement::Pragma(_) => false,
    }
}
