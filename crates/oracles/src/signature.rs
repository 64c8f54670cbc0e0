//! The signature of a finding: computed from what an oracle says of a case that was made smaller.
//!
//! The kinds of statements are those that the case still needs, without BEGIN, COMMIT, ROLLBACK and savepoints: these frame a bug more
//! often than they cause it, and whether a transaction is ended or left open is no difference. Where concessions explain a finding, the kinds
//! are left out, too: a known family shows through every kind of statement (measured, see docs/measured.md, Folding).

use std::collections::BTreeSet;

use model::{Case, Fingerprint, Level, Product, Signature, Violation};

use crate::{mvcc, story::Kind};

/// Of a finding with its case.
pub fn signature(product: Product, case: &Case, violation: &Violation) -> Signature {
    let kinds = case.steps.iter().filter_map(|step| {
        let kind = Kind::of(dialect::sql::parse(product, &step.sql).tree().as_ref());
        counts(kind).then(|| kind.name().to_string())
    });
    with(&violation.fingerprint, kinds.collect())
}

/// Of a fingerprint whose case nobody has: the statement that shows it is the only one that is known.
pub fn bare(fingerprint: &Fingerprint) -> Signature {
    with(fingerprint, BTreeSet::from([fingerprint.statement.clone()]))
}

fn with(fingerprint: &Fingerprint, statements: BTreeSet<String>) -> Signature {
    match mvcc::named(fingerprint) {
        Some(by) => Signature::Explained(by.iter().map(|by| by.name().to_string()).collect()),
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
fn counts(kind: Kind) -> bool {
    match kind {
        Kind::Begin | Kind::Commit | Kind::Rollback | Kind::Savepoint | Kind::Set => false,
        Kind::Select
        | Kind::LockingSelect
        | Kind::Insert
        | Kind::Update
        | Kind::Delete
        | Kind::Ddl
        | Kind::LockTable
        | Kind::Unread => true,
    }
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
