//! What earlier versions wrote: fingerprints of a kind and a rule in English words, evidence as lines, reasons by other names.
//!
//! Version 0 is `verdict.json` without a `format`. Nothing else of the project reads those words; whatever is not in the tables
//! below is kept as it is and shown, or has no known cause.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    Cause, DeviationId, Evidence, ExemptionId, Feature, Fingerprint, Justification, Reason, Response, RuleId,
    ShownBy, Symptom, Violation, evidence::Table,
};
use crate::{
    casefile,
    expect::Literal,
    level::Level,
    rows::{Column, RowSet},
    signature::Signature,
    value::Kind,
};

/// What is wrong and why, as any version wrote it.
#[derive(Deserialize)]
pub(crate) struct AnyMeaning {
    symptom: Option<Symptom>,
    cause: Option<Cause>,
    kind: Option<String>,
    rule: Option<String>,
}

/// A fingerprint of any version.
#[derive(Deserialize)]
pub(super) struct AnyFingerprint {
    #[serde(flatten)]
    meaning: AnyMeaning,
    statement: ShownBy,
    level: Option<Level>,
}

impl TryFrom<AnyFingerprint> for Fingerprint {
    type Error = String;

    fn try_from(any: AnyFingerprint) -> Result<Fingerprint, String> {
        let AnyFingerprint { meaning, statement, level } = any;
        let (symptom, cause) = meaning.read()?;
        Ok(Fingerprint { symptom, cause, statement, level })
    }
}

/// A signature of any version.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AnySignature {
    Explained(BTreeSet<DeviationId>),
    Unexplained {
        #[serde(flatten)]
        meaning: AnyMeaning,
        statements: BTreeSet<ShownBy>,
        #[serde(default)]
        features: BTreeSet<Feature>,
    },
}

impl TryFrom<AnySignature> for Signature {
    type Error = String;

