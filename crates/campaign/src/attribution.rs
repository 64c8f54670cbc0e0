//! Findings that only the decoupled run can judge, and findings of two bugs at once: whether they are something simpler that has a
//! name.
//!
//! While a case is reduced its fingerprint stays the same. So a case that the model could not read stays one that it cannot
//! read, and looks new, although without the join or the refused statement beside it it would be known. Such a case is reduced
//! once more, by steps that are accepted if the old fingerprint comes back **or** a bug that has a name shows in the same kind of
//! statement at the same level. That alone would only show that the known bug lives next door. So the name is taken only if, in the case before these
//! steps, too, what the known deviation needs is the cause: its twin (`oracles/src/mvcc/twins`), judged by the oracle that found it, must
//! hold. Otherwise the finding keeps its case and stays new, and it is said what it turned into.
//!
//! ```text
//! T2: INSERT INTO u VALUES (1, 0)                         T2: INSERT INTO u VALUES (1, 0)
//! T2: UPDATE u SET t.a = ''      the model cannot tell
//! T1: UPDATE u SET b = 0                            --->  T1: UPDATE u SET b = 0        the model: MDEV-26642
//! T1: SELECT * FROM u            wrong                    T1: SELECT * FROM u           wrong
//! ```
//!
//! Nor is a twin needed where all that goes are **bystanders**: statements without which every other statement gets the answer that it
//! got, and the tables of the wrong one end with the same rows. What the server did wrong is the same then, so that a known deviation that
//! explains it there explains it here.
//!
//! A statement that is wrong with nobody else there may be right about rows that an earlier one has left wrong. Then they are
//! wrong without it, too, in the end, and that is what is filed: it is not blamed.
//!
//! A finding that needs two known deviations is reduced in the same way until it needs one of them, and no twin is asked for: each
//! of them was needed before. One that is in no tracker is not given up for one that is.

use dialect::{AccessSet, Execution};
use execute::Reset;
use model::{
    Case, Fingerprint, RowSet, Symptom, Verdict, Violation,
    sql::StatementClass,
    verdict::{
        Cause,
        evidence::{Before, SecondOpinion, Turned},
    },
};
use oracles::{
    Oracle,
    mvcc::{
        self,
        deviations::{KnownDeviation, Status},
    },
};
use reduce::Scope;

use crate::{
    clean_server::CleanRuns,
    confirm::{Reproduction, Suspicion, reset, series},
    reducing::How,
};

/// What a finding is put down to.
pub enum Attribution {
    /// A bug that has a name, or one that is no matter of isolation; the case is smaller.
    Known(Box<Reproduction>),
    /// It would be this, but the twin does not say so.
    Resembles(String),
    None,
}

/// Tries to put a finding, whose case cannot be reduced, down to something simpler. Says how many candidates that took.
pub fn attribute(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    candidates: u64,
    how: &mut How<'_>,
) -> (Attribution, u64) {
    let old = &suspicion.violation.fingerprint;
    let quick = suspicion.judge.oracle.quick_equivalent().filter(|_| suspicion.judge.overrides.is_empty());
    let Some(quick) = quick.filter(|_| candidates > 0 && !(how.over)()) else {
        return (Attribution::None, 0);
    };
    if let Some(turned) = without_the_statement(runs, suspicion, best) {
        return (Attribution::Known(Box::new(turned)), 1);
    }
    let (explained, tried) = match old.deviations() {
        None => without_bystanders(runs, suspicion, best, candidates, how),
        Some(_) => (None, 0),
    };
    if let Some(explained) = explained {
        return (Attribution::Known(Box::new(explained)), tried);
    }
    let candidates = candidates - tried;
    if candidates == 0 || !may_turn(runs, suspicion, best, quick.as_ref()) {
        return (Attribution::None, tried);
    }
    let (attribution, more) = simplify(runs, suspicion, best, candidates, how, quick.as_ref());
    (attribution, tried + more)
}

