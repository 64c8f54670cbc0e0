//! PostgreSQL servers that are not ours. Our schema is made in one database of theirs, the one that the address names.
//! Sessions look for names in our schema only, so that nothing of the others is found without being named.

use dialect::sql::text_literal;
use execute::{
    ConnectError, Server,
    ask::{ask, demand, record},
};
use model::{Product, ServerInfo};
use sha2::{Digest, Sha256};

use super::{
    AttachError, AttachedServer, Connector, PrunedSchemas,
    entry::{self, Denial, failed},
    options::set_statement,
    schema,
};
use crate::{
    net::{Refusal, SILENCE},
    options::PREFIX,
    postgres::{PgServer, PgSession, locks::wait_notices::WaitNotices, server::describe, session},
};

/// Every schema.
const SCHEMAS: &str = "SELECT nspname FROM pg_namespace";

/// The oldest version whose behaviour we know.
const OLDEST: u32 = 13;
/// From this version on the right to set a setting can be granted.
const GRANTS_SETTINGS: u32 = 15;
/// Not known, the password is wrong, or none was given.
const LOGIN: [&str; 1] = ["28P01"];
/// Settings that are not the user's to choose, in whatever case.
const FIXED: [&str; 6] = [
    "application_name",
    "client_encoding",
    "role",
    "search_path",
    "session_authorization",
    "standard_conforming_strings",
];
/// No line in pg_hba.conf lets us in as we come.
const NOT_LISTED: &str = "28000";

pub fn look(connector: &Connector) -> Result<ServerInfo, AttachError> {
    let mut session = enter(connector)?;
    let (info, _) = describe(&mut session).map_err(|error| failed(connector, &error))?;
    if info.version.0.first().is_none_or(|&major| major < OLDEST) {
        return Err(AttachError::bare(format!(
            "{} is postgres {}; Isopod knows postgres from {OLDEST} on",
            connector.name, info.version
        )));
    }
    Ok(info)
}

pub fn open(connector: &Connector) -> Result<AttachedServer, AttachError> {
    look(connector)?;
    let own = |error: ConnectError| failed(connector, &error);
    let options = connector.server_options(schema::draw())?;
    let ours = format!("{PREFIX}{}", options.name);
    let mut mark = enter(connector)?;
    rights(connector, &mut mark)?;
    // The mark must outlive a long silence; versions before 14 do not know the limit.
    ask(&mut mark, "SET idle_session_timeout = 0", SILENCE).map_err(own)?;
    let left = connector.left_behind(&mut mark, SCHEMAS, unmarked).map_err(own)?;
    if !lock(&mut mark, &ours).map_err(own)? {
        return Err(AttachError::bare(format!("{ours} is in use already")));
    }
    let plain = connector.unencrypted(mark.plain());
    let server = PgServer::open(options, &connector.database).map_err(own)?;
    let again = connect_options(connector);
    let leave = Box::new(move || {
        // Whatever goes wrong now is left to `prune`.
        if clear(&mut mark, &ours).is_err()
            && let Ok(mut session) = PgSession::connect(&again, &WaitNotices::default())
        {
            let _ = clear(&mut session, &ours);
        }
    });
    let mut notes = connector.notes.clone();
    notes.extend(plain);
    notes.extend(left);
    notes.extend(deadlocks(server.info(), &connector.login.user));
    // What is in force in the sessions of a case, which are not set as the one that looked.
    let info = server.info().clone();
    let mut attached = AttachedServer {
        server: Box::new(server),
        info,
        statements: Vec::new(),
        scratch: true,
        leave,
        notes,
    };
    set(connector, &mut attached)?;
    Ok(attached)
}

pub fn prune(connector: &Connector) -> Result<PrunedSchemas, AttachError> {
    look(connector)?;
    let mut session = enter(connector)?;
    PrunedSchemas::prune(&mut session, SCHEMAS, lock, clear, unlock)
        .map_err(|error| failed(connector, &error))
}

/// What to know about deadlocks where `deadlock_timeout` cannot be set.
fn deadlocks(info: &ServerInfo, user: &str) -> Option<String> {
    let timeout = info.settings.get("deadlock_timeout").filter(|timeout| *timeout != "1ms")?;
    let version = info.version.0.first().copied().unwrap_or_default();
    let grant = match version >= GRANTS_SETTINGS {
        true => {
            format!("; an administrator can run: GRANT SET ON PARAMETER deadlock_timeout TO {};", role(user))
        }
        false => String::new(),
    };
    Some(format!(
        "{user} may not set deadlock_timeout ({timeout}): a deadlock takes so long, and who loses it may differ{grant}"
    ))
}

/// The name of a role, in quotes where it needs them.
fn role(user: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c == '_';
    if user.chars().all(plain) { user.to_string() } else { format!("\"{}\"", user.replace('"', "\"\"")) }
}

