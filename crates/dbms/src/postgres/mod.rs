//! PostgreSQL from 13 on, and whatever else speaks its protocol: a thin client of our own, the monitors that know
//! whether a statement waits, and the server behind them.
//!
//! * [`session`]: one connection that sends now and reads later; [`wire`], [`reply`] and [`values`] are its parts,
//!   each usable on bytes alone;
//! * [`locks`]: `proc`, which watches the server's processes and hears their own notices of waits, and `sql`, which
//!   asks the server;
//! * [`server`]: opens sessions and monitors, cancels, and owns one schema of ours.
//!
//! Messages are taken apart by the crate `postgres-protocol`. The clients on top of it were no choice: they hide the
//! command tag, the types of columns and the state of the transaction, and a COMMIT that rolled back looks like
//! success there.

pub mod locks;
pub mod login;
pub mod reply;
pub mod server;
pub mod session;
pub mod values;
pub mod wire;

pub use server::PgServer;
pub use session::PgSession;
