//! From a target to a running server behind the executor's traits. Installs what is missing.

use std::path::{Path, PathBuf};

use dialect::{Hosting, SqlFamily};
use execute::{ConnectError, Launch, LaunchError, Server};
use model::{Place, Target};
use provision::{ErrorKind, Installed, Progress, ServerError, StartOptions, Store};

use crate::{
    attach::Connector,
    mysql::MysqlServer,
    net::{Address, Login},
    options::ServerOptions,
    postgres::PgServer,
    sqlite::SqliteServer,
};

pub use crate::locks::Settle;

/// Brings up servers of one target, as often as one is needed.
pub struct Launcher {
    target: Target,
    settle: Settle,
    exe: PathBuf,
    origin: Origin,
    notes: Vec<String>,
}

/// Where its servers come from.
enum Origin {
    /// An installation that instances are started from.
    Installed(Box<Installed>),
    /// A child of our own binary.
    Embedded,
    /// It runs already, and is not ours.
    Attached(Box<Connector>),
}

/// Settings that a run decides for each session, so that they would have no effect in a target: for whom, which, and how
/// to say it instead.
const PER_SESSION: &[(&[SqlFamily], &[&str], &str)] = &[
    (
        &[SqlFamily::Mysql, SqlFamily::Postgres],
        &["transaction_isolation", "tx_isolation", "default_transaction_isolation"],
        "choose the level with --level, or in the case file: session T1 level SER",
    ),
    (&[SqlFamily::Mysql], &["autocommit"], "say so in the case file: session T1 autocommit off"),
    (
        &[SqlFamily::Postgres],
        &["deadlock_timeout", "log_lock_waits", "client_min_messages"],
        "by them Isopod knows which statements wait",
    ),
];

/// Refuses a setting of a server that we start if it would be without effect.
fn without_effect(target: &Target) -> Result<(), ServerError> {
    let family = dialect::of(target.product).family;
    for (families, names, instead) in PER_SESSION {
        if let Some(name) = names.iter().find(|name| target.settings.contains_key(**name))
            && families.contains(&family)
        {
            let title = format!("{name} is decided by Isopod, for each session");
            return Err(ServerError::new(ErrorKind::Setting, title).help(*instead));
        }
    }
    Ok(())
}

/// What our schema on a throw-away server is called, after the prefix.
const NAME: &str = "case";

/// The database that every PostgreSQL server has.
const DATABASE: &str = "postgres";

impl Launcher {
    /// Makes sure that the target is installed. `exe` is Isopod's own binary. `settle`: how waits are known; if nobody
    /// says so, by /proc on servers that we start and in SQL on others.
    pub fn new(
        target: Target,
        settle: impl Into<Option<Settle>>,
        exe: PathBuf,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Launcher, LaunchError> {
        let settle = settle.into();
        let origin = match (&target.place, dialect::of(target.product).runs) {
            (Place::Cache | Place::Folder(_), Hosting::Server) => {
                without_effect(&target).map_err(not_provided)?;
                let installed = Store::open().and_then(|store| store.ensure(&target, progress));
                Origin::Installed(Box::new(installed.map_err(not_provided)?))
            }
            (Place::Cache | Place::Folder(_), Hosting::Child) => Origin::Embedded,
            // Its crate stands beside this one: whoever uses both brings it up.
            (Place::Cache | Place::Folder(_), Hosting::Thread) => {
                return Err(LaunchError::not_started("the reference engine is no server", Vec::new()));
            }
            (Place::Attached(_), _) => Origin::Attached(Box::new(Connector::new(&target, settle)?)),
        };
        let settle = settle.unwrap_or(Settle::Proc);
        Ok(Launcher { target, settle, exe, origin, notes: Vec::new() })
    }
}

impl Launch for Launcher {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn launch(&mut self) -> Result<Box<dyn Server>, LaunchError> {
        match &mut self.origin {
            Origin::Installed(installed) => start(installed, &self.exe, &self.target, self.settle),
            Origin::Embedded => Ok(Box::new(SqliteServer::start(&self.exe, &self.target)?)),
            Origin::Attached(connector) => {
                let attached = connector.open()?;
                self.notes.clone_from(&attached.notes);
                Ok(Box::new(attached))
            }
        }
    }
}

fn not_provided(error: ServerError) -> LaunchError {
    LaunchError::not_started(error.title, error.help)
}

/// It came up, but did not talk to us: no case was refused.
fn silent(error: ConnectError) -> LaunchError {
    LaunchError::not_started(error, Vec::new())
}

/// Starts an instance and connects to it.
fn start(
    installed: &Installed,
    exe: &Path,
    target: &Target,
    settle: Settle,
) -> Result<Box<dyn Server>, LaunchError> {
    let mut instance = installed.start(exe, target, &StartOptions::default()).map_err(not_provided)?;
    let options = ServerOptions {
        address: Address::Unix(instance.socket().to_path_buf()),
        login: Login { user: instance.superuser().to_string(), ..Login::default() },
        name: NAME.to_string(),
        settle,
        pid: Some(instance.pid()),
        flags: instance.flags().to_vec(),
        logs: instance.logs(),
        alive: Some(Box::new(move || instance.alive())),
    };
    Ok(match dialect::of(target.product).family {
        SqlFamily::Postgres => Box::new(PgServer::open(options, DATABASE).map_err(silent)?),
        SqlFamily::Mysql | SqlFamily::Sqlite => Box::new(MysqlServer::open(options).map_err(silent)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_session_is_told_anyway_cannot_be_set() {
        let refused = |target: &str| without_effect(&target.parse().unwrap()).err().map(|error| error.title);
        for target in ["mysql@9.7?log_bin=OFF", "postgres@18?enable_seqscan=off", "postgres?autocommit=0"] {
            assert_eq!(refused(target), None, "{target}");
        }
        for (target, name) in [
            ("mysql@9.7?transaction-isolation=SERIALIZABLE", "transaction_isolation"),
            ("mariadb?tx_isolation=SERIALIZABLE", "tx_isolation"),
            ("mariadb?autocommit=0", "autocommit"),
            ("postgres@18?default_transaction_isolation=serializable", "default_transaction_isolation"),
            ("postgres@18?deadlock_timeout=1h", "deadlock_timeout"),
        ] {
            assert_eq!(refused(target), Some(format!("{name} is decided by Isopod, for each session")));
        }
    }
}
