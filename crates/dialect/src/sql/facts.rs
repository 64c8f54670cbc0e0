//! A short summary of a statement, for those who need no more than that.

use model::sql::{
    Expr, ObjectName, Query, Scope, SetTarget, Statement, StatementClass, StatementKind, Visit,
};

use super::words;

/// What is worth knowing about a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementFacts {
    pub kind: StatementKind,
    /// The schemas (databases, in MySQL's words) that it names, be it the current one: each once, as written.
    pub schemas: Vec<String>,
    /// The functions that it calls: each once, in lower case.
    pub functions: Vec<String>,
    /// Does it open, end or partly undo a transaction?
    pub transaction_control: bool,
    /// Does it leave the session in another state (SET, PRAGMA, a temporary table)?
    pub changes_session: bool,
    /// Does it change the server for everybody (SET GLOBAL), or end sessions of others?
    pub changes_server: bool,
    /// Does it change rows?
    pub writes: bool,
    /// Does a query in it, be it an inner one, lock what it reads?
    pub locks_rows: bool,
}

impl StatementFacts {
    /// Does it change the schema?
    pub fn changes_schema(&self) -> bool {
        self.kind == StatementKind::Ddl
    }

    /// Does it name a schema, be it the current one?
    pub fn names_schema(&self) -> bool {
        !self.schemas.is_empty()
    }
}

/// Sums a statement up.
pub fn facts(statement: &Statement) -> StatementFacts {
    let kind = statement.kind();
    let mut look = FactsVisitor::default();
    statement.visit(&mut look);
    if let Statement::Pragma(pragma) = statement {
        pragma.schema.iter().for_each(|schema| note(&mut look.schemas, schema.name.clone()));
    }
    let ends_others = look.functions.iter().any(|name| words::SERVER_FUNCTIONS.has(name));
    let temporary = matches!(statement, Statement::CreateTable(create) if create.temporary);
    StatementFacts {
        kind,
        schemas: look.schemas,
        functions: look.functions,
        transaction_control: kind.class() == StatementClass::Control,
        changes_session: kind == StatementKind::Set || temporary,
        changes_server: is_global(statement) || ends_others,
        writes: kind.writes(),
        locks_rows: look.locks,
    }
}

fn is_global(statement: &Statement) -> bool {
    match statement {
        Statement::SetTransaction(set) => set.scope == Some(Scope::Global),
        Statement::Set(items) => items.iter().any(|item| {
            item.scope == Some(Scope::Global)
                || match &item.target {
                    SetTarget::Name(_) => false,
                    SetTarget::Variable(name) => {
                        let name = name.to_ascii_lowercase();
                        name.starts_with("@@global.") || name.starts_with("@@persist")
                    }
                }
        }),
        _ => false,
    }
}

#[derive(Default)]
struct FactsVisitor {
    schemas: Vec<String>,
    functions: Vec<String>,
    locks: bool,
}

fn note(list: &mut Vec<String>, name: String) {
    if !list.contains(&name) {
        list.push(name);
    }
}

impl Visit<'_> for FactsVisitor {
    fn query(&mut self, query: &Query) {
        self.locks |= !query.locks.is_empty();
    }

    fn object(&mut self, name: &ObjectName) {
        name.schema.iter().for_each(|schema| note(&mut self.schemas, schema.name.clone()));
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Function { name, .. } = expr {
            note(&mut self.functions, name.name.to_ascii_lowercase());
        }
    }
}
