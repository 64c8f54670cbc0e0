//! Where a SQL statement ends, and the text that is sent.
//!
//! A `;` ends it, unless it stands in quotes (PostgreSQL's `$$` among them), in a comment, or in the body of a trigger,
//! function or procedure (`BEGIN ... END`). A backslash in quotes takes the next character with it, as MySQL has it.
//! Comments inside a statement belong to its text. So that a forgotten `;` is noticed where it is missing and not a page
//! later, a line that clearly begins something else ends the search.

use crate::sql::{ProgramBlocks, creates_program};

use super::{
    document::Section,
    source::{in_name, is_comment},
};

/// How the search for the end went.
pub(super) enum End {
    /// At this `;`.
    Semicolon(usize),
    /// There is none: the statement's last character ends at `after`, and something else begins at `next`.
    Missing { after: usize, next: usize },
    /// A quote or a comment that begins here is not closed.
    Unclosed(usize),
}

/// Does a line begin a step? `T1: BEGIN`
pub(super) fn begins_step(line: &str) -> bool {
    let line = line.trim_start();
    let name = line.find(|char| !in_name(char)).unwrap_or(line.len());
    let after = line[name..].strip_prefix(':');
    name > 0
        && !line.starts_with(|char: char| char.is_ascii_digit())
        && after.is_some_and(|rest| !rest.starts_with([':', '=']))
}

/// Does a line begin something that no statement of this section goes on with?
pub(super) fn begins_other(section: Section, line: &str) -> bool {
    Section::named_by(line).is_some()
        || (section == Section::Steps && (begins_step(line) || line.trim_start().starts_with("=>")))
}

/// In the setup nothing marks the next statement. A line that begins as only a statement does, no deeper than the
/// one before and after a closed parenthesis, is one.
fn begins_statement(first: &str, before: &str, line: &str) -> bool {
    let upper = |text: &str| text.trim_start().to_ascii_uppercase();
    let starts = |text: &str| text.starts_with("CREATE TABLE ") || text.starts_with("INSERT INTO ");
    starts(&upper(first)) && before.trim_end().ends_with(')') && starts(&upper(line))
}

/// Finds the end of the statement that begins at `start`.
pub(super) fn find_end(text: &str, start: usize, section: Section) -> End {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut after = start;
    let mut blocks = creates_program(&text[start..]).then(ProgramBlocks::default);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => match close(bytes, at, quote) {
                Some(end) => {
                    at = end;
                    after = at;
                    continue;
                }
                None => return End::Unclosed(at),
            },
            b'-' if is_comment(&text[at..]) => {
                at = text[at..].find('\n').map_or(text.len(), |i| at + i);
                continue;
            }
            b'/' if text[at..].starts_with("/*") => match text[at + 2..].find("*/") {
                Some(length) => {
                    at += length + 4;
                    after = at;
                    continue;
                }
                None => return End::Unclosed(at),
            },
            b'$' if !text[start..at].ends_with(in_name) => match dollar_quoted(&text[at..]) {
                Some(Some(length)) => {
                    at += length;
                    after = at;
                    continue;
                }
                Some(None) => return End::Unclosed(at),
                None => after = at + 1,
            },
            b';' if !blocks.is_some_and(ProgramBlocks::is_open) => return End::Semicolon(at),
            b'\n' if !blocks.is_some_and(ProgramBlocks::is_open) => {
                let line = text[at + 1..].lines().next().unwrap_or("");
                let run_on =
                    section == Section::Setup && begins_statement(&text[start..], &text[start..after], line);
                if begins_other(section, line) || run_on {
                    return End::Missing { after, next: at + 1 };
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => {
                let word = text
                    .get(at..)
                    .map_or("", |rest| &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())]);
                match &mut blocks {
                    Some(blocks) if word.is_empty() => blocks.mark(byte),
                    Some(blocks) => blocks.word(word),
                    None => {}
                }
                at += word.len().max(1);
                after = at;
                continue;
            }
        }
        at += 1;
    }
    End::Missing { after, next: text.len() }
}

/// PostgreSQL's `$$..$$` and `$tag$..$tag$`: the length if it is closed, and nothing if it is no such quote.
fn dollar_quoted(text: &str) -> Option<Option<usize>> {
    let tag = text[1..].find('$').map(|i| &text[..i + 2])?;
    let inner = &tag[1..tag.len() - 1];
    let is_tag = inner.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !inner.starts_with(|c: char| c.is_ascii_digit());
    is_tag.then(|| text[tag.len()..].find(tag).map(|i| i + 2 * tag.len()))
}

fn close(bytes: &[u8], open: usize, quote: u8) -> Option<usize> {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Does this statement end inside a comment, so that a `;` behind it would be lost?
pub(super) fn ends_in_comment(sql: &str) -> bool {
    let closed = format!("{sql};");
    !matches!(find_end(&closed, 0, Section::FailsOn), End::Semicolon(at) if at == sql.len())
}

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// The text that is sent: trimmed, and without the indentation that all further lines share, but never more of it
/// than the first line has. `column` is where the first line begins, counted from 0.
pub(super) fn dedent(raw: &str, column: usize) -> String {
    let indentation = |line: &str| line.chars().take_while(|char| matches!(char, ' ' | '\t')).count();
    let mut lines = raw.split('\n');
    let first = lines.next().unwrap_or("");
    let further: Vec<&str> = lines.collect();
    let common = further
        .iter()
        .filter(|line| !line.trim_matches(BLANK).is_empty())
        .map(|line| indentation(line))
        .min()
        .unwrap_or(0)
        .min(column);
    let mut text = first.to_string();
    for line in further {
        text.push('\n');
        // Blanks and tabs are one byte each.
        text.push_str(&line[indentation(line).min(common)..]);
    }
    text.trim_matches(BLANK).to_string()
}

/// Puts the statement at a column, ready to stand behind what is already on the line.
pub(super) fn indent(sql: &str, column: usize) -> String {
    let mut text = String::new();
    for (i, line) in sql.split('\n').enumerate() {
        if i > 0 {
            text.push('\n');
            if !line.is_empty() {
                text.push_str(&" ".repeat(column));
            }
        }
        text.push_str(line);
    }
    if ends_in_comment(sql) {
        text.push('\n');
        text.push_str(&" ".repeat(column));
    }
    text.push(';');
    text
}
