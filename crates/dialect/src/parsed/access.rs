//! What one statement reads and writes: which tables, which columns decide, what it assigns.

use model::sql::{
    Assignment, Expr, Insert, InsertSource, InsertVerb, Join, JoinCondition, Literal, LockStrength, Query,
    QueryPart, Select, Statement, StatementClass, StatementKind, TableFactor, TableRef, UnaryOp,
};

/// Of a statement about rows; of any other the lists are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSet {
    pub kind: StatementKind,
    /// Its kind as finely as statements lock differently: `select`, `select-share`, `replace`.
    pub lock_kind: &'static str,
    /// Tables that it changes.
    pub writes: Vec<String>,
    /// Tables that it reads, those that it changes by a condition included.
    pub reads: Vec<String>,
    /// Columns that decide which rows it is about.
    pub filter_columns: Vec<String>,
    /// Columns that it gives a value, and the value as written if it is a constant.
    pub assigns: Vec<(String, Option<String>)>,
}

impl AccessSet {
    pub fn of(statement: &Statement) -> AccessSet {
        let mut set = AccessSet {
            kind: statement.kind(),
            lock_kind: lock_kind(statement),
            writes: Vec::new(),
            reads: Vec::new(),
            filter_columns: Vec::new(),
            assigns: Vec::new(),
        };
        if !set.kind.is_data() {
            return set;
        }
        let footprint = statement.footprint();
        footprint.writes.iter().for_each(|name| note(&mut set.writes, &name.name.name));
        let reads = footprint.reads.iter().chain(&footprint.inner);
        reads.for_each(|name| note(&mut set.reads, &name.name.name));
        match statement {
            Statement::Query(query) => set.query(query),
            Statement::Insert(insert) => set.insert(insert),
            Statement::Update(update) => {
                update.tables.iter().chain(&update.from).for_each(|t| set.table(t));
                set.assign(&update.assignments);
                update.filter.iter().for_each(|e| set.condition(e));
            }
            Statement::Delete(delete) => {
                set.factor(&delete.table);
                delete.using.iter().for_each(|t| set.table(t));
                delete.filter.iter().for_each(|e| set.condition(e));
            }
            _ => {}
        }
        set
    }

    pub fn writes(&self, table: &str) -> bool {
        self.writes.iter().any(|t| t == table)
    }

    pub fn reads(&self, table: &str) -> bool {
        self.reads.iter().any(|t| t == table)
    }

    pub fn touches_tables(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// Does it give one of these columns a value?
    pub fn assigns_any(&self, columns: &[String]) -> bool {
        self.assigns.iter().any(|(column, _)| columns.contains(column))
    }

    fn insert(&mut self, insert: &Insert) {
        let columns: Vec<String> = insert.columns.iter().flatten().map(|c| c.name.clone()).collect();
        match &insert.source {
            InsertSource::Values { rows, .. } => {
                for row in rows {
                    for (column, value) in columns.iter().zip(row) {
                        self.assigns.push((column.clone(), constant(value)));
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
            self.assigns.push((assignment.column.name.name.clone(), constant(&assignment.value)));
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
                    names.iter().for_each(|name| note(&mut self.filter_columns, &name.name));
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
                note(&mut self.filter_columns, &column.name.name);
            }
        });
    }
}

fn lock_kind(statement: &Statement) -> &'static str {
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
