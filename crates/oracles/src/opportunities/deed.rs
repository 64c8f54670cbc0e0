//! What one statement does, as far as the shapes need to know: which tables it reads and writes, which columns decide, what it sets.

use model::sql::{
    Assignment, Expr, Insert, InsertSource, InsertVerb, Join, JoinCondition, Literal, LockStrength,
    ObjectName, Query, QueryPart, Select, Statement, StatementClass, StatementKind, TableFactor, TableRef,
    TransactionMode, UnaryOp,
};

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Its kind.
    pub kind: StatementKind,
    /// Its kind more finely, for counting which statements met: `select`, `select-share`, `replace`.
    pub word: &'static str,
    /// Tables that it changes.
    pub writes: Vec<String>,
    /// Tables that it reads, those that it changes by a condition included.
    pub reads: Vec<String>,
    /// Columns that decide which rows it is about.
    pub looks_at: Vec<String>,
    /// Columns that it gives a value, and the value as written if it is a constant.
    pub sets: Vec<(String, Option<String>)>,
    /// Does it take its view at once (WITH CONSISTENT SNAPSHOT)?
    pub takes_view: bool,
    /// The savepoint that it sets.
    pub savepoint: Option<String>,
    /// The savepoint that it goes back to.
    pub back_to: Option<String>,
}

impl Deed {
    /// Sums a statement up.
    pub fn of(statement: &Statement) -> Deed {
        let footprint = statement.footprint();
        let names = |list: &[&ObjectName]| {
            let mut names = Vec::new();
            list.iter().for_each(|name| note(&mut names, &name.name.name));
            names
        };
        let mut deed = Deed {
            kind: statement.kind(),
            word: word(statement),
            writes: names(&footprint.writes),
            reads: names(&[footprint.reads, footprint.inner].concat()),
            looks_at: Vec::new(),
            sets: Vec::new(),
            takes_view: false,
            savepoint: None,
            back_to: None,
        };
        match statement {
            Statement::Query(query) => deed.query(query),
            Statement::Insert(insert) => deed.insert(insert),
            Statement::Update(update) => {
                update.tables.iter().chain(&update.from).for_each(|t| deed.table(t));
                deed.assign(&update.assignments);
                update.filter.iter().for_each(|e| deed.condition(e));
            }
            Statement::Delete(delete) => {
                deed.factor(&delete.table);
                delete.using.iter().for_each(|t| deed.table(t));
                delete.filter.iter().for_each(|e| deed.condition(e));
            }
            Statement::Begin(begin) => {
                deed.takes_view = begin.modes.contains(&TransactionMode::ConsistentSnapshot);
            }
            Statement::Savepoint(name) => deed.savepoint = Some(name.name.clone()),
            Statement::Rollback(rollback) => {
                deed.back_to = rollback.to.as_ref().map(|to| to.name.name.clone());
            }
            _ => {}
        }
        deed
    }

    /// Does it change this table?
    pub fn writes(&self, table: &str) -> bool {
        self.writes.iter().any(|t| t == table)
    }

    /// Does it read this table?
    pub fn reads(&self, table: &str) -> bool {
        self.reads.iter().any(|t| t == table)
    }

    /// Does it set one of these columns?
    pub fn sets_any(&self, columns: &[String]) -> bool {
        self.sets.iter().any(|(column, _)| columns.contains(column))
    }

    fn insert(&mut self, insert: &Insert) {
        let columns: Vec<String> = insert.columns.iter().flatten().map(|c| c.name.clone()).collect();
        match &insert.source {
            InsertSource::Values { rows, .. } => {
                for row in rows {
                    for (column, value) in columns.iter().zip(row) {
                        self.sets.push((column.clone(), constant(value)));
                    }
                }
            }
            InsertSource::Query(query) => self.query(query),
            InsertSource::Set(list) => self.assign(list),
            InsertSource::DefaultValues => {}
        }
        self.assign(&insert.on_duplicate);
    }

    fn assign(&mut self, list: &[Assignment]) {
        for assignment in list {
            self.sets.push((assignment.column.name.name.clone(), constant(&assignment.value)));
        }
    }

    fn query(&mut self, query: &Query) {
        for part in query.parts() {
            match part {
                QueryPart::Select(select) => self.select(select),
                QueryPart::Paren(query) => self.query(query),
            }
        }
    }

    fn select(&mut self, select: &Select) {
        select.from.iter().for_each(|t| self.table(t));
        select.filter.iter().for_each(|e| self.condition(e));
        select.having.iter().for_each(|e| self.condition(e));
    }

    fn table(&mut self, table: &TableRef) {
        self.factor(&table.first);
        for Join { table, condition, .. } in &table.joins {
            self.factor(table);
            match condition {
                Some(JoinCondition::On(e)) => self.condition(e),
                Some(JoinCondition::Using(names)) => {
                    names.iter().for_each(|name| note(&mut self.looks_at, &name.name));
                }
                None => {}
            }
        }
    }

    fn factor(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table { .. } => {}
            TableFactor::Derived { query, .. } => self.query(query),
            TableFactor::Paren(table) => self.table(table),
        }
    }

    /// The columns of a condition; those of its subqueries too.
    fn condition(&mut self, expr: &Expr) {
        expr.for_each_expr(|expr| {
            if let Expr::Column(column) = expr {
                note(&mut self.looks_at, &column.name.name);
            }
        });
    }
}

/// Its kind, as finely as statements lock differently.
fn word(statement: &Statement) -> &'static str {
    match statement {
        Statement::Query(query) => match query.locks.first().map(|lock| lock.strength) {
            None => "select",
            Some(LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode) => "select-share",
            Some(LockStrength::Update | LockStrength::NoKeyUpdate) => "select-update",
        },
        Statement::Insert(insert) => match (&insert.verb, &insert.source) {
            (InsertVerb::Replace, _) => "replace",
            (InsertVerb::Insert, InsertSource::Query(_)) => "insert-select",
            (InsertVerb::Insert, _) if insert.modifier.is_some() => "insert-ignore",
            (InsertVerb::Insert, _) if !insert.on_duplicate.is_empty() || !insert.on_conflict.is_empty() => {
                "upsert"
            }
            (InsertVerb::Insert, _) => "insert",
        },
        Statement::Update(update) if update.tables.len() > 1 || !update.from.is_empty() => "update-many",
        Statement::Update(_) => "update",
        Statement::Delete(delete) if !delete.using.is_empty() => "delete-many",
        Statement::Delete(_) => "delete",
        other if other.class() == StatementClass::Ddl => "ddl",
        _ => "control",
    }
}

fn note(list: &mut Vec<String>, name: &str) {
    if !list.iter().any(|known| known == name) {
        list.push(name.to_string());
    }
}

/// A constant as written, with its sign.
fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(Literal::Null) => Some("NULL".to_string()),
        Expr::Literal(Literal::Bool(b)) => Some(b.to_string()),
        Expr::Literal(Literal::Number(text) | Literal::Text(text) | Literal::Bytes(text)) => {
            Some(text.clone())
        }
        Expr::Unary { op: UnaryOp::Neg, expr } => constant(expr).map(|text| format!("-{text}")),
        Expr::Cast { expr, .. } => constant(expr),
        Expr::Paren(inner) => constant(inner),
        _ => None,
    }
}
