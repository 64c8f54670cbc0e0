//! A row whose primary key another has changed stays in the snapshot beside its new self.

use eval::Fault;
use model::{
    Level::RepeatableRead,
    Reason,
    sql::{Ident, Statement, TableFactor},
};

use super::{
    super::{
        allowed_outcome::AllowedOutcome,
        schema::{Table, Values},
        statement_context::{StatementContext, VisibleRows},
        twins::{TwinDraft, Why},
    },
    AffectedServers, Alternatives, DecoupledView, KnownDeviation, ModelChange, NO_HOOKS, Status, reported,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "key-change-keeps-old-row",
    status: Status::Reported,
    source: "MDEV-32898, MySQL#113228",
    reports: &[reported("MDEV-32898"), reported("MySQL#113228")],
    // With snapshot isolation the write itself is refused.
    affects: AffectedServers { refuses_stale_writes: Some(false), ..AffectedServers::ALL },
    levels: &[RepeatableRead],
    alternatives: Some(alternatives),
    decoupled_view: Some(DecoupledView::WithOldKeys),
    twin: Some(another_column),
    ..NO_HOOKS
};

static OLD_BESIDE_NEW: ModelChange = ModelChange { visible_rows: Some(old_beside_new), ..ModelChange::NONE };
static OLD_INSTEAD_OF_NEW: ModelChange =
    ModelChange { visible_rows: Some(old_instead_of_new), ..ModelChange::NONE };

fn alternatives(statement: &Alternatives<'_, '_>) -> Result<Vec<AllowedOutcome>, Fault> {
    let mut tables = 0..statement.context.schema.tables.len();
    if tables.all(|table| left_behind(statement.context, table).is_empty()) {
        return Ok(Vec::new());
    }
    let mut all = statement.with(&OLD_BESIDE_NEW)?;
    all.extend(statement.with(&OLD_INSTEAD_OF_NEW)?);
    Ok(all)
}

/// Rows that stay in the snapshot under their old key although this transaction has changed them under their new one.
fn left_behind<'a>(context: &StatementContext<'a>, table: usize) -> VisibleRows<'a> {
    let of = &context.schema.tables[table];
    let (Some(key), Some(view)) = (&of.clustered, context.view) else { return Vec::new() };
    let same_key = |one: &Values, other: &Values| context.evaluator.same_key(&of.columns, key, one, other);
    let mut left = Vec::new();
    let written = context.written(&context.hypothesis.tables[table]);
    for (row, chain) in context.hypothesis.tables[table].iter().enumerate() {
        let old = chain.versions.iter().rev().find(|version| version.at.is_some_and(|at| at <= view));
        let Some(old) = old.and_then(|version| version.data.as_ref()) else { continue };
        let moved = chain.versions.iter().any(|version| {
            version.at.is_some_and(|at| at > view)
                && version.data.as_ref().is_some_and(|data| !same_key(old, data).unwrap_or(true))
        });
        let covered = written.iter().any(|mine| same_key(mine, old).unwrap_or(false));
        if moved && chain.mine(context.me) && !covered {
            left.push((row, old));
        }
    }
    left
}

fn old_beside_new<'a>(context: &StatementContext<'a>, table: usize, seen: &mut VisibleRows<'a>) {
    seen.extend(left_behind(context, table));
}

/// A search by a unique key comes to the old row first and ends there.
fn old_instead_of_new<'a>(context: &StatementContext<'a>, table: usize, seen: &mut VisibleRows<'a>) {
    let of = &context.schema.tables[table];
    let second = |key: &&Vec<usize>| Some(*key) != of.clustered.as_ref();
    for (row, old) in left_behind(context, table) {
        let unique = |new: &Values| {
            let same = |key: &Vec<usize>| context.evaluator.same_key(&of.columns, key, old, new);
            of.uniques.iter().filter(second).any(|key| same(key).unwrap_or(false))
        };
        if let Some((_, new)) = seen.iter_mut().find(|(of, new)| *of == row && unique(new)) {
            *new = old;
        }
    }
}

/// The twin: in every update by others that changes a key, another column is changed instead.
fn another_column(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let reader = draft.session(step);
    let mut found = false;
    for other in 0..draft.seen.case.steps.len() {
        let Some(Statement::Update(update)) = draft.seen.case.tree(other) else { continue };
        if draft.session(other) == reader {
            continue;
        }
        let [reference] = update.tables.as_slice() else { continue };
        let TableFactor::Table { name, .. } = &reference.first else { continue };
        let Some(table) = draft.schema.find(&name.name.name) else { continue };
        let of = &draft.schema.tables[table];
        let Some(key) = &of.clustered else { continue };
        let column =
            |name: &Ident| of.columns.iter().position(|column| column.name.eq_ignore_ascii_case(&name.name));
        let mut update = update.clone();
        let mut set: Vec<Option<usize>> =
            update.assignments.iter().map(|assignment| column(&assignment.column.name)).collect();
        let moves: Vec<usize> =
            (0..set.len()).filter(|at| set[*at].is_some_and(|column| key.contains(&column))).collect();
        if moves.is_empty() {
            continue;
        }
        found = true;
        for at in moves {
            let Some(old) = set[at] else { continue };
            let instead = (0..of.columns.len()).find(|new| free(of, *new, old) && !set.contains(&Some(*new)));
            let instead = instead.ok_or(Reason::NoOtherColumn)?;
            update.assignments[at].column.name = of.columns[instead].name.as_str().into();
            set[at] = Some(instead);
        }
        draft.rewrite(other, &Statement::Update(update));
    }
    if found { Ok(()) } else { Err(Reason::NoUpdateOfAKey) }
}

/// Can a column be changed in place of another?
fn free(of: &Table, new: usize, old: usize) -> bool {
    let keys =
        of.uniques.iter().chain(&of.clustered).chain(of.parents.iter().map(|foreign| &foreign.columns));
    of.columns[new].ty == of.columns[old].ty
        && of.traits[new].generated.is_none()
        && !keys.flatten().any(|column| *column == new)
}
