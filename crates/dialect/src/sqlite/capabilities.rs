//! What SQLite can do.

use model::{Product, Version};

use crate::Capabilities;

/// What it can do at a version.
pub(super) fn capabilities(product: Product, version: &Version) -> Capabilities {
    Capabilities {
        int_bits: &[32, 64],
        checks: true,
        generated: &["VIRTUAL", "STORED"],
        virtual_indexes: true,
        foreign_keys: true,
        foreign_keys_on: Some("foreign_keys"),
        descending: true,
        reads_itself: true,
        ..Capabilities::nothing(product, version)
    }
}
