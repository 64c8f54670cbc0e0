//! Why a server did not let us in, told apart as far as the advice differs.

use std::{fmt, io, time::Duration};

use execute::RawError;

/// Why we were not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The server said no.
    Server(RawError),
    /// It cannot be reached.
    Unreachable(String),
    /// It was reached, but did not say enough in time.
    Silent(Duration),
    /// Encryption could not be agreed on, or is not to be had.
    Tls(String),
    /// The password may only be sent where nobody reads along.
    NeedsTls,
    Other(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // PostgreSQL has no numbers.
            Refusal::Server(RawError { code: 0, sqlstate, message }) => write!(f, "{message} ({sqlstate})"),
            Refusal::Server(RawError { code, message, .. }) => write!(f, "{message} ({code})"),
            Refusal::Silent(time) => write!(f, "no answer within {} seconds", time.as_secs_f32().round()),
            Refusal::NeedsTls => f.write_str(
                "the first login with caching_sha2_password over TCP needs encryption; use the Unix socket, \
                 sslmode=require or a user with mysql_native_password",
            ),
            Refusal::Unreachable(reason) | Refusal::Tls(reason) | Refusal::Other(reason) => {
                f.write_str(reason)
            }
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Other(error.to_string())
    }
}
