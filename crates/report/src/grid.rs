//! Lays the cells of a timeline out: one column per session, fitted to a width.
//!
//! A column has two parts, the statements and what came of them. When the natural widths do not fit, the widest
//! columns shrink first. A result that would need more lines beside its statement stands below it, and in a column
//! too narrow for two parts all do that do not fit beside on one line. A long statement is wrapped and in the end
//! cut, a result only wrapped: it is what one wants to see.

use crate::{
    style::{Style, Tone},
    text::{pad, width, wrap, wrap_cut},
};

/// What came of a statement, or a remark.
pub struct CellText {
    pub text: String,
    pub tone: Tone,
    /// What should have come, if this is not it.
    pub expected: Option<String>,
}

pub enum Cell {
    Statement { sql: String, said: Option<CellText> },
    Note(CellText),
}

pub struct GridRow {
    pub number: Option<usize>,
    pub cells: Vec<Option<Cell>>,
}

impl GridRow {
    pub fn new(number: Option<usize>, columns: usize) -> GridRow {
        GridRow { number, cells: (0..columns).map(|_| None).collect() }
    }
}

const BETWEEN: usize = 3;
const NARROWEST: usize = 16;
/// Below this a result stands under its statement.
const SIDE_BY_SIDE: usize = 34;
/// Room for `1 row` or `waits for T1`, and its mark.
const LEAST_SAID: usize = 14;
const SQL_LINES: usize = 4;
const EXPECTED: &str = "expected";

/// One line of a cell: pieces from left to right.
type Line = Vec<(String, Tone)>;

/// How a column is divided.
enum Parts {
    Beside { sql: usize, said: usize },
    Below,
}

struct Column {
    width: usize,
    parts: Parts,
}

/// The whole grid, and how wide it became.
pub fn grid(heads: &[String], rows: &[GridRow], style: &Style) -> (String, usize) {
    let digits = rows.iter().filter_map(|row| row.number).max().unwrap_or(0).to_string().len().max(2);
    let gutter = digits + BETWEEN;
    let columns = fit(heads, rows, style.width.saturating_sub(gutter));
    let mut out = Painted { style, text: String::new(), widest: 0 };
    let head = heads.iter().map(|head| vec![vec![(head.clone(), Tone::Head)]]).collect();
    out.row("", gutter, &columns, head);
    for row in rows {
        let cells =
            columns.iter().zip(&row.cells).map(|(column, cell)| column.lines(cell.as_ref())).collect();
        let number = row.number.map_or(String::new(), |number| format!("{number:>digits$}"));
        out.row(&number, gutter, &columns, cells);
    }
    (out.text, out.widest)
}

