//! From the items of a file to its case.

use super::{
    document::{Document, Item, Kind},
    problem::Problem,
};
use crate::{
    case::{Case, FinalState, KnownFailure, SessionSpec, Step},
    expect::{Expected, ExpectedReply},
};

/// The case, and what the items do not agree on. With problems the case is not whole.
pub(super) fn lower(text: &str, document: &Document) -> (Case, Vec<Problem>) {
    let mut case = Case::default();
    let mut problems = Vec::new();
    let mut below_table = false;
    for item in &document.items {
        match &item.kind {
            Kind::Title(title) => case.title = title.clone(),
            Kind::Link(links) => case.links.extend(links.iter().cloned()),
            Kind::Note(note) => case.notes.push(note.clone()),
            Kind::For(products) => case.products.extend(products.iter().copied()),
            Kind::Session(session) => case.sessions.push(session.clone()),
            Kind::Section(_) => {}
            Kind::Statement(sql) => case.setup.statements.push(sql.clone()),
            Kind::Step { session, sql } => {
                below_table = false;
                let session = session_index(&mut case, session);
                case.steps.push(Step { session, sql: sql.clone(), expect: Vec::new() });
            }
            Kind::Expect(expect) if below_table => {
                if let Some(state) = case.final_state.last_mut() {
                    state.expect.push(expect.what.clone());
                }
                problems.extend(only_rows(text, item, &expect.what.then));
            }
            Kind::Expect(expect) => {
                if let Some(step) = case.steps.last_mut() {
                    step.expect.push(expect.what.clone());
                }
            }
            Kind::Table { table, expect } => {
                below_table = true;
                let twice = case.final_state.iter().any(|state| state.table == *table);
                case.final_state.push(FinalState { table: table.clone(), expect: vec![expect.what.clone()] });
                let label = format!("`{table}` stands above already");
                let named_twice = || {
                    Problem::at(text, item.span.clone(), "a table is named twice", label)
                        .help("further expectations of a table stand below it and begin with `=>`")
                };
                let problem = twice.then(named_twice);
                problems.extend(problem.or_else(|| only_rows(text, item, &expect.what.then)));
            }
            Kind::Group(at) => {
                case.fails.push(KnownFailure { at: at.clone(), steps: Vec::new(), final_state: Vec::new() });
            }
            Kind::GroupStep { number, expected } => {
                let Some(group) = case.fails.last_mut() else { continue };
                let twice = group.steps.iter().any(|(step, _)| step + 1 == *number);
                group.steps.push((number - 1, expected.what.clone()));
                problems.extend(group_step(text, item, *number, case.steps.len(), twice));
            }
            Kind::GroupTable { table, expected } => {
                let Some(group) = case.fails.last_mut() else { continue };
                let twice = group.final_state.iter().any(|(have, _)| have == table);
                group.final_state.push((table.clone(), expected.what.clone()));
                let label = format!("`{table}` stands in this group already");
                let problem =
                    twice.then(|| Problem::at(text, item.span.clone(), "a table is named twice", label));
                problems.extend(problem.or_else(|| only_rows(text, item, &expected.what)));
            }
        }
    }
    (case, problems)
}

fn session_index(case: &mut Case, name: &str) -> usize {
    case.sessions.iter().position(|session| session.name == name).unwrap_or_else(|| {
        case.sessions.push(SessionSpec::plain(name));
        case.sessions.len() - 1
    })
}

fn group_step(text: &str, item: &Item, number: usize, steps: usize, twice: bool) -> Option<Problem> {
    let span = item.span.clone();
    if number > steps {
        let label = match steps {
            1 => "the case has one step".to_string(),
            steps => format!("the case has {steps} steps"),
        };
        return Some(Problem::at(text, span, format!("there is no step {number}"), label));
    }
    let label = format!("step {number} stands in this group already");
    twice.then(|| Problem::at(text, span, "a step is named twice", label))
}

/// A table holds rows, in no order, and does not wait.
fn only_rows(text: &str, item: &Item, expected: &Expected) -> Option<Problem> {
    let fine =
        !expected.waits && matches!(&expected.answer, Some(ExpectedReply::Rows { ordered: false, .. }));
    let label = format!("`{expected}` is what a statement comes to");
    (!fine).then(|| {
        Problem::at(text, item.span.clone(), "a table holds rows", label)
            .help("write `t => (1, 2) (3, 4)` or `t => no rows`")
    })
}
