//! Statements on a schema: random ones, and builders with which strategies make the ones that collide.
//!
//! Every builder takes the table by its place in the schema, and what the caller wants to say itself (a filter, assignments,
//! rows); what it does not say is drawn. Nothing that the server does not support is produced: a builder whose statement does
//! not exist there gives the nearest that does (a locking SELECT becomes a plain one in SQLite).
//!
//! | file | what it builds |
//! |---|---|
//! | `filters` | conditions: random ones, and those that hold for a given row |
//! | `select` | plain and locking SELECT, MIN, MAX, COUNT |
//! | `rich` | random expressions, aimed at the table's rows |
//! | `change` | UPDATE and DELETE |
//! | `joins` | subqueries, UPDATE and DELETE with a second table |
//! | `insert` | INSERT, REPLACE, upserts |
//! | `hints` | which index a statement is told to use |

mod change;
mod filters;
mod hints;
mod insert;
mod joins;
mod rich;
mod select;

use dialect::Capabilities;
use eval::Datum;
use model::{
    Rng,
    sql::{Assignment, Expr, Statement},
};

use crate::{
    profile::{Profile, weighted},
    rows,
    schema::{Schema, StatementForm, Table},
};

/// Makes statements on one schema.
#[derive(Clone, Copy)]
pub struct Statements<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// What the server can do.
    pub caps: &'a Capabilities,
    /// What is drawn how often.
    pub profile: &'a Profile,
}

impl<'a> Statements<'a> {
    /// The table at this place.
    pub fn table(&self, table: usize) -> &'a Table {
        &self.schema.tables[table]
    }

    /// A table by chance; one with rows rather than one without.
    pub fn any_table(&self, rng: &mut Rng) -> usize {
        let all: Vec<usize> = (0..self.schema.tables.len()).collect();
        let full: Vec<usize> = all.iter().copied().filter(|&t| !self.table(t).rows.is_empty()).collect();
        let any = full.is_empty() || rng.ratio(1, 8);
        *rng.pick(if any { &all } else { &full })
    }

    /// One of the rows that the table begins with.
    pub fn any_row(&self, rng: &mut Rng, table: usize) -> Option<&'a [Datum]> {
        let rows = &self.table(table).rows;
        if rows.is_empty() { None } else { Some(rng.pick(rows).as_slice()) }
    }

    /// A row to insert: most often one that no row of the table stands in the way of.
    pub fn new_row(&self, rng: &mut Rng, table: usize) -> Option<Vec<Datum>> {
        let table = self.table(table);
        rows::fresh(rng, self.schema, table, self.profile)
            .or_else(|| rows::row(rng, self.schema, table, self.profile))
    }

    /// A constant as the dialect writes it.
    pub fn literal(&self, datum: &Datum) -> Expr {
        datum.literal(self.caps.product)
    }

    /// `column = constant`, for SET.
    pub fn assign(&self, table: usize, column: usize, value: &Datum) -> Assignment {
        self.assign_expr(table, column, self.literal(value))
    }

    /// `column = expression`, for SET.
    pub fn assign_expr(&self, table: usize, column: usize, value: Expr) -> Assignment {
        Assignment { column: self.table(table).columns[column].name.as_str().into(), value }
    }

    /// Any statement on any table.
    pub fn any(&self, rng: &mut Rng) -> Statement {
        let table = self.any_table(rng);
        self.any_on(rng, table)
    }

    /// Any statement on this table.
    pub fn any_on(&self, rng: &mut Rng, table: usize) -> Statement {
        let kinds = &self.schema.kinds;
        let weights: Vec<u32> = kinds.iter().map(|kind| kind.weight(self.profile)).collect();
        let kind = weighted(rng, &weights).map_or(StatementForm::Select, |at| kinds[at]);
        self.of_kind(rng, kind, table)
    }

    /// A statement of this kind on this table; of a plainer kind where there is no such one.
    pub fn of_kind(&self, rng: &mut Rng, kind: StatementForm, table: usize) -> Statement {
        match kind {
            StatementForm::Select => self.select(rng, table, None),
            StatementForm::LockingSelect => self.locking_select(rng, table, None),
            StatementForm::Aggregate => self.aggregate(rng, table, None),
            StatementForm::Update => self.update(rng, table, None, None),
            StatementForm::Delete => self.delete(rng, table, None),
            StatementForm::Insert => self.insert(rng, table, None),
            StatementForm::InsertMany => self.insert_many(rng, table),
            StatementForm::InsertSelect => self.insert_select(rng, table),
            StatementForm::Replace => self.replace(rng, table, None),
            StatementForm::Upsert => self.upsert(rng, table, None, None),
            StatementForm::Ignore => self.insert_ignore(rng, table, None),
            StatementForm::MultiUpdate => self.multi_update(rng, table),
            StatementForm::MultiDelete => self.multi_delete(rng, table),
            StatementForm::OrderedMultiUpdate => self.ordered_multi_update(rng, table),
        }
    }
}

/// What a statement filters by: a caller's own condition, none at all, or whatever is drawn (`None` as an argument).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// No WHERE.
    All,
    Where(Expr),
}

impl Filter {
    /// As the tree has it.
    pub fn into_option(self) -> Option<Expr> {
        match self {
            Filter::All => None,
            Filter::Where(expr) => Some(expr),
        }
    }
}

impl From<Expr> for Filter {
    fn from(expr: Expr) -> Filter {
        Filter::Where(expr)
    }
}