/// The natural width of each column, shrunk to what there is.
fn fit(heads: &[String], rows: &[GridRow], available: usize) -> Vec<Column> {
    let natural: Vec<(usize, usize, usize)> = (0..heads.len())
        .map(|i| {
            let (mut sql_width, mut said_width, mut whole) = (0, 0, width(&heads[i]));
            for cell in rows.iter().filter_map(|row| row.cells[i].as_ref()) {
                match cell {
                    Cell::Statement { sql, said } => {
                        sql_width = sql_width.max(width(sql));
                        said_width = said_width.max(said.as_ref().map_or(0, |said| 2 + said.longest()));
                    }
                    Cell::Note(said) => whole = whole.max(said.note_width()),
                }
            }
            let beside = if said_width > 0 { sql_width + 1 + said_width } else { sql_width };
            (sql_width, said_width, whole.max(beside))
        })
        .collect();
    let mut widths: Vec<usize> = natural.iter().map(|(_, _, whole)| *whole).collect();
    let available = available.saturating_sub(BETWEEN * heads.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > available {
        match widths.iter_mut().filter(|width| **width > NARROWEST).max() {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    natural
        .iter()
        .zip(widths)
        .map(|(&(sql, said, _), width)| {
            let parts = if sql + 1 + said <= width {
                Parts::Beside { sql, said: width.saturating_sub(sql + 1) }
            } else if width >= SIDE_BY_SIDE {
                let sql = sql.min(width - 1 - said.min(LEAST_SAID));
                Parts::Beside { sql, said: width - 1 - sql }
            } else {
                Parts::Below
            };
            Column { width, parts }
        })
        .collect()
}

impl CellText {
    fn longest(&self) -> usize {
        width(&self.text).max(self.expected.as_ref().map_or(0, |expected| width(expected)))
    }

    fn note_width(&self) -> usize {
        match &self.expected {
            Some(expected) => 2 + width(&self.text).max(EXPECTED.len() + 1 + width(expected)),
            None => width(&self.text),
        }
    }

    /// The text with its mark, in lines.
    fn lines(&self, to: usize) -> Vec<Line> {
        let texts = wrap(&self.text, to.saturating_sub(2)).into_iter();
        let mut lines: Vec<Line> = texts.map(|text| vec![blank(2), (text, self.tone)]).collect();
        if self.expected.is_some() {
            lines[0][0] = ("✗ ".to_string(), Tone::Wrong);
        }
        lines
    }

    /// The line that says what should have come, behind its own word.
    fn expected_lines(&self, to: usize) -> Vec<Line> {
        let Some(expected) = &self.expected else { return Vec::new() };
        wrap(&format!("{EXPECTED} {expected}"), to.saturating_sub(2))
            .into_iter()
            .map(|text| vec![blank(2), (text, Tone::Plain)])
            .collect()
    }

    fn below(&self, sql: &str, to: usize) -> Vec<Line> {
        let mut lines = statement(sql, to);
        lines.extend(self.lines(to));
        lines.extend(self.expected_lines(to));
        lines
    }

    fn beside(&self, sql: &str, left: usize, right: usize) -> Vec<Line> {
        let mut lines = beside(&statement(sql, left), &self.lines(right), left);
        lines.extend(self.expected_beside(left, right));
        lines
    }

    /// The expected result under the real one, with its word to the left of it.
    fn expected_beside(&self, left: usize, right: usize) -> Vec<Line> {
        match &self.expected {
            Some(expected) if left >= EXPECTED.len() => wrap(expected, right.saturating_sub(2))
                .into_iter()
                .enumerate()
                .map(|(i, text)| {
                    let word = if i == 0 { EXPECTED } else { "" };
                    vec![(format!("{word:>left$}   "), Tone::Quiet), (text, Tone::Plain)]
                })
                .collect(),
            Some(_) => beside(&[], &self.expected_lines(right), left),
            None => Vec::new(),
        }
    }
}

impl Column {
    fn lines(&self, cell: Option<&Cell>) -> Vec<Line> {
        match (cell, &self.parts) {
            (None, _) => Vec::new(),
            (Some(Cell::Note(said)), _) => {
                let mut lines = said.lines(if said.expected.is_some() { self.width } else { self.width + 2 });
                if said.expected.is_none() {
                    // Nothing to mark: the note begins where statements do.
                    lines.iter_mut().for_each(|line| drop(line.remove(0)));
                }
                lines.extend(said.expected_lines(self.width));
                lines
            }
            // Nothing stands beside it, so all the room is its own.
            (Some(Cell::Statement { sql, said: None }), _) => statement(sql, self.width),
            (Some(Cell::Statement { sql, said: Some(said) }), Parts::Below) => {
                let one_line = width(sql) + 3 + width(&said.text) <= self.width && said.expected.is_none();
                if one_line { said.beside(sql, width(sql), self.width) } else { said.below(sql, self.width) }
            }
            (Some(Cell::Statement { sql, said: Some(said) }), Parts::Beside { sql: left, said: right }) => {
                let beside = said.beside(sql, *left, *right);
                let below = said.below(sql, self.width);
                if below.len() < beside.len() { below } else { beside }
            }
        }
    }
}

fn statement(sql: &str, to: usize) -> Vec<Line> {
    wrap_cut(sql, to, SQL_LINES).into_iter().map(|text| vec![(text, Tone::Plain)]).collect()
}

fn beside(left: &[Line], right: &[Line], left_width: usize) -> Vec<Line> {
    (0..left.len().max(right.len()))
        .map(|i| {
            let mut line = left.get(i).cloned().unwrap_or_default();
            if let Some(right) = right.get(i) {
                line.push(blank((left_width + 1).saturating_sub(line_width(&line))));
                line.extend(right.clone());
            }
            line
        })
        .collect()
}

fn blank(width: usize) -> (String, Tone) {
    (" ".repeat(width), Tone::Plain)
}

fn line_width(line: &Line) -> usize {
    line.iter().map(|(text, _)| width(text)).sum()
}

/// Text that is painted as it is put down, without blanks at the ends of lines.
struct Painted<'a> {
    style: &'a Style,
    text: String,
    widest: usize,
}

impl Painted<'_> {
    fn row(&mut self, number: &str, gutter: usize, columns: &[Column], cells: Vec<Vec<Line>>) {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for i in 0..height {
            let mut line: Line = vec![(pad(if i == 0 { number } else { "" }, gutter), Tone::Quiet)];
            let mut end = gutter;
            for (column, cell) in columns.iter().zip(&cells) {
                line.push(blank(end.saturating_sub(line_width(&line))));
                line.extend(cell.get(i).cloned().unwrap_or_default());
                end += column.width + BETWEEN;
            }
            self.line(line);
        }
    }

    fn line(&mut self, mut line: Line) {
        while line.last().is_some_and(|(text, _)| text.trim_end().is_empty()) {
            line.pop();
        }
        if let Some((text, _)) = line.last_mut() {
            text.truncate(text.trim_end().len());
        }
        self.widest = self.widest.max(line_width(&line));
        for (text, tone) in line {
            self.text.push_str(&self.style.paint(tone, &text));
        }
        self.text.push('\n');
    }
}
