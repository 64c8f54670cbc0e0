//! Servers that run already and are not ours, named by their address: `mysql://user@host:3306`.
//!
//! A guest changes nothing but what is his own. Everything that we make there is in one schema with a name that nobody
//! else draws, and in scratch schemas beside it whose names begin with that one ([`schema`]); a session of ours holds a lock of
//! that name for as long as we live, so that whoever comes later can tell schemas in use from those that a dead process
//! left ([`Connector::prune`]); at the normal end they are dropped.
//! Settings are set per session or not at all. We neither pin nor prioritise the server, and we do not start it again.
//!
//! * `options`: what stands after `?`; `password`, `clients`: where the password comes from;
//! * `mysql`, `postgres`: how each family is asked what it is, which rights are missing, and how a schema is marked;
//! * `server`: the server behind the executor's traits.

pub mod clients;
mod entry;
mod error;
mod mysql;
mod options;
mod password;
mod postgres;
mod rights;
pub mod schema;
pub mod secrets;
mod server;

use std::{collections::BTreeSet, path::PathBuf};

use dialect::{Hosting, SqlFamily};
use execute::{
    ConnectError, Session,
    ask::{ask, records},
};
use model::{Endpoint, Product, ServerInfo, Target};

use crate::{
    locks::Settle,
    net::{Address, Login, NOT_OFFERED, SILENCE, os::listener},
    options::ServerOptions,
};

pub use error::AttachError;
use options::AttachOptions;
pub use password::{ClientEnvironment, SECRET_VARIABLES};
pub use server::AttachedServer;

/// The way to one server: where it is, who we are there, and what is set in every session.
pub struct Connector {
    /// Its address, for people.
    name: String,
    product: Product,
    address: Address,
    login: Login,
    password_from: String,
    /// PostgreSQL's sessions go to one database; our schema is made there.
    database: String,
    options: AttachOptions,
    settle: Option<Settle>,
    /// Were we in already?
    entered: bool,
    notes: Vec<String>,
}

/// What became of schemas that dead processes of ours left.
#[derive(Debug, Default)]
pub struct PrunedSchemas {
    /// Those that were dropped.
    pub gone: Vec<String>,
    /// Those that could not be dropped, each with what the server said: another user's, say.
    pub kept: Vec<(String, String)>,
}

impl PrunedSchemas {
    /// Drops those that nobody works in, of the names that a statement lists. `lock` says whether one was free, and marks it.
    fn prune<S: Session>(
        session: &mut S,
        list: &str,
        lock: fn(&mut S, &str) -> Result<bool, ConnectError>,
        clear: fn(&mut S, &str) -> Result<Vec<String>, ConnectError>,
        unlock: fn(&str) -> String,
    ) -> Result<PrunedSchemas, ConnectError> {
        let mut pruned = PrunedSchemas::default();
        for name in stays(session, list)? {
            if !lock(session, &name)? {
                continue; // Somebody works in it.
            }
            let cleared = clear(session, &name);
            ask(session, &unlock(&name), SILENCE)?;
            match cleared {
                Ok(gone) => pruned.gone.extend(gone),
                // The server's "no" is about this one; anything else ends the work.
                Err(ConnectError::Own { reason, .. }) => pruned.kept.push((name, reason)),
                Err(error) => return Err(error),
            }
        }
        Ok(pruned)
    }
}

/// Our schemas among those that a statement lists, one name for each stay.
fn stays(session: &mut dyn Session, list: &str) -> Result<BTreeSet<String>, ConnectError> {
    let names = records(session, list, SILENCE)?;
    Ok(names.iter().filter_map(|[name]| schema::stay(name).map(str::to_string)).collect())
}

