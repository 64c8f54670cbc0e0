//! PostgreSQL from 13 on, and whatever else speaks its protocol.

pub mod server;

pub use server::{Options, PgServer};
