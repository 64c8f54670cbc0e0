//! The signature of a finding: computed from what an oracle says of a case that was made smaller.
//!
//! The kinds of statements are those that the small case still needs, without BEGIN, COMMIT, ROLLBACK and savepoints: these frame a bug
//! more often than they cause it, and whether a transaction is ended or left open is no difference. Where less is certain, or more is
//! known, there are fewer of them in it:
//!
//! - where concessions explain a finding, none: a known family shows through every kind of statement (docs/measured/folding-2026-11-17.md);
//! - where the server says at which place of its code it gave up, none;
//! - where it died, hung or failed otherwise, and where the case was not made smaller, only the statement that shows it.

use std::collections::BTreeSet;

use model::{
    Case, Fingerprint, Level, Product, Signature, Violation,
    sql::{StatementClass, StatementKind},
};

use crate::{crash, mvcc};

/// Of a finding with its case, which was made smaller.
pub fn signature(product: Product, case: &Case, violation: &Violation) -> Signature {
    if crash::KINDS.contains(&violation.fingerprint.kind.as_str()) {
        return bare(&violation.fingerprint);
    }
    let kinds = case.steps.iter().filter_map(|step| {
        let kind = dialect::sql::parse(product, &step.sql).tree().map(|tree| tree.kind());
        counts(kind).then(|| StatementKind::label(kind).to_string())
    });
    with(&violation.fingerprint, kinds.collect())
}

/// Of a fingerprint whose case was not made smaller: which statements are needed beside the one that shows it is not known.
pub fn bare(fingerprint: &Fingerprint) -> Signature {
    let placed = fingerprint.rule.starts_with(crash::ASSERTION);
    let shows = (!placed).then(|| fingerprint.statement.clone());
    with(fingerprint, shows.into_iter().collect())
}

fn with(fingerprint: &Fingerprint, statements: BTreeSet<String>) -> Signature {
    match mvcc::named(fingerprint) {
        Some(by) => Signature::Explained(by.iter().map(|by| by.name.to_string()).collect()),
        None => Signature::Unexplained {
            kind: fingerprint.kind.clone(),
            rule: without_level(&fingerprint.rule),
            statements,
        },
    }
}

/// A rule at whatever level: a manual words it anew for each of them.
fn without_level(rule: &str) -> String {
    let of = |level: Level| rule.strip_prefix("at ").is_some_and(|rest| rest.starts_with(level.sql()));
    match Level::ALL.into_iter().any(of) {
        true => "what its level promises".into(),
        false => rule.to_string(),
    }
}

/// The bug reports by which a signature is known. What was found but is in no tracker has a name, and is new.
pub fn known(signature: &Signature) -> Option<String> {
    match signature {
        // In the order of the concessions, as a fingerprint has them.
        Signature::Explained(by) => mvcc::reports(mvcc::ordered(by)?),
        Signature::Unexplained { .. } => None,
    }
}

/// Is it part of what is wrong?
fn counts(kind: Option<StatementKind>) -> bool {
    kind.is_none_or(|kind| kind != StatementKind::Set && kind.class() != StatementClass::Control)
}

#[cfg(test)]
mod tests {
    use model::{SessionSpec, Step};

    use super::*;

    fn violation(kind: &str, rule: &str, statement: &str, level: Level) -> Violation {
        let fingerprint = Fingerprint {
            kind: kind.into(),
            rule: rule.into(),
            statement: statement.into(),
            level: Some(level),
        };
        Violation { fingerprint, step: Some(0), story: String::new(), evidence: Vec::new() }
    }

    fn case(steps: &[&str]) -> Case {
        let steps = steps.iter().map(|sql| Step { session: 0, sql: sql.to_string(), expect: Vec::new() });
        Case { sessions: vec![SessionSpec::plain("T1")], steps: steps.collect(), ..Case::default() }
    }

    #[test]
    fn what_explains_a_finding_is_all_of_its_signature() {
        let one = case(&["BEGIN", "UPDATE t SET a = 1", "SELECT * FROM t"]);
        let two = case(&["DELETE FROM t", "UPDATE t SET a = 2", "ROLLBACK"]);
        let of = |case, kind, statement, level| {
            signature(
                Product::Mariadb,
                case,
                &violation(kind, "changed-during-wait+skipped-before-wait", statement, level),
            )
        };
        let first = of(&one, "wrong-rows", "select", Level::ReadCommitted);
        assert_eq!(first, of(&two, "wrong-count", "delete", Level::ReadUncommitted));
        // As the fingerprint of the model orders them.
        assert_eq!(known(&first).as_deref(), Some("MySQL#104833, MDEV-26643, MDEV-34108"));
    }

    #[test]
    fn what_nothing_explains_is_told_by_its_statements() {
        let wrong = violation("wrong-rows", "rows", "select", Level::RepeatableRead);
        let of = |steps: &[&str]| signature(Product::Mariadb, &case(steps), &wrong);
        let framed = of(&["BEGIN", "SAVEPOINT s", "UPDATE t SET a = 1", "SELECT * FROM t", "COMMIT"]);
        assert_eq!(framed.to_string(), "wrong-rows · rows · select update");
        assert_eq!(framed, of(&["SELECT a FROM t", "UPDATE t SET a = 1", "SELECT * FROM t"]));
        assert_ne!(framed, of(&["DELETE FROM t", "SELECT * FROM t"]));
        assert_eq!(of(&["SELEKT"]).to_string(), "wrong-rows · rows · unread");
        assert_eq!(bare(&wrong.fingerprint).to_string(), "wrong-rows · rows · select");
        assert_eq!(known(&framed), None);
    }

    #[test]
    fn a_server_that_fails_needs_fewer_words() {
        let steps = case(&["UPDATE t SET a = 1", "DELETE FROM t"]);
        let of = |kind: &str, rule: &str| {
            signature(Product::Mysql, &steps, &violation(kind, rule, "delete", Level::ReadCommitted))
                .to_string()
        };
        assert_eq!(of("crash", "assertion row0sel.cc:99"), "crash · assertion row0sel.cc:99");
        assert_eq!(of("hang", "hung-statement"), "hang · hung-statement · delete");
        assert_eq!(of("wrong-count", "count"), "wrong-count · count · delete update");
    }

    #[test]
    fn a_rule_is_the_same_at_every_level() {
        let of = |rule: &str, level| {
            signature(
                Product::Mariadb,
                &case(&["SELECT * FROM t"]),
                &violation("wrong-rows", rule, "select", level),
            )
        };
        let one = of("at READ COMMITTED each plain read has a fresh snapshot (manual)", Level::ReadCommitted);
        let two = of("at SERIALIZABLE a plain SELECT in a transaction is one FOR SHARE", Level::Serializable);
        assert_eq!((&one, one.to_string().as_str()), (&two, "wrong-rows · what its level promises · select"));
    }

    #[test]
    fn what_is_in_no_tracker_has_a_name_and_is_new() {
        let found = violation("wrong-count", "judges-uncommitted", "update", Level::ReadUncommitted);
        let signature = signature(Product::Mariadb, &case(&["UPDATE t SET a = 1"]), &found);
        assert_eq!((signature.to_string().as_str(), known(&signature)), ("judges-uncommitted", None));
    }
}
