//! What a case needs, worked out from its text: its tables as data, and what its steps may change beside rows.
//!
//! A hunt runs the same statements in many orders, and hundreds of cases on the same tables. So what was worked out is kept: for
//! the setup until another one comes, and for each statement as long as the setup is the same.

use std::{collections::HashMap, sync::Arc};

use dialect::{Dialect, ParsedCase, ParsedSetup, ParsedStatement, sql};
use model::{schema::SetupData, sql::Statement};

/// A setup that is data, and what follows from it.
#[derive(Debug)]
pub struct Tables {
    pub data: SetupData,
    /// Is there a foreign key?
    pub foreign_keys: bool,
    /// Is there a counter that a clean reset does not set back?
    pub counters: bool,
    /// For each table: does the setup fill it?
    filled: Vec<bool>,
    /// For each table: its name between quotation marks, and the query that reads all of it.
    pub names: Vec<(String, String)>,
}

/// What a case needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The setup as data, if it is data.
    pub setup: Option<Arc<Tables>>,
    /// Why it is not data.
    pub opaque: Option<String>,
    /// For each table: does the setup fill it, or a step name it? Everything else stays as it was.
    pub(crate) touched: Vec<bool>,
    /// Does a step change the schema, or do something that we cannot read?
    pub(crate) changes_schema: bool,
    /// Is there a step or a setup that we cannot read?
    pub(crate) strange: bool,
    /// Sessions in which a step changes session state, or does something that we cannot read.
    pub changes_session: Vec<usize>,
    /// Does a step change the server for everybody?
    pub changes_server: bool,
}

impl Plan {
    /// The tables whose final state is read, with the query, if they are known without asking the server.
    pub(crate) fn tables(&self) -> Option<Vec<(String, String)>> {
        let tables = self.setup.as_ref().filter(|_| !self.changes_schema)?;
        let names = tables.data.tables.iter().zip(&tables.names);
        Some(names.map(|(table, (_, query))| (table.name.clone(), query.clone())).collect())
    }
}

/// What is worth knowing of a step.
#[derive(Clone, Debug, Default)]
struct Facts {
    changes_schema: bool,
    changes_server: bool,
    changes_session: bool,
    strange: bool,
    /// The tables that it names, by position.
    names: Vec<usize>,
}

/// At most this many statements are kept; a setup rarely sees as many.
const REMEMBERED: usize = 10_000;

/// Makes plans, and keeps what it has worked out for the setup at hand.
#[derive(Debug, Default)]
pub(crate) struct Planner {
    of: Option<Arc<ParsedSetup>>,
    setup: Option<Result<Arc<Tables>, String>>,
    steps: HashMap<String, Facts>,
}

impl Planner {
    pub fn plan(&mut self, case: &ParsedCase, dialect: &Dialect) -> Plan {
        let same = |of: &Arc<ParsedSetup>| Arc::ptr_eq(of, &case.parsed_setup) || *of == case.parsed_setup;
        if !self.of.as_ref().is_some_and(same) {
            self.of = Some(case.parsed_setup.clone());
            self.setup = Some(read_setup(&case.parsed_setup, dialect));
            self.steps.clear();
        }
        if self.steps.len() > REMEMBERED {
            self.steps.clear();
        }
        let (setup, opaque) = match &self.setup {
            Some(Ok(tables)) => (Some(tables.clone()), None),
            Some(Err(why)) => (None, Some(why.clone())),
            None => (None, None),
        };
        let touched = setup.as_ref().map(|tables| tables.filled.clone()).unwrap_or_default();
        let mut plan = Plan {
            strange: setup.is_none(),
            setup,
            opaque,
            touched,
            changes_schema: false,
            changes_session: Vec::new(),
            changes_server: false,
        };
        for (step, parsed) in case.steps.iter().zip(&case.statements) {
            if !self.steps.contains_key(&step.sql) {
                let facts = read_step(
                    &step.sql,
                    parsed.as_deref().map(ParsedStatement::tree),
                    plan.setup.as_deref(),
                    dialect,
                );
                self.steps.insert(step.sql.clone(), facts);
            }
            let facts = &self.steps[&step.sql];
            plan.changes_schema |= facts.changes_schema;
            plan.changes_server |= facts.changes_server;
            plan.strange |= facts.strange;
            if facts.changes_session && !plan.changes_session.contains(&step.session) {
                plan.changes_session.push(step.session);
            }
            facts.names.iter().for_each(|&table| plan.touched[table] = true);
        }
        plan
    }
}

