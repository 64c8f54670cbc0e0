//! The decoupled oracle on real servers and on the reference engine: it tells the known families from the corpus, and is silent
//! where the contract is kept.
//!
//! `ISOPOD_DECOUPLED="TARGET LEVEL CASES"` tries as many generated cases of a server, counts what is said, and shows what is wrong;
//! with `ISOPOD_DECOUPLED_BOTH` what it and the model come to together, and where they disagree.

mod common;

use std::{collections::BTreeMap, env, fs, path::Path};

use common::{runner, target};
use dbms::launch::Settle;
use dialect::Execution;
use execute::{Options, Reset, Runner};
use generate::Generator;
use model::{
    Case, Fingerprint, Level, Reply, RowSet, Seed, Symptom, Verdict, verdict::evidence::SecondOpinion,
};
use oracles::{Ask, Oracle, decoupled::Decoupled};
use reference::ReferenceServer;

/// What the oracle says of a run, with what it asks for.
fn judged(runner: &mut Runner, oracle: &dyn Oracle, seen: &Execution) -> Verdict {
    let mut talk = oracle.open(seen);
    let mut ask = talk.next(&[]);
    loop {
        ask = match ask {
            Ask::Done(verdict) => return verdict,
            Ask::Run(_) => panic!("it asks for a run"),
            Ask::Probe(probe) => {
                talk.probed(runner.probe(&probe).unwrap_or_else(|error| panic!("{error}: {probe:#?}")))
            }
        };
    }
}

fn seen(runner: &mut Runner, case: &Case, level: Level) -> Execution {
    let run = runner.run(case, level).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.trace.false_decisions, 0);
    run
}

fn engine() -> Runner {
    let target = target("reference");
    let launch = Box::new(move || Ok(Box::new(ReferenceServer::start(&target)?) as Box<dyn execute::Server>));
    let wish = execute::Placement { pin: false, realtime: false, cpu: None };
    Runner::new(launch, Options::default(), wish).unwrap()
}

fn start(text: &str, options: Options) -> Option<Runner> {
    if text == "reference" { Some(engine()) } else { runner(text, Settle::Proc, options) }
}

fn corpus(name: &str) -> Case {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let text = fs::read_to_string(root.join(name)).unwrap();
    model::casefile::parse(&text).unwrap_or_else(|_| panic!("{name}")).into_case()
}

/// In short: `holds`, `undecided REASON`, or kind, rule and step from 1.
fn said(runner: &mut Runner, name: &str, level: Level) -> String {
    said_of(runner, &corpus(name), level)
}

fn said_of(runner: &mut Runner, case: &Case, level: Level) -> String {
    let seen = seen(runner, case, level);
    match judged(runner, &Decoupled::default(), &seen) {
        Verdict::Holds { .. } => "holds".to_string(),
        Verdict::Undecided { reason } => format!("undecided {reason}"),
        Verdict::Violated(violation) => {
            let print = violation.fingerprint;
            let step = violation.step.map_or(String::new(), |step| format!(" at step {}", step + 1));
            format!("{} {}{step}", print.symptom, print.cause)
        }
    }
}

#[test]
fn the_known_families_are_told_at_the_step_that_shows_them() {
    use Level::{ReadCommitted as RC, ReadUncommitted as RU, RepeatableRead as RR};
    // MySQL looks at the old value of every row only where the binary log wants it, and it is on by default.
    for text in ["mariadb@10.11", "mysql@9.7"] {
        let Some(mut runner) = start(text, Options::default()) else { continue };
        for (name, level, expected) in [
            ("seeds/mdev-26642.iso", RR, "wrong-rows noop-without-version at step 8".to_string()),
            ("seeds/mdev-26642.iso", RC, "holds".into()),
            ("seeds/mdev-32898.iso", RR, "wrong-rows key-change-keeps-old-row at step 7".to_string()),
            ("seeds/mdev-32898.iso", RC, "holds".into()),
            ("seeds/mysql-104833.iso", RC, "wrong-count alone-after-wait at step 4".to_string()),
            ("seeds/mysql-104833.iso", RU, "wrong-count alone-after-wait at step 4".to_string()),
            ("seeds/mysql-104833.iso", RR, "holds".into()),
            ("seeds/mdev-27992.iso", RC, "wrong-count alone-after-wait at step 4".to_string()),
            ("seeds/mdev-27992.iso", RR, "holds".into()),
        ] {
            assert_eq!(said(&mut runner, name, level), expected, "{text} {name} {level}");
        }
    }
}

/// The row stands under its own key, which its unchanged version does not hide.
#[test]
fn a_row_with_a_key_that_was_set_to_what_it_is_is_told_by_name() {
    let Some(mut runner) = start("mariadb@10.11", Options::default()) else { return };
    let mut case = corpus("seeds/mdev-26642.iso");
    case.setup.statements[0] = "CREATE TABLE t(c1 INT, c2 INT PRIMARY KEY)".to_string();
    let expected = "wrong-rows noop-without-version at step 8".to_string();
    assert_eq!(said_of(&mut runner, &case, Level::RepeatableRead), expected);
}

