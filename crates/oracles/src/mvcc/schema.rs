//! The tables of a setup with everything that decides what a statement does to them: types, defaults, keys, checks, foreign
//! keys, and the rows that the setup inserts.

use std::sync::Arc;

use dialect::ParsedSetup;
use eval::{Column, Datum};
use model::{
    Product, Reason, Version,
    sql::{
        Action, ColumnOption, Constraint, CreateTable, Direction, Expr, Ident, IndexColumn, Insert,
        InsertSource, References, Statement, TableColumn, TableItem,
    },
};

use super::{
    hypothesis::{Chain, Rows},
    row_evaluator::RowEvaluator,
};

/// The values of a row.
pub type Values = Arc<[Datum]>;

#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// In the order of the setup.
    pub tables: Vec<Table>,
    /// The rows that the setup inserts into each: what every hypothesis begins with.
    pub begin: Vec<Rows>,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// Its columns, as expressions know them.
    pub columns: Vec<Column>,
    /// What else is known of each.
    pub traits: Vec<Traits>,
    /// What must be unique; the primary key first.
    pub uniques: Vec<Vec<usize>>,
    /// Is the first of these the primary key?
    pub primary: bool,
    pub indexes: Vec<Index>,
    /// By which columns rows are found again: the primary key, or the first unique one without NULL.
    pub clustered: Option<Vec<usize>>,
    pub checks: Vec<Expr>,
    /// Foreign keys that begin here.
    pub parents: Vec<Foreign>,
    /// How its rows are spread over partitions.
    pub partitions: Option<Partitions>,
    /// The rows that the setup inserts.
    pub rows: Vec<Values>,
}

/// How rows are spread over partitions.
#[derive(Clone, Debug)]
pub enum Partitions {
    /// By the remainder of a number, over this many.
    Hash(Expr, u64),
    /// In a way that is the server's own.
    Unknown,
}

/// What is known of a column beside its name and type.
#[derive(Clone, Debug, Default)]
pub struct Traits {
    /// Must it not be NULL?
    pub not_null: bool,
    pub default: Option<Expr>,
    /// What it is computed from.
    pub generated: Option<Expr>,
    /// Is it computed whenever it is read?
    pub is_virtual: bool,
}

#[derive(Clone, Debug)]
pub struct Foreign {
    pub columns: Vec<usize>,
    pub parent: usize,
    pub keys: Vec<usize>,
    /// When the parent's key changes.
    pub on_update: Action,
    /// When the parent is deleted.
    pub on_delete: Action,
}

