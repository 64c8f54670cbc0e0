//! The schema and rows that a case begins with, where its setup could be understood as data.

use serde::{Deserialize, Serialize};

/// A table as the setup creates it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<ColumnDef>,
    /// Its keys and indexes, PRIMARY first.
    pub keys: Vec<Key>,
    /// Does another table refer to it, or it to another? TRUNCATE refuses such tables.
    pub foreign_keys: bool,
}

/// A column as the setup creates it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDef {
    pub name: String,
    /// Its type, as written.
    pub type_text: String,
    /// May it hold NULL?
    pub nullable: bool,
    /// Does it count up by itself?
    pub auto_increment: bool,
}

/// A key or an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its name; none for PRIMARY and for keys that the server names.
    pub name: Option<String>,
    /// What it forbids.
    pub kind: KeyKind,
    /// Its columns, in order.
    pub columns: Vec<String>,
}

/// What a key forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// The primary key.
    Primary,
    /// Values must differ.
    Unique,
    /// Nothing.
    Plain,
}

/// A setup understood as data: the tables, and the statements that fill them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupData {
    /// Statements that make the schema, as written (CREATE TABLE, CREATE INDEX).
    pub ddl: Vec<String>,
    /// The tables that they make.
    pub tables: Vec<Table>,
    /// INSERT statements, as written.
    pub inserts: Vec<String>,
    /// Does an index come after the first row of its table?
    #[serde(default)]
    pub late_index: bool,
}
