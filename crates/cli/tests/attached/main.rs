//! Servers that are not ours: real ones, which the tests start and fill, and which the command then meets as a guest.
//! Nothing of theirs may change, whatever happens to us; every failure says what to do; and nobody sees a password.

#[path = "../common/mod.rs"]
mod common;
mod failures;
mod foreign;
mod guard;
mod host;
mod passwords;
mod scratch;
#[allow(dead_code)] // Not all of it is needed here.
#[path = "../command/tools.rs"]
mod tools;
