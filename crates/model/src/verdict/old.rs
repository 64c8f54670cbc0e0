//! What earlier versions wrote: fingerprints of a kind and a rule in English words, evidence as lines, reasons by other names.
//!
//! Version 0 is `verdict.json` without a `format`. Nothing else of the project reads those words; whatever is not in the tables
//! below is kept as it is and shown, or has no known cause.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    Cause, DeviationId, Evidence, ExemptionId, Fingerprint, Justification, Reason, Response, RuleId, ShownBy,
    Symptom, Violation,
};
use crate::{level::Level, signature::Signature};

/// A fingerprint of any version.
#[derive(Deserialize)]
pub(super) struct AnyFingerprint {
    symptom: Option<Symptom>,
    cause: Option<Cause>,
    kind: Option<String>,
    rule: Option<String>,
    statement: ShownBy,
    level: Option<Level>,
}

impl TryFrom<AnyFingerprint> for Fingerprint {
    type Error = String;

    fn try_from(any: AnyFingerprint) -> Result<Fingerprint, String> {
        let AnyFingerprint { symptom, cause, kind, rule, statement, level } = any;
        let (symptom, cause) = meaning(symptom, cause, kind.as_deref(), rule.as_deref())?;
        Ok(Fingerprint { symptom, cause, statement, level })
    }
}

/// A signature of any version.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AnySignature {
    Explained(BTreeSet<DeviationId>),
    Unexplained {
        symptom: Option<Symptom>,
        cause: Option<Cause>,
        kind: Option<String>,
        rule: Option<String>,
        statements: BTreeSet<ShownBy>,
    },
}

impl TryFrom<AnySignature> for Signature {
    type Error = String;

    fn try_from(any: AnySignature) -> Result<Signature, String> {
        match any {
            AnySignature::Explained(by) => Ok(Signature::Explained(by)),
            AnySignature::Unexplained { symptom, cause, kind, rule, statements } => {
                let (symptom, cause) = meaning(symptom, cause, kind.as_deref(), rule.as_deref())?;
                Ok(Signature::Unexplained { symptom, cause: cause.at_any_level(), statements })
            }
        }
    }
}

