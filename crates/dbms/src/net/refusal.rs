//! Why a server did not let us in, told apart as far as the advice differs.

use std::{io, time::Duration};

use execute::RawError;

/// Why a connection is not encrypted.
pub const NOT_OFFERED: &str = "the server offers no encryption";

/// Why we were not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The server said no.
    #[error("{0}")]
    Server(RawError),
    /// It cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// It was reached, but did not say enough in time.
    #[error("no answer within {} seconds", .0.as_secs_f32().round())]
    Silent(Duration),
    /// Encryption could not be agreed on, or is not to be had.
    #[error("{0}")]
    Tls(String),
    /// The password may only be sent where nobody reads along.
    #[error(
        "the server asks for the password itself, which is only sent over a Unix socket or an encrypted connection"
    )]
    NeedsTls,
    #[error("{0}")]
    Other(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Other(error.to_string())
    }
}
