//! Many traces: what the oracles said of them, counted.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use campaign::record::traces::{self, TraceReader};
use lab::examples::Examples;
use model::Verdicts;
use report::findings::{share, thousands};
use serde::Serialize;

use super::Stored;
use crate::{
    errors::{Advised, of_lab},
    interrupt,
    output::{self, by_count, say},
};

#[derive(Default, Serialize)]
struct Counted {
    #[serde(flatten)]
    verdicts: Verdicts,
    /// Runs judged per second of its own time, on one CPU; reading the files does not count.
    per_second: u64,
    #[serde(skip)]
    time: Duration,
}

#[derive(Serialize)]
struct Result {
    files: usize,
    runs: u64,
    oracles: BTreeMap<&'static str, Counted>,
}

pub fn run(paths: &[PathBuf], stored: &Stored, examples: Option<Examples>, json: bool) -> anyhow::Result<u8> {
    interrupt::listen();
    let mut examples = examples;
    let mut files = Vec::new();
    for path in paths {
        files.extend(traces::files(path).map_err(|error| {
            Advised::new(error.to_string(), ["traces are kept by: isopod hunt --keep-traces"])
        })?);
    }
    let mut result = Result { files: files.len(), runs: 0, oracles: BTreeMap::new() };
    for file in &files {
        for kept in TraceReader::open(file)? {
            if interrupt::asked() {
                break;
            }
            let shown = stored.shown(kept?.1);
            result.runs += 1;
            for judge in stored.panel.judges() {
                let begun = Instant::now();
                let verdict = judge.verdict_of_stored(&shown);
                let counted = result.oracles.entry(judge.oracle.name()).or_default();
                counted.time += begun.elapsed();
                counted.verdicts.add(&verdict);
                if let Some(examples) = &mut examples {
                    examples.offer(&shown, &verdict).map_err(of_lab)?;
                }
            }
        }
    }
    for counted in result.oracles.values_mut() {
        let micros = counted.time.as_micros().max(1) as u64;
        counted.per_second = counted.verdicts.runs().saturating_mul(1_000_000) / micros;
    }
    output::show(json, &result, show)?;
    let found = result.oracles.values().any(|counted| counted.verdicts.violations() > 0);
    Ok(if interrupt::asked() { 2 } else { u8::from(found) })
}

fn show(result: &Result) {
    say!("{} runs in {} files", thousands(result.runs), result.files);
    for (name, Counted { verdicts, per_second, .. }) in &result.oracles {
        let runs = verdicts.runs();
        say!("\n{name}  {} judged per second", thousands(*per_second));
        say!(
            "  holds      {:>9}  {:>6}   {} of them by design, {} undocumented",
            thousands(verdicts.holds),
            share(verdicts.holds, runs),
            thousands(verdicts.holds_by_design),
            thousands(verdicts.undocumented)
        );
        list(&verdicts.by);
        say!(
            "  violated   {:>9}  {:>6}",
            thousands(verdicts.violations()),
            share(verdicts.violations(), runs)
        );
        list(&verdicts.violated);
        say!("  undecided  {:>9}  {:>6}", thousands(verdicts.undecided()), share(verdicts.undecided(), runs));
        list(&verdicts.undecided);
    }
}

fn list<K: Ord + std::fmt::Display>(counts: &BTreeMap<K, u64>) {
    by_count(counts).iter().for_each(|(name, count)| say!("    {:>9}  {name}", thousands(*count)));
}
