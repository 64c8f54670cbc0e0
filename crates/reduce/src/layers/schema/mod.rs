//! What is set up: tables, rows, columns, keys and constraints, and the statements themselves.

pub mod columns;
mod forget;
pub mod inserted;
mod instead;
pub mod keys;
mod references;
pub mod rows;
pub mod setup;
pub mod tables;
