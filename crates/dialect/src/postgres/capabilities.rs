//! What PostgreSQL can do.

use model::{Product, Version, sql::LockStrength};

use crate::Capabilities;

/// What it can do at a version.
pub(super) fn capabilities(product: Product, version: &Version) -> Capabilities {
    Capabilities {
        int_bits: &[16, 32, 64],
        strict_types: true,
        checks: true,
        generated: if version.since(&[18]) {
            &["VIRTUAL", "STORED"]
        } else if version.since(&[12]) {
            &["STORED"]
        } else {
            &[]
        },
        virtual_indexes: false,
        foreign_keys: true,
        descending: true,
        partitions: true,
        named_partitions: true,
        share: Some(LockStrength::Share),
        nowait: true,
        skip_locked: true,
        share_waits: true,
        delete_using: true,
        reads_itself: true,
        aborts: true,
        ..Capabilities::nothing(product, version)
    }
}
