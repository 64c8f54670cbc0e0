//! A running server of this family: what it says of itself, its sessions, its monitor, and one schema of ours.

use std::path::PathBuf;

use execute::{
    ConnectError, LockMonitor, RawReply, Server, Session, SessionId,
    ask::{ask, demand, record, records},
};
use model::{Product, ServerInfo, Version, target::Settings};

use super::{
    locks::{proc::ProcMonitor, sql::SqlMonitor},
    session::MysqlSession,
};
use crate::{
    locks::Settle,
    net::SILENCE,
    options::{ServerOptions, scratch_name},
};

/// `KILL` of a session that is gone already.
const NO_SUCH_THREAD: u32 = 1094;

/// The settings that change what a server owes. Those that a version does not have are left out.
const SETTINGS: &[&str] = &[
    "autocommit",
    "binlog_format",
    "binlog_row_image",
    "collation_server",
    "innodb_autoinc_lock_mode",
    "innodb_deadlock_detect",
    "innodb_deadlock_detect",
    "innodb_lock_wait_timeout",
    "innodb_native_foreign_keys",
    "innodb_rollback_on_timeout",
    "innodb_snapshot_isolation",
    "log_bin",
    "lower_case_table_names",
    "sql_mode",
    "thread_handling",
    "transaction_isolation",
    "tx_isolation",
];

#[derive(Debug)]
pub struct MysqlServer {
    schema: String,
    info: ServerInfo,
    /// Takes no part in any case.
    control: MysqlSession,
    /// The scratch schemas that were made.
    scratch: Vec<String>,
    /// The last to be dropped: a server of ours ends with it.
    options: ServerOptions,
}

impl MysqlServer {
    /// Connects, asks what it is and creates our schema.
    pub fn open(options: ServerOptions) -> Result<MysqlServer, ConnectError> {
        let schema = options.schema()?;
        let mut control = MysqlSession::connect(&options.address, &options.login, None)?;
        let mut info = describe(&mut control)?;
        info.flags.clone_from(&options.flags);
        let own_threads =
            info.settings.get("thread_handling").is_none_or(|how| how == "one-thread-per-connection");
        match (options.settle, options.pid) {
            (Settle::Proc, None) => {
                return Err(options.address.refused("to read its threads its process must be known"));
            }
            (Settle::Proc, Some(_)) if !own_threads => {
                return Err(options
                    .address
                    .refused("its sessions share threads (thread_handling), so it must be asked in SQL"));
            }
            (Settle::Proc, Some(_)) | (Settle::Sql, _) => {}
        }
        let mut server = MysqlServer { options, schema, info, control, scratch: Vec::new() };
        server.drop_schema()?;
        demand(&mut server.control, &format!("CREATE DATABASE `{}`", server.schema), SILENCE)?;
        Ok(server)
    }

    /// Drops our schema and its scratch schemas, and nothing else.
    pub fn drop_schema(&mut self) -> Result<(), ConnectError> {
        for schema in std::mem::take(&mut self.scratch) {
            let sql = format!("DROP DATABASE IF EXISTS `{schema}`");
            self.reconnecting(|control| demand(control, &sql, SILENCE))?;
        }
        let sql = format!("DROP DATABASE IF EXISTS `{}`", self.schema);
        self.reconnecting(|control| demand(control, &sql, SILENCE)).map(|_| ())
    }

    /// Uses the control connection, opened anew if it was lost.
    fn reconnecting<T>(
        &mut self,
        mut work: impl FnMut(&mut MysqlSession) -> Result<T, ConnectError>,
    ) -> Result<T, ConnectError> {
        match work(&mut self.control) {
            Err(ConnectError::Gone) => {
                self.control = MysqlSession::connect(&self.options.address, &self.options.login, None)
                    .map_err(|_| ConnectError::Gone)?;
                work(&mut self.control)
            }
            result => result,
        }
    }
}

