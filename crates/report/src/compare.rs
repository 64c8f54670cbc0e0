//! Expected against actual: the two answers of the step that is wrong, row by row, with the rows that only one of them has.

use model::{Reply, RowSet};

use crate::{finding::Finding, text};

/// Two answers side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What it is about: a step from 0, or a table in the end.
    pub about: About,
    /// The names of the columns, where both are rows of that many.
    pub columns: Vec<String>,
    /// What should have come; none where nobody says so.
    pub expected: Option<Side>,
    /// What came.
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

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Rows, each with whether the other side has it, too.
    Rows(Vec<Row>),
    /// Anything else, in words.
    Words(String),
}

/// A row of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// As SQL writes them.
    pub cells: Vec<String>,
    /// Does only this side have it?
    pub odd: bool,
}

/// The answers of the step that is wrong.
pub fn of(finding: &Finding) -> Compared {
    let told = finding.evidence("expected: ").or_else(|| finding.evidence("alone on this view: "));
    match finding.violation.step {
        Some(step) => {
            let outcome = &finding.trace.outcomes[step];
            let (columns, actual) = match &outcome.reply {
                Reply::Rows(rows) => answer(rows),
                Reply::Done { matched: Some(matched), .. } => {
                    (Vec::new(), Side::Words(format!("{outcome} ({matched} matched)")))
                }
                _ => (Vec::new(), Side::Words(text::clean(&outcome.to_string()))),
            };
            // A wait is no answer, and may be what is wrong.
            let waits = finding.evidence("actual: it waits").is_some();
            let actual = if waits { Side::Words("it waits".into()) } else { actual };
            against(
                About::Step(step),
                columns,
                told.map(|told| side(told, columns_of(&outcome.reply))),
                actual,
            )
        }
        None => {
            let tables = finding.trace.final_state.as_deref().unwrap_or_default();
            let table = told.and_then(|told| {
                let (name, rows) = told.split_once(": ")?;
                tables.iter().find(|(table, _)| table == name).map(|(_, actual)| (name, rows, actual))
            });
            match table {
                Some((name, expected, actual)) => {
                    let (columns, actual) = answer(actual);
                    let expected = side(expected, columns.len());
                    against(About::Table(name.to_string()), columns, Some(expected), actual)
                }
                None => {
                    let expected = told.map(|told| Side::Words(text::clean(told)));
                    let actual = Side::Words(text::clean(&finding.violation.story));
                    against(About::Run, Vec::new(), expected, actual)
                }
            }
        }
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

fn columns_of(reply: &Reply) -> usize {
    match reply {
        Reply::Rows(rows) => rows.columns().len(),
        _ => 0,
    }
}

fn answer(rows: &RowSet) -> (Vec<String>, Side) {
    let columns = rows.columns().iter().map(|column| column.name.clone()).collect();
    let row = |row: usize| Row {
        cells: rows.row(row).map(|value| text::visible(&value.to_string())).collect(),
        odd: false,
    };
    (columns, Side::Rows((0..rows.len()).map(row).collect()))
}

/// Reads what an oracle wrote: rows of so many cells, or words.
fn side(told: &str, cells: usize) -> Side {
    if told.trim() == "no rows" && cells > 0 {
        return Side::Rows(Vec::new());
    }
    match rows(told) {
        Some(rows) if !rows.is_empty() && rows.iter().all(|row| row.len() == cells) => {
            Side::Rows(rows.into_iter().map(|cells| Row { cells, odd: false }).collect())
        }
        _ => Side::Words(text::clean(told)),
    }
}

/// `(1, 'a, b') (2, NULL)` as rows of cells; none if it is anything else.
pub fn rows(told: &str) -> Option<Vec<Vec<String>>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut depth, mut quoted) = (0usize, false);
    for c in told.trim().chars() {
        if depth == 0 {
            match c {
                '(' => {
                    depth = 1;
                    rows.push(vec![String::new()]);
                }
                ' ' => {}
                _ => return None,
            }
            continue;
        }
        let row = rows.last_mut()?;
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 1 => {
                row.push(String::new());
                continue;
            }
            _ => {}
        }
        if depth > 0 {
            row.last_mut()?.push(c);
        }
    }
    let closed = depth == 0 && !quoted;
    rows.iter_mut().flatten().for_each(|cell| *cell = text::visible(cell.trim()));
    closed.then_some(rows)
}

fn against(about: About, columns: Vec<String>, mut expected: Option<Side>, mut actual: Side) -> Compared {
    if let (Some(Side::Rows(expected)), Side::Rows(actual)) = (&mut expected, &mut actual) {
        mark(expected, actual);
    }
    Compared { about, columns, expected, actual }
}

/// Marks the rows that only one of two lists has; a row that is there twice must be so in both.
fn mark(one: &mut [Row], other: &mut [Row]) {
    let mut taken = vec![false; other.len()];
    for row in one.iter_mut() {
        let same = |i: &usize| !taken[*i] && plain(&other[*i].cells) == plain(&row.cells);
        match (0..other.len()).find(same) {
            Some(i) => taken[i] = true,
            None => row.odd = true,
        }
    }
    other.iter_mut().zip(taken).for_each(|(row, taken)| row.odd = !taken);
}

/// Oracles and servers write the same value in two ways: `DATE '2024-01-01'` and `'2024-01-01'`.
fn plain(cells: &[String]) -> Vec<&str> {
    let bare = |cell: &'_ String| -> usize {
        ["DATE ", "TIME ", "TIMESTAMP ", "DATETIME "]
            .iter()
            .find(|word| cell.starts_with(**word))
            .map_or(0, |word| word.len())
    };
    cells.iter().map(|cell| &cell[bare(cell)..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_are_written() {
        let read = |told| rows(told).map(|rows| rows.iter().map(|row| row.join("|")).collect::<Vec<_>>());
        assert_eq!(read("(1, 'a, (b') (2, NULL)"), Some(vec!["1|'a, (b'".to_string(), "2|NULL".into()]));
        assert_eq!(read("(CONCAT(1, 2))"), Some(vec!["CONCAT(1, 2)".to_string()]));
        assert_eq!(read("('it''s')"), Some(vec!["'it''s'".to_string()]));
        for words in ["some of (1)", "2 rows", "(1", "('1)"] {
            assert_eq!(read(words), None, "{words}");
        }
    }

    #[test]
    fn each_row_counts_as_often_as_it_is_there() {
        let list = |texts: &[&str]| -> Vec<Row> {
            texts.iter().map(|text| Row { cells: vec![text.to_string()], odd: false }).collect()
        };
        let (mut one, mut other) =
            (list(&["1", "1", "DATE '2024-01-01'"]), list(&["1", "'2024-01-01'", "3"]));
        mark(&mut one, &mut other);
        assert_eq!(one.iter().map(|row| row.odd).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(other.iter().map(|row| row.odd).collect::<Vec<_>>(), [false, false, true]);
    }
}
