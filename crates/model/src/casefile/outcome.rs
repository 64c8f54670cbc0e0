//! Reads outcomes: `waits, then (1, 'a') (2, NULL)`, `error deadlock, transaction over`, `2 rows`.

use std::ops::Range;

use super::{
    document::{Laid, RowLine},
    problem::{Problem, nearest},
    selector::{quoted, selector},
    source::{Cursor, is_comment},
};
use crate::{
    expect::{ErrorMatch, Expectation, Expected, ExpectedReply, Literal},
    outcome::ErrorClass,
    value::unhex,
};

const OUTCOMES: &str = "an outcome is `ok`, `2 rows`, `1 of 2 rows`, `no rows`, `(1, 'a') (2, NULL)`, `ordered (..)`, `rolled back`, `error CLASS` or `waits`";

/// What stands behind a `=>` with an optional selector, up to the end of its last line.
pub(super) fn expectation(cursor: &mut Cursor<'_>) -> Result<Laid<Expectation>, Problem> {
    cursor.skip_blanks();
    let when = if cursor.eat("[") { selector(cursor, ']')? } else { Default::default() };
    let expected = expected(cursor)?;
    Ok(Laid { what: Expectation { when, then: expected.what }, lines: expected.lines })
}

/// What stands behind a `=>` without a selector, up to the end of its last line.
pub(super) fn expected(cursor: &mut Cursor<'_>) -> Result<Laid<Expected>, Problem> {
    cursor.skip_blanks();
    let waits = cursor.eat_word("waits");
    if waits {
        cursor.skip_blanks();
        if !cursor.eat(",") {
            end_of_line(cursor)?;
            return Ok(Laid { what: Expected { waits, answer: None }, lines: Vec::new() });
        }
        if !cursor.eat_word("then") {
            cursor.skip_blanks();
            return Err(cursor
                .unreadable("an outcome", "expected `then` and an outcome here")
                .help("write `waits, then 1 row`, or `waits` alone"));
        }
    }
    let (answer, lines) = answer(cursor)?;
    end_of_line(cursor)?;
    Ok(Laid { what: Expected { waits, answer: Some(answer) }, lines })
}

fn end_of_line(cursor: &mut Cursor<'_>) -> Result<(), Problem> {
    cursor.skip_blanks();
    if cursor.at_end_or_comment() {
        return Ok(());
    }
    let span = cursor.pos..cursor.pos + super::source::without_comment(cursor.line_rest()).len();
    if cursor.peek() == Some(')') {
        return Err(cursor.problem(
            cursor.pos..cursor.pos + 1,
            "a `)` without a `(`",
            "nothing is open here",
        ));
    }
    if cursor.peek() == Some(';') {
        return Err(cursor.problem(
            cursor.pos..cursor.pos + 1,
            "an expectation ends with its line",
            "no `;` here",
        ));
    }
    Err(cursor
        .problem(span, "more text behind an outcome", "expected the end of the line here")
        .help("one outcome stands behind a `=>`; a comment begins with `-- `"))
}

fn answer(cursor: &mut Cursor<'_>) -> Result<(ExpectedReply, Vec<RowLine>), Problem> {
    cursor.skip_blanks();
    let start = cursor.pos;
    if cursor.peek() == Some('(') {
        return rows(cursor, false);
    }
    let word = cursor.take_while(|char| char.is_alphanumeric() || char == '_' || char == '-');
    let span = start..cursor.pos;
    let plain = match word {
        "ok" => ExpectedReply::Ok,
        "rolled" if cursor.eat_word("back") => ExpectedReply::RolledBack,
        "no" if cursor.eat_word("rows") => ExpectedReply::Rows { ordered: false, rows: Vec::new() },
        "ordered" => {
            cursor.skip_blanks();
            if cursor.peek() == Some('(') {
                return rows(cursor, true);
            }
            if !(cursor.eat_word("no") && cursor.eat_word("rows")) {
                return Err(cursor
                    .unreadable("an outcome", "expected rows here")
                    .help("write `ordered (1, 2) (3, 4)`"));
            }
            ExpectedReply::Rows { ordered: true, rows: Vec::new() }
        }
        "error" => error(cursor)?,
        number if number.starts_with(|char: char| char.is_ascii_digit()) => {
            let count = number.parse().map_err(|_| bad_count(cursor, span.clone()))?;
            let of = match cursor.eat_word("of") {
                true => Some(matched(cursor)?),
                false => None,
            };
            if !(cursor.eat_word("rows") || cursor.eat_word("row")) {
                cursor.skip_blanks();
                return Err(cursor
                    .unreadable("an outcome", "expected `row` or `rows` here")
                    .help(format!("`{number} rows` is a count, `({number})` is a row")));
            }
            ExpectedReply::Affected { count, of }
        }
        _ => {
            cursor.pos = start;
            return Err(not_an_outcome(cursor, word));
        }
    };
    Ok((plain, Vec::new()))
}

