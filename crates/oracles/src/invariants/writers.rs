//! Who writes what: for each column every value that the setup or a step may have put there.
//!
//! Only constants are followed. A column that anybody writes in another way (an expression, a query, a foreign key's action, a
//! counter) is *vague* for whoever may see that writer's work, and then nothing is said about what is in it.

use dialect::sql::{Schema, schema::TableDefinition};
use history::History;
use model::{
    Product,
    sql::{Assignment, ConflictAction, Expr, Insert, InsertSource, Statement, TableFactor, TableRef, Update},
};

use super::constants::{StoredValue, known};

/// Who wrote something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Setup,
    Step(usize),
}

/// Something that was written to a column: by whom, and what, if that is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnWrite {
    pub by: Writer,
    pub value: StoredValue,
}

/// For each table and column all that was written to it.
#[derive(Debug)]
pub struct ColumnWrites {
    columns: Vec<Vec<Vec<ColumnWrite>>>,
}

impl ColumnWrites {
    /// Goes through the setup and the steps.
    pub fn of(history: &History<'_>, schema: &Schema) -> ColumnWrites {
        let columns = schema.tables.iter().map(|table| vec![Vec::new(); table.columns.len()]).collect();
        let mut writers =
            Collector { columns, product: history.trace.server.product, schema, by: Writer::Setup };
        for (at, table) in schema.tables.iter().enumerate() {
            if table.joined {
                writers.vague_table(at);
            }
        }
        for insertion in &schema.insertions {
            writers.insert(&insertion.insert);
        }
        for (i, step) in history.steps.iter().enumerate() {
            writers.by = Writer::Step(i);
            match step.statement() {
                Some(Statement::Insert(insert)) => writers.insert(insert),
                Some(Statement::Update(update)) => writers.update(update),
                Some(_) | None => {}
            }
        }
        ColumnWrites { columns: writers.columns }
    }

    /// All that was written to a column.
    pub fn of_column(&self, table: usize, column: usize) -> &[ColumnWrite] {
        &self.columns[table][column]
    }
}

struct Collector<'a> {
    columns: Vec<Vec<Vec<ColumnWrite>>>,
    product: Product,
    schema: &'a Schema,
    by: Writer,
}

impl Collector<'_> {
    fn note(&mut self, table: usize, column: usize, value: StoredValue) {
        let written = ColumnWrite { by: self.by, value };
        let known = &mut self.columns[table][column];
        if !known.contains(&written) {
            known.push(written);
        }
    }

    fn vague_table(&mut self, table: usize) {
        for column in 0..self.columns[table].len() {
            self.note(table, column, None);
        }
    }

    /// A value that a statement gives to a column.
    fn give(&mut self, table: usize, column: usize, expr: &Expr) {
        let definition = &self.schema.tables[table].columns[column];
        let value = match (definition.own_values, expr) {
            (true, _) => None,
            (false, Expr::Default) => self.default(table, column),
            (false, _) => known(self.product, definition.stored, definition.nullable, expr),
        };
        self.note(table, column, value);
    }

    /// What a column holds where nothing is said.
    fn default(&self, table: usize, column: usize) -> StoredValue {
        let definition = &self.schema.tables[table].columns[column];
        match (&definition.default, definition.own_values) {
            (_, true) => None,
            (Some(expr), false) => known(self.product, definition.stored, definition.nullable, expr),
            (None, false) => definition.nullable.then_some(None),
        }
    }

    fn insert(&mut self, insert: &Insert) {
        let Some(at) = self.schema.find(&insert.table.name.name) else { return };
        let table = &self.schema.tables[at];
        let listed: Option<Vec<usize>> = match &insert.columns {
            Some(names) => names.iter().map(|name| table.column(&name.name)).collect(),
            None => Some((0..table.columns.len()).collect()),
        };
        let Some(listed) = listed else { return self.vague_table(at) };
        let mut given = listed.clone();
        match &insert.source {
            InsertSource::Values { rows, .. } => {
                for row in rows {
                    if row.len() != listed.len() {
                        return self.vague_table(at);
                    }
                    for (&column, expr) in listed.iter().zip(row) {
                        self.give(at, column, expr);
                    }
                }
            }
            InsertSource::Query(_) => listed.iter().for_each(|&column| self.note(at, column, None)),
            InsertSource::Set(assignments) => {
                given = self.assign(at, table, assignments);
            }
            InsertSource::DefaultValues => given.clear(),
        }
        for column in (0..table.columns.len()).filter(|column| !given.contains(column)) {
            self.note(at, column, self.default(at, column));
        }
        self.assign(at, table, &insert.on_duplicate);
        for conflict in &insert.on_conflict {
            match &conflict.action {
                ConflictAction::Nothing => {}
                ConflictAction::Update { assignments, .. } => {
                    self.assign(at, table, assignments);
                }
            }
        }
        self.computed(at);
    }

    /// Assignments to columns of one table; gives the columns.
    fn assign(&mut self, at: usize, table: &TableDefinition, assignments: &[Assignment]) -> Vec<usize> {
        let mut given = Vec::new();
        for assignment in assignments {
            match table.column(&assignment.column.name.name) {
                Some(column) => {
                    self.give(at, column, &assignment.value);
                    given.push(column);
                }
                None => self.vague_table(at),
            }
        }
        given
    }

    fn update(&mut self, update: &Update) {
        let alone = match &update.tables[..] {
            [TableRef { first: TableFactor::Table { name, .. }, joins }] if joins.is_empty() => {
                self.schema.find(&name.name.name)
            }
            _ => None,
        };
        match alone {
            Some(at) => {
                self.assign(at, &self.schema.tables[at], &update.assignments);
                self.computed(at);
            }
            // Which table an assignment of several means is not worth finding out: any that has such a column.
            None => {
                for at in 0..self.schema.tables.len() {
                    for assignment in &update.assignments {
                        if let Some(column) = self.schema.tables[at].column(&assignment.column.name.name) {
                            self.give(at, column, &assignment.value);
                        }
                    }
                    self.computed(at);
                }
            }
        }
    }

    /// Columns with values of their own change with any change of the row.
    fn computed(&mut self, at: usize) {
        for column in 0..self.schema.tables[at].columns.len() {
            if self.schema.tables[at].columns[column].own_values {
                self.note(at, column, None);
            }
        }
    }
}
