//! The only crate that links database clients.
//!
//! * [`mysql`], [`postgres`], [`sqlite`]: one folder per family, with the same file names in each; they stand on the
//!   sockets of [`net`] and on what [`locks`] knows of threads and waits;
//! * `provision` installs, starts and stops real ones; [`attach`] goes to those that run already; [`launch`] makes one
//!   thing of both: from a target to a server behind the executor's traits.

pub mod attach;
pub mod launch;
pub mod locks;
pub mod mysql;
pub mod net;
pub mod options;
pub mod postgres;
pub mod sqlite;
