//! A running PostgreSQL server: what it says of itself, its sessions, its monitor, and one schema of ours.

use std::{path::PathBuf, time::Duration};

use execute::{
    ConnectError, LockMonitor, Server, Session, SessionId,
    ask::{demand, records},
};
use model::{Product, ServerInfo, Version, target::Settings};

use super::{
    locks::{
        proc::{ProcMonitor, SETTINGS},
        sql::SqlMonitor,
        wait_notices::WaitNotices,
    },
    session::{PgConnectOptions, PgSession},
};
use crate::{
    locks::Settle,
    net::{Refusal, SILENCE},
    options::ServerOptions,
};

/// The server refuses because rights are missing.
const DENIED: &str = "42501";

/// The settings that change what a server owes. Those that a version does not have are left out.
const SETTINGS_OF_THE_SERVER: &[&str] = &[
    "bytea_output",
    "deadlock_timeout",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "lock_timeout",
    "max_locks_per_transaction",
    "max_pred_locks_per_page",
    "max_pred_locks_per_relation",
    "max_pred_locks_per_transaction",
    "max_prepared_transactions",
    "server_encoding",
    "standard_conforming_strings",
    "statement_timeout",
    "synchronous_commit",
    "transaction_timeout",
    "wal_level",
];

#[derive(Debug)]
pub struct PgServer {
    schema: String,
    info: ServerInfo,
    /// How the control connection and the monitors come in: with the server's own settings.
    plain: PgConnectOptions,
    /// How sessions come in.
    connect: PgConnectOptions,
    /// How long after the beginning of a wait the server's own settings have it look for a deadlock.
    deadlock_timeout: Duration,
    notices: WaitNotices,
    /// Takes no part in any case.
    control: PgSession,
    /// The last to be dropped: a server of ours ends with it.
    options: ServerOptions,
}

impl PgServer {
    /// Connects, asks what it is and creates our schema in this database.
    pub fn open(options: ServerOptions, database: &str) -> Result<PgServer, ConnectError> {
        let schema = options.schema()?;
        if (options.settle, options.pid) == (Settle::Proc, None) {
            return Err(options.address.refused("to watch its processes they must run here"));
        }
        let plain = PgConnectOptions {
            address: options.address.clone(),
            login: options.login.clone(),
            database: database.to_string(),
            settings: Vec::new(),
        };
        let notices = WaitNotices::default();
        let control = PgSession::connect(&plain, &notices)?;
        let connect = enter(&plain, &schema, options.settle)?;
        // What is in force in the sessions of a case counts, not what the server has by itself.
        let (mut info, deadlock_timeout) = describe(&mut PgSession::connect(&connect, &notices)?)?;
        info.flags.clone_from(&options.flags);
        let mut server =
            PgServer { options, schema, info, plain, connect, deadlock_timeout, notices, control };
        server.drop_schema()?;
        demand(&mut server.control, &format!("CREATE SCHEMA {}", server.schema), SILENCE)?;
        Ok(server)
    }

    /// Drops our schema, and nothing else.
    pub fn drop_schema(&mut self) -> Result<(), ConnectError> {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        self.reconnecting(|control| demand(control, &sql, SILENCE)).map(|_| ())
    }

    /// Uses the control connection, opened anew if it was lost.
    fn reconnecting<T>(
        &mut self,
        mut work: impl FnMut(&mut PgSession) -> Result<T, ConnectError>,
    ) -> Result<T, ConnectError> {
        match work(&mut self.control) {
            Err(ConnectError::Gone) => {
                self.control =
                    PgSession::connect(&self.plain, &self.notices).map_err(|_| ConnectError::Gone)?;
                work(&mut self.control)
            }
            result => result,
        }
    }
}

