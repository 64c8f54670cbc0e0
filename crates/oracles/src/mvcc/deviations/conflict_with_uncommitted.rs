//! A change that another has not committed is taken for a newer row: a statement is refused where it should wait, and its whole transaction is
//! undone although the other may still roll back.

use model::Level::{ReadCommitted, ReadUncommitted, RepeatableRead};

use super::{
    super::{hypothesis::Txn, table_footprint::TableFootprint, twins::reorder},
    AffectedServers, KnownDeviation, NO_HOOKS, Report, Status, VendorAnswer,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "conflict-with-uncommitted",
    status: Status::Reported,
    source: "MDEV-36639",
    reports: &[Report { number: "MDEV-36639", answer: VendorAnswer::FixedIn("10.6.22") }],
    affects: AffectedServers {
        repaired: &[[10, 6, 22], [10, 11, 12], [11, 4, 6], [11, 8, 2]],
        refuses_stale_writes: Some(true),
        ..AffectedServers::ALL
    },
    levels: &[ReadUncommitted, ReadCommitted, RepeatableRead],
    conflict_with_open: Some(has_a_view),
    twin: Some(reorder::behind_the_others),
    ..NO_HOOKS
};

/// It has a snapshot, or a query inside it takes one.
fn has_a_view(footprint: &TableFootprint, txn: &Txn) -> bool {
    txn.view.is_some() || footprint.inner
}

#[cfg(test)]
mod tests {
    use super::{super::tests::names_on, *};

    #[test]
    fn it_was_repaired_in_each_series() {
        let has = |target| names_on(target).contains(&DEVIATION.name);
        assert!(has("mariadb@11.4.5?innodb_snapshot_isolation=ON") && !has("mariadb@11.4.5"));
        assert!(!has("mariadb@10.11.19?innodb_snapshot_isolation=ON") && !has("mariadb@11.8.6"));
    }
}
