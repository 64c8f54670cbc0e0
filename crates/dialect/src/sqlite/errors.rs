//! What SQLite's result codes mean (its "Result and Error Codes" page). Extended codes carry the primary code in
//! their low byte.

use model::{Ends, ErrorClass, ErrorClass::*};

/// The class of an error, and what it ends.
pub fn classify(code: u32, _sqlstate: &str) -> (ErrorClass, Ends) {
    let class = match code {
        // BUSY_SNAPSHOT: somebody wrote since this transaction began to read.
        517 => WriteConflict,
        // CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID
        1555 | 2067 | 2579 => DuplicateKey,
        _ => match code & 0xff {
            1 => Syntax,
            // INTERNAL, NOMEM, IOERR, CORRUPT, CANTOPEN, MISUSE, FORMAT, NOTADB
            2 | 7 | 10 | 11 | 14 | 21 | 24 | 26 => Internal,
            5 | 6 => Busy,
            8 => ReadOnly,
            9 => Interrupted,
            17 => TableChanged,
            18 | 20 | 25 => Range,
            19 => Constraint,
            23 => Denied,
            _ => Other,
        },
    };
    // After BUSY the transaction is still open and its COMMIT would succeed: only the statement is lost.
    (class, Ends::Statement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_leaves_the_transaction_open() {
        assert_eq!(classify(5, ""), (Busy, Ends::Statement));
        assert_eq!(classify(517, ""), (WriteConflict, Ends::Statement));
        assert_eq!(classify(1555, ""), (DuplicateKey, Ends::Statement));
        assert_eq!(classify(779, ""), (Internal, Ends::Statement), "an index of a corrupt file");
        assert_eq!(classify(275, ""), (Constraint, Ends::Statement));
    }
}