/// How sessions come in. What `proc` needs it must have; `sql` hears of waits if it may, and takes at least the short
/// `deadlock_timeout` if it may, for then it need not wait so long for a deadlock to end.
fn enter(plain: &PgConnectOptions, schema: &str, settle: Settle) -> Result<PgConnectOptions, ConnectError> {
    let with = |settings: &[(&'static str, &str)]| {
        // The name tells whoever looks at the server's sessions which schema they work in.
        // Strings are read as the guard reads them, also where the server or the role says otherwise.
        let own =
            [("search_path", schema), ("application_name", schema), ("standard_conforming_strings", "on")];
        let all = own.into_iter().chain(settings.iter().copied());
        PgConnectOptions {
            settings: all.map(|(name, value)| (name, value.to_string())).collect(),
            ..plain.clone()
        }
    };
    let wishes = match settle {
        Settle::Proc => vec![with(&SETTINGS)],
        Settle::Sql => vec![with(&SETTINGS), with(&[("deadlock_timeout", "1ms")]), with(&[])],
    };
    for wish in wishes {
        match PgSession::log_in(&wish, &WaitNotices::default()) {
            Ok(_) => return Ok(wish),
            Err(Refusal::Server(error)) if error.sqlstate == DENIED => {}
            Err(refusal) => return Err(plain.address.refused(refusal)),
        }
    }
    Err(plain.address.refused(format!(
        "to watch its processes the user {} must have the right to set deadlock_timeout and log_lock_waits \
         (a superuser has); without it the server must be asked in SQL",
        plain.login.user
    )))
}

impl Server for PgServer {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(PgSession::connect(&self.connect, &self.notices)?))
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        let (timeout, clock) = (self.deadlock_timeout, execute::os::clock);
        Ok(match self.options.settle {
            Settle::Proc => {
                Box::new(ProcMonitor::new(&self.connect, &self.plain, &self.notices, timeout, clock)?)
            }
            Settle::Sql => {
                let heard = SETTINGS
                    .iter()
                    .all(|(name, _)| self.connect.settings.iter().any(|(set, _)| set == name))
                    .then_some(&self.connect);
                Box::new(SqlMonitor::new(&self.plain, heard, &self.notices, timeout, clock)?)
            }
        })
    }

    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError> {
        // They say false of a session that is gone already, and that is as good.
        let how = if hard { "pg_terminate_backend" } else { "pg_cancel_backend" };
        let sql = format!("SELECT {how}({session})");
        self.reconnecting(|control| demand(control, &sql, SILENCE)).map(|_| ())
    }

    fn alive(&mut self) -> bool {
        match &mut self.options.alive {
            Some(alive) => alive(),
            None => PgSession::connect(&self.plain, &self.notices).is_ok(),
        }
    }

    fn pid(&self) -> Option<u32> {
        self.options.pid
    }

    fn logs(&self) -> Vec<PathBuf> {
        self.options.logs.clone()
    }
}

/// Asks the server what it is, and how long it waits before it looks for a deadlock.
pub fn describe(control: &mut PgSession) -> Result<(ServerInfo, Duration), ConnectError> {
    let names: Vec<String> = SETTINGS_OF_THE_SERVER.iter().map(|name| format!("'{name}'")).collect();
    let sql = format!(
        "SELECT name, current_setting(name), setting FROM pg_settings WHERE name IN ({}, 'server_version', \
         'server_version_num') UNION ALL SELECT 'lc_collate', datcollate, '' FROM pg_database \
         WHERE datname = current_database()",
        names.join(", ")
    );
    let found = records(control, &sql, SILENCE)?;
    let raw = |wanted: &str| found.iter().find(|[name, _, _]| name == wanted).map_or("", |[_, _, raw]| raw);
    // The bare setting is in milliseconds; what people see has a unit.
    let deadlock_timeout = Duration::from_millis(raw("deadlock_timeout").parse().unwrap_or(1000));
    let version = raw("server_version_num");
    let version = version.parse().map(number).map_err(|_| ConnectError::Own {
        statement: sql.clone(),
        reason: format!("`{version}` is no version that Isopod can read"),
    })?;
    let mut settings: Settings = found.into_iter().map(|[name, shown, _]| (name, shown)).collect();
    settings.remove("server_version_num");
    let version_text = settings.remove("server_version").unwrap_or_default();
    let info = ServerInfo { product: Product::Postgres, version, version_text, settings, flags: Vec::new() };
    Ok((info, deadlock_timeout))
}

/// 180004 is 18.4, and 90624 was 9.6.24.
fn number(version: u32) -> Version {
    match version {
        100_000.. => Version(vec![version / 10_000, version % 10_000]),
        _ => Version(vec![version / 10_000, version / 100 % 100, version % 100]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_servers_write_them() {
        assert_eq!(number(180_004), Version(vec![18, 4]));
        assert_eq!(number(130_023), Version(vec![13, 23]));
        assert_eq!(number(90_624), Version(vec![9, 6, 24]));
    }
}
