//! Drops a statement of the setup whole, the last one first: an index of its own, a filling, what nobody understands. Tables that
//! somebody names stay.

use dialect::sql;
use model::{Case, Product, sql::Statement};

use super::with_setup;

/// Without one of the setup's statements.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let all = &case.setup.statements;
    let mut found = Vec::new();
    for at in (0..all.len()).rev() {
        // Whether tables may go is another pass's business.
        if matches!(sql::parse(product, &all[at]).tree(), Some(Statement::CreateTable(_))) {
            continue;
        }
        let rest = all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, text)| text.clone());
        found.push(with_setup(case, rest.collect()));
    }
    found
}