impl Server for MysqlServer {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        let session = MysqlSession::connect(&self.options.address, &self.options.login, Some(&self.schema))?;
        Ok(Box::new(session))
    }

    fn connect_scratch(&mut self, number: usize) -> Result<Box<dyn Session>, ConnectError> {
        let name = scratch_name(&self.schema, number);
        if !self.scratch.contains(&name) {
            for sql in [format!("DROP DATABASE IF EXISTS `{name}`"), format!("CREATE DATABASE `{name}`")] {
                self.reconnecting(|control| demand(control, &sql, SILENCE))?;
            }
            self.scratch.push(name.clone());
        }
        let session = MysqlSession::connect(&self.options.address, &self.options.login, Some(&name))?;
        Ok(Box::new(session))
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        let ServerOptions { address, login, settle, pid, .. } = &self.options;
        Ok(match (settle, pid) {
            (Settle::Proc, Some(pid)) => Box::new(ProcMonitor::new(address, login, &self.info, *pid)?),
            (Settle::Proc, None) | (Settle::Sql, _) => {
                Box::new(SqlMonitor::new(address, login, &self.info, execute::os::clock)?)
            }
        })
    }

    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError> {
        let sql = format!("KILL {} {session}", if hard { "CONNECTION" } else { "QUERY" });
        let answer = self.reconnecting(|control| ask(control, &sql, SILENCE))?;
        match answer.reply {
            RawReply::Error(error) if error.code != NO_SUCH_THREAD => {
                Err(ConnectError::Own { statement: sql, reason: error.message })
            }
            _ => Ok(()),
        }
    }

    fn alive(&mut self) -> bool {
        match &mut self.options.alive {
            Some(alive) => alive(),
            None => MysqlSession::connect(&self.options.address, &self.options.login, None).is_ok(),
        }
    }

    fn pid(&self) -> Option<u32> {
        self.options.pid
    }

    fn logs(&self) -> Vec<PathBuf> {
        self.options.logs.clone()
    }
}

/// Asks the server what it is. The version in the greeting is not used: MariaDB writes `5.5.5-` before it.
pub fn describe(control: &mut MysqlSession) -> Result<ServerInfo, ConnectError> {
    let sql = "SELECT VERSION(), @@version_comment";
    let [version, comment] = record(control, sql, SILENCE)?;
    let known = number(&version).ok_or_else(|| ConnectError::Own {
        statement: sql.to_string(),
        reason: format!("`{version}` is no version that Isopod can read"),
    })?;
    let names: Vec<String> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
    let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", "));
    let found = records(control, &sql, SILENCE)?.into_iter().map(|[name, value]| (name, value));
    Ok(ServerInfo {
        product: product(&version, &comment),
        version: known,
        version_text: format!("{version} {comment}").trim().to_string(),
        settings: settings(found),
        flags: Vec::new(),
    })
}

fn product(version: &str, comment: &str) -> Product {
    let maria = [version, comment].iter().any(|text| text.to_ascii_lowercase().contains("mariadb"));
    if maria { Product::Mariadb } else { Product::Mysql }
}

/// `10.11.19-MariaDB-0+deb12u1` is 10.11.19. None if it does not begin with a number.
fn number(version: &str) -> Option<Version> {
    let (digits, _) = version.split_once(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or((version, ""));
    let parts: Vec<u32> = digits.split('.').map_while(|part| part.parse().ok()).collect();
    (!parts.is_empty()).then_some(Version(parts))
}

/// Older versions call the default level `tx_isolation`.
fn settings(found: impl Iterator<Item = (String, String)>) -> Settings {
    let mut settings = Settings::new();
    for (name, value) in found {
        match name.to_ascii_lowercase().as_str() {
            "tx_isolation" => {
                settings.entry("transaction_isolation".to_string()).or_insert(value);
            }
            name => {
                settings.insert(name.to_string(), value);
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_servers_write_them() {
        assert_eq!(number("10.11.19-MariaDB-0+deb12u1"), Some(Version(vec![10, 11, 19])));
        assert_eq!(number("9.7.4-2"), Some(Version(vec![9, 7, 4])));
        assert_eq!(number("5.6.24"), Some(Version(vec![5, 6, 24])));
        for none in ["", "vitess", "99999999999.1", ".", "v8.0", "ü"] {
            assert_eq!(number(none), None, "{none}");
        }
        assert_eq!(product("10.11.19-MariaDB-0+deb12u1", "Debian 12"), Product::Mariadb);
        assert_eq!(product("9.7.4-2", "(Debian)"), Product::Mysql);
    }

    #[test]
    fn the_default_level_has_one_name() {
        let pair = |name: &str| (name.to_string(), "REPEATABLE-READ".to_string());
        let expected: Settings = [pair("transaction_isolation")].into();
        assert_eq!(settings([pair("tx_isolation")].into_iter()), expected);
        assert_eq!(settings([pair("transaction_isolation"), pair("tx_isolation")].into_iter()), expected);
    }
}
