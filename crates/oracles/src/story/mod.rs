//! What the setup of a case makes: tables, and which of their columns a query shows.

mod memory;
mod projection;
mod tables;

pub use memory::{Memory, ReadTables};
pub use projection::{Projection, projection};
pub use tables::{Column, Key, Table, Tables, Type};
