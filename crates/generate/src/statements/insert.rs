//! INSERT, REPLACE and upserts. Columns are always named.

use eval::Datum;
use model::{
    Rng,
    sql::{
        Assignment, Conflict, ConflictAction, Expr, Ident, Insert, InsertModifier, InsertSource, InsertVerb,
        Query, Resolution, Statement,
    },
};

use super::Statements;

impl Statements<'_> {
    /// INSERT of these rows, or of one that is drawn.
    pub fn insert(&self, rng: &mut Rng, table: usize, rows: Option<Vec<Vec<Datum>>>) -> Statement {
        match self.rows(rng, table, rows) {
            Some(rows) => Statement::Insert(self.values(table, &rows)),
            None => self.select(rng, table, None),
        }
    }

    /// INSERT of two or three rows.
    pub fn insert_many(&self, rng: &mut Rng, table: usize) -> Statement {
        let mut rows: Vec<Vec<Datum>> = Vec::new();
        for _ in 0..rng.between(2, 3) {
            let fits = |row: &Vec<Datum>| rows.iter().all(|other| !self.table(table).collide(row, other));
            let row = self.new_row(rng, table).filter(fits);
            rows.extend(row);
        }
        let rows = if rows.is_empty() { None } else { Some(rows) };
        self.insert(rng, table, rows)
    }

    /// INSERT ... SELECT from the same table or another one of the same make.
    pub fn insert_select(&self, rng: &mut Rng, table: usize) -> Statement {
        let Some(row) = self.new_row(rng, table) else { return self.select(rng, table, None) };
        let shape = self.table(table);
        let Some(source) = self.any_row(rng, table) else { return self.insert(rng, table, Some(vec![row])) };
        // Keys are given, so that they do not fall on those that are read; everything else is copied.
        let columns: Vec<usize> = shape.writable().collect();
        let mut query = Query::of(self.read(table, &[], Some(self.key_filter(table, source)), Vec::new()));
        if let model::sql::QueryPart::Select(select) = &mut query.first {
            for &at in &columns {
                let expr = if shape.in_unique(at) {
                    self.typed(&row[at], table, at)
                } else {
                    Expr::column(&shape.columns[at].name)
                };
                select.items.push(model::sql::SelectItem::Expr { expr, alias: None });
            }
        }
        let mut insert = self.values(table, &[]);
        insert.source = InsertSource::Query(Box::new(query));
        Statement::Insert(insert)
    }

    /// A constant that has its column's type even where nothing else says so.
    fn typed(&self, datum: &Datum, table: usize, at: usize) -> Expr {
        let literal = self.literal(datum);
        let bare = matches!(datum, Datum::Null | Datum::Text(_));
        if !self.caps.strict_types || !bare {
            return literal;
        }
        Expr::Cast {
            expr: Box::new(literal),
            ty: self.caps.type_name(&self.table(table).columns[at].ty),
            spelling: model::sql::CastSpelling::Call,
        }
    }

    /// REPLACE of these rows, or of one that is there already; an upsert where there is no REPLACE.
    pub fn replace(&self, rng: &mut Rng, table: usize, rows: Option<Vec<Vec<Datum>>>) -> Statement {
        if !self.caps.clauses.replace {
            return self.upsert(rng, table, rows, None);
        }
        let rows = rows.or_else(|| self.known_or_new(rng, table));
        match self.rows(rng, table, rows) {
            Some(rows) => {
                Statement::Insert(Insert { verb: InsertVerb::Replace, ..self.values(table, &rows) })
            }
            None => self.select(rng, table, None),
        }
    }

    /// INSERT that changes the row which stands in its way.
    pub fn upsert(
        &self,
        rng: &mut Rng,
        table: usize,
        rows: Option<Vec<Vec<Datum>>>,
        assignments: Option<Vec<Assignment>>,
    ) -> Statement {
        let shape = self.table(table);
        let Some(key) = shape.identity().or_else(|| shape.unique().next()) else {
            return self.insert(rng, table, rows);
        };
        let rows = rows.or_else(|| self.known_or_new(rng, table));
        let Some(mut rows) = self.rows(rng, table, rows) else { return self.select(rng, table, None) };
        rows.truncate(if self.caps.clauses.on_conflict { 1 } else { rows.len() });
        let assignments = assignments.unwrap_or_else(|| self.quiet_assignments(rng, table));
        let mut insert = self.values(table, &rows);
        if self.caps.clauses.mysql_changes {
            insert.on_duplicate = assignments;
        } else if self.caps.clauses.on_conflict {
            let name = |at: usize| -> Ident { shape.columns[at].name.as_str().into() };
            let target: Vec<Ident> = key.parts.iter().map(|part| name(part.column)).collect();
            let action = if assignments.is_empty() || rng.ratio(1, 4) {
                ConflictAction::Nothing
            } else {
                ConflictAction::Update { assignments, filter: None }
            };
            insert.on_conflict = vec![Conflict { target, action }];
        }
        Statement::Insert(insert)
    }

    /// INSERT that leaves the row alone which stands in its way.
    pub fn insert_ignore(&self, rng: &mut Rng, table: usize, rows: Option<Vec<Vec<Datum>>>) -> Statement {
        let rows = rows.or_else(|| self.known_or_new(rng, table));
        let Some(rows) = self.rows(rng, table, rows) else { return self.select(rng, table, None) };
        let mut insert = self.values(table, &rows);
        if self.caps.clauses.mysql_changes {
            insert.modifier = Some(InsertModifier::Ignore);
        } else if self.caps.clauses.sqlite_changes {
            insert.modifier = Some(InsertModifier::Or(Resolution::Ignore));
        } else if self.caps.clauses.on_conflict {
            insert.on_conflict = vec![Conflict { target: Vec::new(), action: ConflictAction::Nothing }];
        }
        Statement::Insert(insert)
    }

    /// Assignments that move no key: what an upsert does.
    fn quiet_assignments(&self, rng: &mut Rng, table: usize) -> Vec<Assignment> {
        let shape = self.table(table);
        let quiet = shape.idle_columns();
        if quiet.is_empty() {
            // Something must be said in MySQL: a key that stays as it is.
            return shape
                .writable()
                .take(1)
                .map(|at| {
                    let name = &shape.columns[at].name;
                    let column = if self.caps.clauses.on_conflict {
                        Expr::Column(model::sql::ColumnRef {
                            table: Some(shape.name.as_str().into()),
                            name: name.as_str().into(),
                        })
                    } else {
                        Expr::column(name)
                    };
                    self.assign_expr(table, at, column)
                })
                .collect();
        }
        let at = *rng.pick(&quiet);
        let value = rng.pick(&shape.columns[at].pool).clone();
        vec![self.assign(table, at, &value)]
    }

    /// A row that is there already with something else in it, or a new one.
    fn known_or_new(&self, rng: &mut Rng, table: usize) -> Option<Vec<Vec<Datum>>> {
        let shape = self.table(table);
        let new = self.new_row(rng, table)?;
        let row = match self.any_row(rng, table) {
            Some(known) if rng.ratio(1, 2) => {
                let mut row = known.to_vec();
                for at in shape.writable().filter(|&at| !shape.in_unique(at)) {
                    row[at] = new[at].clone();
                }
                shape.compute(&mut row);
                row
            }
            _ => new,
        };
        Some(vec![row])
    }

    fn rows(&self, rng: &mut Rng, table: usize, rows: Option<Vec<Vec<Datum>>>) -> Option<Vec<Vec<Datum>>> {
        rows.or_else(|| self.new_row(rng, table).map(|row| vec![row]))
    }

    fn values(&self, table: usize, rows: &[Vec<Datum>]) -> Insert {
        let shape = self.table(table);
        let columns: Vec<usize> = shape.writable().collect();
        let values = |row: &Vec<Datum>| columns.iter().map(|&at| self.literal(&row[at])).collect();
        let names = columns.iter().map(|&at| shape.columns[at].name.as_str().into()).collect();
        Insert::values(&shape.name, names, rows.iter().map(values).collect())
    }
}
