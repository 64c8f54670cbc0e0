//! What makes two findings one: the same cause, as far as it can be told from a case that was reduced.
//!
//! Where known deviations explain a finding they are its cause, and nothing else counts: the same bug shows as wrong rows in a SELECT
//! and as a wrong count in an UPDATE. Where nothing explains it there is only what is wrong, by which rule, and which kinds of
//! statements the small case still needs. Neither level nor target is part of it. Where one statement is wrong by itself (`logic`) its kind
//! says nothing of the cause: there it is told by what the statement is made of.
//!
//! ```text
//! noop-without-version                       explained: whatever shows it
//! wrong-rows · plain-read · select update    unexplained
//! logic · model-objects · not-in-query null
//! ```

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use crate::verdict::{Cause, Deviations, Feature, Fingerprint, ShownBy, Symptom, names};

/// Findings with the same one are one group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", try_from = "crate::verdict::AnySignature")]
pub enum Signature {
    /// These known deviations explain it.
    Explained(Deviations),
    /// Nothing does.
    Unexplained {
        symptom: Symptom,
        /// Without regard to the level.
        cause: Cause,
        /// The statements that its case needs, those that begin and end transactions left out.
        statements: BTreeSet<ShownBy>,
        /// What the wrong statement is made of, where two ways to judge disagree about it alone.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        features: BTreeSet<Feature>,
    },
}

impl Signature {
    /// Of a fingerprint with the statements that its case needs, and what the wrong one is made of.
    pub fn new(
        fingerprint: &Fingerprint,
        statements: BTreeSet<ShownBy>,
        features: BTreeSet<Feature>,
    ) -> Signature {
        match fingerprint.deviations() {
            Some(by) => Signature::Explained(by.clone()),
            None => {
                let (symptom, cause) = (fingerprint.symptom, fingerprint.cause.at_any_level());
                // A condition that is wrong in an UPDATE is wrong in a DELETE, too.
                let by_itself = symptom == Symptom::Logic && !features.is_empty();
                let statements = if by_itself { BTreeSet::new() } else { statements };
                Signature::Unexplained { symptom, cause, statements, features }
            }
        }
    }

    /// Of a fingerprint whose case was not reduced: which statements are needed beside the one that shows it is not known.
    pub fn bare(fingerprint: &Fingerprint) -> Signature {
        let placed = matches!(fingerprint.cause, Cause::CrashSite(_));
        let shows = (!placed).then_some(fingerprint.statement);
        Signature::new(fingerprint, shows.into_iter().collect(), BTreeSet::new())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signature::Explained(by) => f.pad(&names(by)),
            Signature::Unexplained { symptom, cause, statements, features } => {
                let mut names: Vec<&str> = statements.iter().map(|shown| shown.name()).collect();
                names.sort_unstable();
                let (cause, statements) = (cause.to_string(), names.join(" "));
                let features: Vec<&str> = features.iter().map(|feature| feature.name()).collect();
                let features = features.join(" ");
                let parts = [symptom.name(), &cause, &statements, &features];
                f.pad(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sql::StatementKind, verdict::RuleId};

    #[test]
    fn as_words_and_as_json() {
        let explained = Signature::Explained(["b", "a"].map(Into::into).into());
        let shown = |kind| ShownBy::Statement(Some(kind));
        let rest = Signature::Unexplained {
            symptom: Symptom::WrongRows,
            cause: Cause::Rule(RuleId::PlainRead),
            statements: [shown(StatementKind::Update), shown(StatementKind::Select)].into(),
            features: BTreeSet::new(),
        };
        let alone = Signature::Unexplained {
            symptom: Symptom::Logic,
            cause: Cause::ModelObjects,
            statements: BTreeSet::new(),
            features: [Feature::Null, Feature::NotInQuery].into(),
        };
        assert_eq!(alone.to_string(), "logic · model-objects · not-in-query null");
        assert_eq!(explained.to_string(), "a+b");
        assert_eq!(rest.to_string(), "wrong-rows · plain-read · select update");
        assert_eq!(serde_json::to_string(&explained).unwrap(), r#"{"explained":["a","b"]}"#);
        for signature in [explained, rest, alone] {
            let text = serde_json::to_string(&signature).unwrap();
            assert_eq!(serde_json::from_str::<Signature>(&text).unwrap(), signature);
        }
    }
}
