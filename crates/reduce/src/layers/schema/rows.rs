//! Drops rows that the setup inserts: many at once first, then one by one.

use model::sql::{Insert, InsertSource, Statement};

use crate::{
    edit::{pieces, with_setup_at},
    view::{Candidate, View},
};

/// Without some of the rows of one INSERT.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for at in (0..view.case.setup.statements.len()).rev() {
        let Some(tree) = view.setup(at) else { continue };
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
