//! What makes two findings one: the same cause, as far as it can be told from a case that was made smaller.
//!
//! Where concessions explain a finding they are its cause, and nothing else counts: the same bug shows as wrong rows in a SELECT and
//! as a wrong count in an UPDATE. Where nothing explains it there is only what is wrong, by which rule, and which kinds of
//! statements the small case still needs. Neither level nor target is part of it.
//!
//! ```text
//! noop-without-version                              explained: whatever shows it
//! incorrect-query-result · rows · select update     unexplained
//! ```

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// Findings with the same one are one group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signature {
    /// These concessions explain it, by their names.
    Explained(BTreeSet<String>),
    /// Nothing does.
    Unexplained {
        /// What kind of wrong it is.
        kind: String,
        /// The rule that is broken.
        rule: String,
        /// The kinds of the statements that its case needs, those that begin and end transactions left out.
        statements: BTreeSet<String>,
    },
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |all: &BTreeSet<String>, by: &str| all.iter().cloned().collect::<Vec<_>>().join(by);
        match self {
            Signature::Explained(by) => f.pad(&words(by, "+")),
            Signature::Unexplained { kind, rule, statements } => {
                let statements = words(statements, " ");
                let parts = [kind.as_str(), rule, &statements];
                f.pad(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn as_words_and_as_json() {
        let explained = Signature::Explained(set(&["b", "a"]));
        let rest = Signature::Unexplained {
            kind: "wrong-rows".into(),
            rule: "rows".into(),
            statements: set(&["update", "select"]),
        };
        assert_eq!(explained.to_string(), "a+b");
        assert_eq!(rest.to_string(), "wrong-rows · rows · select update");
        assert_eq!(serde_json::to_string(&explained).unwrap(), r#"{"explained":["a","b"]}"#);
        for signature in [explained, rest] {
            let text = serde_json::to_string(&signature).unwrap();
            assert_eq!(serde_json::from_str::<Signature>(&text).unwrap(), signature);
        }
    }
}
