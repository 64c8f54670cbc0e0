//! A small engine of our own behind the executor's traits, in process, with bugs that can be planted by name.
//!
//! It speaks MySQL's SQL and keeps InnoDB's promises at each level, without InnoDB's irregularities. So it is what a hunt should
//! stay silent about, and with a bug planted what a hunt should find. Its versions and its locks are its own; nothing in it is
//! shared with the oracles that judge it.
//!
//! # What it promises
//!
//! **A statement is one step.** It is tried as a whole. If others are in its way, what it wrote so far is undone, the locks
//! that it got stay, and it is tried again from its beginning when one of those has ended or has gone back to a
//! savepoint. So it works on one state, that of its last attempt, and a statement that waits has written nothing.
//!
//! **What a plain SELECT sees**, its own transaction's changes always on top:
//!
//! | level | sees |
//! |---|---|
//! | READ UNCOMMITTED | the newest of everything |
//! | READ COMMITTED | what is committed now |
//! | REPEATABLE READ | what was committed at the first plain SELECT from a table, or at START TRANSACTION WITH CONSISTENT SNAPSHOT |
//! | SERIALIZABLE | in a transaction it is FOR SHARE; as one by itself, what is committed now |
//!
//! Under a key that its transaction has written, what it wrote hides what the snapshot has there. LIMIT 0 is no read.
//!
//! **Everything else works on the newest committed rows**: UPDATE, DELETE, INSERT, locking SELECT. The query of an INSERT .. SELECT and
//! queries inside an UPDATE see what a plain SELECT sees below REPEATABLE READ, and lock shared what they read from there on;
//! queries inside other changes (DELETE, VALUES, ON DUPLICATE KEY UPDATE) always lock. A query inside a SELECT is a plain one,
//! whether that locks or not. An UPDATE writes a version of each row that it finds, changed or not, so its transaction sees
//! those rows from then on. A row is one row whatever its key.
//!
//! **Locks** are of rows and of ranges, and last until the transaction ends; those of a row that was inserted go with it when that
//! is undone. Shared locks share. A locking scan meets the rows to which its condition leads it, by the index that
//! answers most of it, in every state that they may come to be in, and waits for each that another has locked. From REPEATABLE READ on
//! it locks all that it met, and nobody else brings a row into what it looked at; below, only the rows that match, and an
//! UPDATE passes by what did not match before another locked it, unless a unique key led there. A unique value
//! that an open transaction of another has, had or may come to have again is waited for, then refused (1062) if it is there. A
//! statement that fails keeps its locks, and its transaction stays open.
//!
//! **Waiting.** Who waits is in nobody's way. When somebody in the way has gone, those who wait are tried again in the order in which they
//! began to wait. A wait that would close a circle is a deadlock: its statement is the victim, and its transaction is rolled
//! back. There is no timeout.
//!
//! What it does not know it refuses with error 1235, and never guesses.
//!
//! # Where things are
//!
//! | file | what it holds |
//! |---|---|
//! | `versions` | rows as chains of versions, and what a view sees of them |
//! | `locks` | locks of rows and ranges, and circles of waiting |
//! | `engine` | sessions, statements that wait, who is woken when |
//! | `database`, `table` | what all share: transactions, tables |
//! | `statement_run`, `resume_state` | one statement at work, with queries inside it; what it remembers of an earlier attempt |
//! | `scan`, `visibility`, `access` | finding rows with and without locks, and by which part of a condition |
//! | `select`, `insert`, `update`, `write` | statements on rows |
//! | `ddl`, `control` | statements on tables, transactions and sessions |
//! | `expressions`, `show` | values: by the evaluator, and as text |
//! | `plants`, `cases` | the bugs, and a case for each |
//! | `server`, `silent_pipe` | the executor's traits |

mod access;
mod cases;
mod control;
mod database;
mod ddl;
mod engine;
mod error;
mod expressions;
mod insert;
mod locks;
mod plants;
mod prepared;
mod resume_state;
mod scan;
mod select;
mod server;
mod show;
mod silent_pipe;
mod statement_run;
mod table;
mod update;
mod versions;
mod visibility;
mod write;

pub use plants::{BadPlant, Bug, Plants};
pub use server::{PRODUCT, ReferenceServer, target};
