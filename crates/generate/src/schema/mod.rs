//! Tables and rows as the generator knows them, with the values that predicates and writes are drawn from.
//!
//! | file | what it does |
//! |---|---|
//! | `draw` | draws a schema: tables, then their keys and constraints |
//! | `columns` | draws columns and their types |
//! | `pool` | draws the values that a column's pool begins with |
//! | `indexes` | draws keys and indexes |
//! | `ddl` | writes it all as CREATE TABLE, CREATE INDEX and INSERT |

mod columns;
mod ddl;
mod draw;
mod indexes;
pub mod pool;

use eval::Datum;
use model::{
    SqlType,
    schema::KeyKind,
    sql::{Action, Expr},
};

pub use draw::draw;

use crate::profile::Profile;

/// The tables of a case.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Which one of its seed.
    pub number: u64,
    /// In the order in which they are created: a parent stands before its children.
    pub tables: Vec<Table>,
    /// Forms of statements that this schema has drawn (swarm): the others are not used on it.
    pub kinds: Vec<StatementForm>,
}

/// Declares the forms of statements, each with its weight in a profile.
macro_rules! forms {
    ($($(#[$doc:meta])* $form:ident $weight:ident,)+) => {
        /// A form of statement, as profiles weigh them: finer than its kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StatementForm { $($(#[$doc])* $form,)+ }

        impl StatementForm {
            pub const ALL: &'static [StatementForm] = &[$(StatementForm::$form,)+];

            pub fn weight(self, profile: &Profile) -> u32 {
                match self { $(StatementForm::$form => profile.statements.$weight,)+ }
            }
        }
    };
}

forms! {
    /// A plain SELECT.
    Select select,
    LockingSelect locking_select,
    /// MIN, MAX, COUNT.
    Aggregate aggregate,
    Update update,
    Delete delete,
    /// INSERT of one row.
    Insert insert,
    /// INSERT of several rows.
    InsertMany insert_many,
    /// INSERT ... SELECT.
    InsertSelect insert_select,
    Replace replace,
    /// ON DUPLICATE KEY UPDATE, ON CONFLICT.
    Upsert upsert,
    /// INSERT IGNORE and its kin.
    Ignore ignore,
    /// UPDATE of or with several tables.
    MultiUpdate multi_update,
    /// DELETE of or with several tables.
    MultiDelete multi_delete,
    /// UPDATE of two tables with ORDER BY and LIMIT.
    OrderedMultiUpdate ordered_multi_update,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// Its indexes, the primary key first.
    pub indexes: Vec<Index>,
    /// The tables that its rows refer to.
    pub parents: Vec<Parent>,
    /// CHECK constraints.
    pub checks: Vec<Expr>,
    pub partitioned: bool,
    /// SQLite's WITHOUT ROWID.
    pub without_rowid: bool,
    /// The rows that it begins with, a datum for each column; of a generated column too.
    pub rows: Vec<Vec<Datum>>,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub ty: SqlType,
    /// May it be NULL?
    pub nullable: bool,
    pub default: Option<Datum>,
    /// What it is computed from, if it is generated.
    pub generated: Option<Generated>,
    /// Values that rows, predicates and writes draw from, so that they meet.
    pub pool: Vec<Datum>,
}

/// How a generated column is computed: only from a whole number that is kept small, so that rows can be made without asking.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The column that it is computed from.
    pub from: usize,
    /// What is done with it.
    pub formula: Formula,
    /// VIRTUAL or STORED.
    pub storage: &'static str,
}

/// What a generated column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The column plus this.
    Plus(i64),
    /// The column times this.
    Times(i64),
}

impl Formula {
    /// As an expression over the column.
    pub fn expr(self, column: &str) -> Expr {
        let column = Expr::column(column);
        match self {
            Formula::Plus(n) => Expr::binary(column, model::sql::BinaryOp::Add, Expr::int(n)),
            Formula::Times(n) => Expr::binary(column, model::sql::BinaryOp::Mul, Expr::int(n)),
        }
    }

