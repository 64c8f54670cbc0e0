//! Whatever Isopod reads that others wrote, changed at random: nothing may panic, take long, or read back something else than it wrote.
//!
//! What is tested of each kind of text is a function of bytes ([`inputs`]), so that it can be driven by a fuzzer that is guided by
//! coverage (`fuzz/`), too. Here an input follows from the seed, the name of the target and its number alone.

mod changes;
pub mod inputs;
mod recorded;
mod seeds;

use std::{
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe},
    time::{Duration, Instant},
};

use model::Seed;
use serde::Serialize;

use crate::Lab;

pub use changes::Change;

/// An input takes microseconds; one that takes so long is told of.
const SLOW: Duration = Duration::from_secs(1);

/// At most so many failing inputs of a target are kept.
const KEPT: usize = 10;

/// One kind of input.
pub struct FuzzTarget {
    pub name: &'static str,
    /// Reads it, and panics if something is wrong with what came of that.
    pub check: fn(&[u8]),
    /// How inputs are made of the seeds.
    pub change: Change,
    seeds: fn(&seeds::Material) -> Vec<Vec<u8>>,
}

pub static TARGETS: [FuzzTarget; 11] = [
    FuzzTarget { name: "case", check: inputs::case_file, change: Change::Bytes, seeds: seeds::case_files },
    FuzzTarget { name: "sql", check: inputs::sql, change: Change::Bytes, seeds: seeds::statements },
    FuzzTarget { name: "json", check: inputs::json, change: Change::Json, seeds: seeds::json },
    FuzzTarget { name: "target", check: inputs::target, change: Change::Bytes, seeds: seeds::targets },
    FuzzTarget {
        name: "options",
        check: inputs::option_files,
        change: Change::Bytes,
        seeds: seeds::option_files,
    },
    FuzzTarget {
        name: "status",
        check: inputs::lock_status,
        change: Change::Bytes,
        seeds: seeds::lock_status,
    },
    FuzzTarget {
        name: "mysql",
        check: inputs::mysql_packets,
        change: Change::Bytes,
        seeds: seeds::mysql_packets,
    },
    FuzzTarget {
        name: "postgres",
        check: inputs::postgres_messages,
        change: Change::Bytes,
        seeds: seeds::postgres_messages,
    },
    FuzzTarget { name: "proc", check: inputs::proc_files, change: Change::Bytes, seeds: seeds::proc_files },
    FuzzTarget {
        name: "sqlite",
        check: inputs::sqlite_frames,
        change: Change::Bytes,
        seeds: seeds::sqlite_frames,
    },
    FuzzTarget { name: "run", check: inputs::whole_run, change: Change::Json, seeds: seeds::runs },
];

pub struct Plan<'a> {
    /// So many of each target.
    pub inputs: u64,
    pub seed: Seed,
    /// The targets; all if none is named.
    pub only: &'a [String],
}

/// What came of one target.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    pub seeds: usize,
    pub inputs: u64,
    pub per_second: u64,
    /// The number of each input that panicked, the first of them, with what was said.
    pub failed: BTreeMap<u64, String>,
    pub failures: u64,
    /// The numbers of inputs that took longer than a second.
    pub slow: Vec<u64>,
}

/// Runs the targets, one after the other.
pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>) -> crate::Result<BTreeMap<&'static str, Figures>> {
    let material = seeds::Material::new()?;
    let mut all = BTreeMap::new();
    for target in TARGETS.iter().filter(|target| is_chosen(plan, target)) {
        let seeds = (target.seeds)(&material);
        let mut figures = Figures { seeds: seeds.len(), ..Figures::default() };
        let mut job = lab.job(format!("fuzz {}", target.name), plan.inputs);
        let begun = Instant::now();
        for number in 0..plan.inputs {
            if lab.stopped() {
                break;
            }
            let input = input(target, &seeds, plan.seed, number);
            let one = Instant::now();
            figures.inputs += 1;
            if let Err(said) = held(target, &input) {
                figures.failures += 1;
                if figures.failed.len() < KEPT {
                    figures.failed.insert(number, said);
                }
            }
            if one.elapsed() > SLOW {
                figures.slow.push(number);
            }
            if number % 1024 == 0 {
                job.reached(number);
            }
        }
        let micros = begun.elapsed().as_micros().max(1) as u64;
        figures.per_second = figures.inputs.saturating_mul(1_000_000) / micros;
        all.insert(target.name, figures);
    }
    Ok(all)
}

