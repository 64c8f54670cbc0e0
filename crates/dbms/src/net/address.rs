//! Where a server listens, and who we are there.

use std::{
    fmt,
    net::IpAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use execute::{ConnectError, RawError};

use super::{Limits, NOT_OFFERED, Refusal, SILENCE, Stream, Tls, TlsMode};

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

    /// Is it on this machine, so that nobody is on the way?
    pub fn local(&self) -> bool {
        match self {
            Address::Unix(_) => true,
            Address::Tcp { host, .. } => {
                host.eq_ignore_ascii_case("localhost")
                    || host.parse::<IpAddr>().is_ok_and(|number| number.to_canonical().is_loopback())
            }
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

/// A password is looked for in the words of a server if it has so many characters.
const SHORTEST: usize = 4;

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
    pub limits: Limits,
}

impl Login {
    /// Logs in by `attempt`, which has to be through by then. Encryption that is only preferred is done without if it fails, as
    /// the clients do; then also says why.
    pub fn log_in<T>(
        &self,
        attempt: impl Fn(&Login, Instant) -> Result<T, Refusal>,
    ) -> Result<(T, Option<String>), Refusal> {
        let until = Instant::now() + self.patience;
        match attempt(self, until) {
            Err(Refusal::Tls(why)) if self.tls.mode == TlsMode::Prefer => {
                let tls = Tls { mode: TlsMode::Disable, root: None };
                Ok((attempt(&Login { tls, ..self.clone() }, until)?, Some(why)))
            }
            result => Ok((result?, None)),
        }
    }

    /// Why this connection is not encrypted although that was preferred, if so.
    pub fn offers_none(&self, stream: &Stream) -> Option<String> {
        (self.tls.mode == TlsMode::Prefer && !stream.private()).then(|| NOT_OFFERED.to_string())
    }

    /// What the server says, without the password: one that was sent it might repeat it.
    pub fn without_password(&self, error: RawError) -> RawError {
        RawError { message: self.hidden(&error.message), ..error }
    }

    /// A text without the password, where that stands as a word of its own. A short one is part of much else, and one that
    /// is the user's name is no secret.
    pub fn hidden(&self, text: &str) -> String {
        let secret = self.password.as_str();
        if !self.guest || secret.chars().count() < SHORTEST || secret == self.user || !text.contains(secret) {
            return text.to_string();
        }
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let (mut shown, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once(secret) {
            shown.push_str(before);
            let part = letter(shown.chars().next_back()) || letter(after.chars().next());
            shown.push_str(if part { secret } else { "***" });
            rest = after;
        }
        shown + rest
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
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_this_machine_is_local() {
        let local = |host: &str| Address::Tcp { host: host.to_string(), port: 1 }.local();
        assert!(
            ["localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
                .map(local)
                .iter()
                .all(|is| *is)
        );
        assert!(
            !["localhost.example.com", "10.0.0.1", "db", "::2", "0.0.0.0", ""]
                .map(local)
                .iter()
                .any(|is| *is)
        );
        assert!(Address::Unix("/run/x".into()).local());
    }

    #[test]
    fn a_password_that_a_server_repeats_is_not_shown() {
        let hidden = |password: &str, text: &str| {
            Login { password: password.into(), guest: true, ..Login::default() }.hidden(text)
        };
        assert_eq!(hidden("S3cret!", "no 'S3cret!' and S3cret! here: S3cret!"), "no '***' and *** here: ***");
        assert_eq!(hidden("word", "password word"), "password ***");
        assert_eq!(hidden("root", "user 'root'"), "user 'root'", "that is no secret");
        assert_eq!(hidden("abc", "abc"), "abc", "part of too much else");
        assert_eq!(hidden("", "x"), "x");
        assert_eq!(hidden("aaaa", "aaaaaaaa aaaa"), "aaaaaaaa ***");
    }
}
