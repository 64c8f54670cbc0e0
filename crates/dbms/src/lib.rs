//! The only crate that links database clients: one folder per family with the same file names in each, and
//! [`servers`], which installs, starts and stops real ones.

pub mod launch;
pub mod mysql;
pub mod servers;
pub mod sqlite;
