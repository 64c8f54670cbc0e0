//! The signature of a finding: computed from what an oracle says of a case that was reduced.
//!
//! The kinds of statements are those that the small case still needs, without BEGIN, COMMIT, ROLLBACK and savepoints: these frame a bug
//! more often than they cause it, and whether a transaction is ended or left open is no difference. Where less is certain, or more is
//! known, there are fewer of them in it:
//!
//! - where known deviations explain a finding, none: a known family shows through every kind of statement (docs/measured/folding-2026-11-17.md);
//! - where the server says at which place of its code it gave up, none;
//! - where it died, hung or failed otherwise, and where the case was not reduced, only the statement that shows it.
//!
//! Where two ways to judge disagree about one statement on one view (`logic`), its kind says nothing of the cause: `NOT IN` beside NULL and
//! a join that loses a match may both be an UPDATE. So what it is made of is part of the signature (`features`).

mod features;

use std::collections::BTreeSet;

use dialect::ParsedCase;
use model::{
    Case, Product, ShownBy, Signature, Symptom, Violation,
    sql::{Statement, StatementClass, StatementKind},
    verdict::{Feature, Visible},
};

use crate::mvcc;

/// Of a finding with its case, which was reduced.
pub fn signature(product: Product, case: &Case, violation: &Violation) -> Signature {
    if violation.fingerprint.symptom.visible() == Visible::Server {
        return Signature::bare(&violation.fingerprint);
    }
    let kinds = case.steps.iter().filter_map(|step| {
        let kind = dialect::sql::parse(product, &step.sql).tree().as_ref().map(Statement::kind);
        counts(kind).then_some(ShownBy::Statement(kind))
    });
    Signature::new(&violation.fingerprint, kinds.collect(), features_of(product, case, violation))
}

/// Of a finding whose case was not reduced: which statements are needed beside the one that shows it is not known.
pub fn of_unreduced(product: Product, case: &Case, violation: &Violation) -> Signature {
    match Signature::bare(&violation.fingerprint) {
        Signature::Unexplained { statements, .. } => {
            Signature::new(&violation.fingerprint, statements, features_of(product, case, violation))
        }
        explained @ Signature::Explained(_) => explained,
    }
}

/// What the wrong statement is made of; of a wrong final state, every one that changes rows.
fn features_of(product: Product, case: &Case, violation: &Violation) -> BTreeSet<Feature> {
    if violation.fingerprint.symptom != Symptom::Logic {
        return BTreeSet::new();
    }
    let case = ParsedCase::new(product, case.clone());
    let schema = case.parsed_setup.schema.as_ref().ok();
    let shows = |step: &usize| match violation.step {
        Some(wrong) => *step == wrong,
        None => case.kind(*step).is_some_and(StatementKind::writes),
    };
    let trees = (0..case.steps.len()).filter(shows).filter_map(|step| case.tree(step));
    trees.flat_map(|tree| features::of(tree, schema)).collect()
}

/// The bug reports by which a signature is known. What was found but is in no tracker has a name, and is new.
pub fn known(signature: &Signature) -> Option<String> {
    match signature {
        Signature::Explained(by) => mvcc::reports(by),
        Signature::Unexplained { .. } => None,
    }
}

/// Is it part of what is wrong?
fn counts(kind: Option<StatementKind>) -> bool {
    kind.is_none_or(|kind| kind != StatementKind::Set && kind.class() != StatementClass::Control)
}

#[cfg(test)]
mod tests {
    use model::{Fingerprint, Level, RuleId, SessionSpec, Step, Symptom, verdict::Cause};

    use super::*;

    fn violation(symptom: Symptom, cause: Cause, kind: StatementKind, level: Level) -> Violation {
        let (statement, level) = (ShownBy::Statement(Some(kind)), Some(level));
        let fingerprint = Fingerprint { symptom, cause, statement, level };
        Violation { fingerprint, step: Some(0), evidence: Box::default() }
    }

    fn case(steps: &[&str]) -> Case {
        let steps = steps.iter().map(|sql| Step { session: 0, sql: sql.to_string(), expect: Vec::new() });
        Case { sessions: vec![SessionSpec::plain("T1")], steps: steps.collect(), ..Case::default() }
    }

    fn explained(by: &[&str]) -> Cause {
        Cause::Deviations(by.iter().map(|by| (*by).into()).collect())
    }

    const ALONE: Cause = Cause::Alone { after_wait: false };
    const SELECT: StatementKind = StatementKind::Select;

    #[test]
    fn what_explains_a_finding_is_all_of_its_signature() {
        let one = case(&["BEGIN", "UPDATE t SET a = 1", "SELECT * FROM t"]);
        let two = case(&["DELETE FROM t", "UPDATE t SET a = 2", "ROLLBACK"]);
        let of = |case, symptom, kind, level| {
            let by = explained(&["changed-during-wait", "skipped-before-wait"]);
            signature(Product::Mariadb, case, &violation(symptom, by, kind, level))
        };
        let first = of(&one, Symptom::WrongRows, SELECT, Level::ReadCommitted);
        let second = of(&two, Symptom::WrongCount, StatementKind::Delete, Level::ReadUncommitted);
        assert_eq!(first, second);
        // In the order of the registry.
        assert_eq!(
            known(&first).as_deref(),
            Some("MySQL#104833, MDEV-26643, MDEV-34108, MDEV-34106, MySQL#114952 (rejected by the vendor)")
        );
    }

