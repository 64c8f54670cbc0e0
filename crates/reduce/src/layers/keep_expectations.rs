//! Where an expectation is all that fails: drops steps that expect nothing, and rows of the setup that no expectation names.

use model::{
    expect::{ExpectedReply, Literal as Expected},
    sql::{Expr, InsertSource, Literal, Statement},
};

use crate::{
    edit::with_setup_at,
    view::{Candidate, View},
};

/// Without one of the steps that expect nothing. Sessions stay, since expectations are said about them.
pub fn steps(view: View<'_>) -> Vec<Candidate> {
    let case = view.case;
    // What is known to fail is said about steps by number.
    let free = |step: &usize| case.steps[*step].expect.is_empty();
    let known = case.fails.iter().any(|failure| !failure.steps.is_empty());
    let without = |step: usize| {
        let mut smaller = case.clone();
        smaller.steps.remove(step);
        for failure in &mut smaller.fails {
            failure.steps.iter_mut().filter(|(at, _)| *at > step).for_each(|(at, _)| *at -= 1);
        }
        Candidate { operation: "drop step", case: smaller }
    };
    let told = |step: &usize| known && case.fails.iter().any(|f| f.steps.iter().any(|(at, _)| at == step));
    (0..case.steps.len()).rev().filter(free).filter(|step| !told(step)).map(without).collect()
}

/// Without one row of the setup that no expectation names.
pub fn rows(view: View<'_>) -> Vec<Candidate> {
    let named = named(view);
    let mut found = Vec::new();
    for at in (0..view.case.setup.statements.len()).rev() {
        let Some(tree) = view.setup(at) else { continue };
        let Statement::Insert(insert) = &*tree else { continue };
        let InsertSource::Values { rows, .. } = &insert.source else { continue };
        if rows.len() < 2 {
            continue;
        }
        for row in (0..rows.len()).rev() {
            let values: Vec<Option<String>> = rows[row].iter().map(constant).collect();
            let told = values.iter().flatten().any(|value| named.contains(value));
            if told || values.iter().any(Option::is_none) {
                continue;
            }
            let mut smaller = insert.clone();
            if let InsertSource::Values { rows, .. } = &mut smaller.source {
                rows.remove(row);
            }
            let case = with_setup_at(view, at, &Statement::Insert(smaller));
            found.push(Candidate { operation: "drop row", case });
        }
    }
    found
}

/// A constant as both sides can be compared; none where it is more than that. NULL and what is empty name nothing.
fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(Literal::Null) => Some(String::new()),
        Expr::Literal(Literal::Bool(value)) => Some(u8::from(*value).to_string()),
        Expr::Literal(Literal::Number(text)) => Some(text.clone()),
        Expr::Literal(Literal::Text(text) | Literal::Bytes(text)) => Some(text.to_ascii_lowercase()),
        Expr::Unary { op: model::sql::UnaryOp::Neg, expr } => constant(expr).map(|text| format!("-{text}")),
        _ => None,
    }
}

/// The values that expectations name.
fn named(view: View<'_>) -> Vec<String> {
    let case = view.case;
    let steps = case.steps.iter().flat_map(|step| &step.expect);
    let last = case.final_state.iter().flat_map(|state| &state.expect);
    let said = steps.chain(last).map(|expectation| &expectation.then);
    let known = case.fails.iter().flat_map(|failure| {
        failure.steps.iter().map(|(_, then)| then).chain(failure.final_state.iter().map(|(_, then)| then))
    });
    let mut found = Vec::new();
    for then in said.chain(known) {
        let Some(ExpectedReply::Rows { rows, .. }) = &then.answer else { continue };
        found.extend(rows.iter().flatten().filter_map(|value| match value {
            Expected::Null => None,
            Expected::Number(text) => Some(text.clone()),
            Expected::Text(text) => Some(format!("'{}'", text.replace('\'', "''")).to_ascii_lowercase()),
            Expected::Bytes(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Some(format!("x'{digits}'"))
            }
        }));
    }
    found
}