/// Reduces the case to one that has a name, if the twin says that it is the same.
fn simplify(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    candidates: u64,
    how: &mut How<'_>,
    quick: &dyn Oracle,
) -> (Attribution, u64) {
    let old = &suspicion.violation.fingerprint;
    let product = best.execution.trace.server.product;
    let level = suspicion.seen.trace.level;
    let mut last: Option<Violation> = None;
    // What the finding was, and what follows from it.
    let either = |case: &Case| {
        let old = last.as_ref().map_or(old, |last| &last.fingerprint);
        let Some(execution) = runs.rerun(case, level, reset(best.condition)) else { return false };
        match suspicion.judge.verdict(&execution, runs) {
            Verdict::Violated(violation)
                if violation.fingerprint == *old || follows(old, &violation.fingerprint) =>
            {
                last = Some(violation);
                true
            }
            Verdict::Violated(_) | Verdict::Holds { .. } | Verdict::Undecided { .. } => false,
        }
    };
    let found = how.search(&best.execution.case, product, Scope::Whole, candidates, either);
    let last = last.filter(|violation| violation.fingerprint != *old);
    let Some(violation) = last else { return (Attribution::None, found.tried) };
    let again = Suspicion { violation: &violation, leftovers: None, ..*suspicion };
    let Some(mut turned) = series(runs, &again, &found.case, best.condition, best.runs[1]) else {
        return (Attribution::None, found.tried);
    };
    if is_by_itself(&violation.fingerprint) {
        turned.violation.evidence.before = Some(Before { fingerprint: old.clone(), by: Turned::ByItself });
        return (Attribution::Known(Box::new(turned)), found.tried);
    }
    let by = mvcc::named(&violation.fingerprint).unwrap_or_default();
    let cause = &violation.fingerprint.cause;
    if old.deviations().is_none() && !is_cause(runs, suspicion, best, &turned, &by, quick) {
        let name = cause.deviations().and_then(mvcc::reports).unwrap_or_else(|| cause.to_string());
        return (Attribution::Resembles(name), found.tried);
    }
    let by = match old.deviations() {
        Some(all) if all.len() == by.len() => Turned::SaysTheSame,
        Some(_) => Turned::NeedsFewer,
        None => Turned::GoneInTwin,
    };
    turned.violation.evidence.before = Some(Before { fingerprint: old.clone(), by });
    (Attribution::Known(Box::new(turned)), found.tried)
}

/// The case without the statement that shows what is wrong, if the tables are wrong without it.
fn without_the_statement(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
) -> Option<Reproduction> {
    let (old, step) = (&suspicion.violation.fingerprint, best.violation.step?);
    if !is_by_itself(old) {
        return None;
    }
    let mut smaller = best.execution.case.case().clone();
    smaller.steps.remove(step);
    smaller.fails.clear();
    let execution = runs.rerun(&smaller, suspicion.seen.trace.level, reset(best.condition))?;
    let Verdict::Violated(violation) = suspicion.judge.verdict(&execution, runs) else { return None };
    if violation.step.is_some() {
        return None;
    }
    let again = Suspicion { violation: &violation, leftovers: None, ..*suspicion };
    let mut turned = series(runs, &again, &smaller, best.condition, best.runs[1])?;
    turned.violation.evidence.before = Some(Before { fingerprint: old.clone(), by: Turned::InTheEnd });
    Some(turned)
}

