//! Drops a whole transaction, from what begins it to what ends it.

use dialect::sql::{self, Kind};
use model::{Case, Product};

use super::without_steps;

/// The steps of each explicit transaction, first and last included; one that nothing ends goes on to the session's last step.
pub fn spans(case: &Case, product: Product) -> Vec<Vec<usize>> {
    let mut spans: Vec<Vec<usize>> = Vec::new();
    for session in 0..case.sessions.len() {
        let mut open: Option<Vec<usize>> = None;
        for step in (0..case.steps.len()).filter(|step| case.steps[*step].session == session) {
            let kind = sql::parse(product, &case.steps[step].sql)
                .tree()
                .map(|statement| sql::facts(&statement).kind);
            match kind {
                Some(Kind::Begin) => {
                    spans.extend(open.take());
                    open = Some(vec![step]);
                }
                Some(Kind::Commit | Kind::Rollback) => {
                    if let Some(mut span) = open.take() {
                        span.push(step);
                        spans.push(span);
                    }
                }
                Some(
                    Kind::Savepoint
                    | Kind::Select
                    | Kind::LockingSelect
                    | Kind::Insert
                    | Kind::Update
                    | Kind::Delete
                    | Kind::Ddl
                    | Kind::LockTable
                    | Kind::Set,
                )
                | None => open.iter_mut().for_each(|span| span.push(step)),
            }
        }
        spans.extend(open);
    }
    spans
}

/// Without one of the transactions.
pub fn list(case: &Case, product: Product) -> Vec<Case> {
    let without = |span: Vec<usize>| without_steps(case, |step| span.contains(&step));
    spans(case, product).into_iter().rev().map(without).collect()
}