    fn try_from(any: AnySignature) -> Result<Signature, String> {
        match any {
            AnySignature::Explained(by) => Ok(Signature::Explained(by)),
            AnySignature::Unexplained { meaning, statements, features } => {
                let (symptom, cause) = meaning.read()?;
                Ok(Signature::Unexplained { symptom, cause: cause.at_any_level(), statements, features })
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
    evidence: Option<AnyEvidence>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AnyEvidence {
    Lines(Vec<String>),
    Data(Box<Evidence>),
}

impl From<AnyViolation> for Violation {
    fn from(any: AnyViolation) -> Violation {
        let AnyViolation { fingerprint, step, story, evidence } = any;
        let evidence = match evidence {
            Some(AnyEvidence::Data(evidence)) => evidence,
            Some(AnyEvidence::Lines(lines)) => Box::new(of_lines(story, lines)),
            None => Box::new(of_lines(story, Vec::new())),
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
                evidence.expected = Some(response(words));
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

/// Rows where it is rows, or the rows of a table; words otherwise.
fn response(words: &str) -> Response {
    if let Some(rows) = rows(words) {
        return Response::Rows(rows);
    }
    match words.split_once(": ").map(|(table, held)| (table, rows(held))) {
        Some((table, Some(rows))) => Response::FinalState(Table { table: table.to_string(), rows }),
        Some((_, None)) | None => Response::Words(words.to_string()),
    }
}

/// `(1, 'a, b') (2, NULL)` as rows. The cells keep the text that they were written with, so they have a kind that is shown as it is.
fn rows(text: &str) -> Option<RowSet> {
    if text == "no rows" {
        return Some(RowSet::default());
    }
    let rows = casefile::rows(text)?;
    let column = Column { name: String::new(), kind: Kind::Integer, type_name: String::new() };
    let mut set = RowSet::new(vec![column; rows.first()?.len()]);
    for cell in rows.iter().flatten() {
        set.push((*cell != Literal::Null).then(|| cell.to_string()).as_deref().map(str::as_bytes));
    }
    Some(set)
}

impl AnyMeaning {
    fn read(self) -> Result<(Symptom, Cause), String> {
        match self {
            AnyMeaning { symptom: Some(symptom), cause: Some(cause), .. } => Ok((symptom, cause)),
            AnyMeaning { kind: Some(kind), rule: Some(rule), .. } => {
                of_words(&kind, &rule).ok_or_else(|| format!("{kind} is no symptom of any version"))
            }
            _ => Err("neither a symptom with its cause nor a kind with its rule".to_string()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::StatementKind;

    /// As a hunt of version 0.1 filed it.
    const BY_MODEL: &str = r#"{
        "fingerprint": {
            "kind": "wrong-rows",
            "rule": "at REPEATABLE READ all plain reads of a transaction show the snapshot of the first (MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels)",
            "statement": "select",
            "level": "RR"
        },
        "step": 3,
        "story": "Step 4 (T2) answers (0); the contract allows no rows.",
        "evidence": [
            "statement: SELECT * FROM t",
            "rule: at REPEATABLE READ all plain reads of a transaction show the snapshot of the first (MySQL Reference Manual, 17.7.2.1 Transaction Isolation Levels)",
            "expected: (1, 'a, (b') (2, NULL)",
            "actual: (0, 'x')",
            "no concession explains it",
            "judged by one oracle alone: the decoupled run was not asked"
        ]
    }"#;

    #[test]
    fn a_violation_of_version_0_is_read() {
        let read: Violation = serde_json::from_str(BY_MODEL).unwrap();
        let Fingerprint { symptom, cause, statement, level } = &read.fingerprint;
        assert_eq!((*symptom, cause), (Symptom::WrongRows, &Cause::Rule(RuleId::OneSnapshot)));
        assert_eq!(*statement, ShownBy::Statement(Some(StatementKind::Select)));
        assert_eq!((*level, read.step), (Some(Level::RepeatableRead), Some(3)));
        let evidence = &read.evidence;
        assert_eq!((evidence.sql.as_str(), evidence.rule), ("SELECT * FROM t", Some(RuleId::OneSnapshot)));
        let Some(Response::Rows(rows)) = &evidence.expected else { panic!("{evidence:?}") };
        assert_eq!(rows.texts(), ["(1, 'a, (b')", "(2, NULL)"]);
        assert_eq!(evidence.words[0], "Step 4 (T2) answers (0); the contract allows no rows.");
        assert_eq!(evidence.words.len(), 3, "what has no field is kept as it was");
        // Written and read again it is what it was.
        let again: Violation = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }

    #[test]
    fn every_kind_and_rule_of_version_0_has_a_meaning() {
        for (kind, rule, now) in [
            ("incorrect-query-result", "rows", "wrong-rows alone"),
            ("incorrect-query-result", "count-after-wait", "wrong-count alone-after-wait"),
            ("incorrect-query-result", "stale-write", "missing-error refused-by-view"),
            ("incorrect-query-result", "noop-without-version", "wrong-rows noop-without-version"),
            ("incorrect-final-state", "final-state", "wrong-final-state alone"),
            ("inconsistent-blocking", "wait", "needless-wait wait-needs-blocker"),
            ("inconsistent-blocking", "deadlock", "needless-error conflict-needs-another"),
            ("invariant", "aborted-read", "aborted-read invariant"),
            ("logic", "decoupled-objects", "logic decoupled-objects"),
            ("crash", "assertion row0sel.cc:99", "crash assertion row0sel.cc:99"),
            ("crash", "server-gone", "crash unknown"),
            ("error-log", "UTC - mysqld got signal", "error-log UTC - mysqld got signal"),
            ("internal-error", "1815", "internal-error 1815"),
            ("corruption", "integrity-check", "corruption integrity-check"),
            (
                "wrong-count",
                "changed-during-wait+skipped-before-wait",
                "wrong-count changed-during-wait+skipped-before-wait",
            ),
            (
                "missing-wait",
                "what another transaction is changing is waited for",
                "missing-wait changed-is-waited-for",
            ),
            ("wrong-rows", "words that nobody knows any more", "wrong-rows unknown"),
        ] {
            let (symptom, cause) = of_words(kind, rule).unwrap_or_else(|| panic!("{kind} {rule}"));
            assert_eq!(format!("{symptom} {cause}"), now);
        }
        assert_eq!(of_words("no-such-kind", "rows"), None);
    }

    #[test]
    fn a_signature_of_version_0_is_the_one_of_today() {
        let old = r#"{"unexplained": {"kind": "wrong-rows", "rule": "what its level promises", "statements": ["insert", "select"]}}"#;
        let read: Signature = serde_json::from_str(old).unwrap();
        let statements =
            [StatementKind::Select, StatementKind::Insert].map(|kind| ShownBy::Statement(Some(kind)));
        let (symptom, cause) = (Symptom::WrongRows, Cause::Rule(RuleId::OneSnapshot).at_any_level());
        assert_eq!(
            read,
            Signature::Unexplained {
                symptom,
                cause,
                statements: statements.into(),
                features: BTreeSet::new()
            }
        );
        let old = r#"{"explained": ["noop-without-version"]}"#;
        assert_eq!(serde_json::from_str::<Signature>(old).unwrap().to_string(), "noop-without-version");
    }

    #[test]
    fn what_is_no_rows_stays_words() {
        for words in ["some of (1)", "2 rows", "(1", "('1)", "(1) (1, 2)"] {
            assert_eq!(response(words), Response::Words(words.to_string()));
        }
        let Response::FinalState(Table { table, rows }) = response("t: (1) (2)") else { panic!() };
        assert_eq!((table.as_str(), rows.len()), ("t", 2));
    }

    #[test]
    fn reasons_and_justifications_of_version_0() {
        let reason = |name: &str| serde_json::from_value::<Reason>(name.into()).unwrap();
        assert_eq!(reason("false-decision"), Reason::LateAnswer);
        assert_eq!(reason("unread"), reason("unparsed"));
        assert_eq!(reason("a date beside something else").name(), "a date beside something else");
        for (words, now) in [
            ("semi-consistent-skip: MySQL Reference Manual", "semi-consistent-skip"),
            ("unpromised, early-savepoint-ends-all: measured", "undocumented early-savepoint-ends-all"),
            ("dirty read (Transaction Isolation Levels: \"x\")", "exempt dirty-read"),
            ("accepted without certainty: two-views", "uncertain two-views"),
            ("a step of the case ends sessions or the server", "asked-for"),
            ("exempt dirty-read", "exempt dirty-read"),
            ("undocumented x", "undocumented x"),
        ] {
            let read: Justification = serde_json::from_value(words.into()).unwrap();
            assert_eq!(read.to_string(), now);
        }
    }
}
