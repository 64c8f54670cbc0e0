//! Expected against actual: the two answers of the step that is wrong, row by row, with the rows that only one of them has.

use model::{
    Reply, RowSet,
    verdict::{Response, evidence::Table},
};
use serde::Serialize;

use crate::{answers, bug_report::BugReport, text};

/// Two answers side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    pub about: About,
    /// The names of the columns, where both are rows of that many.
    pub columns: Vec<String>,
    /// What should have come; none where nobody says so.
    pub expected: Option<Side>,
    pub actual: Side,
}

/// What a comparison is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A step, from 0.
    Step(usize),
    /// A table in the end.
    Table(String),
    /// The run as a whole.
    Run,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Rows, each with whether the other side has it, too.
    Rows(Vec<AnswerRow>),
    /// Anything else, in words.
    Words(String),
}

/// A row of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AnswerRow {
    /// As SQL writes them.
    pub cells: Vec<String>,
    /// Does only this side have it?
    #[serde(skip)]
    pub odd: bool,
}

/// The answers of the step that is wrong.
pub fn of(bug: &BugReport) -> Compared {
    let evidence = &bug.finding.violation.evidence;
    let expected = evidence.expected.as_ref();
    let (waits, told) = (bug.words().waits(), bug.words().expected());
    let (about, (columns, actual)) = match (bug.finding.violation.step, expected) {
        // A wait is no answer, and may be what is wrong.
        (Some(step), _) if waits.is_some() => {
            (About::Step(step), (Vec::new(), Side::Words(waits.unwrap_or_default())))
        }
        (Some(step), _) => {
            let outcome = &bug.execution.trace.outcomes[step];
            let actual = match outcome.rows() {
                Some(rows) => rows_of(rows),
                None => (Vec::new(), Side::Words(text::clean(&answers::came(outcome)))),
            };
            (About::Step(step), actual)
        }
        (None, Some(Response::FinalState(Table { table, .. }))) => {
            let tables = bug.execution.trace.final_state.as_deref().unwrap_or_default();
            let rows = tables.iter().find(|(name, _)| name == table).map(|(_, rows)| rows_of(rows));
            (About::Table(table.clone()), rows.unwrap_or((Vec::new(), Side::Words("nothing".into()))))
        }
        (None, _) => (About::Run, (Vec::new(), Side::Words(text::clean(&bug.words().story())))),
    };
    let mut compared = Compared {
        about,
        columns,
        expected: expected.map(side).or(told.map(|told| Side::Words(text::clean(&told)))),
        actual,
    };
    if let (Some(Side::Rows(expected)), Side::Rows(actual)) = (&mut compared.expected, &mut compared.actual) {
        mark(expected, actual);
    }
    compared
}

/// Of more rows than these only those are shown that the other side does not have.
const MANY: usize = 12;

/// The rows of an answer to be shown, and what is said of the others.
pub fn shown(rows: &[AnswerRow]) -> (Vec<&AnswerRow>, Option<String>) {
    let odd: Vec<&AnswerRow> = rows.iter().filter(|row| row.odd).collect();
    if rows.len() <= MANY {
        return (rows.iter().collect(), None);
    }
    match rows.len() - odd.len() {
        0 => (odd, None),
        alike => (odd, Some(format!("... and {alike} rows that are on both sides"))),
    }
}

/// How many rows only the expected side has, and how many only the actual one.
pub fn odd(compared: &Compared) -> (usize, usize) {
    let count = |side: &Side| match side {
        Side::Rows(rows) => rows.iter().filter(|row| row.odd).count(),
        Side::Words(_) => 0,
    };
    (compared.expected.as_ref().map_or(0, count), count(&compared.actual))
}

fn rows_of(rows: &RowSet) -> (Vec<String>, Side) {
    let columns = rows.columns().iter().map(|column| column.name.clone()).collect();
    let row = |row: usize| AnswerRow {
        cells: rows.row(row).map(|value| text::visible(&value.to_string())).collect(),
        odd: false,
    };
    (columns, Side::Rows((0..rows.len()).map(row).collect()))
}

/// What should have come: rows where it is exactly these, words otherwise.
fn side(expected: &Response) -> Side {
    match expected {
        Response::Rows(rows) | Response::FinalState(Table { rows, .. }) => rows_of(rows).1,
        Response::Outcome(outcome) => match &outcome.reply {
            Reply::Rows(rows) => rows_of(rows).1,
            _ => Side::Words(text::clean(&answers::came(outcome))),
        },
        other => Side::Words(text::clean(&answers::answered(other))),
    }
}

/// Marks the rows that only one of two lists has; a row that is there twice must be so in both.
fn mark(one: &mut [AnswerRow], other: &mut [AnswerRow]) {
    let mut taken = vec![false; other.len()];
    for row in one.iter_mut() {
        let same = |i: &usize| !taken[*i] && other[*i].cells == row.cells;
        match (0..other.len()).find(same) {
            Some(i) => taken[i] = true,
            None => row.odd = true,
        }
    }
    other.iter_mut().zip(taken).for_each(|(row, taken)| row.odd = !taken);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_counts_as_often_as_it_is_there() {
        let list = |texts: &[&str]| -> Vec<AnswerRow> {
            texts.iter().map(|text| AnswerRow { cells: vec![text.to_string()], odd: false }).collect()
        };
        let (mut one, mut other) = (list(&["1", "1", "'2024-01-01'"]), list(&["1", "'2024-01-01'", "3"]));
        mark(&mut one, &mut other);
        assert_eq!(one.iter().map(|row| row.odd).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(other.iter().map(|row| row.odd).collect::<Vec<_>>(), [false, false, true]);
    }
}
