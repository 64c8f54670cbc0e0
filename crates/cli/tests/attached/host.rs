//! Somebody else's server: tables, users and settings of its own, a TCP port, and a look at all of it.

use std::{fs, path::Path, sync::MutexGuard};

use dbms::{
    mysql::MysqlSession,
    net::{Address, Login, SILENCE},
    postgres::{PgSession, locks::wait_notices::WaitNotices, session::PgConnectOptions},
};
use execute::{
    Session,
    ask::{demand, demand_rows},
};
use provision::{Instance, StartOptions};

use crate::{
    common::{EXE, installed, target, whole},
    tools::servers,
};

/// The servers on which everything is tried.
pub const ALL: [&str; 3] = ["mariadb@10.11", "mysql@9.7", "postgres@18"];

/// The password of the user `guest`: found nowhere else on this machine.
pub const PASSWORD: &str = "Qx7-unseen-pass-42";

/// A server with things on it.
pub struct Host {
    pub name: &'static str,
    pub instance: Instance,
    pub admin: Box<dyn Session>,
    _alone: MutexGuard<'static, ()>,
}

/// What is there before we come. Some of it looks like ours, and is not.
const THINGS: [&str; 10] = [
    "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT, c VARCHAR(20))",
    "CREATE INDEX i ON shop.t (b)",
    "INSERT INTO shop.t VALUES (1, 10, 'one'), (2, 20, NULL), (3, 30, 'drei')",
    "CREATE TABLE shop.child (a INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES shop.t (a))",
    "INSERT INTO shop.child VALUES (1, 1)",
    "CREATE VIEW shop.v AS SELECT a FROM shop.t",
    "CREATE TABLE isopod_notes.t (a INT)",
    "INSERT INTO isopod_notes.t VALUES (7)",
    "CREATE TABLE isopod_0123456789abcdef01234567.t (a INT)",
    "INSERT INTO isopod_0123456789abcdef01234567.t VALUES (8)",
];

const TABLES: [&str; 4] = ["shop.t", "shop.child", "isopod_notes.t", "isopod_0123456789abcdef01234567.t"];

impl Host {
    /// Starts one, with the rights that the tool asks for; none if it cannot be had here.
    pub fn start(name: &'static str) -> Option<Host> {
        let mut host = Host::start_without_rights(name)?;
        for grant in host.grants() {
            host.run(grant);
        }
        Some(host)
    }

