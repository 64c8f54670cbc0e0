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
        // The server's word and its time limits for whole sessions: always the last that is heard.
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" | "25P04" => {
            return (GoneAway, Ends::Session);
        }
        "XX000" | "XX001" | "XX002" => Internal,
        "0A000" => Syntax,
        state => match state.get(..2) {
            Some("08") => return (GoneAway, Ends::Session),
            Some("21" | "25") => Runtime,
            Some("22") => Range,
            Some("23") => Constraint,
            Some("42") => Syntax,
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
        assert_eq!(classify(0, ""), (Other, Ends::Transaction));
    }
}
