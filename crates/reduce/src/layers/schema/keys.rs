//! Drops keys, constraints and what else is said about a table or a column: all at once first, then one at a time; and says
//! keys more simply. An index that a statement asks for by name stays.

use model::sql::{
    ColumnOption, Constraint, CreateTable, IndexColumn, IndexWord, Statement, TableConstraint, TableItem,
};

use crate::{
    edit::{less, with_setup_at},
    names::mentions,
    view::{Candidate, View},
};

/// Without a key, constraint or option.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let product = view.product();
    let named = |name: &str| view.case.steps.iter().any(|step| mentions(product, &step.sql, name));
    let mut found = Vec::new();
    for (at, tree) in view.setup_trees().rev() {
        match &*tree {
            Statement::CreateTable(create) => {
                for (operation, smaller) in tables(create, &named) {
                    let case = with_setup_at(view, at, &Statement::CreateTable(smaller));
                    found.push(Candidate { operation, case });
                }
            }
            Statement::CreateIndex(create) => {
                for columns in shorter(&create.columns) {
                    let smaller = model::sql::CreateIndex { columns, ..create.clone() };
                    let case = with_setup_at(view, at, &Statement::CreateIndex(smaller));
                    found.push(Candidate { operation: "shorten key", case });
                }
            }
            _ => {}
        }
    }
    found
}

type Smaller = (&'static str, CreateTable);

fn tables(create: &CreateTable, named: &dyn Fn(&str) -> bool) -> Vec<Smaller> {
    let mut found = vec![("drop all keys", bare(create, named))];
    for item in (0..create.items.len()).rev() {
        match &create.items[item] {
            TableItem::Constraint(constraint) => {
                if !asked_for(constraint, named) {
                    let mut smaller = create.clone();
                    smaller.items.remove(item);
                    found.push((dropped(&constraint.kind), smaller));
                }
                let simpler = simpler(constraint, named);
                found.extend(simpler.into_iter().map(|(operation, constraint)| {
                    let mut smaller = create.clone();
                    smaller.items[item] = TableItem::Constraint(constraint);
                    (operation, smaller)
                }));
                found.extend(inlined(create, item, constraint, named).map(|create| ("inline key", create)));
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
                    found.push(("drop option", smaller));
                }
            }
        }
    }
    for option in (0..create.options.len()).rev() {
        let mut smaller = create.clone();
        smaller.options.remove(option);
        found.push(("drop option", smaller));
    }
    if create.partition.as_ref().is_some_and(|partition| partition.count.is_some()) {
        found.push(("drop partitions", CreateTable { partition: None, ..create.clone() }));
    }
    found
}

/// The table with nothing but what must stay.
fn bare(create: &CreateTable, named: &dyn Fn(&str) -> bool) -> CreateTable {
    let mut bare = create.clone();
    bare.items.retain(|item| match item {
        TableItem::Constraint(constraint) => asked_for(constraint, named),
        TableItem::Column(_) => true,
    });
    for item in &mut bare.items {
        if let TableItem::Column(column) = item {
            column.options.retain(|option| !goes(option) && !matches!(option, ColumnOption::Name(_)));
        }
    }
    bare
}

/// Does a statement ask for it by name?
fn asked_for(constraint: &TableConstraint, named: &dyn Fn(&str) -> bool) -> bool {
    let own = match &constraint.kind {
        Constraint::Unique { index, .. } | Constraint::Index { index, .. } => index.as_ref(),
        Constraint::PrimaryKey(_) | Constraint::Check(_) | Constraint::ForeignKey { .. } => None,
    };
    let mut names = own.into_iter().chain(&constraint.name);
    let primary = matches!(constraint.kind, Constraint::PrimaryKey(_)) && named("PRIMARY");
    primary || names.any(|name| named(&name.name))
}

