//! Errors with MySQL's numbers, so that MySQL's table of classes says what they mean.

use eval::Fault;
use execute::RawError;
use model::ErrorClass;

use crate::locks::TxnId;

/// Why a statement did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It fails.
    Error(RawError),
    /// It has to wait until one of these transactions has ended or has undone something.
    Blocked(Vec<TxnId>),
    /// A planted bug: it will never answer, and nobody is in its way.
    Hang,
    /// A planted bug: the whole server goes down.
    Crash,
}

pub type StatementResult<T> = Result<T, Stop>;

/// An error as MySQL would send it.
pub fn raw(code: u32, sqlstate: &str, message: impl Into<String>) -> RawError {
    RawError { code, sqlstate: sqlstate.to_string(), message: message.into() }
}

/// An error that ends a statement.
pub fn error<T>(code: u32, sqlstate: &str, message: impl Into<String>) -> StatementResult<T> {
    Err(Stop::Error(raw(code, sqlstate, message)))
}

/// What this engine does not do. Class `other`: neither the case nor the engine is wrong.
pub fn unsupported<T>(what: impl Into<String>) -> StatementResult<T> {
    error(1235, "HY000", format!("the reference engine does not support {}", what.into()))
}

pub fn no_table<T>(name: &str) -> StatementResult<T> {
    error(1146, "42S02", format!("Table '{name}' doesn't exist"))
}

pub fn no_column<T>(name: &str) -> StatementResult<T> {
    error(1054, "42S22", format!("Unknown column '{name}'"))
}

pub fn duplicate(key: &str) -> RawError {
    raw(1062, "23000", format!("Duplicate entry for key '{key}'"))
}

pub fn not_null(column: &str) -> RawError {
    raw(1048, "23000", format!("Column '{column}' cannot be null"))
}

pub fn deadlock() -> RawError {
    raw(1213, "40001", "Deadlock found when trying to get lock; try restarting transaction")
}

/// What the evaluator could not compute.
pub fn fault(fault: Fault) -> Stop {
    let class = match fault {
        Fault::Unsure(why) => {
            let message = format!("the reference engine does not support this expression: {why}");
            return Stop::Error(raw(1235, "HY000", message));
        }
        Fault::Error(class) => class,
    };
    let (code, sqlstate) = match class {
        ErrorClass::Range => (1690, "22003"),
        ErrorClass::Constraint => (1048, "23000"),
        ErrorClass::DuplicateKey => (1062, "23000"),
        ErrorClass::Syntax => (1064, "42000"),
        ErrorClass::Runtime => (1365, "22012"),
        _ => (1235, "HY000"),
    };
    Stop::Error(raw(code, sqlstate, format!("an expression failed: {class}")))
}
