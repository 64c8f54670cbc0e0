//! What the clients of all protocols share: where a server listens, who we are there, the socket to it, encrypted
//! where that is asked for, and how an answer is taken off it.

mod address;
mod limits;
pub mod os;
mod receive;
mod refusal;
mod stream;
mod tls;

use std::time::Duration;

pub use address::{Address, Login};
pub use limits::{Allowance, BYTE, CELL, COLUMNS, Limits, MESSAGE, TOO_LARGE};
pub use receive::{Receiver, SocketRead, read, receive};
pub use refusal::{NOT_OFFERED, Refusal};
pub use stream::Stream;
pub use tls::{Tls, TlsMode};

/// How long a server may take for a statement of our own, or take nothing from us.
pub const SILENCE: Duration = Duration::from_secs(10);