    #[test]
    fn what_nothing_explains_is_told_by_its_statements() {
        let wrong = violation(Symptom::WrongRows, ALONE, SELECT, Level::RepeatableRead);
        let of = |steps: &[&str]| signature(Product::Mariadb, &case(steps), &wrong);
        let framed = of(&["BEGIN", "SAVEPOINT s", "UPDATE t SET a = 1", "SELECT * FROM t", "COMMIT"]);
        assert_eq!(framed.to_string(), "wrong-rows · alone · select update");
        assert_eq!(framed, of(&["SELECT a FROM t", "UPDATE t SET a = 1", "SELECT * FROM t"]));
        assert_ne!(framed, of(&["DELETE FROM t", "SELECT * FROM t"]));
        assert_eq!(of(&["SELEKT"]).to_string(), "wrong-rows · alone · unread");
        assert_eq!(Signature::bare(&wrong.fingerprint).to_string(), "wrong-rows · alone · select");
        assert_eq!(known(&framed), None);
    }

    #[test]
    fn statements_that_are_wrong_by_themselves_are_told_by_what_they_are_made_of() {
        let wrong = |kind| violation(Symptom::Logic, Cause::ModelObjects, kind, Level::RepeatableRead);
        let setup = [
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY (c))",
            "CREATE TABLE u (a INT PRIMARY KEY, b INT)",
        ];
        let of = |sql: &str| {
            let mut case = case(&[sql]);
            case.setup.statements = setup.map(String::from).into();
            signature(Product::Mariadb, &case, &wrong(StatementKind::Update))
        };
        let not_in = of("UPDATE t SET a = 1 WHERE a NOT IN (SELECT b FROM u)");
        let join = of("UPDATE u STRAIGHT_JOIN t ON u.b = t.b SET u.b = 99, t.b = 18");
        assert_ne!(not_in, join);
        let words = "logic · model-objects · not-in-query by-primary-key";
        assert_eq!(not_in.to_string(), words);
        // Names and numbers make no difference, the way to the rows and the kind of literal do.
        assert_eq!(not_in, of("UPDATE t SET b = 7 WHERE a NOT IN (SELECT a FROM u)"));
        assert_ne!(of("UPDATE t SET a = 1 WHERE c = 1"), of("UPDATE t SET a = 1 WHERE a = 1"));
        assert_ne!(of("UPDATE t SET a = 1 WHERE b = 1"), of("UPDATE t SET a = 1 WHERE b = 0.5"));
        // The same without a reduced case, and nothing of it where a rule is broken.
        let unreduced = of_unreduced(Product::Mariadb, &case(&["UPDATE t SET a = NULL"]), &wrong(SELECT));
        assert_eq!(unreduced.to_string(), "logic · model-objects · null", "{unreduced:?}");
    }

    #[test]
    fn a_server_that_fails_needs_fewer_words() {
        let steps = case(&["UPDATE t SET a = 1", "DELETE FROM t"]);
        let of = |symptom, cause| {
            let wrong = violation(symptom, cause, StatementKind::Delete, Level::ReadCommitted);
            signature(Product::Mysql, &steps, &wrong).to_string()
        };
        let site = Cause::CrashSite("row0sel.cc:99".into());
        assert_eq!(of(Symptom::Crash, site), "crash · assertion row0sel.cc:99");
        assert_eq!(of(Symptom::Hang, Cause::Unknown), "hang · unknown · delete");
        assert_eq!(of(Symptom::WrongCount, ALONE), "wrong-count · alone · delete update");
    }

    #[test]
    fn a_rule_is_the_same_at_every_level() {
        let of = |rule: RuleId, level| {
            let wrong = violation(Symptom::WrongRows, Cause::Rule(rule), SELECT, level);
            signature(Product::Mariadb, &case(&["SELECT * FROM t"]), &wrong)
        };
        let one = of(RuleId::FreshSnapshot, Level::ReadCommitted);
        let two = of(RuleId::LockingRead, Level::Serializable);
        assert_eq!((&one, one.to_string().as_str()), (&two, "wrong-rows · plain-read · select"));
        assert_ne!(one, of(RuleId::NewestForChanges, Level::ReadCommitted));
    }

    #[test]
    fn what_is_in_no_tracker_has_a_name_and_is_new() {
        let by = explained(&["conflict-by-inner-read"]);
        let found = violation(Symptom::WrongCount, by, StatementKind::Update, Level::ReadUncommitted);
        let signature = signature(Product::Mariadb, &case(&["UPDATE t SET a = 1"]), &found);
        assert_eq!((signature.to_string().as_str(), known(&signature)), ("conflict-by-inner-read", None));
    }
}
