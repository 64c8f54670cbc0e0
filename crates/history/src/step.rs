//! A step of a case and what came of it.

use dialect::{AccessSet, ParsedStatement};
use model::{
    ErrorClass, Outcome, Reply, RowSet,
    sql::{Query, Statement, StatementKind},
};

use crate::moment::Moment;

#[derive(Clone, Debug)]
pub struct StepInfo<'a> {
    pub session: usize,
    /// None for a text that has no tree.
    pub parsed: Option<&'a ParsedStatement>,
    pub outcome: &'a Outcome,
    /// By index; none if it was never sent.
    pub transaction: Option<usize>,
    pub sent: Moment,
    pub answered: Moment,
    pub waited: bool,
    /// Why it is certain that nothing of it stayed.
    pub undone: Option<UndoneBy>,
    /// For a ROLLBACK TO or RELEASE that succeeded: the step that set the savepoint, if the transaction has one of that name.
    pub savepoint: Option<usize>,
}

/// What took back the work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoneBy {
    /// It failed.
    Error,
    /// This step, a ROLLBACK TO a savepoint before it.
    Savepoint(usize),
    /// The end of its transaction.
    Transaction,
}

impl StepInfo<'_> {
    pub fn statement(&self) -> Option<&Statement> {
        self.parsed.map(ParsedStatement::tree)
    }

    pub fn kind(&self) -> Option<StatementKind> {
        self.parsed.map(|parsed| parsed.kind)
    }

    pub fn is(&self, kind: StatementKind) -> bool {
        self.kind() == Some(kind)
    }

    pub fn writes(&self) -> bool {
        self.kind().is_some_and(StatementKind::writes)
    }

    pub fn access(&self) -> Option<&AccessSet> {
        self.parsed.map(ParsedStatement::access)
    }

    pub fn query(&self) -> Option<&Query> {
        match self.statement() {
            Some(Statement::Query(query)) => Some(query),
            Some(_) | None => None,
        }
    }

    pub fn succeeded(&self) -> bool {
        matches!(self.outcome.reply, Reply::Rows(_) | Reply::Done { .. })
    }

    /// Was it refused because of another transaction?
    pub fn refused(&self) -> bool {
        self.outcome.error().is_some_and(|error| refused_by_others(error.class))
    }

    /// Rows affected; RETURNING gives them as rows.
    pub fn affected(&self) -> u64 {
        match &self.outcome.reply {
            Reply::Rows(rows) => rows.len() as u64,
            Reply::Done { affected, .. } => *affected,
            _ => 0,
        }
    }

    /// Rows matched, where the server says so.
    pub fn matched(&self) -> Option<u64> {
        match self.outcome.reply {
            Reply::Done { matched, .. } => matched,
            _ => None,
        }
    }

    /// What it changed, if it changed rows and did not go back behind that within its transaction.
    pub fn change(&self) -> Option<&AccessSet> {
        let stands = self.affected() > 0 && !matches!(self.undone, Some(UndoneBy::Savepoint(_)));
        self.access().filter(|access| stands && !access.writes.is_empty())
    }
}

impl<'a> StepInfo<'a> {
    pub fn rows(&self) -> Option<&'a RowSet> {
        self.outcome.rows()
    }
}

/// Is this an error that another transaction causes, by waiting, snapshots or locks?
pub fn refused_by_others(class: ErrorClass) -> bool {
    class.by_concurrency() || class == ErrorClass::TableChanged
}