impl Schema {
    pub fn read(version: &Version, setup: &ParsedSetup) -> Result<Schema, Reason> {
        let product = setup.product;
        let mut schema = Schema::default();
        let mut later: Vec<(usize, Vec<usize>, References)> = Vec::new();
        for tree in setup.trees() {
            match tree {
                Some(Statement::CreateTable(create)) if !create.temporary => {
                    schema.create(product, version, create, &mut later)?;
                }
                Some(Statement::CreateIndex(create)) => {
                    let table = schema.find(&create.table.name.name).ok_or(Reason::SetupNotRead)?;
                    if create.filter.is_some() {
                        return Err(Reason::PartialIndex);
                    }
                    let name = Some(create.name.name.name.clone());
                    schema.tables[table].index(name, &create.columns, create.unique)?;
                }
                Some(Statement::CreatePartition(_)) => {}
                Some(Statement::Insert(insert)) => schema.fill(product, version, insert)?,
                Some(Statement::Pragma(_)) => {}
                Some(_) | None => return Err(Reason::SetupNotRead),
            }
        }
        let rows = |table: &Table| table.rows.iter().cloned().map(Chain::of).collect();
        schema.begin = schema.tables.iter().map(rows).collect();
        Ok(schema)
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name))
    }

    fn create(
        &mut self,
        product: Product,
        version: &Version,
        create: &CreateTable,
        later: &mut Vec<(usize, Vec<usize>, References)>,
    ) -> Result<(), Reason> {
        let engine = create.options.iter().any(|option| {
            option.words.iter().any(|word| word.eq_ignore_ascii_case("ENGINE"))
                && !matches!(&option.value, Some(model::sql::OptionValue::Word(word))
                    if word.name.eq_ignore_ascii_case("InnoDB"))
        });
        if engine {
            return Err(Reason::OtherEngine);
        }
        let mut table = Table {
            name: create.name.name.name.clone(),
            columns: Vec::new(),
            traits: Vec::new(),
            uniques: Vec::new(),
            primary: false,
            indexes: Vec::new(),
            clustered: None,
            checks: Vec::new(),
            parents: Vec::new(),
            partitions: create.partition.as_ref().map(partitions),
            rows: Vec::new(),
        };
        for item in &create.items {
            if let TableItem::Column(column) = item {
                table.column(product, column)?;
            }
        }
        let mut foreign = Vec::new();
        for item in &create.items {
            match item {
                TableItem::Column(column) => table.column_keys(column)?,
                TableItem::Constraint(constraint) => match &constraint.kind {
                    Constraint::PrimaryKey(columns) => table.key(None, columns, true)?,
                    Constraint::Unique { index, columns, .. } => table.key(index.as_ref(), columns, false)?,
                    Constraint::Index { index, columns, .. } => {
                        table.index(index.as_ref().map(|name| name.name.clone()), columns, false)?
                    }
                    Constraint::Check(expr) => table.checks.push(expr.clone()),
                    Constraint::ForeignKey { columns, references, .. } => {
                        let columns: Option<Vec<usize>> =
                            columns.iter().map(|column| table.position(&column.name)).collect();
                        foreign.push((columns.ok_or(Reason::SetupNotRead)?, references.clone()));
                    }
                },
            }
        }
        if !checks(product, version) {
            table.checks.clear();
        }
        if table.primary {
            table.uniques[0].clone().into_iter().for_each(|column| table.traits[column].not_null = true);
        }
        // Unique keys are tried in this order: the primary one, those without NULL, the others.
        let (primary, traits) = (table.primary, &table.traits);
        let mut order: Vec<(usize, Vec<usize>)> = table.uniques.iter().cloned().enumerate().collect();
        order.sort_by_key(|(at, columns)| {
            (!(primary && *at == 0), columns.iter().any(|&column| !traits[column].not_null), *at)
        });
        table.uniques = order.into_iter().map(|(_, columns)| columns).collect();
        let solid = |columns: &&Vec<usize>| columns.iter().all(|&column| table.traits[column].not_null);
        table.clustered = table.uniques.iter().find(solid).cloned();
        self.tables.push(table);
        let here = self.tables.len() - 1;
        later.extend(foreign.into_iter().map(|(columns, references)| (here, columns, references)));
        for (child, columns, references) in later.drain(..) {
            let parent = self.find(&references.table.name.name).ok_or(Reason::SetupNotRead)?;
            let keys: Option<Vec<usize>> = match references.columns.is_empty() {
                true => self.tables[parent].uniques.first().filter(|_| self.tables[parent].primary).cloned(),
                false => {
                    references.columns.iter().map(|key| self.tables[parent].position(&key.name)).collect()
                }
            };
            let action = |update: bool| {
                let of = references.actions.iter().find(|action| action.on_update == update);
                of.map_or(Action::NoAction, |action| action.action)
            };
            let keys = keys.ok_or(Reason::SetupNotRead)?;
            let (on_update, on_delete) = (action(true), action(false));
            self.tables[child].parents.push(Foreign { columns, parent, keys, on_update, on_delete });
        }
        Ok(())
    }

    fn fill(&mut self, product: Product, version: &Version, insert: &Insert) -> Result<(), Reason> {
        let at = self.find(&insert.table.name.name).ok_or(Reason::SetupNotRead)?;
        let InsertSource::Values { rows, .. } = &insert.source else { return Err(Reason::SetupNotRead) };
        if insert.modifier.is_some() || !insert.on_duplicate.is_empty() || !insert.on_conflict.is_empty() {
            return Err(Reason::SetupNotRead);
        }
        let evaluator = RowEvaluator { product, version, known: None };
        for row in rows {
            let values = self.tables[at].new_row(&evaluator, insert.columns.as_deref(), row, &[], &[]);
            let values = values.map_err(|fault| match fault {
                eval::Fault::Unsure(why) => why,
                eval::Fault::Error(_) => Reason::SetupFails,
            })?;
            self.tables[at].rows.push(values);
        }
        Ok(())
    }
}

