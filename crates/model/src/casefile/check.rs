//! What is wrong with a file that can be read: transactions that end without having begun, tables that nobody
//! creates, expectations that contradict each other.

use super::{
    document::{Document, Item, Kind, Laid, Section},
    problem::Problem,
    words,
};
use crate::{
    case::{Case, KnownFailure},
    expect::{Expectation, Expected, Selector},
};

/// Everything that can be said without a server.
pub(super) fn check(text: &str, document: &Document, case: &Case) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(no_steps(text, document, case));
    transactions(text, document, case, &mut problems);
    tables(text, document, case, &mut problems);
    ties(text, document, &mut problems);
    groups(text, document, case, &mut problems);
    problems
}

fn no_steps(text: &str, document: &Document, case: &Case) -> Option<Problem> {
    if !case.steps.is_empty() {
        return None;
    }
    let section = document.items.iter().find(|item| matches!(item.kind, Kind::Section(Section::Steps)));
    let end = text.trim_end().len();
    let span = section.map_or(end..end, |item| item.span.clone());
    Some(
        Problem::at(text, span, "a case without steps", "there is nothing to run")
            .help("a line that says `steps`, and below it lines such as `T1: SELECT 1;`"),
    )
}

/// What a statement does to the transaction of its session, as far as its first words tell.
enum Boundary {
    Begins,
    Ends,
    /// Autocommit is changed: from here on nobody knows without running it.
    Unknown,
    None,
}

fn boundary(sql: &str) -> Boundary {
    let mut rest = sql.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        rest = comment.split_once("*/").map_or("", |(_, after)| after).trim_start();
    }
    let lower = rest.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|char: char| !char.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    match words[..] {
        ["begin", ..] | ["start", "transaction", ..] | ["savepoint", ..] => Boundary::Begins,
        ["rollback", "to", ..] | ["rollback", "work" | "transaction", "to", ..] => Boundary::None,
        ["commit", "prepared", ..] | ["rollback", "prepared", ..] => Boundary::None,
        ["commit" | "rollback" | "end" | "abort", .., "and", "chain"] => Boundary::None,
        ["commit" | "rollback" | "end" | "abort", ..] => Boundary::Ends,
        ["prepare", "transaction", ..] => Boundary::Ends,
        ["set", ..] if words.contains(&"autocommit") => Boundary::Unknown,
        _ => Boundary::None,
    }
}

fn transactions(text: &str, document: &Document, case: &Case, problems: &mut Vec<Problem>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Open,
        Closed,
        Unknown,
    }
    let start = |autocommit: bool| if autocommit { State::Closed } else { State::Unknown };
    let mut states: Vec<State> = case.sessions.iter().map(|s| start(s.autocommit)).collect();
    for (step, item) in steps(document).zip(&case.steps).map(|(item, step)| (step, item)) {
        let before = states[step.session];
        match boundary(&step.sql) {
            Boundary::None => {}
            Boundary::Unknown => states[step.session] = State::Unknown,
            Boundary::Begins if before == State::Closed => states[step.session] = State::Open,
            Boundary::Ends if before == State::Open => states[step.session] = State::Closed,
            Boundary::Begins => {}
            Boundary::Ends if before == State::Unknown => {}
            Boundary::Ends => {
                let word = step.sql.split(|char: char| !char.is_alphanumeric()).next().unwrap_or("");
                let name = |i: usize| case.sessions[i].name.clone();
                let open: Vec<String> =
                    (0..states.len()).filter(|&i| states[i] == State::Open).map(name).collect();
                let others = match open.len() {
                    0 => String::new(),
                    1 => format!("; {} does", open[0]),
                    _ => format!("; {} and {} do", open[..open.len() - 1].join(", "), open[open.len() - 1]),
                };
                let label = format!("{} has no open transaction here{others}", name(step.session));
                let message = format!("a {} without a BEGIN", word.to_ascii_uppercase());
                problems.push(Problem::at(text, item.span.clone(), message, label));
            }
        }
    }
}

fn steps(document: &Document) -> impl Iterator<Item = &Item> {
    document.items.iter().filter(|item| matches!(item.kind, Kind::Step { .. }))
}

/// The tables that the case creates, in lower case; none if it does something that hides their names.
fn created(case: &Case) -> Option<Vec<String>> {
    let mut tables = Vec::new();
    for sql in case.setup.statements.iter().chain(case.steps.iter().map(|step| &step.sql)) {
        let spaced = sql.replace('(', " ( ");
        let mut words = spaced.split_whitespace().map(|word| word.trim_matches(['`', '"']).to_lowercase());
        match words.next().as_deref() {
            Some("create") => {}
            Some("rename" | "alter" | "use" | "source") => return None,
            _ => continue,
        }
        let mut words = words.skip_while(|w| {
            ["or", "replace", "temporary", "temp", "virtual", "unlogged"].contains(&w.as_str())
        });
        if !matches!(words.next().as_deref(), Some("table" | "view")) {
            continue;
        }
        let name = words.find(|word| !["if", "not", "exists"].contains(&word.as_str()));
        tables.extend(
            name.map(|name| name.rsplit('.').next().unwrap_or("").trim_matches(['`', '"']).to_string()),
        );
    }
    Some(tables).filter(|tables| !tables.is_empty())
}