fn is_chosen(plan: &Plan<'_>, target: &FuzzTarget) -> bool {
    plan.only.is_empty() || plan.only.iter().any(|name| name == target.name)
}

/// The input of this number, to be looked at.
pub fn input_of(name: &str, seed: Seed, number: u64) -> crate::Result<Vec<u8>> {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.ok_or_else(|| format!("there is no target {name}"))?;
    Ok(input(target, &(target.seeds)(&seeds::Material::new()?), seed, number))
}

/// The seeds of a target, for a fuzzer that makes its own inputs of them.
pub fn seeds_of(name: &str) -> crate::Result<Vec<Vec<u8>>> {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.ok_or_else(|| format!("there is no target {name}"))?;
    Ok((target.seeds)(&seeds::Material::new()?))
}

fn input(target: &FuzzTarget, seeds: &[Vec<u8>], seed: Seed, number: u64) -> Vec<u8> {
    target.change.of(&mut seed.rng(target.name, number), seeds)
}

/// What a panic says, if there is one.
fn held(target: &FuzzTarget, input: &[u8]) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(|| (target.check)(input))).map_err(|said| {
        let text = said.downcast_ref::<String>().map(String::as_str);
        text.or(said.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_string()
    })
}

#[cfg(test)]
mod tests {
    use dbms::postgres::reply::Event;

    use super::{inputs::Pieces, *};

    /// Few of each, always the same ones. `isopod selftest fuzz` runs as many as there is time for.
    #[test]
    fn inputs_of_others_break_nothing() {
        let material = seeds::Material::new().unwrap();
        for target in &TARGETS {
            let seeds = (target.seeds)(&material);
            assert!(!seeds.is_empty(), "{}", target.name);
            for (number, seed) in seeds.iter().enumerate() {
                let failed = held(target, seed).err();
                assert_eq!(failed, None, "seed {number} of {}", target.name);
            }
            let inputs = if target.change == Change::Json { 100 } else { 1000 };
            for number in 0..inputs {
                let input = input(target, &seeds, Seed(1), number);
                let failed = held(target, &input).err();
                let text = String::from_utf8_lossy(&input);
                assert_eq!(failed, None, "input {number} of {}:\n{text}", target.name);
            }
        }
    }

    /// A seed that nothing takes would test nothing but its refusal.
    #[test]
    fn what_was_recorded_is_taken() {
        use provision::{InstanceRecord, Manifest};
        let [manifest, record, links, learned, triage] = recorded::FILES;
        assert!(serde_json::from_str::<Manifest>(manifest).is_ok());
        assert!(serde_json::from_str::<InstanceRecord>(record).is_ok());
        assert_eq!(provision::linked(links, "package/native").unwrap().len(), 1, "and no more");
        assert!(serde_json::from_str::<reduce::Learned>(learned).is_ok());
        assert!(serde_json::from_str::<campaign::Triage>(triage).is_ok());
        let kept = seeds::kept_trace(&seeds::Material::new().unwrap().runs[0].0).unwrap();
        let path = std::path::Path::new("kept");
        let read = campaign::record::traces::TraceReader::of(path, std::io::Cursor::new(kept));
        assert_eq!(read.map(|run| run.unwrap().0).collect::<Vec<_>>(), [7]);
        for (number, answer) in recorded::ANSWERS.iter().enumerate() {
            let (events, ended) = inputs::answers(Pieces::whole(answer), 1 << 16);
            assert!(matches!(events.last(), Some(Event::Reply(_) | Event::LastWords(_))), "answer {number}");
            assert_eq!(ended, Ok(()), "answer {number}");
        }
        assert_eq!(inputs::login(Pieces::whole(recorded::LOGIN)), Ok(Some(9928)));
        assert_eq!(
            inputs::login(Pieces::whole(recorded::BEFORE_LOGIN[1])),
            Err(dbms::net::Refusal::NeedsTls)
        );
    }

    #[test]
    fn an_input_follows_from_its_number() {
        let seeds = [b"BEGIN".to_vec(), b"{\"a\": [1, \"x\"]}".to_vec()];
        for target in &TARGETS {
            let of = |number: u64| input(target, &seeds, Seed(1), number);
            assert_eq!(of(7), of(7));
            let others = (0..20).map(of).collect::<std::collections::BTreeSet<_>>();
            assert!(others.len() > 10, "{}", target.name);
        }
    }
}