/// Leaves out one bystander after the other until a known deviation explains what is wrong.
fn without_bystanders(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    candidates: u64,
    how: &How<'_>,
) -> (Option<Reproduction>, u64) {
    let old = &suspicion.violation.fingerprint;
    let level = suspicion.seen.trace.level;
    let (mut kept, mut wrong, mut tried) = (best.execution.clone(), best.violation.step, 0);
    for step in (0..kept.case.steps.len()).rev() {
        if wrong == Some(step) || is_control(&kept, step) {
            continue;
        }
        if tried >= candidates || (how.over)() {
            break;
        }
        tried += 1;
        let mut smaller = kept.case.case().clone();
        smaller.steps.remove(step);
        smaller.fails.clear();
        let execution = runs.rerun(&smaller, level, reset(best.condition));
        let Some(execution) = execution.filter(|execution| is_bystander(&kept, step, wrong, execution))
        else {
            continue;
        };
        (kept, wrong) = (execution, wrong.map(|wrong| wrong - usize::from(step < wrong)));
        let Verdict::Violated(violation) = suspicion.judge.verdict(&kept, runs) else { continue };
        let (same, new) = (violation.step == wrong, &violation.fingerprint);
        if same && old.statement == new.statement && is_named(new) {
            let again = Suspicion { violation: &violation, leftovers: None, ..*suspicion };
            let Some(mut known) = series(runs, &again, &smaller, best.condition, best.runs[1]) else {
                continue;
            };
            let by = Turned::WithoutBystanders;
            known.violation.evidence.before = Some(Before { fingerprint: old.clone(), by });
            return (Some(known), tried);
        }
    }
    (None, tried)
}

/// Begins and ends of transactions say what a statement may see, whatever they answer.
fn is_control(execution: &Execution, step: usize) -> bool {
    let tree = execution.case.statements[step].as_deref().map(dialect::ParsedStatement::tree);
    tree.is_some_and(|tree| tree.kind().class() == StatementClass::Control)
}

