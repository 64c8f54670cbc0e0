//! What stands after `?` in the address of a server that is not ours: options of the connection, and settings that are
//! set in every session.

use std::{path::PathBuf, time::Duration};

use dialect::{SqlFamily, sql::text_literal};
use model::{Product, target::Settings};

use super::AttachError;
use crate::net::{Tls, TlsMode};

/// How long it may take to reach a server and to be let in, if the user says nothing: every failure within ten seconds.
const PATIENCE: Duration = Duration::from_secs(6);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachOptions {
    pub tls: Tls,
    /// A file whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// A Unix socket, or for PostgreSQL the folder that holds it.
    pub socket: Option<PathBuf>,
    /// The port, where it does not stand in the address: which of the sockets in a folder of PostgreSQL's.
    pub port: Option<u16>,
    /// How long it may take to be let in.
    pub patience: Duration,
    /// The rest: what is set in every session.
    pub settings: Settings,
}

impl AttachOptions {
    pub fn read(all: &Settings) -> Result<AttachOptions, AttachError> {
        let mut found = AttachOptions {
            tls: Tls::default(),
            password_file: None,
            socket: None,
            port: None,
            patience: PATIENCE,
            settings: Settings::new(),
        };
        let mut mode = None;
        for (name, value) in all {
            match name.as_str() {
                "sslmode" | "ssl_mode" => mode = Some(read_mode(value)?),
                "sslrootcert" | "ssl_ca" => found.tls.root = Some(value.into()),
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
                    let seconds = value.parse().ok().filter(|seconds| (1..=3600).contains(seconds));
                    let seconds = seconds.ok_or_else(|| {
                        AttachError::bare("connect_timeout must be a number of seconds, 1 to 3600")
                    })?;
                    found.patience = Duration::from_secs(seconds);
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
        // Whoever names a root wants it looked at.
        let by_root = if found.tls.root.is_some() { TlsMode::VerifyCa } else { TlsMode::Prefer };
        found.tls.mode = mode.unwrap_or(by_root);
        Ok(found)
    }
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
        assert_eq!(found.tls.mode, TlsMode::Require);
        assert_eq!(found.patience, Duration::from_secs(2));
        assert_eq!(found.settings, [("sql_mode".to_string(), "ANSI".to_string())].into());
        assert_eq!(read(&[("ssl_mode", "VERIFY_IDENTITY")]).unwrap().tls.mode, TlsMode::VerifyFull);
        assert_eq!(read(&[("ssl_ca", "/ca.pem")]).unwrap().tls.mode, TlsMode::VerifyCa);
        assert_eq!(read(&[]).unwrap().tls.mode, TlsMode::Prefer);
        for wrong in [("sslmode", "maybe"), ("connect_timeout", "0"), ("socket", "here"), ("user", "x")] {
            assert!(read(&[wrong]).is_err(), "{wrong:?}");
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