    /// The statements that give `guest` the rights that the tool asks for.
    pub fn grants(&self) -> &'static [&'static str] {
        const SCHEMAS: &str = "GRANT ALL PRIVILEGES ON `isopod\\_%`.* TO 'guest'@'127.0.0.1'";
        match self.name.split('@').next() {
            Some("mariadb") => &[SCHEMAS, "GRANT PROCESS ON *.* TO 'guest'@'127.0.0.1'"],
            Some("mysql") => &[SCHEMAS, "GRANT SELECT ON performance_schema.* TO 'guest'@'127.0.0.1'"],
            _ => &["GRANT CREATE ON DATABASE postgres TO guest"],
        }
    }

    /// Starts one where `guest` may log in and do nothing.
    pub fn start_without_rights(name: &'static str) -> Option<Host> {
        let alone = servers(&[name])?;
        let options = StartOptions { tcp: true, ..StartOptions::default() };
        let instance = installed(name)?
            .start(Path::new(EXE), &target(name), &options)
            .unwrap_or_else(|error| panic!("{}", whole(&error)));
        let address = Address::Unix(instance.socket().to_path_buf());
        let login = Login { user: instance.superuser().to_string(), ..Login::default() };
        let admin: Box<dyn Session> = if name.starts_with("postgres") {
            let connect =
                PgConnectOptions { address, login, database: "postgres".into(), settings: Vec::new() };
            Box::new(PgSession::connect(&connect, &WaitNotices::default()).unwrap())
        } else {
            Box::new(MysqlSession::connect(&address, &login, None).unwrap())
        };
        let mut host = Host { name, instance, admin, _alone: alone };
        let kind = if host.postgres() { "SCHEMA" } else { "DATABASE" };
        for schema in ["shop", "isopod_notes", "isopod_0123456789abcdef01234567"] {
            host.run(&format!("CREATE {kind} {schema}"));
        }
        THINGS.iter().for_each(|sql| host.run(sql));
        if host.postgres() {
            host.run("CREATE TABLE public.t (a INT)");
            host.run("INSERT INTO public.t VALUES (9)");
            host.run(&format!("CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'"));
            host.let_in("host all all 127.0.0.1/32 scram-sha-256");
        } else {
            host.run("CREATE TRIGGER shop.g BEFORE INSERT ON shop.t FOR EACH ROW SET NEW.b = 0");
            host.run("CREATE PROCEDURE shop.p() SELECT 1");
            host.run(&format!("CREATE USER 'guest'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'"));
        }
        Some(host)
    }

    pub fn postgres(&self) -> bool {
        self.name.starts_with("postgres")
    }

    /// Lets in by this line of pg_hba.conf, and the administrator by the socket.
    pub fn let_in(&mut self, line: &str) {
        let file = self.ask("SHOW hba_file")[0].trim_matches(['(', ')', '\'']).to_string();
        fs::write(file, format!("local all all trust\n{line}\n")).unwrap();
        self.ask("SELECT pg_reload_conf()");
        // The reload is a signal: a new session sees it, but not at once.
        std::thread::sleep(std::time::Duration::from_millis(300));
    }

    /// A statement of the server's owner.
    pub fn run(&mut self, sql: &str) {
        demand(self.admin.as_mut(), sql, SILENCE).unwrap();
    }

    /// What a query gives.
    pub fn ask(&mut self, sql: &str) -> Vec<String> {
        demand_rows(self.admin.as_mut(), sql, SILENCE).unwrap_or_else(|error| panic!("{error}")).texts()
    }

    pub fn port(&self) -> u16 {
        self.instance.port().unwrap()
    }

    /// Its address for this user, say `guest:password`.
    pub fn url_of(&self, who: &str) -> String {
        let (scheme, database) = if self.postgres() { ("postgres", "/postgres") } else { ("mysql", "") };
        format!("{scheme}://{who}@127.0.0.1:{}{database}", self.port())
    }

    /// Its address for `guest`, with the password.
    pub fn url(&self) -> String {
        self.url_of(&format!("guest:{PASSWORD}"))
    }

    /// Its address for `guest`, without the password.
    pub fn bare_url(&self) -> String {
        self.url_of("guest")
    }

    /// Statements that run at the moment.
    pub fn running(&mut self) -> Vec<String> {
        self.ask(match self.postgres() {
            true => "SELECT usename, application_name, query FROM pg_stat_activity WHERE state = 'active'",
            false => "SELECT user, db, info, state FROM information_schema.processlist",
        })
    }

    /// The schemas that are ours, scratch schemas included.
    pub fn ours(&mut self) -> Vec<String> {
        let all = self.ask("SELECT schema_name FROM information_schema.schemata ORDER BY 1");
        let names = all.iter().map(|row| row.trim_matches(['(', ')', '\'']).to_string());
        names.filter(|name| dbms::attach::schema::stay(name).is_some()).collect()
    }

    /// Does one of ours that was not there before have a case's table?
    pub fn busy(&mut self, before: &[String]) -> bool {
        let mut ours = self.ours();
        ours.retain(|name| !before.contains(name));
        let rows = self.ask("SELECT table_schema FROM information_schema.tables WHERE table_name = 't'");
        rows.iter().any(|row| ours.iter().any(|name| row.contains(name.as_str())))
    }

    /// Everything that is not ours: schemas, definitions, rows, checksums, accounts, rights and settings.
    pub fn dump(&mut self) -> Vec<String> {
        let ours = self.ours();
        let mut all = self.ask("SELECT schema_name FROM information_schema.schemata ORDER BY 1");
        all.retain(|row| !ours.iter().any(|name| row.contains(name.as_str())));
        let looks: &[&str] = match self.postgres() {
            true => &[
                "SELECT relname, relkind, relfilenode, relowner, relacl, reltuples FROM pg_class c JOIN pg_namespace n \
                 ON relnamespace = n.oid WHERE nspname IN ('shop', 'public', 'isopod_notes') ORDER BY 1, 2",
                "SELECT ctid, xmin, * FROM public.t",
                "SELECT pg_get_viewdef('shop.v'::regclass)",
                "SELECT indexdef FROM pg_indexes WHERE schemaname = 'shop' ORDER BY 1",
                "SELECT rolname, rolsuper, rolpassword FROM pg_authid ORDER BY 1",
                "SELECT datname, datacl FROM pg_database ORDER BY 1",
                "SELECT extname, extnamespace::regnamespace FROM pg_extension ORDER BY 1",
                "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
                "SELECT name, setting FROM pg_settings WHERE name NOT LIKE 'transaction%' ORDER BY 1",
            ],
            false => &[
                "SELECT table_schema, table_name, table_type, engine, auto_increment, create_time, update_time, \
                 create_options FROM information_schema.tables WHERE table_schema IN ('shop', 'isopod_notes') \
                 ORDER BY 1, 2",
                "SHOW CREATE VIEW shop.v",
                "SHOW CREATE TRIGGER shop.g",
                "SHOW CREATE PROCEDURE shop.p",
                "SELECT user, host FROM mysql.user ORDER BY 1, 2",
                "SHOW GRANTS FOR 'guest'@'127.0.0.1'",
                "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE '%gtid%' AND Variable_name NOT LIKE 'timestamp' \
                 AND Variable_name NOT LIKE '%log_pos%'",
            ],
        };
        for sql in looks {
            all.push(sql.to_string());
            all.extend(self.ask(sql));
        }
        for table in TABLES {
            all.push(table.to_string());
            if self.postgres() {
                all.extend(self.ask(&format!("SELECT ctid, xmin, * FROM {table}")));
            } else {
                all.extend(self.ask(&format!("SHOW CREATE TABLE {table}")));
                all.extend(self.ask(&format!("SELECT * FROM {table}")));
                all.extend(self.ask(&format!("CHECKSUM TABLE {table} EXTENDED")));
            }
        }
        all
    }
}