/// A violation of any version.
#[derive(Deserialize)]
pub(super) struct AnyViolation {
    fingerprint: Fingerprint,
    step: Option<usize>,
    #[serde(default)]
    story: String,
    #[serde(default)]
    evidence: AnyEvidence,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AnyEvidence {
    Lines(Vec<String>),
    Data(Box<Evidence>),
}

impl Default for AnyEvidence {
    fn default() -> AnyEvidence {
        AnyEvidence::Lines(Vec::new())
    }
}

impl From<AnyViolation> for Violation {
    fn from(any: AnyViolation) -> Violation {
        let AnyViolation { fingerprint, step, story, evidence } = any;
        let evidence = match evidence {
            AnyEvidence::Data(evidence) => evidence,
            AnyEvidence::Lines(lines) => Box::new(of_lines(story, lines)),
        };
        Violation { fingerprint, step, evidence }
    }
}

/// The story comes first, then the lines that say something which has no field.
fn of_lines(story: String, lines: Vec<String>) -> Evidence {
    let mut evidence = Evidence { words: vec![story], ..Evidence::default() };
    for line in lines {
        match line.split_once(": ") {
            Some(("statement", sql)) => evidence.sql = sql.to_string(),
            Some(("expected" | "alone on this view", words)) => {
                evidence.expected = Some(Response::Words(words.to_string()));
            }
            Some(("actual", "it waits")) => evidence.actual = Some(Response::Wait),
            Some(("actual", words)) => evidence.actual = Some(Response::Words(words.to_string())),
            Some(("rule", words)) => {
                // The decoupled run says before it what the statement sees.
                let source = words.split_once("; ").map_or(words, |(_, source)| source);
                evidence.rule = rule(source);
            }
            Some(_) | None => evidence.words.push(line),
        }
    }
    evidence
}

fn meaning(
    symptom: Option<Symptom>,
    cause: Option<Cause>,
    kind: Option<&str>,
    rule: Option<&str>,
) -> Result<(Symptom, Cause), String> {
    match (symptom, cause, kind, rule) {
        (Some(symptom), Some(cause), ..) => Ok((symptom, cause)),
        (_, _, Some(kind), Some(rule)) => {
            of_words(kind, rule).ok_or_else(|| format!("{kind} is no symptom of any version"))
        }
        _ => Err("neither a symptom with its cause nor a kind with its rule".to_string()),
    }
}

/// What a kind and a rule of version 0 are now.
fn of_words(kind: &str, rule_of: &str) -> Option<(Symptom, Cause)> {
    let explained: Option<BTreeSet<DeviationId>> =
        rule_of.split('+').map(|name| DEVIATIONS.contains(&name).then(|| name.into())).collect();
    if let Some(by) = explained {
        let symptom = match kind {
            "incorrect-query-result" => Symptom::WrongRows,
            other => other.parse().ok()?,
        };
        return Some((symptom, Cause::Deviations(by)));
    }
    let cause = || rule(rule_of).map_or(Cause::Unknown, Cause::Rule);
    let server = || match rule_of {
        "server-gone" | "lost-connection" | "hung-statement" => Cause::Unknown,
        "integrity-check" => Cause::IntegrityCheck,
        words => match words.strip_prefix("assertion ") {
            Some(place) => Cause::CrashSite(place.to_string()),
            None => Cause::LogWords(words.to_string()),
        },
    };
    Some(match kind {
        "incorrect-query-result" => {
            let what = rule_of.strip_suffix("-after-wait");
            let alone = Cause::Alone { after_wait: what.is_some() };
            match what.unwrap_or(rule_of) {
                "count" => (Symptom::WrongCount, alone),
                "types" => (Symptom::WrongTypes, alone),
                "error" => (Symptom::WrongError, alone),
                "answer" => (Symptom::WrongAnswer, alone),
                "stale-write" => (Symptom::MissingError, Cause::Rule(RuleId::RefusedByView)),
                _ => (Symptom::WrongRows, alone),
            }
        }
        "incorrect-final-state" => (Symptom::WrongFinalState, Cause::Alone { after_wait: false }),
        "inconsistent-blocking" => match rule_of {
            "wait" => (Symptom::NeedlessWait, Cause::Rule(RuleId::WaitNeedsBlocker)),
            _ => (Symptom::NeedlessError, Cause::Rule(RuleId::ConflictNeedsAnother)),
        },
        "invariant" => (rule_of.parse().ok()?, Cause::Invariant),
        "logic" => match rule_of {
            "decoupled-objects" => (Symptom::Logic, Cause::DecoupledObjects),
            _ => (Symptom::Logic, Cause::ModelObjects),
        },
        "internal-error" => (Symptom::InternalError, Cause::ErrorCode(rule_of.to_string())),
        "crash" | "lost-connection" | "hang" | "corruption" | "error-log" => (kind.parse().ok()?, server()),
        other => (other.parse().ok()?, cause()),
    })
}

/// The rule of these words; the section of the manual behind them does not count.
fn rule(words: &str) -> Option<RuleId> {
    let plain = words.split(" (").next().unwrap_or(words);
    RULES.iter().find(|(known, _)| *known == plain).map(|(_, rule)| *rule)
}

/// The known deviations of version 0.
const DEVIATIONS: &[&str] = &[
    "semi-consistent-skip",
    "skipped-before-wait",
    "changed-during-wait",
    "moved-across-scan",
    "noop-without-version",
    "key-change-keeps-old-row",
    "duplicate-after-rollback",
    "judges-uncommitted",
    "conflict-by-inner-read",
    "foreign-key-beside-null",
    "virtual-read-as-null",
    "early-savepoint-ends-all",
];

/// The rules of version 0, as it worded them.
const RULES: &[(&str, RuleId)] = &[
    ("what its level promises", RuleId::PlainRead),
    ("at READ UNCOMMITTED a plain read shows the newest rows, committed or not", RuleId::NewestRows),
    ("at READ COMMITTED each plain read has a fresh snapshot", RuleId::FreshSnapshot),
    (
        "at REPEATABLE READ all plain reads of a transaction show the snapshot of the first",
        RuleId::OneSnapshot,
    ),
    ("at REPEATABLE READ a plain read by itself has a snapshot of its own", RuleId::OnlyCommitted),
    ("at SERIALIZABLE a plain SELECT in a transaction is one FOR SHARE", RuleId::LockingRead),
    ("at SERIALIZABLE a plain SELECT by itself is a transaction and takes no locks", RuleId::OwnTransaction),
    ("changes and locking reads work on the newest committed rows", RuleId::NewestForChanges),
    ("a lock on a row that is newer than the read view is refused with error 1020", RuleId::RefusedByView),
    ("changes may affect rows that no snapshot shows", RuleId::ChangesBesideSnapshot),
    ("changes may affect rows that the snapshot does not show", RuleId::ChangesBesideSnapshot),
    ("Isolation In SQLite: a reader sees the database as of its first read", RuleId::OneSnapshot),
    ("Isolation In SQLite", RuleId::OnlyCommitted),
    ("what is committed stays, and nothing else", RuleId::CommitLasts),
    ("nobody else brings rows into what a transaction has locked", RuleId::LockedRange),
    ("a row that another transaction has locked is not changed before that ends", RuleId::LockedNotChanged),
    ("a row that another transaction has locked is not locked before that ends", RuleId::LockedNotLocked),
    ("what another transaction is changing is waited for", RuleId::ChangedIsWaitedFor),
    ("a savepoint lasts until it is released or its transaction ends", RuleId::SavepointLasts),
    ("an error of concurrency needs another transaction", RuleId::ConflictNeedsAnother),
    ("nothing waits here: a conflict is an error at once", RuleId::NothingWaits),
    ("a plain read takes no locks", RuleId::PlainReadTakesNoLocks),
    ("it was asked not to wait", RuleId::AskedNotToWait),
    ("the end of a transaction waits for nobody", RuleId::EndWaitsForNobody),
    ("a wait is for another transaction that is open and in the way", RuleId::WaitNeedsBlocker),
];

/// A reason that two oracles once called by two names.
pub(super) fn reason(name: &str) -> Option<Reason> {
    Some(match name {
        "unread" => Reason::Unparsed,
        "setup-unread" => Reason::SetupNotRead,
        "tables-locked" => Reason::LockTable,
        "false-decision" => Reason::LateAnswer,
        "server-died" | "connection-lost" => Reason::ServerGone,
        "dirty-read-of-half-done" => Reason::DirtyReadOfHalfDoneWork,
        "no-rules-at-this-level" => Reason::NoContractAtThisLevel,
        "unpromised" => Reason::Undocumented,
        _ => return None,
    })
}

/// Why a run held, in the words of version 0: a name and the place that says so.
pub(super) fn justification(words: &str) -> Justification {
    let name = |words: &str| words.split(": ").next().unwrap_or(words).into();
    let exempt = [
        ("dirty read", ExemptionId::DirtyRead),
        ("own changes beside an old snapshot", ExemptionId::MixedSnapshot),
        ("own changes beside the snapshot", ExemptionId::OwnUpdates),
        ("serializable beside other levels", ExemptionId::MixedLevels),
        ("read by a serializable transaction that did not commit", ExemptionId::NotCommitted),
    ];
    if let Some((_, by)) = exempt.iter().find(|(known, _)| words.split(" (").next() == Some(*known)) {
        return Justification::Exempt(*by);
    }
    if let Some(rest) = words.strip_prefix("unpromised, ") {
        return Justification::Undocumented(name(rest));
    }
    if let Some(why) = words.strip_prefix("accepted without certainty: ") {
        return Justification::Uncertain(Reason::from_name(why));
    }
    match words {
        "a step of the case ends sessions or the server" => Justification::AskedFor,
        words => Justification::Documented(name(words)),
    }
}
