//! Before a case: its tables and its rows.
//!
//! Where the whole setup could be parsed it is data, and a case whose tables are there already only has them
//! emptied and filled again. There are four ways to bring them back:
//!
//! * **clean**: TRUNCATE, and a read view held against purge, so that a replay gives the same trace;
//! * **rebuilt**: the same, with tables that are dropped and made anew each time. TRUNCATE makes the indexes of a table anew in an order
//!   of its own, and what depends on how a table came to be (an index or a column that was added later) is gone after it;
//! * **truncated**: the same, with tables that are emptied after they were made, each time;
//! * **fast**: DELETE, about ten times cheaper, but delete-marked rows and counters stay behind and change later waits.
//!
//! Children are emptied before their parents; where that is not enough (a row that refers to its own table), the session that does
//! it does not look at foreign keys. A setup that is not data is run anew each time: everything in our own schema is dropped first.
//!
//! Tables with an index that came after their rows are made anew by every way but the fast one, and by that one now and then:
//! making tables takes a server some hundred times as long as the case itself.

use std::sync::Arc;

use dialect::Dialect;
use model::Case;

use crate::{
    ask::{must, text},
    plan::{Plan, Tables},
    seams::{ConnectError, Session},
};

/// How tables are emptied between cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Nothing of the last case is left.
    Clean,
    /// Nothing of the last case is left, and nothing keeps the server from purging old versions while the case runs.
    Purged,
    /// Nothing of the last case is left, and the tables have been emptied since they were made.
    Truncated,
    /// Nothing of the last case is left, and the tables are made anew by the setup as it is written.
    Rebuilt,
    /// Cheap; may leave traces of the last case behind.
    Fast,
}

/// Tables with an index that came after their rows are filled again so often before they are made anew.
const FILLED_AGAIN: u32 = 15;

/// What is in our schema now.
#[derive(Debug, Default)]
pub struct PreparedSchema {
    /// The tables that are there; none if something unknown is.
    tables: Option<Arc<Tables>>,
    /// For each of them: may it hold rows or leftovers?
    used: Vec<bool>,
    /// Did something that we cannot read run, so that there may be more than tables and views?
    strange: bool,
    /// Does our session not look at foreign keys now?
    relaxed: bool,
    /// How often the tables were filled again since they were made.
    filled: u32,
}

impl PreparedSchema {
    /// Forgets what is there, so that the next case builds everything anew.
    pub fn forget(&mut self) {
        self.tables = None;
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
        let worn = |tables: &Tables| tables.data.late_index && self.filled >= FILLED_AGAIN;
        let fits = |tables: &&Arc<Tables>| self.has(tables) && can_empty(tables, reset) && !worn(tables);
        let there = plan.setup.as_ref().filter(fits);
        let built = there.is_none();
        match there {
            Some(tables) => self.refill(session, dialect, tables, reset)?,
            None => {
                self.build(session, dialect, case, plan)?;
                let emptied = plan.setup.as_ref().filter(|tables| can_empty(tables, reset));
                if let (Reset::Truncated, Some(tables)) = (reset, emptied) {
                    self.used.clear();
                    self.refill(session, dialect, tables, reset)?;
                }
            }
        }
        self.strange |= plan.strange;
        self.used.clone_from(&plan.touched);
        if plan.changes_schema {
            self.tables = None;
        }
        Ok(built)
    }

    /// Are these the tables that are there? Refilling does not look at foreign keys, so rows that were not there when the tables
    /// were built are put in by building them anew.
    fn has(&self, tables: &Arc<Tables>) -> bool {
        self.tables.as_ref().is_some_and(|own| {
            let rows = !tables.foreign_keys || own.data.inserts == tables.data.inserts;
            Arc::ptr_eq(own, tables) || rows && own.data.ddl == tables.data.ddl
        })
    }

    fn build(
        &mut self,
        session: &mut dyn Session,
        dialect: &Dialect,
        case: &Case,
        plan: &Plan,
    ) -> Result<(), ConnectError> {
        self.tables = None;
        if let (true, Some(strict)) = (self.relaxed, dialect.tables.after_drop) {
            must(session, strict)?;
            self.relaxed = false;
        }
        drop_all(session, dialect, self.strange)?;
        self.strange = plan.strange;
        for statement in &case.setup.statements {
            must(session, statement)?;
        }
        self.tables.clone_from(&plan.setup);
        self.filled = 0;
        Ok(())
    }

    /// Empties and fills tables that are there.
    fn refill(
        &mut self,
        session: &mut dyn Session,
        dialect: &Dialect,
        tables: &Tables,
        reset: Reset,
    ) -> Result<(), ConnectError> {
        self.filled += 1;
        // Both words, or the session would stay as it is for ever.
        if let (true, false, Some(relax), Some(_)) =
            (tables.foreign_keys, self.relaxed, dialect.tables.before_drop, dialect.tables.after_drop)
        {
            must(session, relax)?;
            self.relaxed = true;
        }
        let mut statements = self.emptying(dialect, tables, reset);
        statements.extend(tables.data.inserts.iter().cloned());
        if dialect.tables.joins && statements.len() > 1 {
            must(session, &statements.join("; "))?;
            return Ok(());
        }
        statements.iter().try_for_each(|statement| must(session, statement).map(|_| ()))
    }

    /// The statements that empty what may not be empty, children first.
    fn emptying(&self, dialect: &Dialect, tables: &Tables, reset: Reset) -> Vec<String> {
        let how = match reset {
            Reset::Clean | Reset::Purged | Reset::Truncated | Reset::Rebuilt => dialect.tables.empty_clean,
            Reset::Fast => dialect.tables.empty_fast,
        };
        let listed = dialect.tables.lists && reset != Reset::Fast;
        // TRUNCATE of a list must name all that refer to each other.
        let used = |i: usize| self.used.get(i).copied().unwrap_or(true) || listed && tables.foreign_keys;
        let names = (0..tables.names.len()).rev().filter(|&i| used(i)).map(|i| tables.names[i].0.as_str());
        if listed {
            let names: Vec<&str> = names.collect();
            return if names.is_empty() { Vec::new() } else { vec![how.replace("{}", &names.join(", "))] };
        }
        names.map(|name| how.replace("{}", name)).collect()
    }
}

/// Tables with a counter that would go on after a clean reset, or with an index that came after their rows, are built anew.
fn can_empty(tables: &Tables, reset: Reset) -> bool {
    match reset {
        Reset::Fast => true,
        Reset::Clean | Reset::Purged | Reset::Truncated => !tables.counters && !tables.data.late_index,
        Reset::Rebuilt => false,
    }
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
