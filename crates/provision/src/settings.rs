//! How a server is started: its program, where things are, where it listens, and the settings of the target.
//!
//! The flags that make it a throw-away server are data of their own ([`super::flags`]). What the user's target sets comes
//! last and wins, except for what Isopod itself must decide.

use std::path::{Path, PathBuf};

use dialect::SqlFamily;
use model::{Product, Version, target::Settings};

use super::{
    cache::Manifest,
    debug_build,
    error::{ErrorKind, Result, ServerError},
    os,
    spec::ReadySign,
    supervisor, template,
};

/// What Isopod itself decides for every instance of the MySQL family.
const MYSQL_OURS: &[&str] = &[
    "basedir",
    "bind_address",
    "character_sets_dir",
    "datadir",
    "defaults_file",
    "init_file",
    "lc_messages_dir",
    "log_error",
    "mysqlx",
    "no_defaults",
    "pid_file",
    "plugin_dir",
    "port",
    "skip_networking",
    "socket",
    "tmpdir",
    "user",
];

/// And of PostgreSQL.
const POSTGRES_OURS: &[&str] = &[
    "config_file",
    "data_directory",
    "dynamic_shared_memory_type",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "log_destination",
    "logging_collector",
    "port",
    "restart_after_crash",
    "shared_memory_type",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];

/// This user owns nothing, and is there on every machine.
const NOBODY: u32 = 65534;

/// Numbers of users that no account has by default.
const NOBODYS: std::ops::Range<u32> = 61_184..65_520;

/// The port that names PostgreSQL's socket when it listens on no other.
const POSTGRES_PORT: u16 = 5432;

pub const ERROR_LOG: &str = "server.err";
pub const DATA: &str = "data";
/// For temporary files of the server; PostgreSQL has its socket there.
pub const TMP: &str = "tmp";

/// The user that a server runs as, if not as we do: no server runs as root. Each has a number of its own that no account has, so
/// that nobody else is its owner; `seed` chooses it.
pub fn user(product: Product, seed: u64) -> Option<u32> {
    let nobody = maker(product)?;
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let taken = |user: u32| accounts.lines().any(|line| line.split(':').nth(2) == Some(&user.to_string()));
    let many = u64::from(NOBODYS.end - NOBODYS.start);
    let nth = |at: u64| NOBODYS.start + ((seed + at) % many) as u32;
    let free = (0..many).map(nth).find(|user| os::exists(*user) && !taken(*user));
    Some(free.unwrap_or(nobody))
}

/// The user that makes a server's first data folder. PostgreSQL's program for that wants one that has an account.
pub fn maker(product: Product) -> Option<u32> {
    // In a container that knows root alone there is nobody else; PostgreSQL says so itself.
    let alone = !os::exists(NOBODY) && dialect::of(product).family != SqlFamily::Postgres;
    (os::uid() == 0 && !alone).then_some(NOBODY)
}

/// What is written before a server starts that listens on TCP, and said to it then, so that nobody comes in without this password.
pub fn closed(product: Product, version: &Version, folder: &Path, password: &str) -> Closed {
    let data = folder.join(DATA);
    match dialect::of(product).family {
        SqlFamily::Postgres => Closed {
            file: (
                data.join("pg_hba.conf"),
                "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n".into(),
            ),
            flags: Vec::new(),
            first: Some(format!(
                "SET password_encryption = 'scram-sha-256'; ALTER ROLE {} PASSWORD '{password}'",
                superuser(product)
            )),
        },
        SqlFamily::Mysql | SqlFamily::Sqlite => {
            let account = format!("{}@'127.0.0.1'", superuser(product));
            let sql = match template::has_alter_user(product, version) {
                true => format!("ALTER USER {account} IDENTIFIED BY '{password}';\n"),
                false => format!("SET PASSWORD FOR {account} = PASSWORD('{password}');\n"),
            };
            let file = folder.join(TMP).join("init.sql");
            Closed { flags: vec![format!("--init-file={}", file.display())], file: (file, sql), first: None }
        }
    }
}

