//! dbms

pub mod sqlite;
