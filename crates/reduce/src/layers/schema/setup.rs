//! Drops a statement of the setup whole, the last one first: an index of its own, a filling, what nobody understands; and puts two
//! fillings of one table together.

use model::sql::{InsertSource, Statement};

use crate::{
    edit::with_setup,
    view::{Candidate, View},
};

/// Without one of the setup's statements. Tables are another pass's business.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let all = &view.case.setup.statements;
    let mut found = Vec::new();
    for at in (0..all.len()).rev() {
        let operation = match view.setup(at).as_deref() {
            Some(Statement::CreateTable(_)) => continue,
            Some(Statement::CreateIndex(_) | Statement::AlterTable(_)) => "drop index",
            Some(_) | None => "drop setup",
        };
        let rest = all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, text)| text.clone());
        found.push(Candidate { operation, case: with_setup(view.case, rest.collect()) });
    }
    found.extend(joined(view));
    found
}

/// With the rows of two insertions that follow each other in one.
fn joined(view: View<'_>) -> Vec<Candidate> {
    let all = &view.case.setup.statements;
    let mut found = Vec::new();
    for at in 1..all.len() {
        let (Some(one), Some(two)) = (view.setup(at - 1), view.setup(at)) else { continue };
        let (Statement::Insert(one), Statement::Insert(two)) = (&*one, &*two) else { continue };
        let mut both = one.clone();
        let (InsertSource::Values { rows, .. }, InsertSource::Values { rows: more, .. }) =
            (&mut both.source, &two.source)
        else {
            continue;
        };
        if one.table != two.table || one.columns != two.columns {
            continue;
        }
        rows.extend(more.iter().cloned());
        let mut statements = all.clone();
        statements[at - 1] = view.print(&Statement::Insert(both));
        statements.remove(at);
        found.push(Candidate { operation: "join insertions", case: with_setup(view.case, statements) });
    }
    found
}
