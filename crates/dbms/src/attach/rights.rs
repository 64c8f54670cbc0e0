//! Which rights are missing on a MySQL or MariaDB server, found by trying, and the statements that grant them.

use execute::{
    ConnectError, RawReply,
    ask::{accept, ask},
};
use model::{Product, ServerInfo};

use super::AttachError;
use crate::{mysql::MysqlSession, net::SILENCE};

/// What a case does to a table of its own. In a schema of ours; the last one takes it away again.
const ON_TABLES: [&str; 9] = [
    "CREATE TABLE isopod_rights (a INT PRIMARY KEY, b INT)",
    "INSERT INTO isopod_rights VALUES (1, 1)",
    "SELECT * FROM isopod_rights FOR UPDATE",
    "UPDATE isopod_rights SET b = 2 WHERE a = 1",
    "CREATE INDEX b ON isopod_rights (b)",
    "ALTER TABLE isopod_rights ADD c INT",
    "DELETE FROM isopod_rights WHERE a = 1",
    "TRUNCATE TABLE isopod_rights",
    "DROP TABLE isopod_rights",
];

/// The codes that say "you may not": for a schema, a command on a table, a column, a right by name.
const DENIED: [u32; 4] = [1044, 1142, 1143, 1227];

/// What was tried and denied.
#[derive(Default)]
pub struct MissingRights {
    /// In the words of the server, each with what it was needed for.
    denied: Vec<String>,
    grants: Vec<String>,
}

impl MissingRights {
    /// Tries a statement; true if it went through.
    pub fn attempt(
        &mut self,
        session: &mut MysqlSession,
        sql: &str,
        why: &str,
        grant: &str,
    ) -> Result<bool, ConnectError> {
        let answer = ask(session, sql, SILENCE)?;
        match &answer.reply {
            RawReply::Error(error) if DENIED.contains(&error.code) => {
                self.denied.push(format!("{why}: {error}"));
                if !self.grants.iter().any(|there| there == grant) {
                    self.grants.push(grant.to_string());
                }
                Ok(false)
            }
            _ => accept(answer, sql).map(|_| true),
        }
    }

    /// What the statements of a case need in our schema, which is the session's default. The first that is denied is
    /// enough: one grant gives all.
    pub fn on_tables(&mut self, session: &mut MysqlSession, grant: &str) -> Result<(), ConnectError> {
        for sql in ON_TABLES {
            if !self.attempt(session, sql, "to work in a schema of its own", grant)? {
                break;
            }
        }
        Ok(())
    }

    /// What the monitor needs, which sees for whom a statement waits.
    pub fn on_locks(
        &mut self,
        session: &mut MysqlSession,
        info: &ServerInfo,
        account: &str,
    ) -> Result<(), ConnectError> {
        const WHY: &str = "to see which statements wait";
        let modern = info.product == Product::Mysql && info.version.since(&[8]);
        if modern {
            let grant = format!("GRANT SELECT ON performance_schema.* TO {account};");
            for table in ["data_lock_waits", "data_locks", "threads"] {
                let sql = format!("SELECT 1 FROM performance_schema.{table} LIMIT 1");
                self.attempt(session, &sql, WHY, &grant)?;
            }
        } else {
            let grant = format!("GRANT PROCESS ON *.* TO {account};");
            self.attempt(session, "SHOW ENGINE INNODB STATUS", WHY, &grant)?;
        }
        Ok(())
    }

    /// Says what is missing, if anything is.
    pub fn result(self, account: &str, name: &str) -> Result<(), AttachError> {
        if self.denied.is_empty() {
            return Ok(());
        }
        let run = self.grants.into_iter().map(|grant| format!("  {grant}"));
        let help =
            self.denied.into_iter().chain(["an administrator of the server can run:".to_string()]).chain(run);
        Err(AttachError::new(format!("{account} lacks rights on {name}"), help))
    }
}
