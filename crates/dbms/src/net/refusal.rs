//! Why a server did not let us in, told apart as far as the advice differs.

use std::{io, time::Duration};

use execute::RawError;

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
        "the first login with caching_sha2_password over TCP needs encryption; use the Unix socket, \
         sslmode=require or a user with mysql_native_password"
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
