//! A key that is changed: in the twin another column gets the new value.

use model::Reason;
use model::sql::{Ident, Statement, TableFactor};

use super::{TwinDraft, Why};
use crate::mvcc::schema::Table;

/// In every update by others that changes a key, another column is changed instead.
pub fn kept(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let reader = draft.session(step);
    let mut found = false;
    for other in 0..draft.trees.len() {
        let Some(Statement::Update(update)) = draft.trees[other].as_deref() else { continue };
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
