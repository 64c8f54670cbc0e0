//! INSERT in all its forms: of several rows, from a query, IGNORE, ON DUPLICATE KEY UPDATE, REPLACE.

use std::borrow::Cow;

use eval::Datum;
use execute::RawReply;
use model::sql::{Assignment, Expr, Insert, InsertModifier, InsertSource, InsertVerb, Literal, VisitMut};

use crate::{
    error::{StatementResult, Stop, duplicate, error, unsupported},
    expressions::stored,
    locks::Mode,
    select::QueryPosition,
    statement_run::{StatementRun, literal, values_of},
    versions::{RowId, Values},
};

/// What to do with a row whose unique value is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnDuplicateKey {
    Fail,
    Skip,
    Replace,
    Update,
}

impl StatementRun<'_> {
    pub fn insert(&mut self, insert: &Insert) -> StatementResult<RawReply> {
        self.may_write()?;
        let at = self.base.find(&insert.table.name.name)?;
        self.txn.used.insert(self.base.tables[at].id);
        let on_taken = match (insert.verb, insert.modifier) {
            (InsertVerb::Replace, None) => OnDuplicateKey::Replace,
            (InsertVerb::Insert, Some(InsertModifier::Ignore)) => OnDuplicateKey::Skip,
            (InsertVerb::Insert, None) if insert.on_duplicate.is_empty() => OnDuplicateKey::Fail,
            (InsertVerb::Insert, None) => OnDuplicateKey::Update,
            _ => return unsupported("this form of INSERT"),
        };
        let columns = self.insert_columns(at, insert)?;
        let rows = self.source(at, insert)?;
        let mut affected = 0;
        for given in rows {
            if given.len() != columns.len() {
                return error(1136, "21S01", "Column count doesn't match value count");
            }
            let row = self.new_row(at, &columns, &given)?;
            let row = self.complete(at, row)?;
            affected += self.insert_row(at, row, on_taken, &insert.on_duplicate)?;
        }
        Ok(RawReply::Done { affected, matched: None })
    }

    fn insert_columns(&self, at: usize, insert: &Insert) -> StatementResult<Vec<usize>> {
        let table = &self.base.tables[at];
        match (&insert.columns, &insert.source) {
            (Some(names), _) => names.iter().map(|name| table.column(&name.name)).collect(),
            (None, InsertSource::Set(list)) => {
                list.iter().map(|assignment| table.column(&assignment.column.name.name)).collect()
            }
            (None, _) => Ok((0..table.columns.len()).collect()),
        }
    }

    /// The values to insert; none stands for DEFAULT.
    fn source(&mut self, at: usize, insert: &Insert) -> StatementResult<Vec<Vec<Option<Datum>>>> {
        let rows: Vec<Vec<&Expr>> = match &insert.source {
            InsertSource::Query(query) => {
                let found = self.query(query, QueryPosition::InChange)?;
                return Ok(found.rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect());
            }
            InsertSource::Values { rows, .. } => rows.iter().map(|row| row.iter().collect()).collect(),
            InsertSource::Set(list) => vec![list.iter().map(|assignment| &assignment.value).collect()],
            InsertSource::DefaultValues => vec![Vec::new()],
        };
        let nothing = vec![Datum::Null; self.base.tables[at].columns.len()];
        let mut values = Vec::new();
        for row in rows {
            let mut row_values = Vec::with_capacity(row.len());
            for expr in row {
                row_values.push(match expr {
                    Expr::Default => None,
                    Expr::Literal(Literal::Null) => Some(Datum::Null),
                    expr => {
                        let expr = self.resolved(expr, QueryPosition::InOther)?;
                        Some(self.base.tables[at].sheet.value(&expr, &nothing)?)
                    }
                });
            }
            values.push(row_values);
        }
        Ok(values)
    }

    fn new_row(
        &mut self,
        at: usize,
        columns: &[usize],
        given: &[Option<Datum>],
    ) -> StatementResult<Vec<Datum>> {
        let mut row = vec![Datum::Null; self.base.tables[at].columns.len()];
        for i in 0..row.len() {
            let value =
                columns.iter().position(|&column| column == i).and_then(|place| given[place].as_ref());
            let table = &self.base.tables[at];
            let (traits, column) = (&table.traits[i], &table.columns[i]);
            let value = match (value, &traits.default) {
                (_, _) if traits.generated.is_some() => match value {
                    Some(_) => {
                        return error(3105, "HY000", "The value of a generated column is not allowed.");
                    }
                    None => continue,
                },
                (Some(value), _) => stored(value, &column.ty)?,
                (None, Some(default)) => stored(&table.sheet.value(default, &row)?, &column.ty)?,
                (None, None) if traits.not_null && !traits.counts => {
                    let message = format!("Field '{}' doesn't have a default value", column.name);
                    return error(1364, "HY000", message);
                }
                (None, None) => Datum::Null,
            };
            row[i] = if self.base.tables[at].traits[i].counts { self.counted(at, value) } else { value };
        }
        Ok(row)
    }

    /// The value of an AUTO_INCREMENT column. A number once drawn is used again when the statement is tried again.
    fn counted(&mut self, at: usize, value: Datum) -> Datum {
        let counter = &mut self.base.tables[at].counter;
        match value {
            Datum::Null | Datum::Int(0) | Datum::UInt(0) => {
                let number = self.drawn.get(self.used).copied().unwrap_or_else(|| {
                    let number = *counter;
                    *counter += 1;
                    self.drawn.push(number);
                    number
                });
                self.used += 1;
                Datum::Int(number as i64)
            }
            value => {
                let size = match value {
                    Datum::Int(n) => u64::try_from(n).unwrap_or(0),
                    Datum::UInt(n) => n,
                    _ => 0,
                };
                *counter = (*counter).max(size.saturating_add(1));
                value
            }
        }
    }

    fn insert_row(
        &mut self,
        at: usize,
        row: Values,
        on_taken: OnDuplicateKey,
        updates: &[Assignment],
    ) -> StatementResult<u64> {
        let mode = match on_taken {
            OnDuplicateKey::Fail | OnDuplicateKey::Skip => Mode::Shared,
            OnDuplicateKey::Replace | OnDuplicateKey::Update => Mode::Exclusive,
        };
        let mut replaced = 0;
        while let Some(taken) = self.taken(at, &row, None, mode)? {
            match on_taken {
                OnDuplicateKey::Fail => return Err(Stop::Error(duplicate(&taken.key))),
                OnDuplicateKey::Skip => {
                    self.warnings.push((1062, duplicate(&taken.key).message));
                    return Ok(0);
                }
                OnDuplicateKey::Update => return self.on_duplicate(at, taken.row, &row, updates),
                OnDuplicateKey::Replace => {
                    self.put(at, taken.row, None);
                    replaced += 1;
                }
            }
        }
        self.add(at, row)?;
        Ok(1 + replaced)
    }

    /// ON DUPLICATE KEY UPDATE: the row that is there is changed instead.
    fn on_duplicate(
        &mut self,
        at: usize,
        row: RowId,
        new: &[Datum],
        updates: &[Assignment],
    ) -> StatementResult<u64> {
        let mut assignments = Vec::new();
        for assignment in updates {
            let value = self.resolved(&assignment.value, QueryPosition::InOther)?;
            let value = with_values(&value, new, &self.base.tables[at])?;
            assignments
                .push((self.base.tables[at].column(&assignment.column.name.name)?, value.into_owned()));
        }
        let id = self.txn.id;
        let Some(old) = self.base.tables[at].rows.get(row).and_then(|row| row.current(id)).cloned() else {
            return Ok(0);
        };
        let sheet = self.base.tables[at].sheet.clone();
        let changed = self.change(at, row, &old, &assignments, &sheet)?;
        Ok(if changed { 2 } else { 0 })
    }
}

/// The expression with `VALUES(column)` replaced by what would have been inserted.
fn with_values<'a>(
    expr: &'a Expr,
    new: &[Datum],
    table: &crate::table::Table,
) -> StatementResult<Cow<'a, Expr>> {
    struct Values<'b> {
        new: &'b [Datum],
        table: &'b crate::table::Table,
        failed: Option<Stop>,
    }
    impl VisitMut for Values<'_> {
        fn expr(&mut self, expr: &mut Expr) {
            let Some(name) = values_of(expr) else { return };
            match self.table.column(name) {
                Ok(column) => *expr = literal(&self.new[column]),
                Err(stop) => self.failed = Some(stop),
            }
        }
    }
    let mut replaced = expr.clone();
    let mut walk = Values { new, table, failed: None };
    replaced.visit_mut(&mut walk);
    walk.failed.map_or(Ok(Cow::Owned(replaced)), Err)
}
