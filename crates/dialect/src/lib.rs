//! How the databases differ, as data: one folder per product, the same questions answered in each.
//!
//! [`of`] gives the [`Dialect`] of a product: whose SQL it speaks, where it runs, how a level is set and read back, what an error
//! code means and what it ends, what it can do, what it owes. Whoever behaves differently on different products asks here, and
//! names none: so another engine is another folder. Nothing here talks to a server.

pub mod capabilities;
pub mod checks;
pub mod client;
pub mod contract;
pub mod family;
pub mod guard;
pub mod mariadb;
pub mod mysql;
pub mod outside;
pub mod own_commands;
pub mod parsed;
pub mod postgres;
pub mod reference;
pub mod semantics;
pub mod session;
pub mod settings;
pub mod sql;
pub mod sqlite;
pub mod tables;
mod variants;

pub use capabilities::{Capabilities, capabilities, newest};
pub use checks::Checks;
pub use client::{Client, Terminal, TestTool};
use contract::Contract;
pub use family::{Arithmetic, Hosting, SqlFamily};
use model::{Ends, ErrorClass, Level, Product, ServerInfo, Version};
pub use own_commands::OwnCommands;
pub use parsed::{AccessSet, Execution, ParseCache, ParsedCase, ParsedSetup, ParsedStatement};
pub use semantics::{AffectedRows, Assignments, ReplaceMethod, Semantics};
pub use session::{Begin, SetLevel};
pub use settings::{SettingChoices, SettingSince, SettingSwitch};
use sql::Rules;
pub use tables::Tables;
pub use variants::variants;

/// What there is to know about a product.
pub struct Dialect {
    pub product: Product,
    /// Its name as its vendor writes it.
    pub title: &'static str,
    pub family: SqlFamily,
    pub arithmetic: Arithmetic,
    pub runs: Hosting,
    /// What the SQL looks like to the parser and the printer.
    pub(crate) grammar: &'static Rules,
    /// What it can do at a version.
    pub capabilities: fn(Product, &Version) -> Capabilities,
    /// The newest version that `capabilities` was written for: what a dialect without a version means.
    pub newest: &'static [u32],
    /// How many parts of a version name its release series.
    pub series_parts: usize,
    /// What it owes at each level; none where nobody has written that down yet.
    pub contract: Option<fn(&ServerInfo) -> Contract>,
    pub semantics: Semantics,
    /// The levels that it really distinguishes.
    pub levels: &'static [Level],
    /// The level of a session that asked for nothing.
    pub default_level: Level,
    /// How a level is set and read back; none where there is nothing to set.
    pub set_level: Option<SetLevel>,
    /// How autocommit is switched off; none where it cannot be.
    pub autocommit_off: Option<&'static str>,
    /// How a transaction begins.
    pub begin: Begin,
    /// What an error means and ends, by code and SQLSTATE.
    pub classify: fn(code: u32, sqlstate: &str) -> (ErrorClass, Ends),
    /// After an error that ended a transaction begun with BEGIN: is a new one open at once?
    pub reopens: fn(&Version) -> bool,
    /// How tables are emptied, listed and dropped.
    pub tables: Tables,
    /// Fetches the warnings of the statement before: level, code and message; none where there are none.
    pub show_warnings: Option<&'static str>,
    /// Is a session like a fresh one after the reset that its protocol offers? Where it is not, it is opened anew.
    pub resets_sessions: fn(&Version) -> bool,
    /// The setting that switches the search for deadlocks off, if one does.
    pub deadlock_search: Option<&'static str>,
    /// The error by which a deadlock's victim hears of it: its number, or its SQLSTATE where people go by that; none where nothing waits.
    pub deadlock_error: Option<&'static str>,
    /// Opens a read view that keeps deleted rows from being purged while a case runs.
    pub hold_view: Option<&'static str>,
    /// Asks how many transactions still have versions to be purged; none where nothing purges by itself.
    pub purge_left: Option<&'static str>,
    /// The quotation mark around names.
    pub quote: char,
    /// Settings that change what the product owes, in the combinations under which it is worth testing.
    pub variants: &'static [&'static [(&'static str, &'static str)]],
    /// Those of these settings that not every version has.
    pub since: &'static [SettingSince],
    /// Those that a swarm draws.
    pub swarm: &'static [SettingChoices],
    /// Those worth turning over; the first that the version has counts.
    pub switches: &'static [SettingSwitch],
    /// How it is looked at after a case.
    pub checks: Checks,
    /// What before a statement asks for its plan as a table with a line for each table, its columns `type`, `key` and `Extra` among others;
    /// none where it says such things in another way.
    pub explain: Option<&'static str>,
    /// The schemas in which it describes itself.
    pub catalogues: &'static [&'static str],
    /// The client that scripts drive; none where there is no server.
    pub client: Option<Client>,
    /// What people type into; none where nobody can.
    pub terminal: Option<Terminal>,
    pub test_tool: Option<TestTool>,
}

impl Dialect {
    /// A name between the product's quotation marks.
    pub fn quoted(&self, name: &str) -> String {
        let q = self.quote;
        format!("{q}{}{q}", name.replace(q, &format!("{q}{q}")))
    }

    /// The release series of a version: `10.11` of 10.11.19, `18` of PostgreSQL 18.1.
    pub fn series(&self, version: &Version) -> Version {
        Version(version.0.iter().copied().take(self.series_parts).collect())
    }

    /// Does a locking read exist?
    pub fn has_locking_reads(&self) -> bool {
        self.grammar.clauses.locking_reads
    }
}

/// The dialect of a product.
pub fn of(product: Product) -> &'static Dialect {
    match product {
        Product::Mysql => &mysql::DIALECT,
        Product::Mariadb => &mariadb::DIALECT,
        Product::Postgres => &postgres::DIALECT,
        Product::Sqlite => &sqlite::DIALECT,
        Product::Reference => &reference::DIALECT,
    }
}
