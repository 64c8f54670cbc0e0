//! From a case to the items of its file, where there is no file yet.

use super::document::{Document, Item, Kind, Laid, Section};
use crate::case::{Case, SessionSpec};

/// The items of a case; none if a step belongs to no session.
pub(super) fn raise(case: &Case) -> Option<Document> {
    let mut kinds = Vec::new();
    if !case.title.is_empty() {
        kinds.push(Kind::Title(case.title.clone()));
    }
    if !case.links.is_empty() {
        kinds.push(Kind::Link(case.links.clone()));
    }
    kinds.extend(case.notes.iter().cloned().map(Kind::Note));
    if !case.products.is_empty() {
        kinds.push(Kind::For(case.products.clone()));
    }
    kinds.extend(declared(case).into_iter().cloned().map(Kind::Session));
    if !case.setup.statements.is_empty() {
        kinds.push(Kind::Section(Section::Setup));
        kinds.extend(case.setup.statements.iter().cloned().map(Kind::Statement));
    }
    kinds.push(Kind::Section(Section::Steps));
    for step in &case.steps {
        let session = case.sessions.get(step.session)?.name.clone();
        kinds.push(Kind::Step { session, sql: step.sql.clone() });
        kinds.extend(step.expect.iter().cloned().map(|what| Kind::Expect(laid(what))));
    }
    if !case.final_state.is_empty() {
        kinds.push(Kind::Section(Section::Final));
    }
    for state in &case.final_state {
        for (i, what) in state.expect.iter().cloned().enumerate() {
            kinds.push(match i {
                0 => Kind::Table { table: state.table.clone(), expect: laid(what) },
                _ => Kind::Expect(laid(what)),
            });
        }
    }
    if !case.fails.is_empty() {
        kinds.push(Kind::Section(Section::FailsOn));
    }
    for failure in &case.fails {
        kinds.push(Kind::Group(failure.at.clone()));
        for (step, expected) in &failure.steps {
            kinds.push(Kind::GroupStep { number: step + 1, expected: laid(expected.clone()) });
        }
        for (table, expected) in &failure.final_state {
            kinds.push(Kind::GroupTable { table: table.clone(), expected: laid(expected.clone()) });
        }
    }
    Some(Document { items: kinds.into_iter().map(Item::bare).collect(), end: Vec::new() })
}

fn laid<T>(what: T) -> Laid<T> {
    Laid { what, lines: Vec::new() }
}

/// The sessions that must be declared: those with something special about them, and all of them where the order
/// would come out differently otherwise.
fn declared(case: &Case) -> Vec<&SessionSpec> {
    let used = |index: usize| case.steps.iter().any(|step| step.session == index);
    let special: Vec<usize> = (0..case.sessions.len())
        .filter(|&i| case.sessions[i] != SessionSpec::plain(&case.sessions[i].name) || !used(i))
        .collect();
    let mut order = special.clone();
    for step in &case.steps {
        if !order.contains(&step.session) {
            order.push(step.session);
        }
    }
    let all = order.iter().copied().eq(0..case.sessions.len());
    if all {
        special.into_iter().map(|i| &case.sessions[i]).collect()
    } else {
        case.sessions.iter().collect()
    }
}

/// Which part of two cases differs, in words.
pub(super) fn first_difference(a: &Case, b: &Case) -> &'static str {
    match () {
        () if a.title != b.title => "its title would change",
        () if a.links != b.links => "its links would change",
        () if a.notes != b.notes => "its notes would change",
        () if a.products != b.products => "the products that it is for would change",
        () if a.sessions != b.sessions => "its sessions would change",
        () if a.setup != b.setup => "its setup would change",
        () if a.steps != b.steps => "its steps would change",
        () if a.final_state != b.final_state => "its final state would change",
        () => "its known failures would change",
    }
}
