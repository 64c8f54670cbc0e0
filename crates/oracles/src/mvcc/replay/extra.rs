//! Waits that nothing demands: the statement could have gone on at once without touching what another has changed or locked.
//!
//! A server may lock more than it must (gaps, rows that it only passes), and its manual says so. Such a wait is not wrong, only
//! over-restrictive, and it is counted: how much waiting does this level cost beyond what it promises?

use super::Replay;
use crate::mvcc::{
    foretold::{Expected, Foretold},
    world::World,
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
    pub(super) fn demanded(&self, world: &World, step: usize) -> Option<bool> {
        let tree = self.trees[step].as_deref()?;
        let all = self.foretell(world, step, tree, None).ok()?;
        let goes_on = |foretold: &Foretold| {
            let answers = !matches!(foretold.reply, Expected::Error(_) | Expected::Anything);
            let free = || self.apply(&mut world.clone(), step, foretold, true).is_ok();
            answers && foretold.due.is_empty() && free()
        };
        Some(!all.iter().any(goes_on))
    }
}
