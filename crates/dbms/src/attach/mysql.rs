//! MySQL and MariaDB servers that are not ours.

use dialect::sql::text_literal;
use execute::{
    ConnectError, RawReply,
    ask::{ask, demand, record, records},
};
use model::{Product, ServerInfo, Version};

use super::{
    AttachError, AttachedServer, Connector, PrunedSchemas,
    entry::{self, Denial, failed},
    options::set_statement,
    rights::MissingRights,
    schema,
};
use crate::{
    mysql::{MysqlServer, MysqlSession, server::describe},
    net::{Address, Login, Refusal, SILENCE},
    options::{PREFIX, scratch_name},
};

/// Every schema that we may see.
const SCHEMAS: &str = "SELECT schema_name FROM information_schema.schemata";

/// The codes with which a server says that it takes no connection in the clear.
const WANTS_TLS: [u32; 2] = [3159, 4031];
/// The codes with which it says that it does not know us.
const UNKNOWN: [u32; 4] = [1044, 1045, 1698, 1862];
/// The codes with which it says that this machine may not connect.
const WRONG_HOST: [u32; 2] = [1129, 1130];

/// What every case takes for granted. A server may have it otherwise for sessions that do not say so: then a statement
/// without BEGIN would not be committed, or a table would know no transactions.
const USUAL: [(&str, &str); 6] = [
    ("autocommit", "1"),
    ("completion_type", "NO_CHAIN"),
    ("default_storage_engine", "InnoDB"),
    ("foreign_key_checks", "1"),
    ("sql_safe_updates", "0"),
    ("unique_checks", "1"),
];

/// The oldest versions whose behaviour we know.
fn oldest(product: Product) -> Version {
    Version(if product == Product::Mariadb { vec![10, 1] } else { vec![5, 6] })
}

pub fn look(connector: &Connector) -> Result<ServerInfo, AttachError> {
    let mut session = enter(connector, None)?;
    let info = describe(&mut session).map_err(|error| failed(connector, &error))?;
    let oldest = oldest(info.product);
    if info.version.cmp_prefix(&oldest).is_lt() {
        return Err(AttachError::bare(format!(
            "{} is {} {}; Isopod knows {} from {oldest} on",
            connector.name, info.product, info.version, info.product
        )));
    }
    Ok(info)
}

pub fn open(connector: &Connector) -> Result<AttachedServer, AttachError> {
    let info = look(connector)?;
    let own = |error: ConnectError| failed(connector, &error);
    let options = connector.server_options(schema::draw())?;
    let ours = format!("{PREFIX}{}", options.name);
    let mut mark = enter(connector, None)?;
    rights(connector, &mut mark, &info, &ours)?;
    let denied = no_scratch(&mut mark, &scratch_name(&ours, 0)).map_err(own)?;
    let left = connector.left_behind(&mut mark, SCHEMAS, unmarked).map_err(own)?;
    let plain = connector.unencrypted(mark.plain());
    let server = MysqlServer::open(options).map_err(own)?;
    let mut attached = AttachedServer {
        server: Box::new(server),
        info: info.clone(),
        statements: Vec::new(),
        scratch: denied.is_none(),
        leave: leave(connector.address.clone(), connector.login.clone(), ours, mark),
        notes: connector.notes.iter().cloned().chain(plain).chain(left).collect(),
    };
    attached.notes.extend(denied.map(|error| {
        format!(
            "no second schema can be made beside that of the cases, so statements are not run alone: {error}"
        )
    }));
    set(connector, &mut attached)?;
    if info.settings.get("innodb_deadlock_detect").is_some_and(|value| value == "OFF") {
        attached.notes.push(
            "the server does not look for deadlocks (innodb_deadlock_detect=OFF), so a case that expects one ends otherwise"
                .to_string(),
        );
    }
    if !lists_locks(&info) {
        let mut session = enter(connector, None)?;
        let listed = record(&mut session, "SELECT @@GLOBAL.innodb_status_output_locks", SILENCE);
        if listed.is_ok_and(|[on]| on == "0") {
            attached.notes.push(
                "the server does not list its locks (innodb_status_output_locks), so for whom a statement waits is not shown"
                    .to_string(),
            );
        }
    }
    Ok(attached)
}

pub fn prune(connector: &Connector) -> Result<PrunedSchemas, AttachError> {
    look(connector)?;
    let mut session = enter(connector, None)?;
    let unlock = |name: &str| format!("SELECT RELEASE_LOCK('{name}')");
    PrunedSchemas::prune(&mut session, SCHEMAS, lock, clear, unlock)
        .map_err(|error| failed(connector, &error))
}