/// How a server is closed to whoever has no password.
pub struct Closed {
    /// A file of the instance, and what it holds.
    pub file: (PathBuf, String),
    pub flags: Vec<String>,
    /// What is said to the server when it is up.
    pub first: Option<String>,
}

/// The file that takes what the server prints: for PostgreSQL that is its error log.
pub fn output(product: Product) -> &'static str {
    match dialect::of(product).family {
        SqlFamily::Postgres => ERROR_LOG,
        SqlFamily::Mysql | SqlFamily::Sqlite => supervisor::OUTPUT,
    }
}

/// The account of the server that may do everything. By the Unix socket it needs no password.
pub fn superuser(product: Product) -> &'static str {
    match dialect::of(product).family {
        SqlFamily::Postgres => "postgres",
        SqlFamily::Mysql | SqlFamily::Sqlite => "root",
    }
}

/// How it is known that a server takes connections.
pub fn sign(product: Product) -> ReadySign {
    match dialect::of(product).family {
        SqlFamily::Postgres => ReadySign::Login,
        SqlFamily::Mysql | SqlFamily::Sqlite => ReadySign::Greeting,
    }
}

/// The socket in an instance's folder. PostgreSQL names it after its port.
pub fn socket(product: Product, folder: &Path, port: Option<u16>) -> PathBuf {
    match dialect::of(product).family {
        SqlFamily::Postgres => folder.join(TMP).join(format!(".s.PGSQL.{}", port.unwrap_or(POSTGRES_PORT))),
        SqlFamily::Mysql | SqlFamily::Sqlite => folder.join(TMP).join("sock"),
    }
}

/// How to start the server of this installation: through its own loader, if it has one.
pub fn program(root: &Path, manifest: &Manifest) -> Vec<String> {
    let libraries: Vec<String> =
        manifest.layout.libraries.iter().map(|library| root.join(library).display().to_string()).collect();
    let server = root.join(&manifest.layout.server).display().to_string();
    match &manifest.layout.loader {
        Some(loader) => vec![
            root.join(loader).display().to_string(),
            "--library-path".to_string(),
            libraries.join(":"),
            server,
        ],
        None => vec![server],
    }
}

/// The flags that say where things are.
pub fn places(root: &Path, manifest: &Manifest, data: &Path) -> Vec<String> {
    match dialect::of(manifest.product).family {
        // It finds the rest by itself, from where its program is.
        SqlFamily::Postgres => vec![format!("-D{}", data.display())],
        SqlFamily::Mysql | SqlFamily::Sqlite => {
            let share = root.join(&manifest.layout.share);
            let mut flags = vec![
                "--no-defaults".to_string(),
                format!("--basedir={}", root.join(&manifest.layout.basedir).display()),
                format!("--lc-messages-dir={}", share.display()),
                format!("--character-sets-dir={}", share.join("charsets").display()),
                format!("--datadir={}", data.display()),
            ];
            if let Some(plugins) = &manifest.layout.plugins {
                flags.push(format!("--plugin-dir={}", root.join(plugins).display()));
            }
            if os::uid() == 0 && maker(manifest.product).is_none() {
                flags.push("--user=root".to_string());
            }
            flags
        }
    }
}

/// The flags that say where an instance listens and writes.
pub fn instance(product: Product, folder: &Path, port: Option<u16>) -> Vec<String> {
    match dialect::of(product).family {
        SqlFamily::Postgres => vec![
            format!("--unix_socket_directories={}", folder.join(TMP).display()),
            "--unix_socket_permissions=0700".to_string(),
            format!("--port={}", port.unwrap_or(POSTGRES_PORT)),
            format!("--listen_addresses={}", if port.is_some() { "127.0.0.1" } else { "" }),
        ],
        SqlFamily::Mysql | SqlFamily::Sqlite => {
            let mut flags = vec![
                format!("--socket={}", socket(product, folder, port).display()),
                format!("--pid-file={}", folder.join(TMP).join("server.pid").display()),
                format!("--log-error={}", folder.join(ERROR_LOG).display()),
                format!("--tmpdir={}", folder.join(TMP).display()),
                // Statements reach no files but its own.
                format!("--secure-file-priv={}", folder.join(TMP).display()),
            ];
            match port {
                Some(port) => {
                    flags.extend([format!("--port={port}"), "--bind-address=127.0.0.1".to_string()])
                }
                None => flags.push("--skip-networking".to_string()),
            }
            flags
        }
    }
}

