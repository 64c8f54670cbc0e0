//! Somebody else's server: tables, users and settings of its own, a TCP port, and a look at all of it.

use std::{path::Path, sync::MutexGuard};

use dbms::{
    mysql::MysqlSession,
    net::{Address, Login, SILENCE},
    servers::{Instance, StartOptions},
};
use execute::ask::{demand, demand_rows};

use crate::{
    common::{EXE, installed, target, whole},
    tools::servers,
};

/// The password of the user `guest`: found nowhere else on this machine.
pub const PASSWORD: &str = "Qx7-unseen-pass-42";

/// A server with things on it.
pub struct Host {

    pub instance: Instance,
    pub admin: MysqlSession,
    _alone: MutexGuard<'static, ()>,
}

/// What is there before we come. Some of it looks like ours, and is not.
const THINGS: [&str; 14] = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT, c VARCHAR(20), KEY (b))",
    "INSERT INTO shop.t VALUES (1, 10, 'one'), (2, 20, NULL), (3, 30, 'drei')",
    "CREATE TABLE shop.child (a INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES shop.t (a))",
    "INSERT INTO shop.child VALUES (1, 1)",
    "CREATE VIEW shop.v AS SELECT a FROM shop.t",
    "CREATE TRIGGER shop.g BEFORE INSERT ON shop.t FOR EACH ROW SET NEW.b = 0",
    "CREATE PROCEDURE shop.p() SELECT 1",
    "CREATE DATABASE isopod_notes",
    "CREATE TABLE isopod_notes.t (a INT)",
    "INSERT INTO isopod_notes.t VALUES (7)",
    "CREATE DATABASE isopod_0123456789abcdef01234567",
    "CREATE TABLE isopod_0123456789abcdef01234567.t (a INT)",
    "INSERT INTO isopod_0123456789abcdef01234567.t VALUES (8)",
];

impl Host {
    /// Starts one, with the rights that the tool asks for; none if it cannot be had here.
    pub fn start(name: &'static str) -> Option<Host> {
        let mut host = Host::start_without_rights(name)?;
        host.run("GRANT ALL PRIVILEGES ON `isopod\\_%`.* TO 'guest'@'127.0.0.1'");
        match name.starts_with("maria") {
            true => host.run("GRANT PROCESS ON *.* TO 'guest'@'127.0.0.1'"),
            false => host.run("GRANT SELECT ON performance_schema.* TO 'guest'@'127.0.0.1'"),
        }
        Some(host)
    }

    /// Starts one where `guest` may log in and do nothing.
    pub fn start_without_rights(name: &'static str) -> Option<Host> {
        let alone = servers(&[name])?;
        let options = StartOptions { tcp: true, ..StartOptions::default() };
        let instance = installed(name)?
            .start(Path::new(EXE), &target(name), &options)
            .unwrap_or_else(|error| panic!("{}", whole(&error)));
        let address = Address::Unix(instance.socket().to_path_buf());
        let admin = MysqlSession::connect(&address, &Login::default(), None).unwrap();
        let mut host = Host { instance, admin, _alone: alone };
        THINGS.iter().for_each(|sql| host.run(sql));
        host.run(&format!("CREATE USER 'guest'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'"));
        Some(host)
    }

    /// A statement of the server's owner.
    pub fn run(&mut self, sql: &str) {
        demand(&mut self.admin, sql, SILENCE).unwrap();
    }

    /// What a query gives.
    pub fn ask(&mut self, sql: &str) -> Vec<String> {
        demand_rows(&mut self.admin, sql, SILENCE).unwrap_or_else(|error| panic!("{error}")).texts()
    }

    pub fn port(&self) -> u16 {
        self.instance.port().unwrap()
    }

    /// Its address for `guest`, with the password.
    pub fn url(&self) -> String {
        format!("mysql://guest:{PASSWORD}@127.0.0.1:{}", self.port())
    }

    /// Its address for `guest`, without the password.
    pub fn bare_url(&self) -> String {
        format!("mysql://guest@127.0.0.1:{}", self.port())
    }

    /// The schemas that look like ours.
    pub fn ours(&mut self) -> Vec<String> {
        let all = self.ask("SELECT schema_name FROM information_schema.schemata ORDER BY 1");
        let names = all.iter().map(|row| row.trim_matches(['(', ')', '\'']).to_string());
        names.filter(|name| dbms::attach::schema::is_ours(name)).collect()
    }

    /// Everything that is not ours: schemas, definitions, rows, checksums, accounts, rights and settings.
    pub fn dump(&mut self) -> Vec<String> {
        let not_ours = "(schema_name NOT REGEXP '^isopod_[0-9a-f]{24}$' OR schema_name = 'isopod_0123456789abcdef01234567')";
        let mut all = Vec::new();
        let mut look = |sql: &str| {
            all.push(sql.to_string());
            all.extend(self.ask(sql));
        };
        look(&format!("SELECT schema_name FROM information_schema.schemata WHERE {not_ours} ORDER BY 1"));
        look("SELECT table_schema, table_name, table_type, engine, auto_increment, create_time, update_time, create_options \
              FROM information_schema.tables WHERE table_schema IN ('shop', 'isopod_notes') ORDER BY 1, 2");
        for table in ["shop.t", "shop.child", "isopod_notes.t", "isopod_0123456789abcdef01234567.t"] {
            look(&format!("SHOW CREATE TABLE {table}"));
            look(&format!("SELECT * FROM {table}"));
            look(&format!("CHECKSUM TABLE {table} EXTENDED"));
        }
        look("SHOW CREATE VIEW shop.v");
        look("SHOW CREATE TRIGGER shop.g");
        look("SHOW CREATE PROCEDURE shop.p");
        look("SELECT user, host FROM mysql.user ORDER BY 1, 2");
        look("SHOW GRANTS FOR 'guest'@'127.0.0.1'");
        look("SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE '%gtid%' AND Variable_name NOT LIKE 'timestamp' \
              AND Variable_name NOT LIKE '%log_pos%'");
        all
    }
}
