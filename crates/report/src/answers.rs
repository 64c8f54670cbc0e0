//! Answers in words: what came, what should have come, and how two of many rows differ.

use model::{
    Outcome, Reply, RowSet,
    verdict::{Response, evidence::Table},
};

use crate::text;

/// An answer for people.
pub fn answered(of: &Response) -> String {
    match of {
        Response::Rows(rows) => rows.to_string(),
        Response::SomeOf(rows) => format!("some of {rows}"),
        Response::SomeTwice(rows) => format!("{rows}, some of them twice"),
        Response::Count { affected, matched } => {
            let counts: Vec<String> = affected.iter().map(u64::to_string).collect();
            let rows = match counts.join(" or ").as_str() {
                "1" => "1 row".to_string(),
                counts => format!("{counts} rows"),
            };
            matched.map_or(rows.clone(), |matched| format!("{rows} ({matched} matched)"))
        }
        Response::Error(class) => format!("error {class}"),
        Response::Outcome(outcome) => came(outcome),
        Response::FinalState(Table { table, rows }) => format!("{table}: {rows}"),
        Response::Wait => "a wait".to_string(),
        Response::WaitFor(step) => format!("a wait for the lock of step {}", step + 1),
        Response::AnAnswer { nobody_in_the_way: false } => "an answer".to_string(),
        Response::AnAnswer { nobody_in_the_way: true } => {
            "an answer: no other transaction can be in its way".to_string()
        }
        Response::AnError => "an error".to_string(),
        Response::Success => "ok".to_string(),
        Response::LockedRows => "the rows that were locked before".to_string(),
        Response::Anything => "anything".to_string(),
        Response::Words(words) => words.clone(),
    }
}

/// A count may be right and what it matched wrong.
pub fn came(outcome: &Outcome) -> String {
    match &outcome.reply {
        Reply::Done { matched: Some(matched), .. } => format!("{outcome} ({matched} matched)"),
        _ => outcome.to_string(),
    }
}

/// A longer answer is told by what differs only.
const MANY: usize = 6;

/// What differs between two answers of many rows; none where they are few, or where one is not like the other otherwise.
pub fn difference(came: &RowSet, due: &RowSet) -> Option<String> {
    if came.len().max(due.len()) <= MANY {
        return None;
    }
    let (mut extra, mut missing) = (came.texts(), Vec::new());
    for row in due.texts() {
        match extra.iter().position(|other| *other == row) {
            Some(at) => drop(extra.remove(at)),
            None => missing.push(row),
        }
    }
    let part = |rows: &[String], what: &str| {
        let shown = rows.iter().take(MANY).map(|row| text::cut(row, 240)).collect::<Vec<_>>().join(" ");
        let more = rows.len().saturating_sub(MANY);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!rows.is_empty())
            .then(|| format!("{shown}{more} {} {what}", if rows.len() == 1 { "is" } else { "are" }))
    };
    let parts: Vec<String> =
        [part(&missing, "missing"), part(&extra, "too many")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("of {} rows {}", due.len(), parts.join(", and ")))
}

/// The rows of an answer that is nothing but rows.
pub fn rows(of: &Response) -> Option<&RowSet> {
    match of {
        Response::Rows(rows) => Some(rows),
        Response::Outcome(outcome) => outcome.rows(),
        _ => None,
    }
}

/// What a step does, as the rest of a sentence.
pub fn does(actual: &Response) -> String {
    match actual {
        Response::Wait | Response::WaitFor(_) => "waits".to_string(),
        Response::Count { .. } => format!("changes {}", answered(actual)),
        Response::Error(_) | Response::AnError => format!("fails with {}", answered(actual)),
        Response::Success => "succeeds".to_string(),
        Response::Outcome(outcome) => match &outcome.reply {
            Reply::Done { .. } => format!("changes {}", came(outcome)),
            Reply::Error(_) => format!("fails with {}", came(outcome)),
            _ => format!("returns {}", came(outcome)),
        },
        _ => format!("returns {}", answered(actual)),
    }
}

/// What it should do, as the rest of a sentence.
pub fn should(expected: &Response) -> String {
    match expected {
        Response::Count { .. } => format!("should change {}", answered(expected)),
        Response::Error(_) | Response::AnError => format!("should fail with {}", answered(expected)),
        Response::Outcome(outcome) => match &outcome.reply {
            Reply::Done { .. } => format!("should change {}", came(outcome)),
            Reply::Error(_) => format!("should fail with {}", came(outcome)),
            _ => format!("should return {}", came(outcome)),
        },
        Response::FinalState(Table { table, rows }) => format!("should be {table}: {rows}"),
        Response::Wait => "should wait for another transaction".to_string(),
        Response::WaitFor(step) => format!("should wait for the lock that step {} holds", step + 1),
        Response::AnAnswer { nobody_in_the_way: false } => "should answer at once".to_string(),
        Response::AnAnswer { nobody_in_the_way: true } => {
            "should answer at once: no other transaction is in its way".to_string()
        }
        Response::Success => "should succeed".to_string(),
        Response::LockedRows => "should find no other rows than those that were locked before".to_string(),
        Response::Anything => "may do anything".to_string(),
        _ => format!("should return {}", answered(expected)),
    }
}