/// Without this step: does every other one get the same answer, and do the tables of the wrong one end with the same rows?
fn is_bystander(with: &Execution, step: usize, wrong: Option<usize>, without: &Execution) -> bool {
    let (before, after) = (&with.trace, &without.trace);
    let others = (0..with.case.steps.len()).filter(|other| *other != step).enumerate();
    let answers = others.into_iter().all(|(now, then)| {
        let (one, other) = (before.outcomes.get(then), after.outcomes.get(now));
        one.map(|one| &one.reply) == other.map(|other| &other.reply)
            && before.waited(then) == after.waited(now)
    });
    // Of a text without a tree, and of the final state, all tables.
    let tree = wrong.and_then(|wrong| with.case.statements[wrong].as_deref());
    let touched = tree.map(|tree| AccessSet::of(tree.tree())).filter(AccessSet::touches_tables);
    let counts = |table: &str| touched.as_ref().is_none_or(|set| set.reads(table) || set.writes(table));
    let rows = match (&before.final_state, &after.final_state) {
        (Some(one), Some(other)) => {
            let same = |((name, rows), (other, more)): (&(String, RowSet), &(String, RowSet))| {
                name == other && (!counts(name) || rows.same_rows(more))
            };
            one.len() == other.len() && one.iter().zip(other).all(same)
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    answers && rows && before.stalled == after.stalled
}

/// Is it explained by what somebody has reported or found?
fn is_named(fingerprint: &Fingerprint) -> bool {
    let named = |by: &&'static KnownDeviation| by.status == Status::Reported || by.status == Status::Found;
    mvcc::named(fingerprint).is_some_and(|by| !by.is_empty() && by.iter().all(named))
}

/// Is the statement wrong without anybody else?
fn is_by_itself(fingerprint: &Fingerprint) -> bool {
    fingerprint.symptom == Symptom::Logic && fingerprint.cause == Cause::ModelObjects
}

/// Is it worth trying? Of what the quick oracle can judge and one known deviation explains, the name stands.
fn may_turn(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    quick: &dyn Oracle,
) -> bool {
    let two = suspicion.violation.fingerprint.deviations().is_some_and(|by| by.len() > 1);
    // Steps that blind the decoupled run survive a reduction: without them it may be no matter of isolation.
    // Of errors it does not judge who is in the way, and so not those either that nobody is in the way of.
    let blind = matches!(best.violation.evidence.second_opinion, Some(SecondOpinion::DecoupledUndecided(_)))
        || suspicion.violation.fingerprint.symptom == Symptom::NeedlessError;
    let unnamed = matches!(suspicion.violation.fingerprint.cause, Cause::Rule(_));
    two || blind && unnamed
        || matches!(suspicion.judge.with(quick).verdict(&best.execution, runs), Verdict::Undecided { .. })
}

/// May a finding of the old fingerprint become one of the new?
fn follows(old: &Fingerprint, new: &Fingerprint) -> bool {
    // The final state has a level only for the decoupled run.
    let levels = old.level == new.level || old.level.is_none() || new.level.is_none();
    if old.statement != new.statement || !levels {
        return false;
    }
    if is_by_itself(new) {
        return matches!(old.cause, Cause::Rule(_));
    }
    let Some(by) = mvcc::named(new) else { return false };
    let reported = |by: &&'static KnownDeviation| by.status == Status::Reported;
    match mvcc::named(old) {
        None => by.len() == 1 && by.iter().all(|by| reported(by) || by.status == Status::Found),
        // What the decoupled run alone has named, the model may name in its own words.
        Some(all) if all == by => old.symptom != new.symptom,
        Some(all) => {
            let fewer = by.len() < all.len() && by.iter().all(|one| all.contains(one));
            fewer && (all.iter().all(reported) || !by.iter().all(reported))
        }
    }
}

/// In the case before: is it gone without what the known deviation needs?
fn is_cause(
    runs: &mut dyn CleanRuns,
    suspicion: &Suspicion<'_>,
    best: &Reproduction,
    turned: &Reproduction,
    by: &[&'static KnownDeviation],
    quick: &dyn Oracle,
) -> bool {
    let &[by] = by else { return false };
    // Whose statement needs it, of those who take part: the one who sees what is wrong, or another.
    let own = |execution: &Execution, violation: &Violation, step: usize| {
        violation.step.map(|wrong| execution.case.steps[wrong].session == execution.case.steps[step].session)
    };
    let uses = quick.explained_by(&turned.execution);
    let Some((_, needs)) = uses.into_iter().find(|(of, _)| *of == by) else { return false };
    let whose = own(&turned.execution, &turned.violation, needs);
    let twins = quick.twins(&best.execution, by, best.violation.step);
    let mut twins = twins.iter().filter(|(step, _)| own(&best.execution, &best.violation, *step) == whose);
    twins.any(|(_, twin)| holds(runs, suspicion, twin))
}

fn holds(runs: &mut dyn CleanRuns, suspicion: &Suspicion<'_>, twin: &Case) -> bool {
    let execution = runs.rerun(twin, suspicion.seen.trace.level, Reset::Clean);
    let execution = execution.filter(|execution| !execution.trace.stalled);
    execution
        .is_some_and(|execution| matches!(suspicion.judge.verdict(&execution, runs), Verdict::Holds { .. }))
}

#[cfg(test)]
mod tests {
    use model::{
        Condition, JudgeOverrides, Level, Outcome, Probe, ProbeResult, Product, Reply, ServerInfo,
        SessionSpec, ShownBy, Step, Trace, Version, sql::StatementKind,
    };
    use oracles::{Ask, Conversation, OracleInfo};
    use reduce::strategy::InOrder;

    use super::*;
    use crate::panel::Judge;

    /// Cannot tell what explains a case with a statement that it cannot read.
    struct Reader;

    struct Said(Verdict);

    impl Conversation for Said {
        fn next(&mut self, _: &[Execution]) -> Ask {
            Ask::Done(self.0.clone())
        }
    }

    impl Oracle for Reader {
        fn info(&self) -> OracleInfo {
            let name = "reader";
            OracleInfo { name, needs_contract: false, needs_server: false, default: false, help: "" }
        }

        fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
            Box::new(Said(Verdict::Violated(seen_wrong(&seen.case))))
        }

        fn quick_equivalent(&self) -> Option<Box<dyn Oracle>> {
            Some(Box::new(Reader))
        }
    }

    fn seen_wrong(case: &Case) -> Violation {
        let unread = case.steps.iter().any(|step| step.sql.starts_with("ODD"));
        let by: &[&str] = if unread { &[] } else { &["noop-without-version"] };
        let fingerprint = fingerprint(by, StatementKind::Select);
        let step = case.steps.iter().position(|step| step.sql.starts_with("SELECT"));
        Violation { fingerprint, step, evidence: Box::default() }
    }

    fn ran(case: &Case, answer: &dyn Fn(&Case, &str) -> u64) -> Execution {
        let reply = |step: &Step| Reply::Done { affected: answer(case, &step.sql), matched: None };
        let outcomes = case.steps.iter().map(|step| Outcome::bare(reply(step))).collect();
        let server = ServerInfo::bare(Product::Mysql, Version(vec![9, 7]));
        let trace = Trace { outcomes, ..Trace::empty(server, Level::RepeatableRead) };
        Execution::new(case.clone(), trace)
    }

    /// Each statement answers with a count.
    struct Answers<'a>(&'a dyn Fn(&Case, &str) -> u64);

    impl CleanRuns for Answers<'_> {
        fn rerun(&mut self, case: &Case, _: Level, _: Reset) -> Option<Execution> {
            Some(ran(case, self.0))
        }

        fn probe(&mut self, _: &Probe) -> Option<ProbeResult> {
            None
        }

        fn purges(&self) -> bool {
            false
        }
    }

    /// What is left of a case with a statement that nobody can read.
    fn attributed(answer: &dyn Fn(&Case, &str) -> u64) -> Option<Vec<String>> {
        let step = |sql: &&str| Step { session: 0, sql: sql.to_string(), expect: Vec::new() };
        let steps = ["UPDATE t SET a = 1", "ODD", "SELECT * FROM t"].iter().map(step).collect();
        let case = Case { sessions: vec![SessionSpec::plain("T1")], steps, ..Case::default() };
        let (seen, violation) = (ran(&case, answer), seen_wrong(&case));
        let overrides = JudgeOverrides::default();
        let judge = Judge { oracle: &Reader, overrides: &overrides };
        let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers: None };
        let (execution, condition) = (seen.clone(), Condition::Clean);
        let best = Reproduction { execution, violation: violation.clone(), condition, runs: [3, 3] };
        let mut how = How { candidates: 9, strategy: &mut InOrder, over: &|| false, told: &mut |_| {} };
        match attribute(&mut Answers(answer), &suspicion, &best, 9, &mut how).0 {
            Attribution::Known(known) => {
                let before = known.violation.evidence.before.as_ref().map(|before| before.by);
                assert_eq!(before, Some(Turned::WithoutBystanders));
                Some(known.execution.case.steps.iter().map(|step| step.sql.clone()).collect())
            }
            Attribution::Resembles(_) | Attribution::None => None,
        }
    }

    #[test]
    fn a_bystander_does_not_make_a_known_bug_new() {
        let left = attributed(&|_, _| 1);
        assert_eq!(left.as_deref(), Some(&["UPDATE t SET a = 1", "SELECT * FROM t"].map(String::from)[..]));
        // It is none if the wrong statement answers otherwise without it.
        let odd = |case: &Case| case.steps.iter().any(|step| step.sql == "ODD");
        assert_eq!(attributed(&|case, sql| u64::from(odd(case) && sql.starts_with("SELECT"))), None);
    }

    /// Says of a read that it is wrong by itself, and without one that the tables are.
    struct Tables;

    impl Oracle for Tables {
        fn info(&self) -> OracleInfo {
            Reader.info()
        }

        fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
            let read = seen.case.steps.iter().position(|step| step.sql.starts_with("SELECT"));
            Box::new(Said(Verdict::Violated(Violation {
                fingerprint: left_wrong(read.is_some()),
                step: read,
                evidence: Box::default(),
            })))
        }

        fn quick_equivalent(&self) -> Option<Box<dyn Oracle>> {
            Some(Box::new(Tables))
        }
    }

    fn left_wrong(read: bool) -> Fingerprint {
        let (symptom, statement) = match read {
            true => (Symptom::Logic, ShownBy::Statement(Some(StatementKind::Select))),
            false => (Symptom::WrongFinalState, ShownBy::FinalState),
        };
        let (cause, level) = (Cause::ModelObjects, Some(Level::RepeatableRead));
        Fingerprint { symptom, cause, statement, level }
    }

    #[test]
    fn a_read_is_not_blamed_for_what_is_in_the_tables() {
        let answer: &dyn Fn(&Case, &str) -> u64 = &|_, _| 1;
        let step = |sql: &&str| Step { session: 0, sql: sql.to_string(), expect: Vec::new() };
        let steps = ["UPDATE IGNORE t SET a = 1", "SELECT * FROM u"].iter().map(step).collect();
        let case = Case { sessions: vec![SessionSpec::plain("T1")], steps, ..Case::default() };
        let seen = ran(&case, answer);
        let violation = Violation { fingerprint: left_wrong(true), step: Some(1), evidence: Box::default() };
        let overrides = JudgeOverrides::default();
        let judge = Judge { oracle: &Tables, overrides: &overrides };
        let suspicion = Suspicion { seen: &seen, judge, violation: &violation, leftovers: None };
        let (execution, condition) = (seen.clone(), Condition::Clean);
        let best = Reproduction { execution, violation: violation.clone(), condition, runs: [3, 3] };
        let mut how = How { candidates: 9, strategy: &mut InOrder, over: &|| false, told: &mut |_| {} };
        let Attribution::Known(known) = attribute(&mut Answers(answer), &suspicion, &best, 9, &mut how).0
        else {
            panic!("it is not the read");
        };
        assert_eq!(known.violation.fingerprint, left_wrong(false));
        assert_eq!(known.execution.case.steps.len(), 1);
        assert_eq!(known.violation.evidence.before.unwrap().by, Turned::InTheEnd);
    }

    fn fingerprint(by: &[&str], statement: StatementKind) -> Fingerprint {
        let cause = match by {
            [] => Cause::Alone { after_wait: false },
            by => Cause::Deviations(by.iter().map(|by| (*by).into()).collect()),
        };
        let (symptom, level) = (Symptom::WrongRows, Some(Level::RepeatableRead));
        Fingerprint { symptom, cause, statement: ShownBy::Statement(Some(statement)), level }
    }

    #[test]
    fn what_may_follow_from_what() {
        let (noop, key, found) =
            ("noop-without-version", "key-change-keeps-old-row", "conflict-by-inner-read");
        let select = StatementKind::Select;
        let follows =
            |old: &[&str], new: &[&str]| follows(&fingerprint(old, select), &fingerprint(new, select));
        assert!(follows(&[], &[noop]) && follows(&[noop, key], &[noop]) && follows(&[noop, key], &[key]));
        assert!(follows(&[], &[found]), "it has a name then, and stays new");
        // Not to something new, to two at once, to another one, or back.
        let documented = "semi-consistent-skip";
        for (old, new) in [
            (&[][..], &[][..]),
            (&[], &[noop, key]),
            (&[], &[documented]),
            (&[noop], &[key]),
            (&[noop], &[noop]),
            (&[key], &[noop, key]),
        ] {
            assert!(!follows(old, new), "{old:?} {new:?}");
        }
        // What no name explains may turn out to be no matter of isolation.
        let with = |symptom, cause| Fingerprint { symptom, cause, ..fingerprint(&[], select) };
        let rule = with(Symptom::WrongRows, Cause::Rule(model::RuleId::FreshSnapshot));
        let alone = with(Symptom::Logic, Cause::ModelObjects);
        assert!(super::follows(&rule, &alone) && !super::follows(&alone, &rule));
        assert!(!super::follows(&fingerprint(&[noop], select), &alone));
        // What is in no tracker stays.
        assert!(follows(&[noop, found], &[found]) && !follows(&[noop, found], &[noop]));
        assert!(!super::follows(&fingerprint(&[], select), &fingerprint(&[noop], StatementKind::Update)));
    }
}
