//! The SQL syntax tree: plain data for the statements that Isopod writes and reads.
//!
//! A tree is a second view of a text, never a replacement: the text of a step is what is sent. So a tree
//! keeps what was WRITTEN wherever SQL has several spellings of one thing (`<>` or `!=`, `JOIN` or `INNER
//! JOIN`, an alias with or without `AS`), so that printing it can give the same tokens again. `dialect`
//! parses and prints; it hands out a tree only where that round trip holds.
//!
//! Parentheses: a parsed tree has [`Expr::Paren`] where the text has parentheses. A tree that is built by
//! hand needs none; the printer adds those that precedence asks for. [`Statement::without_parens`] makes
//! the two comparable.
//!
//! | file | what it holds |
//! |---|---|
//! | `name` | identifiers and qualified names |
//! | `expr` | expressions |
//! | `query` | SELECT |
//! | `change` | INSERT, REPLACE, UPDATE, DELETE |
//! | `ddl` | CREATE, DROP, TRUNCATE |
//! | `control` | transactions, savepoints, SET, LOCK TABLE, PRAGMA |
//! | `keyword` | enums of fixed words, which the files above declare |
//! | `kind` | what kind of statement a tree is |
//! | `footprint` | which tables a statement names, and what for |
//! | `program` | triggers, functions and procedures, which have no tree |
//! | `children` | what stands right inside an expression |
//! | `visit` | walking a tree, to read it or to change it |

mod change;
mod children;
mod control;
mod ddl;
mod expr;
mod footprint;
mod keyword;
mod kind;
mod name;
mod program;
mod query;
mod visit;

pub use change::{
    Assignment, Conflict, ConflictAction, Delete, Insert, InsertModifier, InsertSource, InsertVerb,
    Resolution, Returning, Update, UpdateModifier, ValuesWord,
};
pub use children::Children;
pub use control::{
    Begin, BeginVerb, Commit, CommitVerb, LockTable, LockTiming, Pragma, PragmaValue, Rollback, RollbackVerb,
    SavepointTarget, Scope, SetItem, SetTarget, SetTransaction, SetValue, TableLock, TransactionMode,
    TransactionWord,
};
pub use ddl::{
    Action, AlterTable, ColumnOption, Constraint, CreateIndex, CreatePartition, CreateTable, DropBehaviour,
    DropIndex, DropTable, ForeignKeyAction, IndexColumn, IndexWord, OptionValue, PartitionBy, Partitioning,
    References, TableColumn, TableConstraint, TableItem, TableOption, Truncate, TypeName,
};
pub use expr::{
    BinaryOp, BoolTest, CastSpelling, Expr, FunctionArgs, InList, LikeOp, Literal, NullSpelling,
    OperatorClass, Quantifier, UnaryOp, When,
};
pub use footprint::Footprint;
pub use keyword::Keyword;
pub use kind::{StatementClass, StatementKind};
pub use name::{Alias, ColumnRef, Ident, ObjectName, Quote};
pub use program::{ProgramBlocks, creates_program};
pub use query::{
    Direction, HintAction, HintScope, IndexHint, Join, JoinCondition, JoinKind, Limit, Lock, LockStrength,
    LockWait, Nulls, Offset, OrderItem, Query, QueryPart, Select, SelectItem, SetOp, TableFactor, TableRef,
};
pub use visit::{Visit, VisitMut};

/// One SQL statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // statements are held one at a time; boxing would only add noise
pub enum Statement {
    /// `SELECT ...`, with unions, order, limit and locks.
    Query(Query),
    /// `INSERT` and `REPLACE`.
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    CreateTable(CreateTable),
    /// `CREATE TABLE ... PARTITION OF`
    CreatePartition(CreatePartition),
    CreateIndex(CreateIndex),
    /// `ALTER TABLE ... ADD` of keys and constraints.
    AlterTable(AlterTable),
    DropTable(DropTable),
    DropIndex(DropIndex),
    Truncate(Truncate),
    /// `BEGIN` and `START TRANSACTION`.
    Begin(Begin),
    /// `COMMIT` and `END`.
    Commit(Commit),
    /// `ROLLBACK` and `ABORT`, whole or to a savepoint.
    Rollback(Rollback),
    /// `SAVEPOINT name`.
    Savepoint(Ident),
    /// `RELEASE [SAVEPOINT] name`.
    Release(SavepointTarget),
    /// `SET name = value, ...`.
    Set(Vec<SetItem>),
    /// `SET [SESSION] TRANSACTION ...`.
    SetTransaction(SetTransaction),
    LockTable(LockTable),
    /// `PRAGMA name ...`.
    Pragma(Pragma),
}

impl Statement {
    /// The same statement without [`Expr::Paren`]; its structure says all that the parentheses said.
    pub fn without_parens(&self) -> Statement {
        struct Strip;
        impl VisitMut for Strip {
            fn expr(&mut self, expr: &mut Expr) {
                while let Expr::Paren(inner) = expr {
                    *expr = std::mem::replace(inner, Expr::Literal(Literal::Null));
                }
            }
        }
        let mut copy = self.clone();
        copy.visit_mut(&mut Strip);
        copy
    }
}
