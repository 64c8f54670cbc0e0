//! What MySQL can do.

use model::{Product, Version, sql::LockStrength};

use crate::Capabilities;

/// What it can do at a version.
pub(super) fn capabilities(product: Product, version: &Version) -> Capabilities {
    Capabilities {
        checks: version.since(&[8, 0, 16]),
        generated: if version.since(&[5, 7]) { &["VIRTUAL", "STORED"] } else { &[] },
        virtual_indexes: true,
        descending: version.since(&[8, 0]),
        share: Some(if version.since(&[8, 0]) { LockStrength::Share } else { LockStrength::InShareMode }),
        nowait: version.since(&[8, 0]),
        skip_locked: version.since(&[8, 0]),
        share_waits: version.since(&[8, 0]),
        ..innodb(product, version)
    }
}

/// What MySQL and MariaDB have in common.
pub(crate) fn innodb(product: Product, version: &Version) -> Capabilities {
    Capabilities {
        int_bits: &[8, 16, 24, 32, 64],
        unsigned: true,
        foreign_keys: true,
        prefixes: true,
        partitions: true,
        ordered_changes: true,
        multi_tables: true,
        delete_using: true,
        ..Capabilities::nothing(product, version)
    }
}