/// The count behind `of`.
fn matched(cursor: &mut Cursor<'_>) -> Result<u64, Problem> {
    cursor.skip_blanks();
    let start = cursor.pos;
    let word = cursor.take_while(|char| char.is_alphanumeric());
    word.parse().map_err(|_| bad_count(cursor, start..cursor.pos))
}

fn bad_count(cursor: &Cursor<'_>, span: Range<usize>) -> Problem {
    cursor.problem(span, "a count that cannot be read", "expected a whole number")
}

fn not_an_outcome(cursor: &Cursor<'_>, word: &str) -> Problem {
    if cursor.at_end_or_comment() {
        let end = cursor.text[..cursor.pos].trim_end_matches([' ', '\t']).len();
        return cursor.problem(end..end, "an outcome is missing", "expected an outcome here").help(OUTCOMES);
    }
    if cursor.peek() == Some('[') {
        return cursor.problem(cursor.pos..cursor.pos + 1, "a selector in the wrong place", "not here").help(
            "`[..]` stands right behind the `=>` of a step or a table; in `fails on` the group says where",
        );
    }
    let problem = cursor.unreadable("an outcome", "not an outcome");
    match nearest(word, ["ok", "waits", "error", "ordered", "no rows", "rolled back"]) {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None if ErrorClass::ALL.iter().any(|class| class.name() == word) => {
            problem.help(format!("write `error {word}`"))
        }
        None => problem.help(OUTCOMES),
    }
}

/// What stands behind `error`.
fn error(cursor: &mut Cursor<'_>) -> Result<ExpectedReply, Problem> {
    cursor.skip_blanks();
    let start = cursor.pos;
    let word = cursor.take_while(|char| char.is_alphanumeric() || char == '_' || char == '-');
    let span = start..cursor.pos;
    let what = if let Ok(class) = word.parse() {
        ErrorMatch::Class(class)
    } else if ErrorMatch::is_state(word) {
        ErrorMatch::State(word.to_string())
    } else if let Ok(code) = word.parse() {
        ErrorMatch::Code(code)
    } else {
        let names: Vec<&str> = ErrorClass::ALL.iter().map(|class| class.name()).collect();
        let missing = "a class of errors is missing".to_string();
        let (message, label) = match word {
            "" => (missing, "expected a class, a number or a SQLSTATE here"),
            _ => {
                (format!("`{word}` is not a class of errors"), "neither a class nor a number nor a SQLSTATE")
            }
        };
        cursor.pos = start;
        let known = format!("the classes are {}", names.join(", "));
        let problem = cursor.problem(span, message, label);
        return Err(match nearest(&word.replace('_', "-"), names) {
            Some(name) => problem.help(format!("did you mean `{name}`? {known}")),
            None => problem.help(known),
        });
    };
    let mut over = None;
    let mut ahead = cursor.clone();
    ahead.skip_blanks();
    if ahead.eat(",") {
        over = match (ahead.eat_word("transaction"), ahead.eat_word("over"), ahead.eat_word("open")) {
            (true, true, _) => Some(true),
            (true, false, true) => Some(false),
            _ => {
                ahead.skip_blanks();
                return Err(
                    ahead.unreadable("an outcome", "expected `transaction over` or `transaction open` here")
                );
            }
        };
        *cursor = ahead;
    }
    Ok(ExpectedReply::Error { what, over })
}

