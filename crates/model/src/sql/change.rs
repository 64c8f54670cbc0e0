//! Statements that change rows.

use super::{
    ColumnRef, Expr, Ident, Limit, ObjectName, OrderItem, Query, SelectItem, TableFactor, TableRef,
    keyword::keywords,
};

/// `INSERT` and `REPLACE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// The first word.
    pub verb: InsertVerb,
    /// IGNORE, or OR and what to do.
    pub modifier: Option<InsertModifier>,
    /// Was `INTO` written?
    pub into: bool,
    pub table: ObjectName,
    /// The columns, if listed.
    pub columns: Option<Vec<Ident>>,
    /// The rows.
    pub source: InsertSource,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Vec<Assignment>,
    /// ON CONFLICT, in order.
    pub on_conflict: Vec<Conflict>,
    pub returning: Returning,
}

/// What RETURNING gives back; empty without it.
pub type Returning = Vec<SelectItem>;

/// What an insertion does about conflicts, said at its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsertModifier {
    Ignore,
    Or(Resolution),
}

/// The rows of an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertSource {
    /// `VALUES (...), (...)`
    Values {
        word: ValuesWord,
        rows: Vec<Vec<Expr>>,
    },
    /// `SELECT ...`
    Query(Box<Query>),
    /// `SET a = 1, b = 2`
    Set(Vec<Assignment>),
    DefaultValues,
}

/// `ON CONFLICT ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The columns of the constraint; none means any constraint.
    pub target: Vec<Ident>,
    pub action: ConflictAction,
}

/// What ON CONFLICT does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictAction {
    /// `DO NOTHING`
    Nothing,
    /// `DO UPDATE SET ...`
    Update {
        /// After SET.
        assignments: Vec<Assignment>,
        /// WHERE.
        filter: Option<Expr>,
    },
}

/// `a = 1`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub column: ColumnRef,
    /// Its new value.
    pub value: Expr,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// IGNORE, or OR and what to do.
    pub modifier: Option<UpdateModifier>,
    /// The tables; one, except in multi-table updates.
    pub tables: Vec<TableRef>,
    /// After SET.
    pub assignments: Vec<Assignment>,
    /// FROM: tables that are read and not changed.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub returning: Returning,
}

/// What an update does about conflicts: the same words as an insertion.
pub type UpdateModifier = InsertModifier;

/// `DELETE FROM t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    pub ignore: bool,
    pub table: TableFactor,
    /// USING: tables that are read; in MySQL the changed one stands among them once more.
    pub using: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub returning: Returning,
}

impl Insert {
    /// `INSERT INTO table(columns) VALUES ...`
    pub fn values(table: &str, columns: Vec<Ident>, rows: Vec<Vec<Expr>>) -> Insert {
        Insert {
            verb: InsertVerb::Insert,
            modifier: None,
            into: true,
            table: table.into(),
            columns: Some(columns),
            source: InsertSource::Values { word: ValuesWord::Values, rows },
            on_duplicate: Vec::new(),
            on_conflict: Vec::new(),
            returning: Vec::new(),
        }
    }
}

impl Delete {
    /// `DELETE FROM table WHERE filter`
    pub fn new(table: TableFactor, filter: Option<Expr>) -> Delete {
        let (using, order_by, returning) = (Vec::new(), Vec::new(), Vec::new());
        Delete { ignore: false, table, using, filter, order_by, limit: None, returning }
    }
}

keywords! {
    /// The first word of an insertion.
    pub enum InsertVerb {
        Insert = "INSERT",
        Replace = "REPLACE",
    }

    /// What to do about a conflict.
    pub enum Resolution {
        Rollback = "ROLLBACK",
        Abort = "ABORT",
        Fail = "FAIL",
        Ignore = "IGNORE",
        Replace = "REPLACE",
    }

    pub enum ValuesWord {
        Values = "VALUES",
        Value = "VALUE",
    }
}
