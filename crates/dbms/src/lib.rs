//! The only crate that links database clients: one folder per family with the same file names in each, and
//! [`servers`], which installs, starts and stops real ones.

pub mod attach;
pub mod launch;
pub mod locks;
pub mod mysql;
pub mod net;
pub mod options;
pub mod postgres;
pub mod servers;
pub mod sqlite;
