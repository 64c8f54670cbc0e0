//! An update that sets what is there: in the twin it sets something else.

use model::Reason;
use model::sql::{Expr, Literal, Statement};

use super::{TwinDraft, Why};

/// Every constant that the statement assigns becomes another one.
pub fn another(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let Some(Statement::Update(update)) = draft.trees[step].as_deref() else { return Err(Reason::NoUpdate) };
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
