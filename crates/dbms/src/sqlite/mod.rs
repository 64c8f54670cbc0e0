//! SQLite, linked into our own binary but run in a child process, so that its crash is an outcome.
//!
//! ```text
//!   parent                                     child: `EXE __sqlite FOLDER`
//!   SqliteServer -- stdin, stdout: kills --->  control thread: interrupts, ends the child at EOF
//!   Session T1   -- Unix socket ------------>  one rusqlite connection  \
//!   Session T2   -- Unix socket ------------>  one rusqlite connection  /  one thread, one file
//! ```
//!
//! All connections of the child are driven by one thread with a busy timeout of zero. Nothing ever waits: where
//! another product blocks, SQLite answers BUSY, and the transaction usually stays open.
//!
//! * [`server`]: starts and ends the child; [`folder`]: where it lives;
//! * [`session`]: one connection, seen from the parent;
//! * [`locks`]: the monitor that has nothing to watch;
//! * [`settings`]: which PRAGMAs a target may set;
//! * [`child`]: the other side; [`wire`]: what goes between the two.

pub mod child;
pub mod folder;
pub mod locks;
mod os;
mod sandbox;
pub mod server;
pub mod session;
pub mod settings;
pub mod wire;

pub use folder::prune;
pub use server::{SqliteServer, StartError};
