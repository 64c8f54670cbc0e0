//! Drops rows that the setup inserts: many at once first, then one by one. Or another row does the work of one: what named the
//! values of the one names those of the other.

use model::sql::{Expr, Insert, InsertSource, Literal, Statement};

use super::super::constants;
use crate::{
    edit::{pieces, with_setup_at},
    view::{Candidate, View},
};

/// Without some of the rows of one INSERT.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, tree) in view.setup_trees().rev() {
        let Statement::Insert(insert) = &*tree else { continue };
        let InsertSource::Values { word, rows } = &insert.source else { continue };
        // The last row goes with its statement, which is another pass's business.
        for piece in pieces(rows.len(), 1) {
            let left = rows.iter().enumerate().filter(|(i, _)| !piece.contains(i));
            let source =
                InsertSource::Values { word: *word, rows: left.map(|(_, row)| row.clone()).collect() };
            let smaller = Statement::Insert(Insert { source, ..insert.clone() });
            let operation = if piece.len() > 1 { "drop several rows" } else { "drop row" };
            found.push(Candidate { operation, case: with_setup_at(view, at, &smaller) });
        }
    }
    found
}

/// At most this many rows, since there are many more pairs than rows.
const PAIRED: usize = 6;

/// With one row where there were two of one INSERT.
pub fn merged(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, tree) in view.setup_trees().rev() {
        let Statement::Insert(insert) = &*tree else { continue };
        let InsertSource::Values { word, rows } = &insert.source else { continue };
        if rows.len() > PAIRED {
            continue;
        }
        for gone in (0..rows.len()).rev() {
            let mut left = rows.clone();
            let gone = left.remove(gone);
            let source = InsertSource::Values { word: *word, rows: left.clone() };
            let smaller = with_setup_at(view, at, &Statement::Insert(Insert { source, ..insert.clone() }));
            for stays in &left {
                let to = renamed(&gone, stays);
                let mut case = smaller.clone();
                for step in &mut case.steps {
                    step.sql = constants::replaced(view, &step.sql, &to);
                }
                found.push(Candidate { operation: "merge rows", case });
            }
        }
    }
    found
}

/// What stands for each constant of a row in another one.
fn renamed(gone: &[Expr], stays: &[Expr]) -> Vec<(Literal, Literal)> {
    let pairs = gone.iter().zip(stays).filter_map(|(one, other)| {
        let (one, other) = (constants::value(one)?, constants::value(other)?);
        (one != other && one != Literal::Null).then_some((one, other))
    });
    pairs.collect()
}