impl Connector {
    /// Says so if dead processes of ours left schemas there: those of the listed ones of which `free` says that nobody marks them.
    fn left_behind<S: Session>(
        &self,
        session: &mut S,
        list: &str,
        free: fn(&mut S, &str) -> Result<bool, ConnectError>,
    ) -> Result<Option<String>, ConnectError> {
        let mut left = Vec::new();
        for name in stays(session, list)? {
            if free(session, &name)? {
                left.push(name);
            }
        }
        let prune = model::shell::command(["isopod", "server", "prune", "--target", &self.name.to_string()]);
        let names = left.join(", ");
        Ok((!left.is_empty())
            .then(|| format!("an Isopod that was killed left {names} there; to drop it: {prune}")))
    }

    /// Finds the way; connects to nothing. `settle`: how the user wants waits to be known, if he said so.
    pub fn new(target: &Target, settle: Option<Settle>) -> Result<Connector, AttachError> {
        let Some(url) = target.attached() else {
            return Err(AttachError::bare(format!("{target} is not the address of a server")));
        };
        let around = ClientEnvironment::remember();
        let options = AttachOptions::read(&target.settings)?;
        let dialect = dialect::of(target.product);
        let usual = match dialect.family {
            _ if dialect.runs != Hosting::Server => {
                return Err(AttachError::new(
                    format!("{} is embedded: there is no server to attach to", target.product),
                    [format!("use --target {}", target.product)],
                ));
            }
            SqlFamily::Postgres => {
                around.variable("PGPORT").and_then(|port| port.parse().ok()).unwrap_or(5432)
            }
            SqlFamily::Mysql | SqlFamily::Sqlite => 3306,
        };
        let usual = options.port.unwrap_or(usual);
        let (host, port) = match &url.endpoint {
            Endpoint::Host { host, port } => (host.as_str(), port.unwrap_or(usual)),
            Endpoint::Socket(_) => ("localhost", usual),
        };
        let socket = options.socket.clone().or(match &url.endpoint {
            Endpoint::Socket(path) => Some(path.clone()),
            Endpoint::Host { .. } => None,
        });
        let database = url.database.clone().or_else(|| around.variable("PGDATABASE").map(str::to_string));
        let found = password::find(
            &password::LoginRequest {
                product: target.product,
                user: url.user.as_deref(),
                password: url.password.as_ref(),
                password_file: options.password_file.as_deref(),
                host,
                port,
                database: database.as_deref(),
            },
            around,
        )?;
        let address = match socket {
            Some(path) => Address::Unix(socket_file(target.product, path, port)),
            None => Address::Tcp { host: host.to_string(), port },
        };
        let database = database.unwrap_or_else(|| found.user.clone());
        let login = Login {
            user: found.user,
            password: found.password.reveal().to_string(),
            tls: options.tls(address.local()),
            patience: options.patience,
            guest: true,
            limits: options.limits,
        };
        Ok(Connector {
            name: target.bare().to_string(),
            product: target.product,
            address,
            login,
            password_from: found.from,
            database,
            options,
            settle,
            entered: false,
            notes: found.notes,
        })
    }

    /// What it is: the real product and version.
    pub fn look(&self) -> Result<ServerInfo, AttachError> {
        match dialect::of(self.product).family {
            SqlFamily::Mysql | SqlFamily::Sqlite => mysql::look(self),
            SqlFamily::Postgres => postgres::look(self),
        }
    }

    /// Goes in: checks the rights, makes a schema of our own and marks it as in use.
    pub fn open(&mut self) -> Result<AttachedServer, AttachError> {
        let opened = match dialect::of(self.product).family {
            SqlFamily::Mysql | SqlFamily::Sqlite => mysql::open(self),
            SqlFamily::Postgres => postgres::open(self),
        };
        let again = std::mem::replace(&mut self.entered, true);
        opened.map_err(|error| match again {
            false => error,
            true => AttachError {
                title: format!("{} went away, and Isopod cannot start it again: it is not ours", self.name),
                help: [error.title].into_iter().chain(error.help).collect(),
            },
        })
    }

    /// Drops the schemas that dead processes of ours left there, and nothing else.
    pub fn prune(&self) -> Result<PrunedSchemas, AttachError> {
        match dialect::of(self.product).family {
            SqlFamily::Mysql | SqlFamily::Sqlite => mysql::prune(self),
            SqlFamily::Postgres => postgres::prune(self),
        }
    }