/// T1 has not written the row whose error it ignores, and goes on to see its snapshot.
#[test]
fn of_rows_that_an_error_was_ignored_for_nothing_is_said() {
    let Some(mut runner) = start("mariadb@10.11", Options::default()) else { return };
    let setup = [
        "CREATE TABLE t (a INT, b INT PRIMARY KEY)",
        "CREATE TABLE u (c INT, FOREIGN KEY (c) REFERENCES t (b))",
        "INSERT INTO t VALUES (0, 0)",
        "INSERT INTO u VALUES (0)",
    ];
    let steps = "T1: BEGIN
                 T1: SELECT * FROM t
                 T2: UPDATE t SET a = 1
                 T1: UPDATE IGNORE t SET b = 1
                 T1: SELECT * FROM t";
    let said = said_of(&mut runner, &common::case(&setup, steps), Level::RepeatableRead);
    assert_eq!(said, "undecided ignored-rows");
}

/// T1's ROLLBACK wakes T5 and T6, in that order or the other: by the one T5 should not see its own change, by the other
/// only T6's last statement is wrong, which has waited and may have met a row before that.
#[test]
fn of_several_orders_the_one_counts_that_explains_most() {
    let Some(mut runner) = start("mariadb@10.11", Options::default()) else { return };
    let setup = ["CREATE TABLE t (a INT PRIMARY KEY, d INT)", "INSERT INTO t VALUES (2, 1)"];
    let steps = "T1: BEGIN
                 T1: UPDATE t SET a = 0
                 T6: UPDATE t SET d = 1
                 T6: UPDATE IGNORE t SET a = NULL
                 T5: BEGIN
                 T5: UPDATE t SET d = 0
                 T5: SELECT * FROM t
                 T1: ROLLBACK
                 T1: INSERT INTO t VALUES (1, NULL)";
    let said = said_of(&mut runner, &common::case(&setup, steps), Level::ReadCommitted);
    assert!(said.contains("alone-after-wait"), "{said}");
}

#[test]
fn what_a_level_allows_is_not_held_against_it() {
    for text in ["mariadb@10.11", "mysql@9.7", "mysql@5.6", "reference"] {
        let Some(mut runner) = start(text, Options::default()) else { continue };
        for name in [
            "phenomena/dirty-read.iso",
            "phenomena/non-repeatable-read.iso",
            "phenomena/read-skew.iso",
            "phenomena/phantom-insert.iso",
            "phenomena/lost-update.iso",
            "phenomena/write-skew.iso",
            "phenomena/locking-read-beside-snapshot.iso",
            "phenomena/savepoint-rollback.iso",
            "phenomena/unique-key-race.iso",
            "phenomena/semi-consistent-update.iso",
            "phenomena/snapshot-at-first-read.iso",
            "phenomena/snapshot-at-begin.iso",
            "phenomena/autocommit-off.iso",
        ] {
            for level in Level::ALL {
                assert_eq!(said(&mut runner, name, level), "holds", "{text} {name} {level}");
            }
        }
    }
}

/// The same trace, held against another level.
#[test]
fn a_weaker_level_is_told_from_a_stronger_one() {
    let Some(mut runner) = start("mariadb@10.11", Options::default()) else { return };
    for (name, ran, claimed) in [
        ("phenomena/dirty-read.iso", Level::ReadUncommitted, Level::ReadCommitted),
        ("phenomena/non-repeatable-read.iso", Level::ReadCommitted, Level::RepeatableRead),
        ("phenomena/phantom-insert.iso", Level::ReadCommitted, Level::RepeatableRead),
    ] {
        let mut seen = seen(&mut runner, &corpus(name), ran);
        seen.trace.level = claimed;
        let verdict = judged(&mut runner, &Decoupled::default(), &seen);
        let symptom = match &verdict {
            Verdict::Violated(violation) => Some(violation.fingerprint.symptom),
            Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
        };
        assert_eq!(symptom, Some(Symptom::WrongRows), "{name}: {verdict:#?}");
    }
}

