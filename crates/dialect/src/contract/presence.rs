//! Where each concession exists: on which product and version, with which settings, at which level. Elsewhere it explains nothing.
//!
//! The bounds are versions that were run: MySQL 5.6.24, 8.0.33 and 9.7.4; MariaDB 10.1.23, 10.2.11, 10.5.23, 10.5.29, 10.11.5,
//! 10.11.19, 11.4.5 and 11.8.6. Where a release note names the version that repaired a bug, that is the bound between them.

use model::{
    Level::{self, ReadCommitted, ReadUncommitted, RepeatableRead},
    Product, ServerInfo,
};

use super::Concession;

/// The releases that repaired MDEV-33802, one in each series, by their release notes. Later series never had it.
const MDEV_33802: &[[u32; 3]] =
    &[[10, 4, 34], [10, 5, 25], [10, 6, 18], [10, 11, 8], [11, 0, 6], [11, 1, 5], [11, 2, 4]];

impl Concession {
    /// Does it exist in InnoDB on this server? `strict` says that MariaDB's snapshot isolation is on.
    pub(super) fn exists(self, server: &ServerInfo, strict: bool) -> bool {
        let version = server.version.0.as_slice();
        match self {
            // With snapshot isolation it is left of it what happens at READ UNCOMMITTED.
            Concession::SemiConsistentSkip => true,
            // Nothing is passed by there.
            Concession::SkippedBeforeWait => !strict,
            Concession::ChangedDuringWait | Concession::MovedAcrossScan => true,
            // The write itself is refused there. On MySQL an UPDATE without a range needs the binary log for it, one with a
            // range does not; MariaDB 10.1 and 10.2 have only the latter.
            Concession::NoopWithoutVersion | Concession::KeyChangeKeepsOldRow => !strict,
            Concession::DuplicateAfterRollback => {
                server.product == Product::Mariadb && version >= &[10, 4] && !repaired(version)
            }
            Concession::JudgesUncommitted | Concession::ConflictByInnerRead => strict,
            // 9.7.4 has it, 8.0.33 does not.
            Concession::ForeignKeyBesideNull => server.product == Product::Mysql && version >= &[9],
            // 10.5.23 has it, 10.2.11 does not.
            Concession::VirtualReadAsNull => server.product == Product::Mariadb && version >= &[10, 5],
            Concession::EarlySavepointEndsAll => true,
        }
    }

    /// The levels at which a statement may need it.
    pub fn levels(self) -> &'static [Level] {
        match self {
            Concession::SemiConsistentSkip
            | Concession::SkippedBeforeWait
            | Concession::ChangedDuringWait
            | Concession::MovedAcrossScan
            | Concession::ConflictByInnerRead => &[ReadUncommitted, ReadCommitted],
            Concession::NoopWithoutVersion | Concession::KeyChangeKeepsOldRow => &[RepeatableRead],
            Concession::JudgesUncommitted => &[ReadUncommitted],
            Concession::DuplicateAfterRollback
            | Concession::ForeignKeyBesideNull
            | Concession::VirtualReadAsNull
            | Concession::EarlySavepointEndsAll => &Level::ALL,
        }
    }
}

/// Is this a release that has the repair of MDEV-33802?
fn repaired(version: &[u32]) -> bool {
    let series = |of: &&[u32; 3]| version.starts_with(&of[..2]);
    match MDEV_33802.iter().find(series) {
        Some(first) => version >= first.as_slice(),
        None => version >= &[11, 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::contract;

    /// The names of what exists on a server.
    fn on(product: Product, version: &str, settings: &[(&str, &str)]) -> Vec<Concession> {
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let version = version.parse().unwrap();
        let server =
            ServerInfo { product, version, version_text: String::new(), settings, flags: Vec::new() };
        contract(&server).unwrap().concessions
    }

    #[test]
    fn the_duplicate_after_a_rollback_was_repaired() {
        let has = |version| on(Product::Mariadb, version, &[]).contains(&Concession::DuplicateAfterRollback);
        for version in ["10.5.23", "10.11.5", "10.6.17", "11.2.3"] {
            assert!(has(version), "{version}");
        }
        for version in ["10.1.23", "10.2.11", "10.5.29", "10.11.8", "10.11.19", "11.4.5", "11.8.6", "12.0"] {
            assert!(!has(version), "{version}");
        }
        for version in ["5.6.24", "8.0.33", "9.7.4"] {
            assert!(!on(Product::Mysql, version, &[]).contains(&Concession::DuplicateAfterRollback));
        }
    }

    #[test]
    fn snapshot_isolation_takes_some_away_and_brings_others() {
        let off = on(Product::Mariadb, "10.11.19", &[]);
        let strict = on(Product::Mariadb, "10.11.19", &[("innodb_snapshot_isolation", "ON")]);
        for by in
            [Concession::NoopWithoutVersion, Concession::KeyChangeKeepsOldRow, Concession::SkippedBeforeWait]
        {
            assert!(off.contains(&by) && !strict.contains(&by), "{by:?}");
        }
        for by in [Concession::JudgesUncommitted, Concession::ConflictByInnerRead] {
            assert!(!off.contains(&by) && strict.contains(&by), "{by:?}");
        }
        // The default since 11.6.2.
        assert_eq!(strict, on(Product::Mariadb, "11.8.6", &[]));
    }

    #[test]
    fn an_unenforced_foreign_key_is_new_in_mysql_9() {
        let has = |product, version| on(product, version, &[]).contains(&Concession::ForeignKeyBesideNull);
        assert!(has(Product::Mysql, "9.7.4"));
        assert!(!has(Product::Mysql, "8.0.33") && !has(Product::Mariadb, "10.11.19"));
    }
}
