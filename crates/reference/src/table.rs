//! Tables: what CREATE TABLE and CREATE INDEX make, and their rows.

use std::{cmp::Ordering, rc::Rc};

use eval::{Column, Datum};
use model::sql::{
    ColumnOption, Constraint, CreateIndex, CreateTable, Expr, IndexColumn, TableColumn, TableItem,
};

use crate::{
    error::{StatementResult, error, no_column, unsupported},
    expressions::{ColumnScope, compare},
    locks::TableId,
    server::PRODUCT,
    versions::{RowId, Rows, Stamp, Values},
};

#[derive(Clone, Debug)]
pub struct Table {
    pub id: TableId,
    pub name: String,
    /// Its columns, as expressions know them.
    pub sheet: Rc<ColumnScope>,
    /// The same by themselves.
    pub columns: Vec<Column>,
    /// What else is known of each column.
    pub traits: Vec<ColumnTraits>,
    /// Its indexes, the primary key first.
    pub indexes: Vec<Index>,
    pub checks: Vec<Expr>,
    pub rows: Rows,
    /// When it was made, or emptied by TRUNCATE: an older view cannot read it.
    pub made: Stamp,
    /// The next number of its AUTO_INCREMENT column.
    pub counter: u64,
}

/// What is known of a column beside its name and type.
#[derive(Clone, Debug, Default)]
pub struct ColumnTraits {
    pub not_null: bool,
    pub default: Option<Expr>,
    /// AUTO_INCREMENT
    pub counts: bool,
    /// What it is computed from.
    pub generated: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    /// Its columns, by position.
    pub columns: Vec<usize>,
    /// Is each value there once only?
    pub unique: bool,
}

impl Table {
    pub fn new(id: TableId, create: &CreateTable, made: Stamp) -> StatementResult<Table> {
        if create.temporary {
            return unsupported("temporary tables");
        }
        let mut table = Table {
            id,
            name: create.name.name.name.clone(),
            sheet: Rc::default(),
            columns: Vec::new(),
            traits: Vec::new(),
            indexes: Vec::new(),
            checks: Vec::new(),
            rows: Rows::default(),
            made,
            counter: 1,
        };
        for item in &create.items {
            if let TableItem::Column(column) = item {
                table.add_column(column)?;
            }
        }
        for item in &create.items {
            match item {
                TableItem::Column(column) => table.add_column_keys(column)?,
                TableItem::Constraint(constraint) => {
                    let name = constraint.name.as_ref().map(|name| name.name.as_str());
                    table.add_constraint(name, &constraint.kind)?;
                }
            }
        }
        table.indexes.sort_by_key(|index| (index.name != PRIMARY, !index.unique));
        if let Some(primary) = table.primary().map(|primary| primary.columns.clone()) {
            primary.into_iter().for_each(|column| table.traits[column].not_null = true);
        }
        table.sheet = Rc::new(ColumnScope::new(&table.columns, None));
        Ok(table)
    }

    fn add_column(&mut self, column: &TableColumn) -> StatementResult<()> {
        let Some(ty) = column.ty.as_ref().and_then(|ty| dialect::sql::column_type(PRODUCT, ty)) else {
            return unsupported(format!("the type of column {}", column.name.name));
        };
        let mut traits = ColumnTraits::default();
        let mut collation = None;
        for option in &column.options {
            match option {
                ColumnOption::NotNull => traits.not_null = true,
                ColumnOption::Default(expr) => traits.default = Some(expr.clone()),
                ColumnOption::AutoIncrement => (traits.counts, traits.not_null) = (true, true),
                ColumnOption::Check(expr) => self.checks.push(expr.clone()),
                ColumnOption::Generated { expr, .. } => traits.generated = Some(expr.clone()),
                ColumnOption::Collate(name) => collation = Some(name.name.clone()),
                ColumnOption::OnUpdate(_) => return unsupported("ON UPDATE"),
                ColumnOption::References(_) => return unsupported("foreign keys"),
                ColumnOption::CharacterSet(_)
                | ColumnOption::Comment(_)
                | ColumnOption::Name(_)
                | ColumnOption::Null
                | ColumnOption::PrimaryKey(_)
                | ColumnOption::Key
                | ColumnOption::Unique { .. }
                | ColumnOption::Autoincrement
                | ColumnOption::Identity { .. } => {}
            }
        }
        let (table, name) = (Some(self.name.clone()), column.name.name.clone());
        self.columns.push(Column { table, name, ty, collation });
        self.traits.push(traits);
        Ok(())
    }

