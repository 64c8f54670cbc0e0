//! Aborted read: I read a table in which another one has a change that it takes back in the end.

use super::{History, Opportunity, OpportunityKind, SetupData, Transaction, all_levels, dirty_read::reads};

pub(super) const OPPORTUNITY: Opportunity = Opportunity {
    name: "aborted-read",
    sort: OpportunityKind::Phenomenon,
    shape: "a plain read of a table while another's change of it is open, which is rolled back",
    exists: all_levels,
    seen,
};

fn seen(history: &History<'_>, _: &SetupData, mine: &Transaction, other: &Transaction) -> bool {
    other.undone() && reads(history, mine, other).next().is_some()
}