/// Does it have tables of its locks?
fn lists_locks(info: &ServerInfo) -> bool {
    info.product == Product::Mysql && info.version.since(&[8])
}

/// Marks a schema as in use for as long as the session lives. False: it is in use already.
fn lock(session: &mut MysqlSession, name: &str) -> Result<bool, ConnectError> {
    let [locked] = record(session, &format!("SELECT GET_LOCK('{name}', 0)"), SILENCE)?;
    Ok(locked == "1")
}

/// Does nobody mark it as in use?
fn unmarked(session: &mut MysqlSession, name: &str) -> Result<bool, ConnectError> {
    let [free] = record(session, &format!("SELECT IS_FREE_LOCK('{name}')"), SILENCE)?;
    Ok(free == "1")
}

/// Ends what still runs in a schema of ours and in its scratch schemas, and drops them. Says which there were.
fn clear(session: &mut MysqlSession, name: &str) -> Result<Vec<String>, ConnectError> {
    debug_assert!(schema::is_ours(name));
    demand(session, "SET SESSION lock_wait_timeout = 5, autocommit = 1", SILENCE)?;
    let all = records(session, SCHEMAS, SILENCE)?.into_iter().map(|[one]| one);
    let mut ours: Vec<String> = all.filter(|one| schema::stay(one) == Some(name)).collect();
    ours.sort_unstable();
    // The one by which the others are found goes last.
    for one in ours.iter().rev() {
        let list = format!("SELECT ID FROM information_schema.processlist WHERE DB = '{one}'");
        for [id] in records(session, &list, SILENCE)? {
            // What is no number is nobody's.
            if let Ok(id) = id.parse::<u64>() {
                let _ = ask(session, &format!("KILL {id}"), SILENCE)?; // It may have ended by itself.
            }
        }
        demand(session, &format!("DROP DATABASE IF EXISTS `{one}`"), SILENCE)?;
    }
    Ok(ours)
}

/// The server's own words if a scratch schema of this name cannot be made. First whether it could be dropped again.
fn no_scratch(session: &mut MysqlSession, name: &str) -> Result<Option<String>, ConnectError> {
    let drop = format!("DROP DATABASE IF EXISTS `{name}`");
    for sql in [&drop, &format!("CREATE DATABASE `{name}`"), &drop] {
        if let RawReply::Error(error) = ask(session, sql, SILENCE)?.reply {
            // Said once, and not once for each name that was drawn.
            return Ok(Some(error.to_string().replace(name, "isopod_..._stage0")));
        }
    }
    Ok(None)
}

/// At the end. Whatever goes wrong then is left to `prune`.
fn leave(address: Address, login: Login, ours: String, mut mark: MysqlSession) -> super::server::Cleanup {
    Box::new(move || {
        if clear(&mut mark, &ours).is_err()
            && let Ok(mut again) = MysqlSession::connect(&address, &login, None)
        {
            let _ = clear(&mut again, &ours);
        }
    })
}

/// Tries what we need, in an order that leaves nothing behind, and marks our schema as in use.
fn rights(
    connector: &Connector,
    mark: &mut MysqlSession,
    info: &ServerInfo,
    ours: &str,
) -> Result<(), AttachError> {
    let own = |error: ConnectError| failed(connector, &error);
    // The mark must outlive a long silence, and hold no view of what was there at its beginning.
    demand(mark, "SET SESSION wait_timeout = 31536000, autocommit = 1", SILENCE).map_err(own)?;
    let [user, watched] =
        record(mark, "SELECT CURRENT_USER(), @@performance_schema", SILENCE).map_err(own)?;
    let account = account(&user, info.product);
    if lists_locks(info) && watched != "1" {
        return Err(AttachError::new(
            format!(
                "{} runs without performance_schema, so it cannot be asked which statements wait",
                connector.name
            ),
            ["start it with performance_schema=ON"],
        ));
    }
    if !lock(mark, ours).map_err(own)? {
        return Err(AttachError::bare(format!("{ours} is in use already")));
    }
    let all = format!("GRANT ALL PRIVILEGES ON `isopod\\_%`.* TO {account};");
    let why = "to make a schema of its own and to drop it";
    let mut missing = MissingRights::default();
    // First whether it could be dropped again: the right is asked for also where there is nothing to drop.
    let drop = format!("DROP DATABASE IF EXISTS `{ours}`");
    if missing.attempt(mark, &drop, why, &all).map_err(own)?
        && missing.attempt(mark, &format!("CREATE DATABASE `{ours}`"), why, &all).map_err(own)?
    {
        let mut inside = enter(connector, Some(ours))?;
        let tried = missing.on_tables(&mut inside, &all);
        std::mem::drop(inside);
        demand(mark, &drop, SILENCE).map_err(own)?;
        tried.map_err(own)?;
    }
    missing.on_locks(mark, info, &account).map_err(own)?;
    missing.result(&account, &connector.name)
}

