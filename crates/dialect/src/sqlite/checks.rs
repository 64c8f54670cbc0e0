//! How SQLite is looked at after a case. It has no error log.

use crate::checks::Checks;

pub(crate) const CHECKS: Checks = Checks {
    alarms: &[],
    prepare: None,
    integrity_schema: None,
    integrity: Some("PRAGMA integrity_check"),
    indexes: Some(
        "SELECT t.name, i.name, c.name FROM sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c \
              WHERE t.type = 'table' AND i.partial = 0 AND c.name IS NOT NULL ORDER BY 1, 2, c.seqno",
    ),
    before: &[],
    through: "SELECT * FROM {table} INDEXED BY {index}",
    after: &[],
};
