//! A row is met twice through a unique index after a rollback.

use model::Reason;
use model::sql::{Rollback, Statement};

use super::{
    super::{
        allowed_outcome::{AllowedOutcome, Expected},
        statement_context::StatementContext,
        twins::{TwinDraft, Why},
    },
    AffectedServers, KnownDeviation, NO_HOOKS, Report, Status, VendorAnswer,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "duplicate-after-rollback",
    status: Status::Reported,
    source: "MDEV-33802",
    reports: &[Report { number: "MDEV-33802", answer: VendorAnswer::FixedIn("10.4.34") }],
    affects: AffectedServers {
        product: Some("mariadb"),
        since: &[10, 4],
        // By their release notes.
        repaired: &[[10, 4, 34], [10, 5, 25], [10, 6, 18], [10, 11, 8], [11, 0, 6], [11, 1, 5], [11, 2, 4]],
        ..AffectedServers::ALL
    },
    instead: Some(rows_twice),
    twin: Some(without_rollbacks),
    ..NO_HOOKS
};

/// A scan that another deviation has made shorter is that one's business: its rows twice would hide what is missing.
fn rows_twice(
    context: &StatementContext<'_>,
    outcome: &AllowedOutcome,
    tables: &[usize],
) -> Vec<AllowedOutcome> {
    match &outcome.reply {
        Expected::Rows(rows) if outcome.by.is_none() && !rows.is_empty() && met_twice(context, tables) => {
            vec![AllowedOutcome {
                by: Some(&DEVIATION),
                ..AllowedOutcome::only(Expected::Twice(rows.clone()))
            }]
        }
        _ => Vec::new(),
    }
}

/// May a row of these be met twice: is there a unique index beside the primary key, and was a change undone?
fn met_twice(context: &StatementContext<'_>, tables: &[usize]) -> bool {
    tables.iter().any(|&table| {
        let of = &context.schema.tables[table];
        of.uniques.len() > usize::from(of.primary) && context.hypothesis.undone & (1 << table.min(63)) != 0
    })
}

/// The twin: without the transactions of others that are rolled back.
fn without_rollbacks(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let reader = draft.session(step);
    let mut gone: Vec<usize> = Vec::new();
    for end in 0..draft.seen.case.steps.len() {
        let rolls = matches!(draft.seen.case.tree(end), Some(Statement::Rollback(Rollback { to: None, .. })));
        let session = draft.session(end);
        if !rolls || session == reader {
            continue;
        }
        let begins = |at: &usize| {
            draft.session(*at) == session && matches!(draft.seen.case.tree(*at), Some(Statement::Begin(_)))
        };
        let begin = (0..end).rev().find(begins).ok_or(Reason::NoBegin)?;
        gone.extend((begin..=end).filter(|at| draft.session(*at) == session));
    }
    if gone.is_empty() {
        return Err(Reason::NoTransactionRolledBack);
    }
    draft.steps.retain(|(number, _)| !gone.contains(number));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::tests::names_on, *};

    #[test]
    fn it_was_repaired_in_each_series() {
        let has = |product, version| names_on(&format!("{product}@{version}")).contains(&DEVIATION.name);
        for version in ["10.5.23", "10.11.5", "10.6.17", "10.7.1", "11.2.3"] {
            assert!(has("mariadb", version), "{version}");
        }
        for version in
            ["10.1.23", "10.2.11", "10.5.29", "10.11.8", "10.11.19", "11.3", "11.4.5", "11.8.6", "12.0"]
        {
            assert!(!has("mariadb", version), "{version}");
        }
        for version in ["5.6.24", "8.0.33", "9.7.4"] {
            assert!(!has("mysql", version), "{version}");
        }
    }
}