/// What a server says is changed in every place, one by one: a row less, another count, another final state.
#[test]
fn every_answer_that_is_changed_is_told() {
    let steps = "T1: BEGIN
                 T2: BEGIN
                 T1: SELECT a, b FROM t
                 T2: UPDATE t SET b = b + 1 WHERE a < 3
                 T2: INSERT INTO t (a, b) VALUES (4, 40)
                 T1: SELECT SUM(b) FROM t
                 T2: SELECT a, b FROM t ORDER BY a LIMIT 2
                 T2: COMMIT
                 T1: DELETE FROM t WHERE a = 3
                 T1: SELECT a, b FROM t
                 T1: COMMIT";
    let setup =
        ["CREATE TABLE t(a INT PRIMARY KEY, b INT)", "INSERT INTO t (a, b) VALUES (1, 10), (2, 20), (3, 30)"];
    for text in ["mariadb@10.11", "mysql@9.7", "mysql@5.6", "reference"] {
        let Some(mut runner) = start(text, Options::default()) else { continue };
        let seen = seen(&mut runner, &common::case(&setup, steps), Level::RepeatableRead);
        assert_eq!(judged(&mut runner, &Decoupled::default(), &seen), Verdict::holds(), "{text}");
        let mut changed = 0;
        for step in 0..=seen.case.steps.len() {
            let mut other = seen.clone();
            let rows = match other.trace.outcomes.get_mut(step).map(|outcome| &mut outcome.reply) {
                Some(Reply::Rows(rows)) => rows,
                Some(Reply::Done { affected, .. }) if *affected > 0 => {
                    *affected += 1;
                    changed += 1;
                    assert_eq!(wrong_at(&mut runner, &other), Some(Some(step)), "{text} {step}");
                    continue;
                }
                Some(_) => continue,
                None => &mut other.trace.final_state.as_mut().unwrap()[0].1,
            };
            *rows = without_the_first(rows);
            changed += 1;
            let expected = (step < seen.case.steps.len()).then_some(step);
            assert_eq!(wrong_at(&mut runner, &other), Some(expected), "{text} {step}");
        }
        assert_eq!(changed, 8, "{text}");
    }
}

/// The step at which the oracle finds something wrong, none for the final state; none if it finds nothing.
fn wrong_at(runner: &mut Runner, seen: &Execution) -> Option<Option<usize>> {
    match judged(runner, &Decoupled::default(), seen) {
        Verdict::Violated(violation) => Some(violation.step),
        Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
    }
}

fn without_the_first(rows: &RowSet) -> RowSet {
    let mut fewer = RowSet::new(rows.columns().to_vec());
    for row in 1..rows.len() {
        (0..rows.columns().len()).for_each(|column| fewer.push(rows.cell(row, column)));
    }
    fewer
}

/// Where both are asked: they disagree, or it is not known.
fn of_interest(print: &Fingerprint) -> bool {
    print.symptom == Symptom::Logic || oracles::mvcc::known(print).is_none()
}

#[test]
fn generated_cases_are_counted() {
    let Ok(text) = env::var("ISOPOD_DECOUPLED") else { return };
    let words: Vec<&str> = text.split_whitespace().collect();
    let [server, level, cases] = words[..] else { panic!("TARGET LEVEL CASES") };
    let level: Level = level.parse().unwrap_or_else(|_| panic!("{level}"));
    let Some(mut runner) = start(server, Options { reset: Reset::Fast, ..Options::default() }) else {
        return;
    };
    let info = runner.info().unwrap();
    let (oracle, model) = (Decoupled::default(), oracles::mvcc::Mvcc::default());
    let both = env::var_os("ISOPOD_DECOUPLED_BOTH").is_some();
    let seed = env::var("ISOPOD_DECOUPLED_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(7);
    let mut generator = Generator::new(Seed(seed), info.product, &info.version, &[level]);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut run, mut judging) = (std::time::Duration::ZERO, std::time::Duration::ZERO);
    for number in 0..cases.parse::<u64>().unwrap() {
        let made = generator.case(number);
        let begun = std::time::Instant::now();
        let seen = seen(&mut runner, &made.case, level);
        run += begun.elapsed();
        let begun = std::time::Instant::now();
        let verdict = judged(&mut runner, &oracle, &seen);
        judging += begun.elapsed();
        // Beside it the model, and what both together come to.
        let first = model.verdict(&seen);
        let verdict = match both {
            true => oracles::vote::decide(&first, Some(&verdict), &seen.trace),
            false => verdict,
        };
        let word = match &verdict {
            Verdict::Violated(violation) if both && !of_interest(&violation.fingerprint) => {
                let agrees = matches!(violation.evidence.second_opinion, Some(SecondOpinion::Agrees { .. }));
                format!("violated {} (agrees: {agrees})", violation.fingerprint)
            }
            Verdict::Holds { .. } => "holds".to_string(),
            Verdict::Undecided { reason } => format!("undecided {reason}"),
            Verdict::Violated(violation) => {
                println!("--- case {number}: {:#?}", violation.evidence);
                seen.case.setup.statements.iter().for_each(|text| println!("  {text};"));
                for (step, outcome) in seen.case.steps.iter().zip(&seen.trace.outcomes) {
                    println!("  T{}: {} => {outcome}", step.session + 1, step.sql);
                }
                println!("  {:?}", common::story(&seen.trace));
                let print = &violation.fingerprint;
                format!("VIOLATED {print}")
            }
        };
        *counts.entry(word).or_default() += 1;
    }
    println!("{text}: {counts:#?} run {run:?} judging {judging:?}");
}
