//! A small engine of our own behind the executor's traits, in process, with bugs that can be planted by name.
//!
//! It speaks MySQL's SQL and keeps InnoDB's promises at each level, without InnoDB's irregularities: a statement works on one
//! state, a row is one row whatever its key, and what a transaction has updated it sees. So it is what a hunt should stay
//! silent about, and with a bug planted what a hunt should find. Its versions and its locks are its own; nothing in it is shared
//! with the oracles that judge it.
//!
//! | file | what it holds |
//! |---|---|
//! | `versions` | rows as chains of versions, and what a view sees of them |
//! | `locks` | locks of rows and ranges, and circles of waiting |
//! | `engine` | sessions, statements that wait, who is woken when |
//! | `base`, `table` | what all share: transactions, tables |
//! | `work` | one statement at work, with queries inside it |
//! | `scan`, `access` | finding rows with and without locks, and by which part of a condition |
//! | `select`, `insert`, `update`, `write` | statements on rows |
//! | `ddl`, `control` | statements on tables, transactions and sessions |
//! | `compute`, `show` | values: by the evaluator, and as text |
//! | `plants` | the bugs |
//! | `server`, `bell` | the executor's traits |

mod access;
mod base;
mod bell;
mod cases;
mod compute;
mod control;
mod ddl;
mod engine;
mod error;
mod insert;
mod locks;
mod memory;
mod plants;
mod prepared;
mod reading;
mod scan;
mod select;
mod server;
mod show;
mod table;
mod update;
mod versions;
mod work;
mod write;

pub use plants::{BadPlant, Bug, Plants};
pub use server::ReferenceServer;
