//! The answer of a statement in the case against its answer alone.

use std::collections::BTreeMap;

use model::{ErrorClass, Outcome, Reason, Reply, RowSet, Symptom, sql::StatementKind};

/// How two answers compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerComparison {
    /// They say the same.
    Same,
    /// They differ, in this.
    Differ(Symptom),
    /// They differ in a way that the path to the rows can explain.
    Unsure(Reason),
}

/// Compares what came with what should have come; `part`: it may be a part of that.
pub fn compare(
    kind: Option<StatementKind>,
    came: &Outcome,
    should: &Outcome,
    part: bool,
) -> AnswerComparison {
    let reply = match (&came.reply, &should.reply) {
        (Reply::Rows(came), Reply::Rows(should)) if !kinds(came).eq(kinds(should)) => {
            AnswerComparison::Differ(Symptom::WrongTypes)
        }
        (Reply::Rows(came), Reply::Rows(should)) if part && within(came, should) => {
            return AnswerComparison::Same;
        }
        (Reply::Rows(came), Reply::Rows(should)) if came.same_rows(should) => AnswerComparison::Same,
        (Reply::Rows(_), Reply::Rows(_)) => AnswerComparison::Differ(Symptom::WrongRows),
        (Reply::Done { affected: a, matched: m }, Reply::Done { affected: b, matched: n }) => {
            let matched = matches!((m, n), (Some(m), Some(n)) if m != n);
            if a != b || matched {
                AnswerComparison::Differ(Symptom::WrongCount)
            } else {
                AnswerComparison::Same
            }
        }
        (Reply::Error(came), Reply::Error(should)) if came.class == should.class => AnswerComparison::Same,
        // Which of two mistakes is met first depends on the path.
        (Reply::Error(_), Reply::Error(_)) => AnswerComparison::Unsure(Reason::WhichError),
        (Reply::Error(error), success) | (success, Reply::Error(error)) => {
            one_error(kind, error.class, success)
        }
        _ => AnswerComparison::Differ(Symptom::WrongAnswer),
    };
    if reply == AnswerComparison::Same && codes(came) != codes(should) {
        return AnswerComparison::Unsure(Reason::Warnings);
    }
    reply
}

/// Are these rows among those, each at most as often?
fn within(some: &RowSet, all: &RowSet) -> bool {
    let mut counts: BTreeMap<Vec<Option<&[u8]>>, i64> = BTreeMap::new();
    for (rows, by) in [(all, 1), (some, -1)] {
        for row in 0..rows.len() {
            let cells = (0..rows.columns().len()).map(|column| rows.cell(row, column)).collect();
            *counts.entry(cells).or_default() += by;
        }
    }
    counts.values().all(|count| *count >= 0)
}

/// One failed and the other did not. A key that is taken on the way of many rows may be free on another way, and what
/// cannot be computed for a row is not met on a path that does not touch it.
fn one_error(kind: Option<StatementKind>, class: ErrorClass, success: &Reply) -> AnswerComparison {
    let several = match success {
        Reply::Done { affected, matched } => (*affected).max(matched.unwrap_or(0)) > 1,
        _ => false,
    };
    match class {
        ErrorClass::DuplicateKey if kind != Some(StatementKind::Insert) && several => {
            AnswerComparison::Unsure(Reason::ScanOrder)
        }
        ErrorClass::DuplicateKey | ErrorClass::Constraint => AnswerComparison::Differ(Symptom::WrongError),
        ErrorClass::Range | ErrorClass::Runtime | ErrorClass::Other => {
            AnswerComparison::Unsure(Reason::ErrorOnTheWay)
        }
        ErrorClass::Syntax
        | ErrorClass::Deadlock
        | ErrorClass::LockTimeout
        | ErrorClass::SerializationFailure
        | ErrorClass::WriteConflict
        | ErrorClass::Busy
        | ErrorClass::ReadOnly
        | ErrorClass::TableChanged
        | ErrorClass::Interrupted
        | ErrorClass::GoneAway
        | ErrorClass::Denied
        | ErrorClass::Internal => AnswerComparison::Unsure(Reason::OtherError),
    }
}

fn kinds(rows: &RowSet) -> impl Iterator<Item = model::Kind> + '_ {
    rows.columns().iter().map(|column| column.kind)
}

/// The numbers of the warnings, each once: how often one comes depends on how many rows are looked at.
fn codes(outcome: &Outcome) -> Vec<u32> {
    let mut codes: Vec<u32> = outcome.warnings.iter().map(|warning| warning.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Do these rows, each with what it holds, equal what was read?
pub fn same_table(rows: &[&[Option<Vec<u8>>]], read: &RowSet) -> bool {
    let mut counts: BTreeMap<Vec<Option<&[u8]>>, i64> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.iter().map(|cell| cell.as_deref()).collect()).or_default() += 1;
    }
    for row in 0..read.len() {
        let cells = (0..read.columns().len()).map(|column| read.cell(row, column)).collect();
        *counts.entry(cells).or_default() -= 1;
    }
    counts.values().all(|count| *count == 0)
}