    fn add_column_keys(&mut self, column: &TableColumn) -> StatementResult<()> {
        let parts = [IndexColumn { name: column.name.clone(), length: None, direction: None }];
        for option in &column.options {
            match option {
                ColumnOption::PrimaryKey(_) | ColumnOption::Key => {
                    self.add_index(Some(PRIMARY), &parts, true)?;
                }
                ColumnOption::Unique { .. } => self.add_index(None, &parts, true)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add_constraint(&mut self, name: Option<&str>, constraint: &Constraint) -> StatementResult<()> {
        match constraint {
            Constraint::PrimaryKey(columns) => self.add_index(Some(PRIMARY), columns, true),
            Constraint::Unique { index, columns, .. } => {
                self.add_index(index.as_ref().map(|index| index.name.as_str()).or(name), columns, true)
            }
            Constraint::Index { index, columns, .. } => {
                self.add_index(index.as_ref().map(|index| index.name.as_str()), columns, false)
            }
            Constraint::Check(expr) => {
                self.checks.push(expr.clone());
                Ok(())
            }
            Constraint::ForeignKey { .. } => unsupported("foreign keys"),
        }
    }

    fn add_index(&mut self, name: Option<&str>, parts: &[IndexColumn], unique: bool) -> StatementResult<()> {
        if unique && parts.iter().any(|part| part.length.is_some()) {
            return unsupported("unique keys of prefixes");
        }
        let columns =
            parts.iter().map(|part| self.column(&part.name.name)).collect::<StatementResult<Vec<usize>>>()?;
        let first = columns.first().map_or("", |&first| &self.columns[first].name);
        let name = match name {
            Some(name) => name.to_string(),
            None => (1..)
                .map(|n| if n == 1 { first.to_string() } else { format!("{first}_{n}") })
                .find(|name| !self.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name)))
                .unwrap_or_default(),
        };
        if self.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(&name)) {
            return error(1061, "42000", format!("Duplicate key name '{name}'"));
        }
        self.indexes.push(Index { name, columns, unique });
        Ok(())
    }

    /// What ALTER TABLE adds. Whether the rows allow it is the caller's business.
    pub fn add_key(&mut self, constraint: &Constraint) -> StatementResult<()> {
        match constraint {
            Constraint::Unique { .. } | Constraint::Index { .. } => self.add_constraint(None, constraint),
            Constraint::PrimaryKey(_) | Constraint::Check(_) | Constraint::ForeignKey { .. } => {
                unsupported("what this adds to a table that is there")
            }
        }
    }

    /// CREATE INDEX. Whether the rows allow it is the caller's business.
    pub fn create_index(&mut self, create: &CreateIndex) -> StatementResult<()> {
        self.add_index(Some(&create.name.name.name), &create.columns, create.unique)
    }

    pub fn column(&self, name: &str) -> StatementResult<usize> {
        match self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)) {
            Some(position) => Ok(position),
            None => no_column(name),
        }
    }

    pub fn primary(&self) -> Option<&Index> {
        self.indexes.first().filter(|index| index.name == PRIMARY)
    }

    /// The key that rows are known by: the primary key, or without one the first UNIQUE key that cannot be NULL.
    pub fn key(&self) -> Option<&Index> {
        let solid =
            |index: &&Index| index.unique && index.columns.iter().all(|&column| self.traits[column].not_null);
        self.indexes.iter().find(solid)
    }

    /// Is there a UNIQUE index beside the primary key?
    pub fn has_unique_secondary(&self) -> bool {
        self.indexes.iter().any(|index| index.unique && index.name != PRIMARY)
    }

    /// Which of two rows comes first by the key? Without one they are alike.
    pub fn by_key(&self, left: &[Datum], right: &[Datum]) -> StatementResult<Ordering> {
        for &column in self.key().into_iter().flat_map(|key| &key.columns) {
            let order = compare(&left[column], &right[column], &self.columns[column])?;
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    /// Do two rows have the same value in an index? NULL is never the same.
    pub fn same_key(&self, index: &Index, left: &[Datum], right: &[Datum]) -> StatementResult<bool> {
        for &column in &index.columns {
            let (left, right) = (&left[column], &right[column]);
            if left.is_null()
                || right.is_null()
                || compare(left, right, &self.columns[column])? != Ordering::Equal
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts rows in the order of the key; without one they stay in the order in which they were made.
    pub fn in_order(&self, rows: &mut [(RowId, Values)]) -> StatementResult<()> {
        if self.key().is_none() {
            return Ok(());
        }
        let mut failed = None;
        rows.sort_by(|(_, left), (_, right)| {
            self.by_key(left, right).unwrap_or_else(|stop| {
                failed = Some(stop);
                Ordering::Equal
            })
        });
        failed.map_or(Ok(()), Err)
    }
}

/// What the primary key is called.
pub const PRIMARY: &str = "PRIMARY";
