//! At SERIALIZABLE a transaction has no snapshot, so nothing is newer than it, and no write conflict is seen.

use model::Level::Serializable;

use super::{
    super::twins::reorder, AffectedServers, KnownDeviation, MissedConflict, NO_HOOKS, Report, Status,
    VendorAnswer,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "serializable-without-view",
    status: Status::Reported,
    source: "MDEV-36330",
    reports: &[Report { number: "MDEV-36330", answer: VendorAnswer::FixedIn("10.6.23") }],
    affects: AffectedServers {
        repaired: &[[10, 6, 23], [10, 11, 14], [11, 4, 8], [11, 8, 3]],
        refuses_stale_writes: Some(true),
        ..AffectedServers::ALL
    },
    levels: &[Serializable],
    misses_conflict: Some(MissedConflict::All),
    twin: Some(reorder::snapshot_behind_the_others),
    ..NO_HOOKS
};

#[cfg(test)]
mod tests {
    use super::{super::tests::names_on, *};

    #[test]
    fn it_was_repaired_in_each_series() {
        let has = |version| {
            names_on(&format!("mariadb@{version}?innodb_snapshot_isolation=ON")).contains(&DEVIATION.name)
        };
        assert!(has("11.4.5") && has("10.11.13") && has("11.6.2") && has("11.8.2"));
        assert!(!has("11.4.8") && !has("10.11.19") && !has("11.8.6") && !has("12.1.1"));
    }
}
