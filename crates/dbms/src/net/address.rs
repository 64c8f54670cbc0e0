//! Where a server listens, and who we are there.

use std::{
    fmt,
    path::PathBuf,
    time::{Duration, Instant},
};

use execute::ConnectError;

use super::{Refusal, SILENCE, Tls, TlsMode};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port.
    Tcp {
        /// Its name or number.
        host: String,
        port: u16,
    },
}

impl Address {
    /// What a certificate of the server should name.
    pub fn host(&self) -> &str {
        match self {
            Address::Unix(_) => "localhost",
            Address::Tcp { host, .. } => host,
        }
    }

    /// The server there cannot be used, for this reason.
    pub fn refused(&self, reason: impl fmt::Display) -> ConnectError {
        ConnectError::Refused { server: self.to_string(), reason: reason.to_string() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "{}", path.display()),
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// Who we are, and how we come in.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    /// The password, or empty.
    pub password: String,
    pub tls: Tls,
    /// How long it may take to reach the server and to be let in.
    pub patience: Duration,
    /// The server is somebody else's: nothing may be changed there beyond our own schema and sessions.
    pub guest: bool,
}

impl Login {
    /// Logs in by `attempt`, which has to be through by then. Encryption that is only preferred is done without if it fails, as
    /// the clients do.
    pub fn log_in<T>(&self, attempt: impl Fn(&Login, Instant) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let until = Instant::now() + self.patience;
        match attempt(self, until) {
            Err(Refusal::Tls(_)) if self.tls.mode == TlsMode::Prefer => {
                let tls = Tls { mode: TlsMode::Disable, root: None };
                attempt(&Login { tls, ..self.clone() }, until)
            }
            result => result,
        }
    }
}

impl Default for Login {
    /// What a throw-away server has: `root` without a password.
    fn default() -> Login {
        Login {
            user: "root".to_string(),
            password: String::new(),
            tls: Tls::default(),
            patience: SILENCE,
            guest: false,
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}
