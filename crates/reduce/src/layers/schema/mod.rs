//! What is set up: tables, rows, columns, keys and constraints, and the statements themselves.

pub mod columns;
mod drop_column;
pub mod keys;
mod merge_columns;
mod references;
pub mod rows;
pub mod setup;
pub mod tables;
pub mod update_to_insert;