impl Table {
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn column(&mut self, product: Product, column: &TableColumn) -> Result<(), Reason> {
        let ty = column
            .ty
            .as_ref()
            .and_then(|ty| dialect::sql::column_type(product, ty))
            .ok_or(Reason::ColumnType)?;
        let mut traits = Traits::default();
        let mut collation = None;
        for option in &column.options {
            match option {
                ColumnOption::NotNull => traits.not_null = true,
                ColumnOption::Default(expr) => traits.default = Some(expr.clone()),
                ColumnOption::Check(expr) => self.checks.push(expr.clone()),
                ColumnOption::Generated { expr, storage, .. } => {
                    traits.generated = Some(expr.clone());
                    traits.is_virtual =
                        storage.as_ref().is_none_or(|word| word.eq_ignore_ascii_case("VIRTUAL"));
                }
                ColumnOption::Collate(name) => collation = Some(name.name.clone()),
                ColumnOption::AutoIncrement | ColumnOption::Autoincrement | ColumnOption::Identity { .. } => {
                    return Err(Reason::AutoIncrement);
                }
                ColumnOption::OnUpdate(_) => return Err(Reason::OnUpdate),
                ColumnOption::References(_) => return Err(Reason::References),
                ColumnOption::CharacterSet(_)
                | ColumnOption::Comment(_)
                | ColumnOption::Name(_)
                | ColumnOption::Null
                | ColumnOption::PrimaryKey(_)
                | ColumnOption::Key
                | ColumnOption::Unique { .. } => {}
            }
        }
        let table = Some(self.name.clone());
        self.columns.push(Column { table, name: column.name.name.clone(), ty, collation });
        self.traits.push(traits);
        Ok(())
    }

