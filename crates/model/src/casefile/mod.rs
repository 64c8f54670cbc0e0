//! The case file: how people read and write a case.
//!
//! ```text
//! title   Two increments, one is lost
//!
//! setup
//!   CREATE TABLE t(a INT);
//!   INSERT INTO t VALUES (1);
//!
//! steps
//!   T1: UPDATE t SET a = a + 1;   -- a comment
//!       => 1 row
//!
//! final
//!   t => (2)
//! ```
//!
//! `docs/case-format.md` holds the grammar. Inside, a file is a [`document::Document`]: the list of its items
//! (a header line, a section's name, a statement, an expectation, ...) in the order of the file, each with the
//! comments and blank lines above it and the comment behind it. Nothing that a person wrote is lost that way,
//! and there is one way from items to text:
//!
//! ```text
//! text --read--> Document --lower--> Case          (check looks at both, with positions)
//! text <-print-- Document <--raise-- Case
//! ```
//!
//! What [`print()`] and [`format()`] write is canonical: formatting it again changes no byte.

mod check;
mod document;
mod header;
mod lower;
mod outcome;
mod print;
mod problem;
mod raise;
mod read;
mod selector;
mod source;
mod statement;
mod words;

pub use problem::Problem;

use crate::{
    case::Case,
    expect::{Expected, ExpectedReply, Literal},
};
use document::{Document, Kind};

/// A case file that was read: the case, and how the file lays it out.
#[derive(Clone, Debug)]
pub struct CaseFile {
    case: Case,
    document: Document,
    step_lines: Vec<usize>,
}

impl CaseFile {
    /// What the file says.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// What the file says, for keeping.
    pub fn into_case(self) -> Case {
        self.case
    }

    /// The file in canonical form, with its comments and blank lines.
    pub fn format(&self) -> String {
        print::print(&self.document)
    }

    /// The line (from 1) on which a step (from 0) begins.
    pub fn line_of_step(&self, step: usize) -> Option<usize> {
        self.step_lines.get(step).copied()
    }
}

/// Reads a case file. All the problems that can be told apart are reported at once.
pub fn parse(text: &str) -> Result<CaseFile, Vec<Problem>> {
    let text = unix_lines(text.strip_prefix('\u{feff}').unwrap_or(text));
    let document = read::read(&text)?;
    let (case, mut problems) = lower::lower(&text, &document);
    problems.extend(check::check(&text, &document, &case));
    if !problems.is_empty() {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        return Err(problems);
    }
    let step_lines = document
        .items
        .iter()
        .filter(|item| matches!(item.kind, Kind::Step { .. }))
        .map(|item| source::line_and_column(&text, item.span.start).0)
        .collect();
    Ok(CaseFile { case, document, step_lines })
}

/// Lines end as they do on Unix, and a byte order mark says nothing; neither moves a line or a column. However many carriage returns end a line,
/// none stays: one that stayed would end it the next time.
fn unix_lines(text: &str) -> String {
    let (lines, last) = text.rsplit_once('\n').map_or((None, text), |(lines, last)| (Some(lines), last));
    let lines = lines.into_iter().flat_map(|lines| lines.split('\n'));
    let mut out: String = lines.flat_map(|line| [line.trim_end_matches('\r'), "\n"]).collect();
    out.push_str(last);
    out
}

/// Puts a case file in canonical form, with its comments.
pub fn format(text: &str) -> Result<String, Vec<Problem>> {
    parse(text).map(|file| file.format())
}

/// `(1, 'a') (2, NULL)`: nothing but rows, as an expectation writes them.
pub(crate) fn rows(text: &str) -> Option<Vec<Vec<Literal>>> {
    let mut cursor = source::Cursor { text: text.trim(), pos: 0 };
    match outcome::expected(&mut cursor).ok()?.what {
        Expected { waits: false, answer: Some(ExpectedReply::Rows { rows, ordered: false }) } => {
            cursor.rest().is_empty().then_some(rows)
        }
        _ => None,
    }
}

/// The case cannot be written as a case file that would be read back as the same case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this case cannot be written as a case file: {0}")]
pub struct Unwritable(pub String);

/// Writes a case that has no file yet, in canonical form.
///
/// The text is read back before it is handed out, so that it always means the same case. What the format
/// cannot say is refused: a `;` in the middle of a statement, a title of two lines, a step of no session,
/// a COMMIT without a BEGIN.
pub fn print(case: &Case) -> Result<String, Unwritable> {
    let document = raise::raise(case).ok_or_else(|| Unwritable("a step names no session".into()))?;
    let text = print::print(&document);
    match parse(&text) {
        Ok(back) if back.case == *case => Ok(text),
        Ok(back) => Err(Unwritable(raise::first_difference(case, &back.case).into())),
        Err(problems) => {
            let all: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.message, p.label)).collect();
            Err(Unwritable(all.join("; ")))
        }
    }
}
