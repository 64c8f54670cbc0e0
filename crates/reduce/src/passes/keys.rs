//! Drops keys, constraints and what else is said about a table or a column, one at a time. An index that a statement asks for by
//! name stays.

use dialect::sql;
use model::{
    Case, Product,
    sql::{ColumnOption, Constraint, CreateTable, Statement, TableItem},
};

use super::with_setup;
use crate::names::mentions;

/// Without one key, constraint or option.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let all = &case.setup.statements;
    let named = |name: &str| case.steps.iter().any(|step| mentions(product, &step.sql, name));
    let mut found = Vec::new();
    for at in (0..all.len()).rev() {
        let Some(Statement::CreateTable(create)) = sql::parse(product, &all[at]).tree() else { continue };
        for smaller in tables(&create, &named) {
            let mut statements = all.clone();
            statements[at] = sql::print(product, &Statement::CreateTable(smaller));
            found.push(with_setup(case, statements));
        }
    }
    found
}

fn tables(create: &CreateTable, named: &dyn Fn(&str) -> bool) -> Vec<CreateTable> {
    let mut found = Vec::new();
    for item in (0..create.items.len()).rev() {
        match &create.items[item] {
            TableItem::Constraint(constraint) => {
                let own = match &constraint.kind {
                    Constraint::Unique { index, .. } | Constraint::Index { index, .. } => index.as_ref(),
                    Constraint::PrimaryKey(_) | Constraint::Check(_) | Constraint::ForeignKey { .. } => None,
                };
                let mut names = own.into_iter().chain(&constraint.name);
                let primary = matches!(constraint.kind, Constraint::PrimaryKey(_)) && named("PRIMARY");
                if !primary && !names.any(|name| named(&name.name)) {
                    let mut smaller = create.clone();
                    smaller.items.remove(item);
                    found.push(smaller);
                }
            }
            TableItem::Column(column) => {
                for option in (0..column.options.len()).rev().filter(|at| goes(&column.options[*at])) {
                    let mut smaller = create.clone();
                    if let TableItem::Column(column) = &mut smaller.items[item] {
                        column.options.remove(option);
                        // A name is that of the option behind it.
                        if option > 0 && matches!(column.options[option - 1], ColumnOption::Name(_)) {
                            column.options.remove(option - 1);
                        }
                    }
                    found.push(smaller);
                }
            }
        }
    }
    for option in (0..create.options.len()).rev() {
        let mut smaller = create.clone();
        smaller.options.remove(option);
        found.push(smaller);
    }
    if create.partition.as_ref().is_some_and(|partition| partition.count.is_some()) {
        found.push(CreateTable { partition: None, ..create.clone() });
    }
    found
}

/// May it go without the column becoming another one? One that is computed or counts up by itself takes other inserts.
fn goes(option: &ColumnOption) -> bool {
    match option {
        ColumnOption::NotNull
        | ColumnOption::Null
        | ColumnOption::Default(_)
        | ColumnOption::OnUpdate(_)
        | ColumnOption::PrimaryKey(_)
        | ColumnOption::Key
        | ColumnOption::Unique { .. }
        | ColumnOption::Check(_)
        | ColumnOption::Collate(_)
        | ColumnOption::CharacterSet(_)
        | ColumnOption::Comment(_)
        | ColumnOption::References(_) => true,
        ColumnOption::Name(_)
        | ColumnOption::AutoIncrement
        | ColumnOption::Autoincrement
        | ColumnOption::Identity { .. }
        | ColumnOption::Generated { .. } => false,
    }
}