    fn column_keys(&mut self, column: &TableColumn) -> Result<(), Reason> {
        let part = [IndexColumn { name: column.name.clone(), length: None, direction: None }];
        for option in &column.options {
            match option {
                ColumnOption::PrimaryKey(_) | ColumnOption::Key => self.key(None, &part, true)?,
                ColumnOption::Unique { .. } => self.key(None, &part, false)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn key(&mut self, name: Option<&Ident>, columns: &[IndexColumn], primary: bool) -> Result<(), Reason> {
        let name = if primary { Some("PRIMARY") } else { name.map(|name| &*name.name) };
        self.index(name.map(str::to_string), columns, true)?;
        if primary && let Some(key) = self.uniques.pop() {
            self.uniques.insert(0, key);
            self.primary = true;
        }
        Ok(())
    }

    /// The name that a server gives to an index that begins with this column.
    fn free_name(&self, column: &str) -> String {
        let taken = |name: &String| self.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name));
        let numbered = (2..).map(|number| format!("{column}_{number}"));
        let mut names = std::iter::once(column.to_string()).chain(numbered);
        names.find(|name| !taken(name)).unwrap_or_default()
    }

    fn index(&mut self, name: Option<String>, columns: &[IndexColumn], unique: bool) -> Result<(), Reason> {
        if unique && columns.iter().any(|column| column.length.is_some()) {
            return Err(Reason::UniquePrefix);
        }
        let found: Option<Vec<usize>> =
            columns.iter().map(|column| self.position(&column.name.name)).collect();
        let found = found.ok_or(Reason::SetupNotRead)?;
        if unique {
            self.uniques.push(found.clone());
        }
        let descending = columns.iter().map(|column| column.direction == Some(Direction::Desc)).collect();
        let name = name.unwrap_or_else(|| self.free_name(&columns[0].name.name));
        self.indexes.push(Index { name, columns: found, descending });
        Ok(())
    }

    /// The row that these expressions make. `more` are columns and values that they may name beside none.
    pub fn new_row(
        &self,
        evaluator: &RowEvaluator<'_>,
        names: Option<&[model::sql::Ident]>,
        exprs: &[Expr],
        more: &[Column],
        values: &[Datum],
    ) -> Result<Values, eval::Fault> {
        let positions: Vec<usize> = match names {
            Some(names) => {
                let found: Option<Vec<usize>> = names.iter().map(|name| self.position(&name.name)).collect();
                found.ok_or(eval::Fault::Unsure(Reason::NoSuchColumn))?
            }
            None => (0..self.columns.len()).collect(),
        };
        if positions.len() != exprs.len() {
            return Err(eval::Fault::Unsure(Reason::OtherNumberOfValues));
        }
        let mut given: Vec<Option<Datum>> = vec![None; self.columns.len()];
        for (&at, expr) in positions.iter().zip(exprs) {
            if matches!(expr, Expr::Default) {
                continue;
            }
            let value = evaluator.value(more, expr, values)?;
            given[at] = Some(value);
        }
        self.complete(evaluator, given)
    }

    /// A row of these values: stored, with defaults and computed columns, and checked.
    pub fn complete(
        &self,
        evaluator: &RowEvaluator<'_>,
        given: Vec<Option<Datum>>,
    ) -> Result<Values, eval::Fault> {
        let mut row = Vec::with_capacity(self.columns.len());
        for (at, value) in given.into_iter().enumerate() {
            let (ty, traits) = (&self.columns[at].ty, &self.traits[at]);
            row.push(match (value, &traits.default) {
                (Some(value), _) => evaluator.store(&value, ty)?,
                (None, Some(default)) => evaluator.store(&evaluator.value(&[], default, &[])?, ty)?,
                // Without a value and a default: refused in strict mode.
                (None, None) if traits.not_null && traits.generated.is_none() => {
                    return Err(eval::Fault::Unsure(Reason::NoDefault));
                }
                (None, None) => Datum::Null,
            });
        }
        self.finish(evaluator, row)
    }

    /// Computes the generated columns of a row and checks it.
    pub fn finish(&self, evaluator: &RowEvaluator<'_>, mut row: Vec<Datum>) -> Result<Values, eval::Fault> {
        for at in 0..row.len() {
            if let Some(expr) = &self.traits[at].generated {
                let value = evaluator.known_value(&self.columns, expr, &row)?;
                row[at] = evaluator.store(&value, &self.columns[at].ty)?;
            }
        }
        for (value, traits) in row.iter().zip(&self.traits) {
            if value.is_null() && traits.not_null {
                return Err(eval::Fault::Error(model::ErrorClass::Constraint));
            }
        }
        let row = evaluator.kept(row);
        for check in &self.checks {
            if evaluator.known_truth(&self.columns, check, &row)? == Some(false) {
                return Err(eval::Fault::Error(model::ErrorClass::Constraint));
            }
        }
        Ok(row)
    }
}

fn partitions(of: &model::sql::Partitioning) -> Partitions {
    let count = of.count.as_ref().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
    match (&of.by, count) {
        (model::sql::PartitionBy::Hash(expr), Some(count)) => Partitions::Hash(expr.clone(), count),
        (model::sql::PartitionBy::Hash(_) | model::sql::PartitionBy::Key(_), _) => Partitions::Unknown,
    }
}

fn checks(product: Product, version: &Version) -> bool {
    dialect::capabilities(product, version).checks
}

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub columns: Vec<usize>,
    /// Which of them go down.
    pub descending: Vec<bool>,
}
