//! Writes a document in canonical form: one way of indenting, at most one blank line, and every comment.

use super::{
    document::{Document, Item, Kind, Laid, RowLine, Section, Trivia},
    statement::indent,
    words,
};
use crate::expect::{Expectation, Expected, ExpectedReply};

/// Rows that no person has spread over lines are spread so that a line stays within this.
const WIDTH: usize = 100;

/// Writes a whole document.
pub(super) fn print(document: &Document) -> String {
    let mut text = String::new();
    // Where the `=>` of a further expectation stands: below the first one, or below the statement.
    let mut arrow = 0;
    let mut before = None;
    for item in &document.items {
        let column = match &item.kind {
            Kind::Section(_) => 0,
            kind if kind.is_header() => 0,
            Kind::Expect(_) => arrow,
            Kind::GroupStep { .. } | Kind::GroupTable { .. } => 4,
            _ => 2,
        };
        match &item.kind {
            Kind::Step { session, .. } => arrow = column + session.chars().count() + 2,
            Kind::Table { table, .. } => arrow = column + words::table(table).chars().count() + 1,
            _ => {}
        }
        for trivia in above(item, before) {
            write_trivia(&mut text, &trivia, column, before);
        }
        text.push_str(&" ".repeat(column));
        text.push_str(&body(&item.kind, column));
        if let Some(comment) = &item.comment {
            text.push_str("  ");
            text.push_str(comment);
        }
        text.push('\n');
        before = Some(&item.kind);
    }
    let mut end = collapsed(&document.end);
    if document.items.is_empty() && end.first() == Some(&Trivia::Blank) {
        end.remove(0);
    }
    if end.last() == Some(&Trivia::Blank) {
        end.pop();
    }
    for trivia in end {
        write_trivia(&mut text, &trivia, 0, before);
    }
    text
}

/// An indented comment above a section's name belongs to what stands before it, and stays indented.
fn closes_section(trivia: &Trivia, before: Option<&Kind>) -> bool {
    matches!(trivia, Trivia::Comment { indented: true, .. }) && before.is_some_and(|kind| !kind.is_header())
}

fn write_trivia(text: &mut String, trivia: &Trivia, column: usize, before: Option<&Kind>) {
    if let Trivia::Comment { text: comment, .. } = trivia {
        let column = if column == 0 && closes_section(trivia, before) { 2 } else { column };
        text.push_str(&" ".repeat(column));
        text.push_str(comment);
    }
    text.push('\n');
}

fn collapsed(trivia: &[Trivia]) -> Vec<Trivia> {
    let mut all = trivia.to_vec();
    all.dedup_by(|a, b| *a == Trivia::Blank && *b == Trivia::Blank);
    all
}

/// The lines above an item: none blank at the top of the file or of a section, one blank above a section.
fn above(item: &Item, before: Option<&Kind>) -> Vec<Trivia> {
    let mut all = collapsed(&item.above);
    if matches!(before, None | Some(Kind::Section(_))) && all.first() == Some(&Trivia::Blank) {
        all.remove(0);
    }
    if matches!(item.kind, Kind::Section(_)) && before.is_some() {
        let own = all.iter().rposition(|trivia| closes_section(trivia, before)).map_or(0, |i| i + 1);
        if !all[own..].contains(&Trivia::Blank) {
            all.insert(own, Trivia::Blank);
        }
    }
    all
}

fn body(kind: &Kind, column: usize) -> String {
    match kind {
        Kind::Title(title) => format!("title   {title}"),
        Kind::Link(links) => format!("link    {}", links.join(", ")),
        Kind::Note(note) => format!("note    {note}"),
        Kind::For(products) => {
            let names: Vec<&str> = products.iter().map(|product| product.name()).collect();
            format!("for     {}", names.join(", "))
        }
        Kind::Session(session) => {
            let level = session.level.map(|level| format!("level {level}"));
            let autocommit = (!session.autocommit).then(|| "autocommit off".to_string());
            let options: Vec<String> = level.into_iter().chain(autocommit).collect();
            format!("session {} {}", session.name, options.join(", ")).trim_end().to_string()
        }
        Kind::Section(section) => section.name().to_string(),
        Kind::Statement(sql) => indent(sql, column),
        Kind::Step { session, sql } => {
            let lead = format!("{session}: ");
            format!("{lead}{}", indent(sql, column + lead.chars().count()))
        }
        Kind::Expect(expect) => expectation("", expect, column),
        Kind::Table { table, expect } => expectation(&format!("{} ", words::table(table)), expect, column),
        Kind::Group(at) => format!("{}:", words::group_head(at)),
        Kind::GroupStep { number, expected } => {
            outcome(format!("step {number} => "), &expected.what, &expected.lines, column)
        }
        Kind::GroupTable { table, expected } => {
            let lead = format!("{} {} => ", Section::Final.name(), words::table(table));
            outcome(lead, &expected.what, &expected.lines, column)
        }
    }
}

fn expectation(lead: &str, expect: &Laid<Expectation>, column: usize) -> String {
    let when = &expect.what.when;
    let brackets = if when.is_any() { String::new() } else { format!("[{when}] ") };
    outcome(format!("{lead}=> {brackets}"), &expect.what.then, &expect.lines, column)
}

/// An outcome behind its arrow, its rows on the lines that they were read from.
fn outcome(lead: String, expected: &Expected, lines: &[RowLine], column: usize) -> String {
    let Some(ExpectedReply::Rows { rows, .. }) = expected.answer.as_ref().filter(|answer| has_rows(answer))
    else {
        return format!("{lead}{expected}");
    };
    let mut text = format!("{lead}{}", words::before_rows(expected));
    let left = column + text.chars().count();
    let mut rows = rows.iter().map(|row| words::row(row));
    if lines.is_empty() {
        let mut used = left;
        for (i, row) in rows.enumerate() {
            let width = row.chars().count() + 1;
            if i > 0 && used + width > WIDTH {
                text.push('\n');
                text.push_str(&" ".repeat(left));
                used = left;
            } else if i > 0 {
                text.push(' ');
            }
            text.push_str(&row);
            used += width;
        }
        return text;
    }
    for (i, line) in lines.iter().enumerate() {
        for comment in &line.above {
            text.push_str(&format!("\n{}{comment}", " ".repeat(left)));
        }
        if i > 0 {
            text.push_str(&format!("\n{}", " ".repeat(left)));
        }
        let here: Vec<String> = rows.by_ref().take(line.rows).collect();
        text.push_str(&here.join(" "));
        if let Some(comment) = &line.comment {
            text.push_str(&format!("  {comment}"));
        }
    }
    text
}

fn has_rows(answer: &ExpectedReply) -> bool {
    matches!(answer, ExpectedReply::Rows { rows, .. } if !rows.is_empty())
}
