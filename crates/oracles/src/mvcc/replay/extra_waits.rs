//! Waits that nothing demands: the statement could have gone on at once without touching what another has changed or locked.
//!
//! A server may lock more than it must (gaps, rows that it only passes), and its manual says so. Such a wait is not wrong, only
//! over-restrictive, and it is counted: how much waiting does this level cost beyond what it promises?

use super::Replay;
use crate::mvcc::{
    allowed_outcome::{AllowedOutcome, Expected},
    hypothesis::Hypothesis,
};

/// Waits that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Those of which it can be told whether something demands them.
    pub told: u64,
    /// Those that nothing demands.
    pub extra: u64,
}

impl Replay<'_> {
    /// Does something demand that this statement waits? Nothing where it cannot be told.
    pub(super) fn demanded(&self, hypothesis: &Hypothesis, step: usize) -> Option<bool> {
        let tree = self.seen.case.tree(step)?;
        let all = self.allowed_outcomes(hypothesis, step, tree, None).ok()?;
        let goes_on = |allowed: &AllowedOutcome| {
            let answers = !matches!(allowed.reply, Expected::Error(_) | Expected::Anything);
            let free = || self.apply(&mut hypothesis.clone(), step, allowed, true).is_ok();
            answers && allowed.due.is_empty() && free()
        };
        Some(!all.iter().any(goes_on))
    }
}
