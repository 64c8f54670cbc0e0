//! Cases with expectations on real servers: [`cell`] counts how one came out, [`changes`] compares versions, [`bisect`] runs them in a row,
//! [`table`] puts all of it side by side.

pub mod bisect;
pub mod cell;
pub mod changes;
pub mod table;