fn tables(text: &str, document: &Document, case: &Case, problems: &mut Vec<Problem>) {
    let Some(created) = created(case) else { return };
    for item in &document.items {
        let (Kind::Table { table, .. } | Kind::GroupTable { table, .. }) = &item.kind else { continue };
        let plain = table.rsplit('.').next().unwrap_or("").to_lowercase();
        if !created.contains(&plain) {
            let label = format!("the case creates {}", created.join(", "));
            let message = format!("unknown table `{table}`");
            let names = created.iter().map(String::as_str);
            problems.push(Problem::at(text, item.span.clone(), message, label).did_you_mean(&plain, names));
        }
    }
}

/// Expectations of one step or table that fit equally well somewhere and say different things.
fn ties(text: &str, document: &Document, problems: &mut Vec<Problem>) {
    let mut one: Vec<(&Item, &Expectation)> = Vec::new();
    for item in &document.items {
        match &item.kind {
            Kind::Expect(expect) => one.push((item, &expect.what)),
            Kind::Table { expect, .. } => {
                ties_of(text, &one, problems);
                one = vec![(item, &expect.what)];
            }
            Kind::Step { .. } | Kind::Section(_) => {
                ties_of(text, &one, problems);
                one.clear();
            }
            _ => {}
        }
    }
    ties_of(text, &one, problems);
}

fn ties_of(text: &str, all: &[(&Item, &Expectation)], problems: &mut Vec<Problem>) {
    for (i, (item, later)) in all.iter().enumerate() {
        let rest = all.iter().map(|(_, other)| &other.when);
        let tie = all[..i]
            .iter()
            .find(|(_, earlier)| earlier.then != later.then && earlier.when.ties(&later.when, rest.clone()));
        if let Some((_, earlier)) = tie {
            let other = match earlier.when.is_any() {
                true => format!("`=> {}`", earlier.then),
                false => format!("`=> [{}]`", earlier.when),
            };
            let label = format!("{other} above fits equally well somewhere");
            problems.push(
                Problem::at(text, item.span.clone(), "two expectations contradict each other", label)
                    .help("narrow one of them, or add one for where both fit; the narrowest wins"),
            );
        }
    }
}

/// Groups of known failures that say nothing, or contradict each other.
fn groups(text: &str, document: &Document, case: &Case, problems: &mut Vec<Problem>) {
    let mut index = None;
    for item in &document.items {
        let problem = match &item.kind {
            Kind::Group(_) => {
                let here = index.map_or(0, |i: usize| i + 1);
                index = Some(here);
                let group = &case.fails[here];
                let empty = group.steps.is_empty() && group.final_state.is_empty();
                empty.then(|| {
                    let label = "nothing is said to come instead";
                    Problem::at(text, item.span.clone(), "a group of known failures without any", label)
                        .help("below it stands `step 7 => 0 rows` or `final t => (1, 2)`")
                })
            }
            Kind::GroupStep { number, expected } => {
                contradiction(text, item, case, index, expected, |group| {
                    group.steps.iter().find(|(step, _)| step + 1 == *number).map(|(_, other)| other)
                })
            }
            Kind::GroupTable { table, expected } => {
                contradiction(text, item, case, index, expected, |group| {
                    group.final_state.iter().find(|(have, _)| have == table).map(|(_, other)| other)
                })
            }
            _ => None,
        };
        problems.extend(problem);
    }
}

/// An earlier group that can fit at the same place and says something else.
fn contradiction<'a>(
    text: &str,
    item: &Item,
    case: &'a Case,
    index: Option<usize>,
    expected: &Laid<Expected>,
    same_place: impl Fn(&'a KnownFailure) -> Option<&'a Expected>,
) -> Option<Problem> {
    let here: &Selector = &case.fails.get(index?)?.at;
    let differs = |group: &&'a KnownFailure| same_place(group).is_some_and(|other| *other != expected.what);
    let other = case.fails[..index?].iter().filter(differs).find(|group| group.at.overlaps(here))?;
    let label = format!("`{}:` can fit as well and says something else", words::group_head(&other.at));
    Some(Problem::at(text, item.span.clone(), "two groups contradict each other", label))
}