    /// Its value.
    pub fn of(self, value: &Datum) -> Datum {
        let n = match value {
            Datum::Int(n) => *n,
            Datum::UInt(n) => *n as i64,
            _ => return Datum::Null,
        };
        Datum::Int(match self {
            Formula::Plus(m) => n + m,
            Formula::Times(m) => n * m,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Index {
    /// Its name; none for a primary key.
    pub name: Option<String>,
    /// Primary, unique or plain.
    pub kind: KeyKind,
    /// Its columns, in order.
    pub parts: Vec<Part>,
    /// Is it made after the rows?
    pub late: bool,
}

/// One column of an index.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which column of the table.
    pub column: usize,
    /// Indexes only the first characters, this many.
    pub prefix: Option<u16>,
    pub descending: bool,
}

/// A foreign key.
#[derive(Clone, Debug)]
pub struct Parent {
    /// The table referred to, by its place in the schema.
    pub table: usize,
    /// The columns that refer.
    pub columns: Vec<usize>,
    /// The columns referred to.
    pub referred: Vec<usize>,
    pub on_delete: Option<Action>,
    pub on_update: Option<Action>,
}

/// The third table of a triangle: two of its foreign keys lead to the same table, one of them through a second table.
#[derive(Clone, Copy, Debug)]
pub struct Corner<'a> {
    /// From the third table to the first.
    pub direct: &'a Parent,
    /// From the third table to the second.
    pub through: &'a Parent,
    /// From the second table to the first.
    pub onward: &'a Parent,
}

impl Schema {
    /// The triangle that a table is the third of, if it is.
    pub fn corner<'a>(&'a self, table: &'a Table) -> Option<Corner<'a>> {
        table.parents.iter().find_map(|through| {
            let onward = self.tables[through.table].parents.first()?;
            let direct = table.parents.iter().find(|direct| direct.table == onward.table)?;
            Some(Corner { direct, through, onward })
        })
    }

    /// The statements that create and fill it.
    pub fn setup(&self, caps: &dialect::Capabilities) -> Vec<String> {
        let mut statements: Vec<String> = Vec::new();
        for table in &self.tables {
            statements
                .extend(ddl::create(self, table, caps).iter().map(|s| dialect::sql::print(caps.product, s)));
        }
        let fill = self.tables.iter().filter_map(|table| ddl::fill(table, caps));
        statements.extend(fill.map(|s| dialect::sql::print(caps.product, &s)));
        let late = self.tables.iter().flat_map(|table| ddl::late(table, caps));
        statements.extend(late.map(|s| dialect::sql::print(caps.product, &s)));
        statements
    }
}

impl Table {
    /// The primary key, if there is one.
    pub fn primary(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.kind == KeyKind::Primary)
    }

    /// Indexes that forbid equal values.
    pub fn unique(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.kind != KeyKind::Plain)
    }

    /// A key whose columns are never NULL, so that it names one row: the primary key first.
    pub fn identity(&self) -> Option<&Index> {
        self.unique().find(|index| index.parts.iter().all(|part| !self.columns[part.column].nullable))
    }

    /// Columns that can be written.
    pub fn writable(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.columns.len()).filter(|&i| self.columns[i].generated.is_none())
    }

    /// Columns that can be written and are neither in a unique key nor refer to another table.
    pub fn idle_columns(&self) -> Vec<usize> {
        self.writable().filter(|&column| !self.in_unique(column) && !self.refers(column)).collect()
    }

    /// A unique key with a column that may be NULL.
    pub fn nullable_unique(&self) -> Option<&Index> {
        let nullable = |index: &&Index| index.parts.iter().any(|part| self.columns[part.column].nullable);
        self.indexes.iter().filter(|index| index.kind == KeyKind::Unique).find(nullable)
    }

    /// Is the column in a key or index?
    pub fn indexed(&self, column: usize) -> bool {
        self.indexes.iter().any(|index| index.has(column))
    }

    /// Is the column in a key that forbids equal values?
    pub fn in_unique(&self, column: usize) -> bool {
        self.unique().any(|index| index.has(column))
    }

    /// Does the column refer to another table?
    pub fn refers(&self, column: usize) -> bool {
        self.referring(column).is_some()
    }

    /// The foreign key that a column is in.
    pub fn referring(&self, column: usize) -> Option<&Parent> {
        self.parents.iter().find(|parent| parent.columns.contains(&column))
    }

    /// Would these rows break a unique key? NULL never does.
    pub fn collide(&self, one: &[Datum], other: &[Datum]) -> bool {
        self.unique().any(|index| {
            index.parts.iter().all(|part| {
                let (a, b) = (&one[part.column], &other[part.column]);
                !a.is_null() && !b.is_null() && pool::alike(a, b)
            })
        })
    }

    /// Fills in the generated columns of a row.
    pub fn compute(&self, row: &mut [Datum]) {
        for (i, column) in self.columns.iter().enumerate() {
            if let Some(generated) = &column.generated {
                row[i] = generated.formula.of(&row[generated.from]);
            }
        }
    }
}

impl Column {
    /// Does it hold values of 1 to 4 KB?
    pub fn is_long(&self) -> bool {
        self.name == draw::LONG
    }
}

impl Index {
    /// Is the column in it?
    pub fn has(&self, column: usize) -> bool {
        self.parts.iter().any(|part| part.column == column)
    }

    /// The name that a hint calls it by.
    pub fn hint(&self) -> &str {
        self.name.as_deref().unwrap_or("PRIMARY")
    }
}