fn dropped(constraint: &Constraint) -> &'static str {
    match constraint {
        Constraint::PrimaryKey(_) => "drop primary key",
        Constraint::Unique { .. } => "drop unique key",
        Constraint::Index { .. } => "drop index",
        Constraint::Check(_) => "drop check",
        Constraint::ForeignKey { .. } => "drop foreign key",
    }
}

/// The same key with less: fewer columns, no name, not unique.
fn simpler(
    constraint: &TableConstraint,
    named: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, TableConstraint)> {
    let with = |kind: Constraint| TableConstraint { name: constraint.name.clone(), kind };
    let mut found = Vec::new();
    match &constraint.kind {
        Constraint::PrimaryKey(columns) => {
            found.extend(shorter(columns).into_iter().map(|columns| with(Constraint::PrimaryKey(columns))));
        }
        Constraint::Unique { word, index, columns } => {
            let (index, columns) = (index.clone(), columns.clone());
            found.push(with(Constraint::Index {
                word: IndexWord::Key,
                index: index.clone(),
                columns: columns.clone(),
            }));
            for columns in shorter(&columns) {
                found.push(with(Constraint::Unique { word: *word, index: index.clone(), columns }));
            }
            if index.as_ref().is_some_and(|name| !named(&name.name)) || word.is_some() && index.is_none() {
                found.push(with(Constraint::Unique { word: None, index: None, columns }));
            }
        }
        Constraint::Index { word, index, columns } => {
            for columns in shorter(columns) {
                found.push(with(Constraint::Index { word: *word, index: index.clone(), columns }));
            }
            if index.as_ref().is_some_and(|name| !named(&name.name)) {
                found.push(with(Constraint::Index {
                    word: IndexWord::Key,
                    index: None,
                    columns: columns.clone(),
                }));
            }
        }
        Constraint::ForeignKey { index, columns, references } => {
            let bare = model::sql::References { actions: Vec::new(), ..references.clone() };
            found.push(with(Constraint::ForeignKey {
                index: index.clone(),
                columns: columns.clone(),
                references: bare,
            }));
        }
        Constraint::Check(_) => {}
    }
    if constraint.name.as_ref().is_some_and(|name| !named(&name.name)) {
        found.push(TableConstraint { name: None, kind: constraint.kind.clone() });
    }
    found.into_iter().map(|constraint| ("shorten key", constraint)).collect()
}

/// Fewer columns, and nothing said about them.
fn shorter(columns: &[IndexColumn]) -> Vec<Vec<IndexColumn>> {
    let mut found = less(columns);
    for at in
        (0..columns.len()).filter(|at| columns[*at].direction.is_some() || columns[*at].length.is_some())
    {
        let mut plain = columns.to_vec();
        plain[at] = IndexColumn { name: columns[at].name.clone(), length: None, direction: None };
        found.push(plain);
    }
    found
}

/// A key of one column said at that column.
fn inlined(
    create: &CreateTable,
    item: usize,
    constraint: &TableConstraint,
    named: &dyn Fn(&str) -> bool,
) -> Option<CreateTable> {
    let (columns, option) = match &constraint.kind {
        Constraint::PrimaryKey(columns) => (columns, ColumnOption::PrimaryKey(None)),
        Constraint::Unique { columns, index, .. } if index.as_ref().is_none_or(|name| !named(&name.name)) => {
            (columns, ColumnOption::Unique { key: false })
        }
        _ => return None,
    };
    let [only] = &columns[..] else { return None };
    if only.length.is_some() {
        return None;
    }
    let mut smaller = create.clone();
    smaller.items.remove(item);
    let column = smaller.items.iter_mut().find_map(|item| match item {
        TableItem::Column(column) if column.name.name.eq_ignore_ascii_case(&only.name.name) => Some(column),
        TableItem::Column(_) | TableItem::Constraint(_) => None,
    })?;
    column.options.push(option);
    Some(smaller)
}

/// May it go without the column becoming another one? One that is computed or counts up by itself takes other inserts.
fn goes(option: &ColumnOption) -> bool {
    !matches!(option, ColumnOption::Name(_) | ColumnOption::Generated { .. })
}
