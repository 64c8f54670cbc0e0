//! What `isopod hunt` can be told.

use std::path::PathBuf;

use clap::ValueEnum;
use model::{JudgeOverrides, Seed};

use crate::{
    arguments::{How, Levels, count, levels},
    choice::Choice,
    commands::{lab::ProfileName, reduce::strategies},
    oracle_args,
};

#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  isopod hunt                                            embedded SQLite, 20 seconds
  isopod hunt mysql@9.7 mariadb@10.11 --for 10m          two servers, one worker each or more
  isopod hunt postgres@18 --level RR --cases 50000 --seed 8F2C-91D0-55AE
  isopod hunt --resume isopod-runs/2026-11-16T14-31      go on after Ctrl-C, a crash or a kill
  isopod hunt mysql@9.7 --known triaged/ --fail-on new   in CI: only what is new fails

Whatever a fast run makes suspicious is run again from clean resets before it is called a finding.
Findings with the same signature are one line of the summary. Known is what a bug report explains, and
what has the same signature as an entry of --known or of the corpus and behaves the same when both are
run; in doubt it is new. Entries of --known that do not come back any more are listed as stale.
Exit codes: 0 nothing found, 1 findings, 2 the job could not be done.

{}", oracle_args::lines()))]
pub struct Args {
    /// Servers: sqlite, mariadb@10.11, 'mysql@9.7?log_bin=OFF', mysql://user@host:port; or all that are installed
    #[arg(value_name = "TARGET")]
    pub targets: Vec<Choice>,
    /// Isolation levels (RU, RC, RR, SER; several with commas); by default all that the product has
    #[arg(long, value_delimiter = ',', value_parser = levels)]
    pub level: Vec<Levels>,
    /// How long: 90s, 10m, 8h; across resumes
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    pub time: Option<u64>,
    /// How many cases for each target
    #[arg(long, value_parser = count, conflicts_with = "time")]
    pub cases: Option<u64>,
    /// Where all randomness begins; by default a new one
    #[arg(long)]
    pub seed: Option<Seed>,
    /// How many workers in total; by default one for each CPU
    #[arg(long, value_parser = count)]
    pub workers: Option<u64>,
    /// The folder of the run; by default isopod-runs/ and the time
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Go on with the run in this folder; no case is run twice. One of somebody else that names programs or addresses wants --trust
    #[arg(long, value_name = "DIR", conflicts_with_all = ["targets", "level", "seed", "oracle", "keep", "confirm", "basedir", "settings_swarm", "no_reduce", "strategy", "learned", "keep_traces", "judge_as"])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub profile: ProfileName,
    #[arg(long, value_delimiter = ',', value_name = "NAME", help = oracle_args::help_hunting())]
    pub oracle: Vec<String>,
    /// A folder of what is known already: findings of earlier runs, or case files
    #[arg(long, value_name = "DIR")]
    pub known: Option<PathBuf>,
    /// What makes the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Any)]
    pub fail_on: FailOn,
    /// A suspicion is a finding if so many clean runs in a row show it
    #[arg(long, value_name = "RUNS", default_value_t = 3, value_parser = count)]
    pub confirm: u64,
    /// So many cases of each kind of finding are confirmed and kept; the rest is counted
    #[arg(long, value_name = "CASES", default_value_t = 5, value_parser = count)]
    pub keep: u64,
    /// Renew a server after so many cases
    #[arg(long, value_name = "CASES", default_value_t = 50_000, value_parser = count)]
    pub renew_cases: u64,
    /// Renew a server when its data and memory have grown by so many megabytes
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = count)]
    pub renew_mb: u64,
    /// Draw settings for every start of a server (binary log, sql_mode, optimizer_switch, enable_*); noted with each finding
    #[arg(long)]
    pub settings_swarm: bool,
    /// Run the one target in this folder, where its server was unpacked or built
    #[arg(long, value_name = "DIR")]
    pub basedir: Option<PathBuf>,
    /// Keep the cases of findings as they are, and do not make them smaller
    #[arg(long)]
    pub no_reduce: bool,
    /// Which of the smaller cases is tried next
    #[arg(long, value_parser = strategies(), default_value = "in-order", conflicts_with = "no_reduce")]
    pub strategy: reduce::strategy::Kind,
    /// Begin every reduction with what was learned before; what this hunt learns goes to learned.json in its folder
    #[arg(long, value_name = "FILE", conflicts_with = "no_reduce")]
    pub learned: Option<PathBuf>,
    /// Keep every case's trace in the run folder, to be judged again: isopod judge --traces DIR
    #[arg(long)]
    pub keep_traces: bool,
    /// Test of the oracles: tell them another level (RR), version (10.11.19) or setting (name=value) than the true one
    #[arg(long, value_name = "WHAT")]
    pub judge_as: Vec<JudgeOverrides>,
    #[command(flatten)]
    pub how: How,
    /// The summary, as JSON
    #[arg(long)]
    pub json: bool,
}

/// What makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any finding
    Any,
    /// Only findings that are not known
    New,
}

/// Reads `90s`, `10m`, `8h`, `2d`.
pub fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || "write a number and s, m, h or d: 90s, 10m, 8h".to_string();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let each = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(each).filter(|seconds| *seconds > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("10m"), Ok(600));
        assert_eq!(seconds("8h"), Ok(28_800));
        for wrong in ["", "10", "m", "0s", "-1s", "1.5h", "10µ"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
