//! MySQL, MariaDB and whatever else speaks their protocol: a thin client of our own, the monitors that know
//! whether a statement waits, and the server behind them.
//!
//! * [`session`]: one connection that sends now and reads later; [`wire`], [`reply`], [`values`] and [`auth`]
//!   are its parts, each usable on bytes alone;
//! * [`locks`]: `proc`, which reads the server's threads in /proc, and `sql`, which asks the server;
//! * [`server`]: opens sessions and monitors, kills, and owns one schema of ours.
//!
//! The client is our own because a scheduler needs 'send now, read later', which none of the published
//! clients has without a thread or a task per connection, and because it must change nothing in the session
//! that it tests. The ready-made codec brings 44 crates and does not build without its default features
//! unless its user picks a compression library, too; what is needed of the protocol fits in these few files,
//! and rows go from the socket's buffer straight into a row set.

pub mod auth;
pub mod locks;
mod login;
pub mod reply;
pub mod server;
pub mod session;
pub mod values;
pub mod wire;

pub use server::MysqlServer;
pub use session::MysqlSession;
