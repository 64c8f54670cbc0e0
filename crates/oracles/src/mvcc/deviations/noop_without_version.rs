//! An UPDATE that sets what is there makes no version, so the row stays as old as the snapshot.

use model::{
    Level::RepeatableRead,
    Reason,
    sql::{Expr, Literal, Statement},
};

use super::{
    super::{
        allowed_outcome::{AllowedOutcome, Effect},
        statement_context::StatementContext,
        twins::{TwinDraft, Why},
    },
    AffectedServers, DecoupledView, KnownDeviation, NO_HOOKS, Status, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "noop-without-version",
    status: Status::Reported,
    source: "MDEV-26642",
    reports: &[reported("MDEV-26642")],
    // With snapshot isolation the write itself is refused. On MySQL an UPDATE without a range needs the binary log for it, one with a range
    // does not; MariaDB 10.1 and 10.2 have only the latter.
    affects: AffectedServers { refuses_stale_writes: Some(false), ..AffectedServers::ALL },
    levels: &[RepeatableRead],
    instead: Some(without_version),
    decoupled_view: Some(DecoupledView::WithoutNoops),
    twin: Some(another_constant),
    ..NO_HOOKS
};

/// The outcome of an UPDATE without its effects on rows that have changed since the snapshot and that it sets to what is there.
fn without_version(
    context: &StatementContext<'_>,
    outcome: &AllowedOutcome,
    _: &[usize],
) -> Vec<AllowedOutcome> {
    let Some(view) = context.view else { return Vec::new() };
    let stale = |effect: &Effect| match effect {
        Effect::Put { table, row, noop: true, .. } => {
            context.hypothesis.tables[*table][*row].changed_at(context.me) > view
        }
        Effect::Put { .. } | Effect::Insert { .. } => false,
    };
    if !outcome.effects.iter().any(stale) {
        return Vec::new();
    }
    let by = Some(&DEVIATION);
    let mut without = AllowedOutcome { by, ..outcome.clone() };
    without.effects.retain(|effect| !stale(effect));
    let mut some = AllowedOutcome { by, ..outcome.clone() };
    some.effects.retain(|effect| !stale(effect) || sets_null_again(context, effect));
    match some.effects.len() > without.effects.len() {
        true => vec![without, some],
        false => vec![without],
    }
}

/// Is there a NULL in a column whose default is another value? Set again, it may be taken for a change.
fn sets_null_again(context: &StatementContext<'_>, effect: &Effect) -> bool {
    match effect {
        Effect::Put { table, data: Some(data), .. } => {
            let traits = &context.schema.tables[*table].traits;
            data.iter().zip(traits).any(|(value, traits)| value.is_null() && traits.default.is_some())
        }
        Effect::Put { data: None, .. } | Effect::Insert { .. } => false,
    }
}

/// The twin: every constant that the statement assigns becomes another one.
fn another_constant(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let Some(Statement::Update(update)) = draft.seen.case.tree(step) else { return Err(Reason::NoUpdate) };
    let mut update = update.clone();
    let mut changed = false;
    for assignment in &mut update.assignments {
        changed |= change(&mut assignment.value);
    }
    if !changed {
        return Err(Reason::NoConstantToChange);
    }
    draft.rewrite(step, &Statement::Update(update));
    Ok(())
}

/// Changes a constant; says whether it could. Small numbers stay small, so that they still fit their column.
fn change(value: &mut Expr) -> bool {
    if let Expr::Unary { expr: inner, .. } | Expr::Paren(inner) = value {
        return change(inner);
    }
    let Expr::Literal(Literal::Number(text)) = value else { return false };
    let Ok(number) = text.parse::<u64>() else { return false };
    *text = if number < 100 { number + 1 } else { number - 1 }.to_string();
    true
}
