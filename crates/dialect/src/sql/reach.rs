//! What a text reaches outside of the schema that it runs in, as far as it can be told without running it.
//!
//! A case is written for a schema of its own. On a server that belongs to somebody else, a step that names another
//! schema, changes the server for everybody, or touches accounts must not run by accident; nor may a text that we
//! cannot read. [`reach`] lists all of that and judges nothing: whoever asks knows which schemas are fine.

use std::fmt;

use model::{
    Product,
    sql::{ObjectName, Quote, Statement, Visit},
};

use super::{Opaque, Parsed, facts, parse, token, words};
use crate::{SqlFamily, sql::rules::Rules};

/// One thing that a text reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It names this schema (a database, in MySQL's words), be it the one that it runs in.
    Schema(String),
    /// It changes the session's current schema in a way that names none.
    OtherSchema,
    /// It changes the server for everybody.
    Server,
    /// It creates, changes or becomes an account.
    Accounts,
    /// It calls this function, which does more than compute.
    Function(String),
    /// We cannot read it.
    Unread(Opaque),
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reach::Schema(name) => write!(f, "it names the schema `{name}`"),
            Reach::OtherSchema => f.write_str("it goes to another schema"),
            Reach::Server => f.write_str("it changes the server for everybody"),
            Reach::Accounts => f.write_str("it is about accounts"),
            Reach::Function(name) => write!(f, "it calls `{name}`, which does more than compute"),
            Reach::Unread(why) => write!(f, "it cannot be read: {why}"),
        }
    }
}

/// What a text reaches; nothing if it stays where it is.
pub fn reach(product: Product, text: &str) -> Vec<Reach> {
    match parse(product, text) {
        Parsed::Tree(statement) => of_tree(product, &statement),
        Parsed::Opaque(why) => vec![of_opaque(product, text).unwrap_or(Reach::Unread(why))],
    }
}

/// What a statement reaches; nothing if it stays where it is.
pub fn of_tree(product: Product, statement: &Statement) -> Vec<Reach> {
    let family = crate::of(product).family;
    let facts = facts(statement);
    let mut found: Vec<Reach> = facts.schemas.into_iter().map(Reach::Schema).collect();
    if family == SqlFamily::Postgres && names_catalogue(statement) {
        found.push(Reach::Schema("pg_catalog".to_string()));
    }
    if facts.changes_server {
        found.push(Reach::Server);
    }
    let acts = |name: &&String| match family {
        SqlFamily::Mysql => {
            words::MYSQL_ACTING_FUNCTIONS.has(name)
                || words::MYSQL_ACTING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        }
        SqlFamily::Postgres => {
            words::POSTGRES_ACTING_FUNCTIONS.has(name)
                || words::POSTGRES_ACTING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        }
        SqlFamily::Sqlite => words::SQLITE_ACTING_FUNCTIONS.has(name),
    };
    found.extend(facts.functions.iter().filter(acts).cloned().map(Reach::Function));
    found
}

/// Does it name a table of `pg_catalog` without saying so? PostgreSQL looks there first, whatever the search path is.
/// All that is there has a name that begins like this, and a table of ours need not.
fn names_catalogue(statement: &Statement) -> bool {
    struct CatalogueNames(bool);
    impl Visit<'_> for CatalogueNames {
        fn object(&mut self, object: &ObjectName) {
            let name = &object.name.name;
            let begins = match object.name.quote {
                Quote::Bare => name.get(..3).is_some_and(|three| three.eq_ignore_ascii_case("pg_")),
                Quote::Backtick | Quote::Double | Quote::Bracket => name.starts_with("pg_"),
            };
            self.0 |= object.schema.is_none() && begins;
        }
    }
    let mut look = CatalogueNames(false);
    statement.visit(&mut look);
    look.0
}

/// What the first words of a text without a tree say, so that the reason can be named.
fn of_opaque(product: Product, text: &str) -> Option<Reach> {
    let tokens = token::tokens(Rules::of(product), text).ok()?;
    let words: Vec<String> = tokens.iter().take(3).map(|t| t.text.to_ascii_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["USE" | "ATTACH" | "DETACH", ..]
        | ["SET", "SEARCH_PATH", ..]
        | ["SET", "SESSION" | "LOCAL", "SEARCH_PATH"] => Some(Reach::OtherSchema),
        ["GRANT" | "REVOKE" | "REASSIGN", ..]
        | ["CREATE" | "ALTER" | "DROP" | "RENAME", "USER" | "ROLE" | "GROUP", ..]
        | ["SET", "PASSWORD" | "ROLE" | "SESSION_AUTHORIZATION", ..]
        | ["SET", "DEFAULT", "ROLE"]
        | ["SET", "SESSION" | "LOCAL", "ROLE" | "AUTHORIZATION" | "SESSION_AUTHORIZATION"] => {
            Some(Reach::Accounts)
        }
        ["SET", "GLOBAL" | "PERSIST" | "PERSIST_ONLY", ..]
        | ["ALTER", "SYSTEM" | "DATABASE" | "INSTANCE" | "SERVER", ..]
        | ["CREATE" | "DROP", "DATABASE" | "TABLESPACE" | "SERVER" | "EXTENSION", ..]
        | ["INSTALL" | "UNINSTALL" | "KILL" | "SHUTDOWN" | "RESTART" | "FLUSH" | "PURGE", ..]
        | ["CHECKPOINT", ..] => Some(Reach::Server),
        // PostgreSQL's goes back to what a session began with.
        ["RESET", ..] if crate::of(product).family != SqlFamily::Postgres => Some(Reach::Server),
        _ => None,
    }
}
