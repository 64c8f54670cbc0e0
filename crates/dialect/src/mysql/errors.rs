//! What MySQL's error numbers mean. The numbers are those of the manual's "Server Error Message Reference"; what an
//! error ends is "InnoDB Error Handling", tried on real servers.

use model::{Ends, ErrorClass, ErrorClass::*};

/// The class of an error, and what it ends.
pub fn classify(code: u32, sqlstate: &str) -> (ErrorClass, Ends) {
    let class = match code {
        1213 => return (Deadlock, Ends::Transaction),
        1205 | 3572 => LockTimeout,
        1020 => return (WriteConflict, Ends::Transaction),
        1022 | 1062 | 1169 | 1586 => DuplicateKey,
        1048 | 1216 | 1217 | 1451 | 1452 | 1557 | 1761 | 1762 | 3819 | 4025 | 1364 => Constraint,
        1264 | 1265 | 1366 | 1292 | 1406 | 1411 | 1416 | 1441 | 1690 | 3140 => Range,
        1242 | 1241 | 1365 | 1305 | 1422 | 3143 | 3141 | 1665 => Runtime,
        1792 | 1290 | 1836 => ReadOnly,
        1412 => TableChanged,
        1317 | 1028 | 3024 | 1969 => Interrupted,
        1053 | 1152 | 1927 | 2006 | 2013 | 4031 | 3169 => return (GoneAway, Ends::Session),
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 => Denied,
        // What the engine cannot explain, records that are not where an index says, commits and rollbacks that fail, tables
        // that are crashed, corrupt or gone from the engine.
        1030 | 1032 | 1034 | 1035 | 1105 | 1180 | 1181 | 1194 | 1195 | 1296 | 1712 | 1815 | 1877 | 1932
        | 126 | 127 | 145 => Internal,
        1064 | 1054 | 1051 | 1049 | 1046 | 1050 | 1060 | 1061 | 1091 | 1109 | 1110 | 1136 | 1146 | 1149
        | 1052 | 1066 | 1072 | 1093 | 1111 | 1176 | 1193 | 1231 | 1248 | 1055 | 1568 => Syntax,
        _ if sqlstate.starts_with("42") => Syntax,
        _ if sqlstate.starts_with("22") => Range,
        _ if sqlstate.starts_with("23") => Constraint,
        _ => Other,
    };
    (class, Ends::Statement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadlock_ends_the_transaction_and_a_timeout_only_the_statement() {
        assert_eq!(classify(1213, "40001"), (Deadlock, Ends::Transaction));
        assert_eq!(classify(1205, "HY000"), (LockTimeout, Ends::Statement));
        assert_eq!(classify(1062, "23000"), (DuplicateKey, Ends::Statement));
        assert_eq!(classify(2013, "HY000"), (GoneAway, Ends::Session));
        assert_eq!(classify(1142, "42000"), (Denied, Ends::Statement));
        assert_eq!(classify(1064, "42000"), (Syntax, Ends::Statement));
        assert_eq!(classify(1815, "HY000"), (Internal, Ends::Statement));
        assert_eq!(classify(1194, "HY000"), (Internal, Ends::Statement));
        assert_eq!(classify(9999, "HY000"), (Other, Ends::Statement));
    }
}
