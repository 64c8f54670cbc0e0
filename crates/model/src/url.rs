//! The address of a server that runs already: `user:password@host:port/database`, what stands behind `mysql://`.
//!
//! A Unix socket is written as the host, percent-encoded (`mysql://root@%2Frun%2Fmysqld.sock`) or plain after three
//! slashes (`mysql:///run/mysqld.sock`, `mysql://root@/run/mysqld.sock`). The password is never shown again: neither
//! `Display` nor `Debug` prints it, and what is stored of a target does not hold it.

use std::{fmt, path::PathBuf, str::FromStr};

/// A password. It can be asked for by name only, so that it does not slip into a log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The password itself, for the one who logs in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// A Unix socket, or for PostgreSQL the folder that holds it.
    Socket(PathBuf),
    /// A host, and its port if it was named.
    Host {
        /// A name or a number; IPv6 without brackets.
        host: String,
        port: Option<u16>,
    },
}

/// Who, where and in which database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url {
    /// Who we are there; none means whatever the client's configuration says.
    pub user: Option<String>,
    /// The password, if it stands in the address.
    pub password: Option<Secret>,
    /// Where it listens.
    pub endpoint: Endpoint,
    /// The database to connect to.
    pub database: Option<String>,
}

/// The text is not an address. It may hold a password, so the text is not repeated.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "the address cannot be read: {0}; write mysql://user@host:port or postgres://user@host:port/database"
)]
pub struct BadUrl(pub &'static str);

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{}@", encode(user))?;
        }
        match &self.endpoint {
            Endpoint::Socket(path) => f.write_str(&encode(&path.to_string_lossy()))?,
            Endpoint::Host { host, port } => {
                if host.contains(':') {
                    write!(f, "[{host}]")?;
                } else {
                    f.write_str(&encode(host))?;
                }
                if let Some(port) = port {
                    write!(f, ":{port}")?;
                }
            }
        }
        if let Some(database) = &self.database {
            write!(f, "/{}", encode(database))?;
        }
        Ok(())
    }
}

const NO_HOST: BadUrl = BadUrl("the host is missing");

/// What a user's name cannot hold as it is.
const MARKS: [char; 6] = ['/', ';', ',', '?', '#', ' '];

impl FromStr for Url {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<Self, BadUrl> {
        let (who, place) = match text.rsplit_once('@') {
            Some((who, place)) => (Some(who), place),
            None => (None, text),
        };
        // Whoever writes one of these may have meant a colon, and what follows a password.
        if who.is_some_and(|who| who.split(':').next().is_some_and(|user| user.contains(MARKS))) {
            return Err(BadUrl("marks in the user's name are percent-encoded, such as %2F for `/`"));
        }
        let (user, password) =
            match who.map(|who| who.split_once(':').map_or((who, None), |(u, p)| (u, Some(p)))) {
                None => (None, None),
                Some((user, password)) => {
                    let user = decode(user)?;
                    ((!user.is_empty()).then_some(user), password.map(decode).transpose()?.map(Secret))
                }
            };
        if place.starts_with('/') {
            let endpoint = Endpoint::Socket(decode(place)?.into());
            return Ok(Url { user, password, endpoint, database: None });
        }
        let (host, database) = match place.split_once('/') {
            Some((host, database)) => (host, Some(decode(database)?).filter(|name| !name.is_empty())),
            None => (place, None),
        };
        Ok(Url { user, password, endpoint: endpoint(host)?, database })
    }
}

fn endpoint(text: &str) -> Result<Endpoint, BadUrl> {
    let number =
        |port: &str| port.parse().map(Some).map_err(|_| BadUrl("the port is not a number below 65536"));
    if let Some(rest) = text.strip_prefix('[') {
        let (host, port) = rest.split_once(']').ok_or(BadUrl("`]` is missing"))?;
        if host.is_empty() {
            return Err(NO_HOST);
        }
        let port = match port.strip_prefix(':') {
            Some(port) => number(port)?,
            None if port.is_empty() => None,
            None => return Err(BadUrl("only a port may follow `]`")),
        };
        return Ok(Endpoint::Host { host: host.to_string(), port });
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (decode(host)?, number(port)?),
        None => (decode(text)?, None),
    };
    if host.starts_with('/') {
        if port.is_some() {
            return Err(BadUrl("a socket has no port; after a folder of PostgreSQL's write ?port=NUMBER"));
        }
        return Ok(Endpoint::Socket(host.into()));
    }
    if host.is_empty() {
        return Err(NO_HOST);
    }
    Ok(Endpoint::Host { host, port })
}

/// `%2F` is `/`.
fn decode(text: &str) -> Result<String, BadUrl> {
    const WRONG: BadUrl = BadUrl("two hexadecimal digits must follow `%`");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).ok_or(WRONG)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| WRONG)?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| BadUrl("it is not UTF-8"))
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_shown_without_its_password() {
        for (text, shown) in [
            ("u:p@h:3306", "u@h:3306"),
            ("u:p%40ss@h", "u@h"),
            ("h/db", "h/db"),
            ("u@[::1]:5432/db", "u@[::1]:5432/db"),
            ("root@%2Frun%2Fs.sock", "root@%2Frun%2Fs.sock"),
            ("/run/s.sock", "%2Frun%2Fs.sock"),
            ("root:p@/run/s.sock", "root@%2Frun%2Fs.sock"),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!(url.to_string(), shown, "{text}");
            assert_eq!(shown.parse::<Url>().unwrap(), Url { password: None, ..url.clone() }, "{text}");
            assert!(!format!("{url:?}").contains("p@ss"));
        }
        let url: Url = "u:p%40ss@h".parse().unwrap();
        assert_eq!(url.password.unwrap().reveal(), "p@ss");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_text() {
        for text in [
            "",
            "u:secret@",
            "u:secret@h:port",
            "u:secret@h:99999",
            "u:secret%zz@h",
            "u:secret@%2Ftmp:5433/db",
            "[::1",
            "u:secret@[]/db",
            "[]:3306",
        ] {
            let error = text.parse::<Url>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
