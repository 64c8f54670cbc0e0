//! The tables of a setup with everything that decides what a statement does to them: types, defaults, keys, checks, foreign
//! keys, and the rows that the setup inserts.

use std::sync::Arc;

use dialect::{
    ParsedSetup,
    sql::schema::{ColumnDefinition, Insertion, KeyDefinition, TableDefinition},
};
use eval::{Column, Datum};
use model::{
    Product, Reason, Version,
    schema::KeyKind,
    sql::{Action, Expr, Insert, InsertSource},
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
        let defined = setup.schema.as_ref().map_err(|_| setup.unread())?;
        let mut schema = Schema::default();
        for definition in &defined.tables {
            let mut table = Table::new(defined.product, definition)?;
            if !dialect::capabilities(defined.product, version).checks {
                table.checks.clear();
            }
            schema.tables.push(table);
        }
        for Insertion { table, insert, .. } in &defined.insertions {
            schema.fill(defined.product, version, *table, insert)?;
        }
        let rows = |table: &Table| table.rows.iter().cloned().map(Chain::of).collect();
        schema.begin = schema.tables.iter().map(rows).collect();
        Ok(schema)
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name))
    }

    fn fill(
        &mut self,
        product: Product,
        version: &Version,
        at: usize,
        insert: &Insert,
    ) -> Result<(), Reason> {
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
    fn new(product: Product, definition: &TableDefinition) -> Result<Table, Reason> {
        if definition.other_engine {
            return Err(Reason::OtherEngine);
        }
        let mut table = Table {
            name: definition.name.clone(),
            columns: Vec::new(),
            traits: Vec::new(),
            uniques: Vec::new(),
            primary: false,
            indexes: Vec::new(),
            clustered: None,
            checks: definition.checks.clone(),
            parents: Vec::new(),
            partitions: definition.partitioning.as_ref().map(partitions),
            rows: Vec::new(),
        };
        for column in &definition.columns {
            table.column(product, column)?;
        }
        for key in &definition.keys {
            table.key(key)?;
        }
        for foreign in &definition.foreign_keys {
            if foreign.inline {
                return Err(Reason::References);
            }
            let (Some(parent), false) = (foreign.parent, foreign.keys.is_empty()) else {
                return Err(Reason::SetupNotRead);
            };
            let (columns, keys) = (foreign.columns.clone(), foreign.keys.clone());
            let (on_update, on_delete) = (foreign.on_update, foreign.on_delete);
            table.parents.push(Foreign { columns, parent, keys, on_update, on_delete });
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
        Ok(table)
    }

    /// The columns of each index beside the clustered key.
    pub fn second_indexes(&self) -> impl Iterator<Item = &Vec<usize>> {
        self.indexes
            .iter()
            .map(|index| &index.columns)
            .chain(&self.uniques)
            // A foreign key has an index, written or not.
            .chain(self.parents.iter().map(|foreign| &foreign.columns))
            .filter(|index| Some(*index) != self.clustered.as_ref())
    }

    /// Does one of these hold all of these columns?
    pub fn covers(&self, columns: u64) -> bool {
        let columns = (0..self.columns.len().min(64)).fold(0, |all, at| all | columns & 1 << at);
        let with = |index: &Vec<usize>| {
            index.iter().chain(self.clustered.iter().flatten()).fold(0_u64, |all, at| all | 1 << at)
        };
        self.second_indexes().any(|index| columns & !with(index) == 0)
    }

    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn column(&mut self, product: Product, column: &ColumnDefinition) -> Result<(), Reason> {
        let ty = column.type_name.as_ref().and_then(|ty| dialect::sql::column_type(product, ty));
        let ty = ty.ok_or(Reason::ColumnType)?;
        if column.counts {
            return Err(Reason::AutoIncrement);
        }
        if column.on_update {
            return Err(Reason::OnUpdate);
        }
        let (name, collation) = (column.name.clone(), column.collation.clone());
        self.columns.push(Column { table: Some(self.name.clone()), name, ty, collation });
        self.traits.push(Traits {
            not_null: !column.nullable,
            default: column.default.clone(),
            generated: column.generated.as_ref().map(|generated| generated.expr.clone()),
            is_virtual: column.generated.as_ref().is_some_and(|generated| generated.is_virtual),
        });
        Ok(())
    }

    fn key(&mut self, key: &KeyDefinition) -> Result<(), Reason> {
        if key.partial {
            return Err(Reason::PartialIndex);
        }
        if key.kind != KeyKind::Plain && key.prefix {
            return Err(Reason::UniquePrefix);
        }
        let columns = key.columns.clone();
        match key.kind {
            KeyKind::Primary => {
                self.uniques.insert(0, columns.clone());
                self.primary = true;
            }
            KeyKind::Unique => self.uniques.push(columns.clone()),
            KeyKind::Plain => {}
        }
        let name = match (key.kind, &key.name) {
            (KeyKind::Primary, _) => "PRIMARY".to_string(),
            (_, Some(name)) => name.clone(),
            (_, None) => self.free_name(&self.columns[columns[0]].name),
        };
        self.indexes.push(Index { name, columns, descending: key.descending.clone() });
        Ok(())
    }

    /// The name that a server gives to an index that begins with this column.
    fn free_name(&self, column: &str) -> String {
        let taken = |name: &String| self.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name));
        let numbered = (2..).map(|number| format!("{column}_{number}"));
        let mut names = std::iter::once(column.to_string()).chain(numbered);
        names.find(|name| !taken(name)).unwrap_or_default()
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

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub columns: Vec<usize>,
    /// Which of them go down.
    pub descending: Vec<bool>,
}