    /// What the user should know of a connection that is not encrypted, for this reason.
    fn unencrypted(&self, plain: Option<&str>) -> Option<String> {
        // On this machine nobody is on the way; that the encryption broke is news there, too.
        let why = plain.filter(|why| !self.address.local() || *why != NOT_OFFERED)?;
        Some(format!(
            "the connection to {} is not encrypted: {why}; sslmode=require insists on it",
            self.name
        ))
    }

    /// What the user should know, a line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What the server is used with, and a schema of this name.
    fn server_options(&self, name: String) -> Result<ServerOptions, AttachError> {
        let (settle, pid) = self.settle()?;
        let (address, login) = (self.address.clone(), self.login.clone());
        let (flags, logs) = (Vec::new(), Vec::new());
        Ok(ServerOptions { address, login, name, settle, pid, flags, logs, alive: None })
    }

    /// A setting that the server, which is of this product, refuses for a session; `is`: what it is there, if that is known.
    fn cannot_set(
        &self,
        product: Product,
        (name, value): (&str, &str),
        reason: &str,
        is: Option<&str>,
    ) -> AttachError {
        let is = is.map(|is| format!(" (it is {is})")).unwrap_or_default();
        AttachError::new(
            format!("{name}={value} cannot be set on {}: {reason}", self.name),
            [
                format!("settings of a server that is not ours are set per session only{is}"),
                format!("to choose it freely, let Isopod start the server: '{product}?{name}={value}'"),
            ],
        )
    }

    /// How waits are known, and the server's process if that is needed for it.
    fn settle(&self) -> Result<(Settle, Option<u32>), AttachError> {
        match (self.settle, &self.address) {
            (None | Some(Settle::Sql), _) => Ok((Settle::Sql, None)),
            (Some(Settle::Proc), Address::Unix(path)) => match listener(path) {
                Some(pid) if PathBuf::from(format!("/proc/{pid}/task")).is_dir() => {
                    Ok((Settle::Proc, Some(pid)))
                }
                _ => Err(AttachError::new(
                    format!("--settle proc: the process behind {} cannot be seen in /proc", path.display()),
                    ["leave out --settle: the server is then asked in SQL"],
                )),
            },
            (Some(Settle::Proc), Address::Tcp { .. }) => Err(AttachError::new(
                format!("--settle proc needs the server's process, and {} does not tell it", self.name),
                [
                    "only a Unix socket does: mysql://user@/path/to/socket",
                    "or leave out --settle: the server is then asked in SQL",
                ],
            )),
        }
    }
}

/// PostgreSQL is told the folder, and its sockets have names of their own.
fn socket_file(product: Product, path: PathBuf, port: u16) -> PathBuf {
    let folder = dialect::of(product).family == SqlFamily::Postgres && path.is_dir();
    if folder { path.join(format!(".s.PGSQL.{port}")) } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody is asked: these addresses are only read.
    #[test]
    fn a_connection_that_is_not_encrypted_is_told_of_unless_it_stays_on_this_machine() {
        let said = |address: &str, plain| {
            let target = format!("{address}?sslmode=prefer").parse().unwrap();
            Connector::new(&target, None).unwrap().unencrypted(plain)
        };
        for product in ["mysql", "postgres"] {
            let (away, here) =
                (format!("{product}://u:p@192.0.2.1:9/d"), format!("{product}://u:p@127.0.0.1:9/d"));
            let told = said(&away, Some(NOT_OFFERED)).unwrap();
            assert!(told.contains("192.0.2.1:9") && told.contains("is not encrypted"), "{told}");
            assert!(
                told.contains(NOT_OFFERED) && told.contains("sslmode=require") && !told.contains("u:p"),
                "{told}"
            );
            assert_eq!((said(&away, None), said(&here, Some(NOT_OFFERED))), (None, None));
            assert!(said(&here, Some("it broke")).is_some());
        }
    }
}
