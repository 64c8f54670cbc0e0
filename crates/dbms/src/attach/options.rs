//! What stands after `?` in the address of a server that is not ours: options of the connection, and settings that are
//! set in every session.

use std::{path::PathBuf, time::Duration};

use dialect::{SqlFamily, sql::text_literal};
use model::{Product, target::Settings};

use super::AttachError;
use crate::net::{Limits, Tls, TlsMode};

/// How long it may take to reach a server and to be let in, if the user says nothing: every failure within ten seconds.
const PATIENCE: Duration = Duration::from_secs(6);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachOptions {
    /// The mode if somebody chose one, and the root.
    pub tls_mode: Option<TlsMode>,
    pub tls_root: Option<PathBuf>,
    /// A file whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// A Unix socket, or for PostgreSQL the folder that holds it.
    pub socket: Option<PathBuf>,
    /// The port, where it does not stand in the address: which of the sockets in a folder of PostgreSQL's.
    pub port: Option<u16>,
    /// How long it may take to be let in.
    pub patience: Duration,
    /// What its answers may cost.
    pub limits: Limits,
    /// The rest: what is set in every session.
    pub settings: Settings,
}

impl AttachOptions {
    pub fn read(all: &Settings) -> Result<AttachOptions, AttachError> {
        let mut found = AttachOptions {
            tls_mode: None,
            tls_root: None,
            password_file: None,
            socket: None,
            port: None,
            patience: PATIENCE,
            limits: Limits::default(),
            settings: Settings::new(),
        };
        for (name, value) in all {
            match name.as_str() {
                "sslmode" | "ssl_mode" => found.tls_mode = Some(read_mode(value)?),
                "sslrootcert" | "ssl_ca" => found.tls_root = Some(value.into()),
                "password_file" => found.password_file = Some(value.into()),
                "socket" | "host" if value.starts_with('/') => found.socket = Some(value.into()),
                "socket" | "host" => {
                    return Err(AttachError::bare(format!("{name} must be a path that begins with `/`")));
                }
                "port" => {
                    let port = value.parse().ok().filter(|port| *port > 0);
                    found.port =
                        Some(port.ok_or_else(|| AttachError::bare("port must be a number below 65536"))?);
                }
                "connect_timeout" => {
                    found.patience = Duration::from_secs(number(name, value, "seconds", 3600)?);
                }
                "answer_timeout" => {
                    found.limits.own = Duration::from_secs(number(name, value, "seconds", 3600)?);
                }
                // A row set counts its bytes in 32 bits.
                "largest_answer" => {
                    found.limits.answer = (number(name, value, "megabytes", 4000)? as usize) << 20;
                }
                "user" => {
                    return Err(AttachError::bare(
                        "user cannot stand after `?`: write it before the host, ://user@host",
                    ));
                }
                _ => {
                    found.settings.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(found)
    }

    /// How a connection is encrypted. Whoever names a root wants it looked at; and where others are on the way, nothing goes
    /// in the clear unless somebody says so.
    pub fn tls(&self, local: bool) -> Tls {
        let usual = match (&self.tls_root, local) {
            (Some(_), _) => TlsMode::VerifyCa,
            (None, true) => TlsMode::Prefer,
            (None, false) => TlsMode::Require,
        };
        Tls { mode: self.tls_mode.unwrap_or(usual), root: self.tls_root.clone() }
    }
}

fn number(name: &str, value: &str, of: &str, most: u64) -> Result<u64, AttachError> {
    value
        .parse()
        .ok()
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| AttachError::bare(format!("{name} must be a number of {of}, 1 to {most}")))
}

/// Both families' words.
fn read_mode(text: &str) -> Result<TlsMode, AttachError> {
    match text.to_ascii_lowercase().replace('_', "-").as_str() {
        "disable" | "disabled" => Ok(TlsMode::Disable),
        "allow" | "prefer" | "preferred" => Ok(TlsMode::Prefer),
        "require" | "required" => Ok(TlsMode::Require),
        "verify-ca" => Ok(TlsMode::VerifyCa),
        "verify-full" | "verify-identity" => Ok(TlsMode::VerifyFull),
        _ => Err(AttachError::bare(
            "sslmode must be one of disable, prefer, require, verify-ca and verify-full",
        )),
    }
}

/// The statement that sets one of the settings in a session.
pub fn set_statement(product: Product, name: &str, value: &str) -> Result<String, AttachError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(AttachError::bare(format!("`{name}` is not the name of a setting")));
    }
    let number = value.parse::<i64>().is_ok();
    let value = if number { value.to_string() } else { text_literal(product, value) };
    Ok(match dialect::of(product).family {
        SqlFamily::Postgres => format!("SET {name} = {value}"),
        SqlFamily::Mysql | SqlFamily::Sqlite => format!("SET SESSION {name} = {value}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<AttachOptions, AttachError> {
        AttachOptions::read(
            &pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        )
    }

    #[test]
    fn options_and_settings_are_told_apart() {
        let found = read(&[("sslmode", "require"), ("sql_mode", "ANSI"), ("connect_timeout", "2")]).unwrap();
        assert_eq!(found.tls_mode, Some(TlsMode::Require));
        assert_eq!(found.patience, Duration::from_secs(2));
        assert_eq!(found.settings, [("sql_mode".to_string(), "ANSI".to_string())].into());
        let limits = read(&[("answer_timeout", "3"), ("largest_answer", "16")]).unwrap().limits;
        assert_eq!(limits, Limits { answer: 16 << 20, own: Duration::from_secs(3) });
        for wrong in [
            ("sslmode", "maybe"),
            ("connect_timeout", "0"),
            ("answer_timeout", "soon"),
            ("largest_answer", "4096"),
            ("socket", "here"),
            ("user", "x"),
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn nothing_goes_in_the_clear_to_another_machine_unless_somebody_says_so() {
        let mode = |pairs: &[(&str, &str)], local| read(pairs).unwrap().tls(local).mode;
        assert_eq!(mode(&[], true), TlsMode::Prefer);
        assert_eq!(mode(&[], false), TlsMode::Require);
        for local in [true, false] {
            assert_eq!(mode(&[("ssl_mode", "VERIFY_IDENTITY")], local), TlsMode::VerifyFull);
            assert_eq!(mode(&[("ssl_ca", "/ca.pem")], local), TlsMode::VerifyCa);
            assert_eq!(mode(&[("sslmode", "prefer")], local), TlsMode::Prefer);
            assert_eq!(mode(&[("sslmode", "disable")], local), TlsMode::Disable);
        }
    }

    #[test]
    fn values_stay_values() {
        let set = |product, value| set_statement(product, "sql_mode", value).unwrap();
        assert_eq!(set(Product::Mysql, "1; DROP x"), "SET SESSION sql_mode = '1; DROP x'");
        assert_eq!(set(Product::Mysql, "a\\'b"), "SET SESSION sql_mode = 'a\\\\''b'");
        assert_eq!(set(Product::Postgres, "it's"), "SET sql_mode = 'it''s'");
        assert_eq!(set(Product::Mysql, "5"), "SET SESSION sql_mode = 5");
        assert!(set_statement(Product::Mysql, "a = 1, b", "1").is_err());
    }
}
