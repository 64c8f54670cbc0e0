//! Drops rows that the setup inserts: many at once first, then one by one.

use dialect::sql;
use model::{
    Case, Product,
    sql::{InsertSource, Statement},
};

use super::{pieces, with_setup};

/// Without some of the rows of one INSERT.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let all = &case.setup.statements;
    let mut found = Vec::new();
    for at in (0..all.len()).rev() {
        let Some(Statement::Insert(insert)) = sql::parse(product, &all[at]).tree() else { continue };
        let InsertSource::Values { word, rows } = &insert.source else { continue };
        // The last row goes with its statement, which is another pass's business.
        for piece in pieces(rows.len(), 1) {
            let left = rows.iter().enumerate().filter(|(i, _)| !piece.contains(i));
            let source =
                InsertSource::Values { word: *word, rows: left.map(|(_, row)| row.clone()).collect() };
            let smaller = Statement::Insert(model::sql::Insert { source, ..insert.clone() });
            let mut statements = all.clone();
            statements[at] = sql::print(product, &smaller);
            found.push(with_setup(case, statements));
        }
    }
    found
}