/// Rows, on this line and on further lines that begin with `(`.
fn rows(cursor: &mut Cursor<'_>, ordered: bool) -> Result<(ExpectedReply, Vec<RowLine>), Problem> {
    let mut rows: Vec<Vec<Literal>> = Vec::new();
    let mut lines = vec![RowLine::default()];
    loop {
        while cursor.peek() == Some('(') {
            let start = cursor.pos;
            let row = row(cursor)?;
            if let Some(first) = rows.first().filter(|first| first.len() != row.len()) {
                let label = format!("{} here, {} in the first row", values(row.len()), first.len());
                return Err(cursor.problem(start..cursor.pos, "rows of different length", label));
            }
            rows.push(row);
            if let Some(line) = lines.last_mut() {
                line.rows += 1;
            }
            cursor.skip_blanks();
            // A comma between rows is no mistake worth a message; the canonical form has none.
            let mut ahead = cursor.clone();
            if ahead.eat(",") {
                ahead.skip_blanks();
                if ahead.peek() == Some('(') || ahead.at_end_or_comment() {
                    *cursor = ahead;
                }
            }
        }
        let Some((comment, next, after)) = continuation(cursor) else { break };
        if let Some(line) = lines.last_mut() {
            line.comment = comment;
        }
        lines.push(next);
        *cursor = after;
    }
    Ok((ExpectedReply::Rows { ordered, rows }, lines))
}

/// If the next line that says something goes on with rows: the comment of this line, the comments in between, and
/// where the rows go on.
fn continuation<'a>(cursor: &Cursor<'a>) -> Option<(Option<String>, RowLine, Cursor<'a>)> {
    let mut ahead = cursor.clone();
    ahead.skip_blanks();
    let comment = ahead.take_comment();
    let mut line = RowLine::default();
    while ahead.eat("\n") {
        ahead.skip_blanks();
        if is_comment(ahead.rest()) {
            line.above.extend(ahead.take_comment());
        } else if ahead.peek() == Some('(') {
            return Some((comment, line, ahead));
        }
    }
    None
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_string() } else { format!("{count} values") }
}

/// `(1, 'a', NULL)`
fn row(cursor: &mut Cursor<'_>) -> Result<Vec<Literal>, Problem> {
    let open = cursor.pos;
    cursor.pos += 1;
    let mut row = Vec::new();
    loop {
        cursor.skip_blanks();
        if cursor.at_end_or_comment() || cursor.peek() == Some('(') {
            return Err(cursor
                .problem(open..open + 1, "a row is not closed", "this `(` has no `)`")
                .help("a row stands on one line: `(1, 'a', NULL)`"));
        }
        if cursor.peek() == Some(')') && row.is_empty() {
            return Err(cursor
                .problem(open..cursor.pos + 1, "a row without values", "nothing in it")
                .help("an empty result is written `no rows`"));
        }
        row.push(literal(cursor)?);
        cursor.skip_blanks();
        match cursor.peek() {
            Some(',') => cursor.pos += 1,
            Some(')') => {
                cursor.pos += 1;
                return Ok(row);
            }
            _ if cursor.at_end_or_comment() || cursor.peek() == Some('(') => {}
            _ => {
                let label = "expected `,` or `)` here";
                return Err(cursor.unreadable("a row", label));
            }
        }
    }
}

fn literal(cursor: &mut Cursor<'_>) -> Result<Literal, Problem> {
    let start = cursor.pos;
    if cursor.peek() == Some('\'') {
        return quoted(cursor).map(Literal::Text);
    }
    if cursor.rest().starts_with("x'") || cursor.rest().starts_with("X'") {
        cursor.pos += 1;
        let digits = quoted(cursor)?;
        return unhex(&digits).map(Literal::Bytes).ok_or_else(|| {
            let label = "expected two hex digits for each byte";
            cursor.problem(start..cursor.pos, "bytes that cannot be read", label)
        });
    }
    let word = cursor.take_while(|char| !char.is_whitespace() && !",()'\"".contains(char));
    let unsigned = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    if word.eq_ignore_ascii_case("null") {
        return Ok(Literal::Null);
    }
    if is_number(word) || ["inf", "nan"].contains(&unsigned.as_str()) {
        return Ok(Literal::Number(word.to_string()));
    }
    cursor.pos = start;
    let problem = cursor.unreadable("a value", "not a value of the file");
    Err(match unsigned.as_str() {
        "true" => problem.help("write it as the server prints it: 1, or 't' on PostgreSQL"),
        "false" => problem.help("write it as the server prints it: 0, or 'f' on PostgreSQL"),
        "" => problem.help("a value is NULL, a number, 'text' or x'00ff'"),
        _ => problem.help(format!("text stands in single quotes: '{word}'")),
    })
}

/// Digits with at most a sign, a point and an exponent.
fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let digits = unsigned.chars().any(|char| char.is_ascii_digit());
    digits
        && unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.')
        && unsigned.parse::<f64>().is_ok()
}