/// `u@h` as the server writes it, with the quotes that GRANT wants.
fn account(current: &str, product: Product) -> String {
    let (user, host) = current.rsplit_once('@').unwrap_or((current, "%"));
    format!("{}@{}", text_literal(product, user), text_literal(product, host))
}

/// Settings: in every session, or not at all.
fn set(connector: &Connector, attached: &mut AttachedServer) -> Result<(), AttachError> {
    let own = |error: ConnectError| failed(connector, &error);
    let product = attached.info.product;
    let mut session = enter(connector, None)?;
    if let Some((modes, dropped)) = readable_modes(&mut session).map_err(own)? {
        let statement = format!("SET SESSION sql_mode = '{modes}'");
        demand(&mut session, &statement, SILENCE).map_err(own)?;
        attached.statements.push(statement);
        attached.info.settings.insert("sql_mode".to_string(), modes);
        attached.notes.push(format!(
            "sql_mode of the server holds {dropped}, with which it would read statements in another way than Isopod; \
             the sessions of a case do without"
        ));
    }
    for (name, usual) in USUAL.iter().filter(|(name, _)| !connector.options.settings.contains_key(*name)) {
        let [theirs] = record(&mut session, &format!("SELECT @@SESSION.{name}"), SILENCE).map_err(own)?;
        if !same_value(&theirs, usual) {
            attached.statements.push(set_statement(product, name, usual)?);
            attached
                .notes
                .push(format!("{name} is {theirs} on the server; the sessions of a case set {usual}"));
        }
    }
    for (name, value) in &connector.options.settings {
        if name.eq_ignore_ascii_case("sql_mode") && dialect::guard::changes_reading(value) {
            return Err(AttachError::new(
                format!("sql_mode={value} cannot be set on {}", connector.name),
                [
                    "the server would read statements in another way than Isopod, which must know what they do there",
                    "modes that do not change quotes and backslashes can be set",
                ],
            ));
        }
        let statement = set_statement(product, name, value)?;
        let show = |scope: &str| format!("SHOW {scope} VARIABLES WHERE Variable_name = '{name}'");
        match demand(&mut session, &statement, SILENCE) {
            Ok(_) => attached.statements.push(statement),
            Err(ConnectError::Own { reason, .. }) => {
                let now = records(&mut session, &show("GLOBAL"), SILENCE).map_err(own)?;
                let now = now.into_iter().next().map(|[_, now]| now);
                if !now.as_ref().is_some_and(|now| same_value(now, value)) {
                    return Err(connector.cannot_set(product, (name, value), &reason, now.as_deref()));
                }
                continue; // It is so already.
            }
            Err(error) => return Err(own(error)),
        }
        let now = records(&mut session, &show("SESSION"), SILENCE).map_err(own)?;
        if let Some([_, now]) = now.into_iter().next() {
            attached.info.settings.insert(name.clone(), now);
        }
    }
    Ok(())
}

/// The modes of a session without those that change how statements are read, and the latter; none if it has none.
fn readable_modes(session: &mut MysqlSession) -> Result<Option<(String, String)>, ConnectError> {
    let [modes] = record(session, "SELECT @@SESSION.sql_mode", SILENCE)?;
    let (dropped, kept): (Vec<&str>, Vec<&str>) =
        modes.split(',').partition(|mode| dialect::guard::changes_reading(mode));
    Ok((!dropped.is_empty()).then(|| (kept.join(","), dropped.join(", "))))
}

fn same_value(one: &str, two: &str) -> bool {
    let plain = |text: &str| match text.to_ascii_uppercase().as_str() {
        "1" | "TRUE" => "ON".to_string(),
        "0" | "FALSE" => "OFF".to_string(),
        other => other.to_string(),
    };
    plain(one) == plain(two)
}

/// Logs in.
fn enter(connector: &Connector, schema: Option<&str>) -> Result<MysqlSession, AttachError> {
    MysqlSession::log_in(&connector.address, &connector.login, schema)
        .map_err(|refusal| refused(connector, &refusal))
}

fn refused(connector: &Connector, refusal: &Refusal) -> AttachError {
    let code = match refusal {
        Refusal::Server(error) => error.code,
        _ => 0,
    };
    let kind = match code {
        code if WANTS_TLS.contains(&code) => Denial::WantsTls,
        code if UNKNOWN.contains(&code) => Denial::Login,
        code if WRONG_HOST.contains(&code) => Denial::Host,
        _ => Denial::Other,
    };
    entry::refused(connector, refusal, kind)
}
