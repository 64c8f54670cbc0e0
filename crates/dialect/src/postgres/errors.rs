//! What PostgreSQL's error states mean: the codes of the manual's appendix "PostgreSQL Error Codes".
//!
//! Every error ends the transaction: inside a block everything but ROLLBACK is refused until then.

use model::{Ends, ErrorClass, ErrorClass::*};

/// The class of an error, and what it ends. There are no numbers, only states.
pub fn classify(_code: u32, sqlstate: &str) -> (ErrorClass, Ends) {
    let class = match sqlstate {
        "40P01" => Deadlock,
        "40001" => SerializationFailure,
        "55P03" => LockTimeout,
        "57014" => Interrupted,
        "23505" => DuplicateKey,
        "25006" => ReadOnly,
        "42501" => Denied,
        // Division by zero: no value is out of range.
        "22012" => Runtime,
        // Timeouts of an idle transaction, of a transaction and of an idle session; shutdowns; the database is gone.
        "25P03" | "25P04" | "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => {
            return (GoneAway, Ends::Session);
        }
        state => match state.get(..2) {
            Some("08") => return (GoneAway, Ends::Session),
            // Not supported; no such statement, cursor, savepoint, database or schema; a name or a rule of the language.
            Some("0A" | "26" | "34" | "3B" | "3D" | "3F" | "42") => Syntax,
            Some("22") => Range,
            Some("23" | "2B" | "40" | "44") => Constraint,
            // Too many rows, a state that does not fit, triggers, routines, RAISE.
            Some("09" | "20" | "21" | "24" | "25" | "27" | "2D" | "2F" | "38" | "39" | "55" | "P0") => {
                Runtime
            }
            Some("28") => Denied,
            Some("58" | "F0" | "XX") => Internal,
            _ => Other,
        },
    };
    (class, Ends::Transaction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_classes() {
        assert_eq!(classify(0, "40P01"), (Deadlock, Ends::Transaction));
        assert_eq!(classify(0, "40001"), (SerializationFailure, Ends::Transaction));
        assert_eq!(classify(0, "57P01"), (GoneAway, Ends::Session));
        assert_eq!(classify(0, "42P01"), (Syntax, Ends::Transaction));
        assert_eq!(classify(0, "25P02"), (Runtime, Ends::Transaction));
        assert_eq!(classify(0, "25P03"), (GoneAway, Ends::Session));
        assert_eq!(classify(0, "23505"), (DuplicateKey, Ends::Transaction));
        assert_eq!(classify(0, "23503"), (Constraint, Ends::Transaction));
        assert_eq!(classify(0, "22012"), (Runtime, Ends::Transaction));
        assert_eq!(classify(0, "22003"), (Range, Ends::Transaction));
        assert_eq!(classify(0, "55P03"), (LockTimeout, Ends::Transaction));
        assert_eq!(classify(0, "3B001"), (Syntax, Ends::Transaction));
        assert_eq!(classify(0, "XX001"), (Internal, Ends::Transaction));
        assert_eq!(classify(0, "53200"), (Other, Ends::Transaction));
        assert_eq!(classify(0, ""), (Other, Ends::Transaction));
    }
}