fn read_setup(setup: &ParsedSetup, dialect: &Dialect) -> Result<Arc<Tables>, String> {
    let data = setup.data.clone().map_err(|why| why.to_string())?;
    let counts =
        |ddl: &String| dialect.tables.counter.is_some_and(|word| ddl.to_ascii_uppercase().contains(word));
    let names = data.tables.iter().map(|table| dialect.quoted(&table.name));
    let lower: Vec<String> = data.inserts.iter().map(|insert| insert.to_lowercase()).collect();
    Ok(Arc::new(Tables {
        foreign_keys: data.tables.iter().any(|table| table.foreign_keys),
        counters: data.ddl.iter().any(counts),
        filled: data
            .tables
            .iter()
            .map(|table| lower.iter().any(|insert| mentions(insert, &table.name)))
            .collect(),
        names: names.map(|name| (name.clone(), format!("SELECT * FROM {name}"))).collect(),
        data,
    }))
}

fn read_step(text: &str, tree: Option<&Statement>, tables: Option<&Tables>, dialect: &Dialect) -> Facts {
    let mut facts = match tree {
        Some(statement) => {
            let facts = sql::facts(statement);
            Facts {
                changes_schema: facts.changes_schema(),
                changes_server: facts.changes_server,
                changes_session: facts.changes_session || touches_session(text),
                ..Facts::default()
            }
        }
        None => Facts {
            changes_schema: true,
            strange: true,
            changes_server: sql::reach(dialect.product, text).contains(&sql::Reach::Server),
            changes_session: true,
            ..Facts::default()
        },
    };
    if let Some(tables) = tables {
        let lower = text.to_lowercase();
        let names = tables.data.tables.iter().enumerate();
        facts.names = names.filter(|(_, table)| mentions(&lower, &table.name)).map(|(i, _)| i).collect();
        // What a foreign key does to other tables no text says.
        if tables.foreign_keys && !facts.names.is_empty() {
            facts.names = (0..tables.data.tables.len()).collect();
        }
    }
    facts
}

/// Does it call what leaves something in the session beside rows? Too often is harmless: the session is reset.
fn touches_session(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let words =
        [" INTO @", "GET_LOCK", "LAST_INSERT_ID", "PG_ADVISORY", "PG_TRY_ADVISORY", "SET_CONFIG", "NEXTVAL"];
    text.contains(":=") || words.iter().any(|word| text.contains(word))
}

/// Does the text, which is in lower case, hold the name as a whole word? Too often is harmless here: a table is emptied for
/// nothing.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let name = name.to_lowercase();
    text.match_indices(&name).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(word)
            && !text[at + name.len()..].chars().next().is_some_and(word)
    })
}

#[cfg(test)]
mod tests {
    use model::{Case, Product, SessionSpec, Setup, Step};

    use super::*;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(mentions("update t set a = 1", "t"));
        assert!(mentions("select * from `t`", "t"));
        assert!(mentions("update t set a = 1", "T"));
        assert!(!mentions("update tt set a = 1", "t"));
        assert!(!mentions("update t2 set a = 1", "t"));
    }

    fn case(setup: &[&str], steps: &[&str]) -> Arc<ParsedCase> {
        let case = Case {
            sessions: vec![SessionSpec::plain("T1")],
            setup: Setup { statements: setup.iter().map(|text| text.to_string()).collect() },
            steps: steps
                .iter()
                .map(|sql| Step { session: 0, sql: sql.to_string(), expect: Vec::new() })
                .collect(),
            ..Case::default()
        };
        ParsedCase::new(Product::Mysql, case)
    }

    #[test]
    fn what_is_remembered_belongs_to_its_setup() {
        let dialect = dialect::of(Product::Mysql);
        let mut planner = Planner::default();
        let two = ["CREATE TABLE t(a INT)", "CREATE TABLE u(a INT)", "INSERT INTO t VALUES (1)"];
        assert_eq!(planner.plan(&case(&two, &["SELECT * FROM t"]), dialect).touched, [true, false]);
        assert_eq!(planner.plan(&case(&two, &["SELECT * FROM u"]), dialect).touched, [true, true]);
        let one = ["CREATE TABLE u(a INT)"];
        assert_eq!(planner.plan(&case(&one, &["SELECT * FROM u"]), dialect).touched, [true]);
        assert_eq!(planner.plan(&case(&one, &["SELECT 1"]), dialect).touched, [false]);
        assert!(planner.plan(&case(&["CREATE VIEW v AS SELECT 1"], &["SELECT 1"]), dialect).setup.is_none());
    }

    #[test]
    fn a_foreign_key_may_change_every_table() {
        let setup =
            ["CREATE TABLE p(a INT PRIMARY KEY)", "CREATE TABLE c(a INT, FOREIGN KEY (a) REFERENCES p(a))"];
        let plan = Planner::default().plan(&case(&setup, &["DELETE FROM p"]), dialect::of(Product::Mysql));
        assert_eq!(plan.touched, [true, true]);
    }
}
