//! What MariaDB can do.

use model::{Product, Version, sql::LockStrength};

use crate::{Capabilities, mysql};

/// What it can do at a version.
pub(super) fn capabilities(product: Product, version: &Version) -> Capabilities {
    Capabilities {
        checks: version.since(&[10, 2, 1]),
        generated: if version.since(&[10, 2, 1]) { &["VIRTUAL", "STORED"] } else { &[] },
        virtual_indexes: version.since(&[10, 3]),
        descending: version.since(&[10, 8]),
        share: Some(LockStrength::InShareMode),
        nowait: version.since(&[10, 3]),
        skip_locked: version.since(&[10, 6]),
        share_waits: version.since(&[10, 6]),
        ordered_multi_update: version.since(&[10, 3, 2]),
        ..mysql::capabilities::innodb(product, version)
    }
}
