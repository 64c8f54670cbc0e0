//! How a server of the MySQL family is looked at after a case.

use crate::checks::Checks;

pub(crate) const CHECKS: Checks = Checks {
    alarms: &[
        "Assertion",
        "assertion",
        "got signal",
        "[FATAL]",
        "orrupt",
        "InnoDB: Error",
        "crashed",
        "intentionally generate",
    ],
    prepare: None,
    integrity_schema: None,
    integrity: Some("CHECK TABLE {table} EXTENDED"),
    indexes: Some(
        "SELECT table_name, index_name, column_name FROM information_schema.statistics \
              WHERE table_schema = DATABASE() AND sub_part IS NULL AND index_type = 'BTREE' \
              ORDER BY table_name, index_name, seq_in_index",
    ),
    before: &[],
    // The order is what an index can give; without it nothing would speak for using one that does not hold all columns.
    through: "SELECT * FROM {table} FORCE INDEX ({index}) ORDER BY {columns}",
    after: &[],
};
