//! What the reference engine can do.

use model::{Product, Version, sql::LockStrength};

use crate::{Capabilities, mysql};

/// What it can do at a version.
pub(super) fn capabilities(product: Product, version: &Version) -> Capabilities {
    Capabilities {
        checks: true,
        generated: &["VIRTUAL", "STORED"],
        virtual_indexes: true,
        descending: true,
        share: Some(LockStrength::Share),
        nowait: true,
        skip_locked: true,
        share_waits: true,
        reads_itself: true,
        foreign_keys: false,
        prefixes: false,
        multi_tables: false,
        delete_using: false,
        ..mysql::capabilities::innodb(product, version)
    }
}
