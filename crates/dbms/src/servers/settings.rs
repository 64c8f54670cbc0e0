//! The flags that a server is started with.
//!
//! Whatever changes what a server does to transactions keeps the vendor's default of that version: the binary log,
//! sql_mode, collation, snapshot isolation, lock timeouts. Only three things are changed: durability (the data is thrown
//! away), memory (several instances at once) and statistics (they must not drift while a case is replayed). What
//! the user's target sets comes last and wins.

use std::path::Path;

use model::{Product, target::Settings};

use super::{
    cache::Manifest,
    error::{ErrorKind, Result, ServerError},
    os,
};

/// For InnoDB of either product.
const COMMON: &[&str] = &[
    // Durability.
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--sync-binlog=0",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-buffer-pool-load-at-startup=OFF",
    // Memory and time.
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-buffer-size=4M",
    "--key-buffer-size=1M",
    "--skip-name-resolve",
    "--thread-cache-size=256",
    // Statistics.
    "--innodb-stats-auto-recalc=OFF",
];

const MARIADB: &[&str] = &[
    "--innodb-flush-method=nosync",
    "--innodb-log-file-size=16M",
    "--aria-pagecache-buffer-size=8M",
    "--performance-schema=OFF",
];

const MYSQL: &[&str] = &[
    "--innodb-redo-log-capacity=32M",
    // With its own threads for writing the log, MySQL spins under real-time priority.
    "--innodb-log-writer-threads=OFF",
    // A session that sleeps while helpers count for it (COUNT(*)) looks as if it waited for a lock.
    "--innodb-parallel-read-threads=1",
    "--mysqlx=OFF",
    "--secure-file-priv=NULL",
    // The performance schema says who waits for whom and which thread serves which connection. Neither needs an
    // instrument, and without its histories and digests the server starts faster and takes half the memory.
    "--performance-schema=ON",
    "--performance-schema-instrument=%=OFF",
    "--performance-schema-accounts-size=0",
    "--performance-schema-digests-size=0",
    "--performance-schema-error-size=0",
    "--performance-schema-events-stages-history-long-size=0",
    "--performance-schema-events-stages-history-size=0",
    "--performance-schema-events-statements-history-long-size=0",
    "--performance-schema-events-statements-history-size=0",
    "--performance-schema-events-transactions-history-long-size=0",
    "--performance-schema-events-transactions-history-size=0",
    "--performance-schema-events-waits-history-long-size=0",
    "--performance-schema-events-waits-history-size=0",
    "--performance-schema-hosts-size=0",
    "--performance-schema-max-cond-instances=0",
    "--performance-schema-max-digest-length=0",
    "--performance-schema-max-file-instances=0",
    "--performance-schema-max-memory-classes=0",
    "--performance-schema-max-mutex-instances=0",
    "--performance-schema-max-rwlock-instances=0",
    "--performance-schema-max-sql-text-length=0",
    "--performance-schema-max-statement-stack=1",
    "--performance-schema-max-table-handles=0",
    "--performance-schema-max-table-instances=0",
    "--performance-schema-session-connect-attrs-size=0",
    "--performance-schema-users-size=0",
];

/// What Isopod itself decides for every instance.
const OURS: &[&str] = &[
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

/// The file names inside an instance's folder.
pub const SOCKET: &str = "sock";
/// The server's error log.
pub const ERROR_LOG: &str = "server.err";
/// The data folder.
pub const DATA: &str = "data";
/// For temporary files of the server.
pub const TMP: &str = "tmp";

/// How to start a program of this installation: through its own loader.
pub fn program(root: &Path, manifest: &Manifest) -> Vec<String> {
    let libraries: Vec<String> =
        manifest.libraries.iter().map(|library| root.join(library).display().to_string()).collect();
    let server = root.join(&manifest.server).display().to_string();
    match &manifest.loader {
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
    let share = root.join(&manifest.share);
    let mut flags = vec![
        "--no-defaults".to_string(),
        format!("--basedir={}", root.join(&manifest.basedir).display()),
        format!("--lc-messages-dir={}", share.display()),
        format!("--character-sets-dir={}", share.join("charsets").display()),
        format!("--datadir={}", data.display()),
    ];
    if let Some(plugins) = &manifest.plugins {
        flags.push(format!("--plugin-dir={}", root.join(plugins).display()));
    }
    if os::uid() == 0 {
        flags.push("--user=root".to_string());
    }
    flags
}

/// The flags of a throw-away server that do not depend on the instance.
pub fn throw_away(product: Product) -> Vec<String> {
    let own = match product {
        Product::Mysql => MYSQL,
        Product::Mariadb => MARIADB,
        // Embedded engines have no server.
        Product::Postgres | Product::Sqlite => &[],
    };
    COMMON.iter().chain(own).map(|flag| flag.to_string()).collect()
}

/// The flags that say where an instance listens and writes.
pub fn instance(folder: &Path, port: Option<u16>) -> Vec<String> {
    let mut flags = vec![
        format!("--socket={}", folder.join(SOCKET).display()),
        format!("--pid-file={}", folder.join("server.pid").display()),
        format!("--log-error={}", folder.join(ERROR_LOG).display()),
        format!("--tmpdir={}", folder.join(TMP).display()),
    ];
    match port {
        Some(port) => flags.extend([format!("--port={port}"), "--bind-address=127.0.0.1".to_string()]),
        None => flags.push("--skip-networking".to_string()),
    }
    flags
}

/// The target's settings as flags.
pub fn of_target(settings: &Settings) -> Result<Vec<String>> {
    settings.iter().map(|(name, value)| flag(name, value)).collect()
}

fn flag(name: &str, value: &str) -> Result<String> {
    // `skip_`, `loose_` and the like would turn a name into another one, or hide that it is unknown.
    let plain = ["skip_", "loose_", "disable_", "enable_", "maximum_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    if OURS.contains(&plain) || OURS.contains(&name) {
        return Err(ServerError::new(ErrorKind::Setting, format!("{name} is decided by Isopod"))
            .help("every instance has a folder and a socket of its own"));
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
            ("skip_networking", "0", None),
            ("loose_no_such", "1", None),
        ] {
            assert_eq!(flag(name, value).ok().as_deref(), expected, "{name}={value}");
        }
    }
}
