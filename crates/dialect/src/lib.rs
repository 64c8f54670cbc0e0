//! How the databases differ, as data: one folder per product, the same questions answered in each.
//!
//! [`of`] gives the [`Dialect`] of a product: how a level is set and read back, how a transaction begins,
//! what an error code means and what it ends, how tables are emptied. Nothing here talks to a server.

pub mod capabilities;
pub mod checks;
pub mod contract;
pub mod guard;
pub mod mariadb;
pub mod mysql;
pub mod postgres;
pub mod reference;
pub mod sql;
pub mod sqlite;

pub use capabilities::{Capabilities, capabilities, newest};
pub use checks::Checks;
use model::{Ends, ErrorClass, Level, Product, Version};

/// What the executor and the printers need to know about a product.
pub struct Dialect {
    /// The product.
    pub product: Product,
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
    /// Opens a read view that keeps deleted rows from being purged while a case runs.
    pub hold_view: Option<&'static str>,
    /// Asks how many transactions still have versions to be purged; none where nothing purges by itself.
    pub purge_left: Option<&'static str>,
    /// The quotation mark around names.
    pub quote: char,
    /// Settings that change what the product owes, in the combinations under which it is worth testing.
    pub variants: &'static [&'static [(&'static str, &'static str)]],
    /// Those of these settings that not every version has.
    pub since: &'static [Since],
    /// How it is looked at after a case.
    pub checks: Checks,
    /// What before a statement asks for its plan as a table with a line for each table, its columns `type`, `key` and `Extra` among others;
    /// none where it says such things in another way.
    pub explain: Option<&'static str>,
}

/// A setting that came with a later version.
pub struct Since {
    /// Its name.
    pub setting: &'static str,
    /// The first release with it in each branch that got one, oldest first. Branches after the last have it from their
    /// beginning; all others never got it.
    pub releases: &'static [[u32; 3]],
    /// The value of which a version without it behaves.
    pub without: &'static str,
}

/// How a level is set in a session and how the session is asked for it.
pub struct SetLevel {
    /// The statement that sets it.
    pub set: fn(Level) -> String,
    /// The query that reads it back.
    pub read: fn(&Version) -> &'static str,
    /// What that query answers at a level.
    pub answer: fn(Level) -> String,
}

/// The three ways to begin.
pub struct Begin {
    /// Plain.
    pub plain: &'static str,
    /// With a snapshot taken at once.
    pub snapshot: Option<&'static str>,
    /// Read only.
    pub read_only: Option<&'static str>,
}

/// How tables are emptied, listed and dropped.
pub struct Tables {
    /// Leaves nothing of the old rows behind; the name stands at `{}`.
    pub empty_clean: &'static str,
    /// Does `empty_clean` take several names at once?
    pub lists: bool,
    /// May several statements be sent as one, with semicolons between them? They are one transaction then.
    pub joins: bool,
    /// The word in a definition that makes a counter which `empty_clean` does not set back.
    pub counter: Option<&'static str>,
    /// Cheap; old versions and counters may stay behind.
    pub empty_fast: &'static str,
    /// Lists the tables and views of our own schema: name, and whether it is a view (`VIEW`).
    pub list: &'static str,
    /// Lists what else a schema of ours may hold: name, its kind as DROP names it, and what DROP wants behind the
    /// name (the arguments of a function, where several may have one name).
    pub list_more: Option<&'static str>,
    /// Drops one of them; its kind stands at `{kind}` and its name at `{name}`. Where dropping one can take others with
    /// it, it does not mind what is gone already.
    pub drop: &'static str,
    /// Before dropping tables in any order.
    pub before_drop: Option<&'static str>,
    /// After it.
    pub after_drop: Option<&'static str>,
}

impl Tables {
    /// The statement that drops something of this kind. The name is in quotes already.
    pub fn drop(&self, kind: &str, name: &str) -> String {
        self.drop.replace("{kind}", kind).replace("{name}", name)
    }
}

impl Dialect {
    /// A name between the product's quotation marks.
    pub fn quoted(&self, name: &str) -> String {
        let q = self.quote;
        format!("{q}{}{q}", name.replace(q, &format!("{q}{q}")))
    }

    /// If this version does not have the setting yet: the value of which it behaves.
    pub fn lacks(&self, version: &Version, setting: &str) -> Option<&'static str> {
        let since = self.since.iter().find(|since| since.setting == setting)?;
        let branch = |release: &&[u32; 3]| version.cmp_prefix(&Version(release[..2].to_vec())).is_eq();
        let has = match (since.releases.iter().find(branch), since.releases.last()) {
            (Some(first), _) => version.cmp_prefix(&Version(first.to_vec())).is_ge(),
            (None, Some(last)) => version.cmp_prefix(&Version(last.to_vec())).is_gt(),
            (None, None) => false,
        };
        (!has).then_some(since.without)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_comes_with_a_release_of_each_branch() {
        let lacks = |version: &str| {
            mariadb::DIALECT.lacks(&version.parse().unwrap(), "innodb_snapshot_isolation").is_some()
        };
        for version in ["10.1.23", "10.2.11", "10.5.23", "10.6.17", "10.7.8", "10.11.5", "10.11.7", "11.4.1"]
        {
            assert!(lacks(version), "{version}");
        }
        for version in ["10.6.18", "10.11.8", "10.11.19", "11.4.2", "11.4.5", "11.6.1", "11.8.2", "12.0.1"] {
            assert!(!lacks(version), "{version}");
        }
        assert_eq!(mariadb::DIALECT.lacks(&Version(vec![10, 1, 23]), "log_bin"), None);
        assert_eq!(mysql::DIALECT.lacks(&Version(vec![5, 6, 24]), "log_bin"), None);
    }
}
