//! The oracles on real servers: silent over random cases that are fine, and loud where something is wrong.
//!
//! How many cases each server gets is set with `ISOPOD_ORACLE_CASES`, and which servers with `ISOPOD_ORACLE_TARGETS`.

mod common;

use std::{collections::BTreeMap, env};

use common::{runner, target};
use dbms::launch::Settle;
use execute::{Looks, Options, Reset};
use model::{Level, Seed, Verdict};
use oracles::{Answer, Oracle};

/// Runs so many cases of the workload at every level; gives what was said, counted.
fn judge_many(text: &str, cases: u64) -> Option<BTreeMap<String, u64>> {
    let options =
        Options { reset: Reset::Fast, looks: Looks { integrity: 50, through: 10 }, ..Options::default() };
    let mut runner = runner(text, Settle::Proc, options)?;
    let product = target(text).product;
    let judges: Vec<Box<dyn Oracle>> = oracles::all();
    let mut said: BTreeMap<String, u64> = BTreeMap::new();
    let levels = dialect::of(product).levels;
    let (mut checked, mut through) = (0, 0);
    for number in 0..cases {
        let case = generate::workload::case(Seed(11), number, product);
        let level: Level = levels[number as usize % levels.len()];
        let run = runner.run(&case, level).unwrap_or_else(|error| panic!("{text}: {error}"));
        checked += u64::from(run.aftermath.damage.is_empty());
        through += run.aftermath.through.len();
        let seen = Answer { case, trace: run.trace, aftermath: run.aftermath };
        for judge in &judges {
            let verdict = oracles::judge(judge.as_ref(), &seen);
            let word = match &verdict {
                Verdict::Holds { by } if by.is_empty() => "holds".to_string(),
                Verdict::Holds { by } => format!("by {}", by.join("; ")),
                Verdict::Undecided { reason } => format!("undecided {reason}"),
                Verdict::Violated(violation) => {
                    println!("{text} {level} case {number}: {violation:#?}\n{:#?}", seen.case.steps);
                    format!("VIOLATED {:?}", violation.fingerprint)
                }
            };
            *said.entry(format!("{}: {word}", judge.name())).or_default() += 1;
        }
    }
    println!("{text}: {said:#?}; {checked} undamaged; {through} reads through an index");
    assert!(through > 0 || cases < 10, "{text}: no table was read through an index");
    Some(said)
}

#[test]
fn nothing_is_said_where_nothing_is_wrong() {
    let cases = env::var("ISOPOD_ORACLE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let targets =
        env::var("ISOPOD_ORACLE_TARGETS").unwrap_or("sqlite mariadb@10.11 mysql@9.7 postgres@18".into());
    for text in targets.split_whitespace() {
        let Some(said) = judge_many(text, cases) else { continue };
        let bad: Vec<&String> = said.keys().filter(|word| word.contains("VIOLATED")).collect();
        assert!(bad.is_empty(), "{text}: {said:#?}");
        let undecided: u64 = said.iter().filter(|(word, _)| word.contains("undecided")).map(|(_, n)| n).sum();
        assert!(undecided * 20 <= cases, "{text}: {said:#?}");
    }
}
