//! Says statements more simply: shorter projections and SET lists, no locking clause, no ON DUPLICATE part, one row instead of many,
//! no hints, no order, no limit, one table instead of a join, a plain BEGIN.

mod change;
mod control;
mod query;
mod tables;

use model::sql::Statement;

use crate::{
    edit::{Put, each_statement},
    view::{Candidate, View},
};

/// A simpler statement, and what was done.
type Simpler = (&'static str, Statement);

/// With one statement said more simply.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    each_statement(view, simpler, |tree| match tree {
        Statement::Insert(_) => change::simpler(tree),
        _ => Vec::new(),
    })
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
            other.visit_mut(&mut Put { before: at, other: Some(simpler) });
            found.push((operation, other));
        }
    }
    found
}