/// The target's settings as flags.
pub fn of_target(product: Product, settings: &Settings) -> Result<Vec<String>> {
    let flag = match dialect::of(product).family {
        SqlFamily::Postgres => postgres_flag,
        SqlFamily::Mysql | SqlFamily::Sqlite => mysql_flag,
    };
    let theirs = settings.iter().filter(|(name, _)| *name != debug_build::SETTING);
    theirs.map(|(name, value)| flag(name, value)).collect()
}

fn ours(name: &str) -> ServerError {
    ServerError::new(ErrorKind::Setting, format!("{name} is decided by Isopod"))
        .help("every instance has a folder and a socket of its own")
}

fn postgres_flag(name: &str, value: &str) -> Result<String> {
    if POSTGRES_OURS.contains(&name) {
        return Err(ours(name));
    }
    Ok(format!("--{name}={value}"))
}

fn mysql_flag(name: &str, value: &str) -> Result<String> {
    // `skip_`, `loose_` and the like would turn a name into another one, or hide that it is unknown.
    let plain = ["skip_", "loose_", "disable_", "enable_", "maximum_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    // The server takes the beginning of a name for the whole: `bind_addr` is `bind_address`.
    let short_for =
        |name: &str| MYSQL_OURS.iter().any(|ours| ours.starts_with(name)) && name != "lc_messages";
    if short_for(plain) || short_for(name) {
        return Err(ours(name));
    }
    if plain != name && !name.starts_with("skip_") {
        return Err(ServerError::new(ErrorKind::Setting, format!("{name} is not a setting"))
            .help(format!("write the plain name, {plain}")));
    }
    if name == "log_bin" {
        // Not an ordinary switch: `--log-bin=OFF` would write a log whose files are called OFF.
        return Ok(match value.to_ascii_uppercase().as_str() {
            "ON" | "1" | "TRUE" => "--log-bin=binlog".to_string(),
            "OFF" | "0" | "FALSE" => "--skip-log-bin".to_string(),
            _ => {
                return Err(ServerError::new(
                    ErrorKind::Setting,
                    format!("log_bin={value} is neither ON nor OFF"),
                ));
            }
        });
    }
    Ok(format!("--{}={value}", name.replace('_', "-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_flags() {
        for (name, value, expected) in [
            ("log_bin", "off", Some("--skip-log-bin")),
            ("log_bin", "ON", Some("--log-bin=binlog")),
            ("log_bin", "perhaps", None),
            ("innodb_snapshot_isolation", "ON", Some("--innodb-snapshot-isolation=ON")),
            ("datadir", "/", None),
            ("bind_addr", "0.0.0.0", None),
            ("sock", "/tmp/x", None),
            ("lc_messages", "en_US", Some("--lc-messages=en_US")),
            ("skip_networking", "0", None),
            ("skip_network", "0", None),
            ("loose_no_such", "1", None),
        ] {
            assert_eq!(mysql_flag(name, value).ok().as_deref(), expected, "{name}={value}");
        }
    }

    #[test]
    fn settings_of_postgres_become_flags() {
        for (name, value, expected) in [
            (
                "default_transaction_isolation",
                "serializable",
                Some("--default_transaction_isolation=serializable"),
            ),
            ("port", "1", None),
            ("data_directory", "/", None),
        ] {
            assert_eq!(postgres_flag(name, value).ok().as_deref(), expected, "{name}={value}");
        }
    }
}
