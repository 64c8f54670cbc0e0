//! Before a case: its tables, its rows, its sessions.
//!
//! Where the whole setup could be parsed it is data, and a case whose tables are there already only has them
//! emptied and filled again. There are two ways to empty a table:
//!
//! * **clean**: TRUNCATE, and a read view held against purge, so that a replay gives the same trace;
//! * **fast**: DELETE, about ten times cheaper, but delete-marked rows and counters stay behind and change later waits.
//!
//! A setup that is not data is run anew each time: everything in our own schema is dropped first.

use std::collections::BTreeSet;

use dialect::{Dialect, sql};
use model::{Case, schema::SetupData};

use crate::{
    ask::{must, text},
    seams::{ConnectError, Session},
};

/// How tables are emptied between cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Nothing of the last case is left.
    Clean,
    /// Nothing of the last case is left, and nothing keeps the server from purging old versions while the case runs.
    Purged,
    /// Cheap; may leave traces of the last case behind.
    Fast,
}

/// What is in our schema now.
#[derive(Debug, Default)]
pub struct Stage {
    /// The DDL that made the tables; none if something unknown is there.
    ddl: Option<Vec<String>>,
    /// Tables that may hold rows or leftovers.
    used: BTreeSet<String>,
    /// Did something that we cannot read run, so that there may be more than tables and views?
    strange: bool,
}

/// What a case needs, worked out once from its text.
#[derive(Debug)]
pub struct Plan {
    /// The setup as data, if it is data.
    pub setup: Option<SetupData>,
    /// Why it is not data.
    pub opaque: Option<String>,
    /// Tables that the setup fills or a step names; everything else stays as it was.
    touched: BTreeSet<String>,
    /// Does a step change the schema, or do something that we cannot read?
    changes_schema: bool,
    /// Is there a step or a setup that we cannot read?
    strange: bool,
    /// Sessions in which a step changes session state, or does something that we cannot read.
    pub changes_session: BTreeSet<usize>,
    /// Does a step change the server for everybody?
    pub changes_server: bool,
}

impl Plan {
    /// Reads the case.
    pub fn new(case: &Case, dialect: &Dialect) -> Plan {
        let (setup, opaque) = match sql::setup(dialect.product, &case.setup.statements) {
            Ok(data) => (Some(data), None),
            Err(why) => (None, Some(why.to_string())),
        };
        let mut plan = Plan {
            strange: setup.is_none(),
            setup,
            opaque,
            touched: BTreeSet::new(),
            changes_schema: false,
            changes_session: BTreeSet::new(),
            changes_server: false,
        };
        for step in &case.steps {
            match sql::parse(dialect.product, &step.sql) {
                sql::Parsed::Tree(statement) => {
                    let facts = sql::facts(&statement);
                    plan.changes_schema |= facts.changes_schema();
                    plan.changes_server |= facts.changes_server;
                    if facts.changes_session || touches_session(&step.sql) {
                        plan.changes_session.insert(step.session);
                    }
                }
                sql::Parsed::Opaque(_) => {
                    (plan.changes_schema, plan.strange) = (true, true);
                    plan.changes_server |=
                        sql::reach(dialect.product, &step.sql).contains(&sql::Reach::Server);
                    plan.changes_session.insert(step.session);
                }
            }
        }
        if let Some(data) = &plan.setup {
            let texts = || data.inserts.iter().chain(case.steps.iter().map(|step| &step.sql));
            let names = data.tables.iter().map(|table| &table.name);
            plan.touched = names.filter(|name| texts().any(|text| mentions(text, name))).cloned().collect();
        }
        plan
    }

    /// The tables whose final state is read, if they are known without asking the server.
    pub fn tables(&self) -> Option<Vec<String>> {
        let data = self.setup.as_ref().filter(|_| !self.changes_schema)?;
        Some(data.tables.iter().map(|table| table.name.clone()).collect())
    }
}