/// The number of a schema's lock.
fn key(name: &str) -> i64 {
    let digest: [u8; 32] = Sha256::digest(format!("lock of isopod {name}")).into();
    digest[..8].iter().fold(0, |number, byte| number << 8 | i64::from(*byte))
}

/// Marks a schema as in use for as long as the session lives. False: it is in use already.
fn lock(session: &mut PgSession, name: &str) -> Result<bool, ConnectError> {
    let [locked] = record(session, &format!("SELECT pg_try_advisory_lock({})", key(name)), SILENCE)?;
    Ok(matches!(locked.as_str(), "t" | "1" | "true"))
}

fn unlock(name: &str) -> String {
    format!("SELECT pg_advisory_unlock({})", key(name))
}

/// Does nobody mark it as in use?
fn unmarked(session: &mut PgSession, name: &str) -> Result<bool, ConnectError> {
    let free = lock(session, name)?;
    if free {
        demand(session, &unlock(name), SILENCE)?;
    }
    Ok(free)
}

/// Ends what still runs in a schema of ours and drops it.
fn clear(session: &mut PgSession, name: &str) -> Result<Vec<String>, ConnectError> {
    debug_assert!(schema::is_ours(name));
    let end = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}' \
         AND usename = current_user AND pid <> pg_backend_pid()"
    );
    ask(session, &end, SILENCE)?; // They may have ended by themselves.
    demand(session, "SET lock_timeout = '5s'", SILENCE)?;
    demand(session, &format!("DROP SCHEMA IF EXISTS {name} CASCADE"), SILENCE)?;
    Ok(vec![name.to_string()])
}

/// All that is needed is to make a schema: what is in it is ours.
fn rights(connector: &Connector, session: &mut PgSession) -> Result<(), AttachError> {
    let sql = "SELECT has_database_privilege(current_database(), 'CREATE'), quote_ident(current_user), \
               quote_ident(current_database())";
    let [granted, user, database] =
        record(session, sql, SILENCE).map_err(|error| failed(connector, &error))?;
    if matches!(granted.as_str(), "t" | "1" | "true") {
        return Ok(());
    }
    Err(AttachError::new(
        format!("{user} lacks rights on {}", connector.name),
        [
            "to make a schema of its own: CREATE on the database is missing".to_string(),
            "an administrator of the server can run:".to_string(),
            format!("  GRANT CREATE ON DATABASE {database} TO {user};"),
        ],
    ))
}

/// Settings: in every session, or not at all.
fn set(connector: &Connector, attached: &mut AttachedServer) -> Result<(), AttachError> {
    let own = |error: ConnectError| failed(connector, &error);
    let mut session = enter(connector)?;
    for (name, value) in &connector.options.settings {
        if FIXED.iter().any(|fixed| fixed.eq_ignore_ascii_case(name)) {
            return Err(AttachError::bare(format!(
                "{name} cannot be set on {}: it decides where, as whom and with which reading of statements Isopod works",
                connector.name
            )));
        }
        let statement = set_statement(Product::Postgres, name, value)?;
        let show = format!("SELECT current_setting({}, true)", text_literal(Product::Postgres, name));
        let [before] = record(&mut session, &show, SILENCE).map_err(own)?;
        match demand(&mut session, &statement, SILENCE) {
            Ok(_) => attached.statements.push(statement),
            Err(ConnectError::Own { .. }) if before.eq_ignore_ascii_case(value) => {} // It is so already.
            Err(ConnectError::Own { reason, .. }) => {
                // Empty: there is no such setting.
                let is = Some(before.as_str()).filter(|is| !matches!(*is, "" | "NULL"));
                return Err(connector.cannot_set(Product::Postgres, (name, value), &reason, is));
            }
            Err(error) => return Err(own(error)),
        }
        let [now] = record(&mut session, &show, SILENCE).map_err(own)?;
        attached.info.settings.insert(name.clone(), now);
    }
    Ok(())
}

/// The way in for sessions of our own.
fn connect_options(connector: &Connector) -> session::PgConnectOptions {
    session::PgConnectOptions {
        address: connector.address.clone(),
        login: connector.login.clone(),
        database: connector.database.clone(),
        settings: Vec::new(),
    }
}

/// Logs in.
fn enter(connector: &Connector) -> Result<PgSession, AttachError> {
    PgSession::log_in(&connect_options(connector), &WaitNotices::default()).map_err(|refusal| {
        let denial = match &refusal {
            Refusal::Server(error) if LOGIN.contains(&error.sqlstate.as_str()) => Denial::Login,
            Refusal::Server(error) if error.sqlstate == NOT_LISTED => Denial::Host,
            _ => Denial::Other,
        };
        entry::refused(connector, &refusal, denial)
    })
}
