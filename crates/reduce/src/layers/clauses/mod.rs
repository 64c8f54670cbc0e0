//! Says statements more simply: shorter projections and SET lists, no locking clause, no ON DUPLICATE part, one row instead of many,
//! no hints, no order, no limit, one table instead of a join, a plain BEGIN.

mod change;
mod control;
mod query;
mod tables;

use model::sql::{Query, Statement, VisitMut};

use crate::{
    edit::{with_setup_at, with_step},
    view::{Candidate, View},
};

/// A simpler statement, and what was done.
type Simpler = (&'static str, Statement);

/// With one statement said more simply.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for at in 0..view.case.steps.len() {
        let Some(tree) = view.step(at) else { continue };
        for (operation, simpler) in simpler(&tree) {
            found.push(Candidate { operation, case: with_step(view, at, &simpler) });
        }
    }
    for at in 0..view.case.setup.statements.len() {
        let Some(tree) = view.setup(at) else { continue };
        if let Statement::Insert(_) = &*tree {
            for (operation, simpler) in change::simpler(&tree) {
                found.push(Candidate { operation, case: with_setup_at(view, at, &simpler) });
            }
        }
    }
    found
}

fn simpler(statement: &Statement) -> Vec<Simpler> {
    let mut found = control::simpler(statement);
    found.extend(change::simpler(statement));
    found.extend(queries(statement));
    let plain = statement.without_parens();
    if plain != *statement {
        found.push(("drop parentheses", plain));
    }
    found
}

/// Each query of a statement, be it an inner one, made simpler.
fn queries(statement: &Statement) -> Vec<Simpler> {
    let mut all = Vec::new();
    statement.for_each_query(|query| all.push(query));
    let mut found = Vec::new();
    // The outermost comes last in the walk, and first here.
    for (at, query) in all.into_iter().enumerate().rev() {
        for (operation, simpler) in query::simpler(query) {
            let mut other = statement.clone();
            other.visit_mut(&mut Put { at, seen: 0, query: Some(simpler) });
            found.push((operation, other));
        }
    }
    found
}

/// Puts another query at one place of the walk.
struct Put {
    at: usize,
    seen: usize,
    query: Option<Query>,
}

impl VisitMut for Put {
    fn query(&mut self, query: &mut Query) {
        if self.seen == self.at
            && let Some(other) = self.query.take()
        {
            *query = other;
        }
        self.seen += 1;
    }
}