/// Does it call what leaves something in the session beside rows? Too often is harmless: the session is reset.
fn touches_session(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let words =
        [" INTO @", "GET_LOCK", "LAST_INSERT_ID", "PG_ADVISORY", "PG_TRY_ADVISORY", "SET_CONFIG", "NEXTVAL"];
    text.contains(":=") || words.iter().any(|word| text.contains(word))
}

/// Does the text hold the name as a whole word, in whatever case? Too often is harmless here: a table is emptied for
/// nothing.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    text.match_indices(&name).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(word)
            && !text[at + name.len()..].chars().next().is_some_and(word)
    })
}

impl Stage {
    /// Forgets what is there, so that the next case builds everything anew.
    pub fn forget(&mut self) {
        self.ddl = None;
    }

    /// Brings tables and rows to what the case begins with. True if the tables were built anew.
    pub fn set(
        &mut self,
        session: &mut dyn Session,
        dialect: &Dialect,
        case: &Case,
        plan: &Plan,
        reset: Reset,
    ) -> Result<bool, ConnectError> {
        let mut built = false;
        match &plan.setup {
            Some(data) if self.ddl.as_ref() == Some(&data.ddl) && can_empty(data, dialect, reset) => {
                self.empty(session, dialect, reset)?;
                for insert in &data.inserts {
                    must(session, insert)?;
                }
            }
            _ => {
                self.ddl = None;
                drop_all(session, dialect, self.strange)?;
                self.strange = plan.strange;
                for statement in &case.setup.statements {
                    must(session, statement)?;
                }
                self.ddl = plan.setup.as_ref().map(|data| data.ddl.clone());
                built = true;
            }
        }
        self.strange |= plan.strange;
        self.used = plan.touched.clone();
        if plan.changes_schema {
            self.ddl = None;
        }
        Ok(built)
    }

    fn empty(&self, session: &mut dyn Session, dialect: &Dialect, reset: Reset) -> Result<(), ConnectError> {
        let how = match reset {
            Reset::Clean | Reset::Purged => dialect.tables.empty_clean,
            Reset::Fast => dialect.tables.empty_fast,
        };
        for table in &self.used {
            must(session, &how.replace("{}", &dialect.quoted(table)))?;
        }
        Ok(())
    }
}

/// TRUNCATE refuses tables with foreign keys, DELETE would need an order: those are built anew. So are tables
/// with a counter that would go on after a clean reset.
fn can_empty(data: &SetupData, dialect: &Dialect, reset: Reset) -> bool {
    let counts =
        |ddl: &String| dialect.tables.counter.is_some_and(|word| ddl.to_ascii_uppercase().contains(word));
    data.tables.iter().all(|table| !table.foreign_keys)
        && (reset == Reset::Fast || !data.ddl.iter().any(counts))
}

/// Drops everything in our own schema, and nothing else; `more` than tables and views only if there may be some.
pub fn drop_all(session: &mut dyn Session, dialect: &Dialect, more: bool) -> Result<(), ConnectError> {
    if let (true, Some(list)) = (more, dialect.tables.list_more) {
        let found = must(session, list)?;
        for row in 0..found.len() {
            let (name, kind) = (dialect.quoted(&text(&found, row, 0)), text(&found, row, 1));
            let name = name + &text(&found, row, 2);
            must(session, &dialect.tables.drop(&kind, &name))?;
        }
    }
    let found = must(session, dialect.tables.list)?;
    if found.is_empty() {
        return Ok(());
    }
    if let Some(before) = dialect.tables.before_drop {
        must(session, before)?;
    }
    for row in 0..found.len() {
        let kind = if text(&found, row, 1) == "VIEW" { "VIEW" } else { "TABLE" };
        must(session, &dialect.tables.drop(kind, &dialect.quoted(&text(&found, row, 0))))?;
    }
    if let Some(after) = dialect.tables.after_drop {
        must(session, after)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(mentions("UPDATE t SET a = 1", "t"));
        assert!(mentions("SELECT * FROM `t`", "t"));
        assert!(mentions("UPDATE T SET a = 1", "t"));
        assert!(!mentions("UPDATE tt SET a = 1", "t"));
        assert!(!mentions("UPDATE t2 SET a = 1", "t"));
    }
}
