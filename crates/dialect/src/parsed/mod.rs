//! A case together with its syntax trees: parsed once, and handed on to whoever runs, judges or reduces it.
//!
//! The executor makes it and gives it back with the trace; what comes from a file is parsed by [`ParsedCase::new`]. A hunt runs the
//! same statements in many orders and hundreds of cases on the same tables, so a [`ParseCache`] shares the trees between cases:
//! the same text is the same tree in memory, and what others work out about a tree they may keep by its address.

mod access;
mod cache;
mod execution;
mod statement;

use std::{ops::Deref, sync::Arc};

use model::{
    Case, Level, Product,
    schema::SetupData,
    sql::{Statement, StatementKind, creates_program},
    verdict::Reason,
};

use crate::{
    guard::StatementPlace,
    outside,
    sql::{self, Opaque, Schema},
};

pub use access::AccessSet;
pub use cache::ParseCache;
pub use execution::Execution;
pub use statement::ParsedStatement;

/// A case and its trees. It reads as the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCase {
    case: Case,
    /// Whose grammar it was parsed by.
    pub product: Product,
    /// Of each step; none for a text that has no tree.
    pub statements: Vec<Option<Arc<ParsedStatement>>>,
    pub parsed_setup: Arc<ParsedSetup>,
}

/// A setup and its trees.
#[derive(Debug, PartialEq, Eq)]
pub struct ParsedSetup {
    pub product: Product,
    pub texts: Vec<String>,
    /// None for a text that has no tree.
    pub statements: Vec<Option<Arc<ParsedStatement>>>,
    /// The tables that it makes, if it makes and fills nothing else; else why not.
    pub schema: Result<Schema, Opaque>,
    /// The same as data for resets, if its tables can be emptied and filled again; else why not.
    pub data: Result<SetupData, Opaque>,
}

impl ParsedCase {
    /// Parses a case by itself.
    pub fn new(product: Product, case: Case) -> Arc<ParsedCase> {
        ParseCache::new(product).case(case)
    }

    pub fn case(&self) -> &Case {
        &self.case
    }

    /// The tree of a step.
    pub fn tree(&self, step: usize) -> Option<&Statement> {
        self.statements[step].as_deref().map(ParsedStatement::tree)
    }

    /// What of it reaches outside of the database first, and where.
    pub fn outside(&self) -> Option<(StatementPlace, String)> {
        let of = |place: StatementPlace, text: &str, statement: &Option<Arc<ParsedStatement>>| {
            let why = match statement {
                Some(statement) => statement.outside(self.product).map(str::to_string),
                None => outside::of_text(self.product, text),
            };
            why.map(|why| (place, why))
        };
        let setup = self.parsed_setup.texts.iter().zip(&self.parsed_setup.statements).enumerate();
        let mut setup = setup.map(|(at, (text, statement))| of(StatementPlace::Setup(at), text, statement));
        let steps = self.case.steps.iter().zip(&self.statements).enumerate();
        let mut steps =
            steps.map(|(at, (step, statement))| of(StatementPlace::Step(at), &step.sql, statement));
        setup.find_map(|found| found).or_else(|| steps.find_map(|found| found))
    }

    pub fn kind(&self, step: usize) -> Option<StatementKind> {
        self.statements[step].as_deref().map(|statement| statement.kind)
    }

    /// The same case with every session at this level; no statement changes.
    pub fn set_level(&mut self, level: Level) {
        self.case.sessions.iter_mut().for_each(|session| session.level = Some(level));
    }

    /// The same case with one more note; no statement changes.
    pub fn add_note(&mut self, note: String) {
        self.case.notes.push(note);
    }
}

impl Deref for ParsedCase {
    type Target = Case;

    fn deref(&self) -> &Case {
        &self.case
    }
}

impl ParsedSetup {
    fn new(product: Product, texts: &[String], statements: Vec<Option<Arc<ParsedStatement>>>) -> ParsedSetup {
        let trees = statements.iter().map(|statement| statement.as_deref().map(ParsedStatement::tree));
        let (schema, data) = sql::read_setup(product, texts, trees);
        ParsedSetup { product, texts: texts.to_vec(), statements, schema, data }
    }

    /// Why an oracle that must know its tables cannot tell, where they could not be read.
    pub fn unread(&self) -> Reason {
        let programs = self
            .statements
            .iter()
            .zip(&self.texts)
            .any(|(tree, text)| tree.is_none() && creates_program(text));
        if programs { Reason::StoredProgram } else { Reason::SetupNotRead }
    }

    pub fn trees(&self) -> impl Iterator<Item = Option<&Statement>> {
        self.statements.iter().map(|statement| statement.as_deref().map(ParsedStatement::tree))
    }
}

#[cfg(test)]
mod tests {
    use model::{SessionSpec, Setup, Step};

    use super::*;

    fn case(steps: &[&str]) -> Case {
        let step = |sql: &&str| Step { session: 0, sql: sql.to_string(), expect: Vec::new() };
        Case {
            sessions: vec![SessionSpec::plain("T1")],
            setup: Setup { statements: vec!["CREATE TABLE t(a INT)".into()] },
            steps: steps.iter().map(step).collect(),
            ..Case::default()
        }
    }

    #[test]
    fn a_case_has_a_tree_and_a_kind_for_each_step_that_can_be_read() {
        let parsed = ParsedCase::new(Product::Mysql, case(&["BEGIN", "FROB t", "SELECT a FROM t"]));
        let kinds = [0, 1, 2].map(|step| parsed.kind(step));
        assert_eq!(kinds, [Some(StatementKind::Begin), None, Some(StatementKind::Select)]);
        assert!((0..3).all(|step| parsed.tree(step).map(Statement::kind) == kinds[step]));
        assert_eq!(parsed.parsed_setup.data.as_ref().unwrap().tables[0].name, "t");
        assert_eq!(parsed.steps.len(), 3);
    }

    #[test]
    fn cases_of_one_cache_share_their_trees_and_their_setup() {
        let mut cache = ParseCache::new(Product::Mysql);
        let one = cache.case(case(&["SELECT a FROM t", "COMMIT"]));
        let other = cache.case(case(&["COMMIT", "SELECT a FROM t"]));
        let same = |a: &Option<Arc<ParsedStatement>>, b: &Option<Arc<ParsedStatement>>| {
            Arc::ptr_eq(a.as_ref().unwrap(), b.as_ref().unwrap())
        };
        assert!(
            same(&one.statements[0], &other.statements[1]) && same(&one.statements[1], &other.statements[0])
        );
        assert!(Arc::ptr_eq(&one.parsed_setup, &other.parsed_setup));
        let mut moved = case(&["COMMIT"]);
        moved.setup.statements.push("INSERT INTO t VALUES (1)".into());
        assert_eq!(cache.case(moved).parsed_setup.data.as_ref().unwrap().inserts.len(), 1);
    }

    #[test]
    fn with_or_without_a_cache_the_same_is_parsed() {
        let texts: Vec<String> = (0..3 * cache::TEXTS).map(|i| format!("SELECT {i} FROM t")).collect();
        let mut cache = ParseCache::new(Product::Mysql);
        for texts in texts.chunks(500) {
            let case = case(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(cache.case(case.clone()), ParsedCase::new(Product::Mysql, case));
        }
    }
}
