//! `isopod bench reduce`: how small findings get, how many candidates that takes with each strategy, and whether they stay the
//! same bug.
//!
//! The cases are those of run folders, as they were before they were made smaller. Every strategy reduces all of them, one after
//! the other, and what it learns it keeps from one to the next. In the end originals and reduced cases are run once more on a new
//! server and judged afresh: the concession that explains one must explain the other. For comparison the same is done without
//! the fingerprint, where any complaint will do.

mod figures;
mod listings;
mod one;
mod table;

use std::{collections::BTreeMap, path::PathBuf};

use campaign::{Filed, folder::read_json};
use model::{Case, Seed, Target};
use reduce::{Learned, strategy::Kind};

use self::{
    figures::{Figures, Strategies},
    one::{Bench, Made},
};
use crate::{
    arguments::{How, count},
    errors::Advised,
    interrupt, loading,
    output::say,
    progress::Progress,
};

/// Options.
#[derive(clap::Args)]
pub struct Args {
    /// Run folders of `isopod hunt`, best with --no-reduce and --keep 50
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// How many findings at most, dealt over the known families in turn
    #[arg(long, value_parser = count)]
    findings: Option<u64>,
    /// Only the default strategy, and no drift without the fingerprint
    #[arg(long)]
    quick: bool,
    /// So many smaller cases are tried at most for each
    #[arg(long, value_name = "CASES", default_value_t = reduce::Budget::default().candidates, value_parser = count)]
    candidates: u64,
    /// Where the chance of the strategies begins
    #[arg(long, default_value = "0000-0000-0001")]
    seed: Seed,
    /// Write the reduced cases of the default strategy into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    /// The figures, as JSON
    #[arg(long)]
    json: bool,
}

/// A finding that is to be made smaller.
pub struct Finding {
    pub filed: Filed,
    pub target: Target,
    pub case: Case,
}

impl Finding {
    /// The known family, or the rule that is broken.
    pub fn family(&self) -> String {
        let print = &self.filed.violation.fingerprint;
        oracles::mvcc::known(print).unwrap_or_else(|| format!("{} {}", print.kind, print.statement))
    }
}

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let findings = load(args)?;
    let kinds: &[Kind] = if args.quick { &[Kind::InOrder] } else { &Kind::ALL };
    let mut strategies: Vec<_> = kinds.iter().map(|kind| kind.begin(args.seed, Learned::default())).collect();
    let rounds = findings.len() as u64 * (kinds.len() as u64 + u64::from(!args.quick));
    let mut progress = Progress::new("reducing", rounds);
    let mut bench = Bench::new(&args.how, args.candidates);
    let mut figures = Figures::default();
    let mut made = Vec::new();
    for finding in &findings {
        let mut row = Strategies::new();
        for strategy in &mut strategies {
            if interrupt::asked() {
                return Ok(2);
            }
            row.push((strategy.name(), bench.reduce(finding, strategy.as_mut())?));
            progress.step();
        }
        let loose = if args.quick { None } else { Some(bench.without_fingerprint(finding)?) };
        if loose.is_some() {
            progress.step();
        }
        figures.add(finding, &row);
        let first = row.into_iter().next().and_then(|(_, made)| made);
        made.push((first, loose.flatten()));
    }
    progress.end();
    drift(args, &findings, &made, &mut figures)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)?;
        for (finding, (made, _)) in findings.iter().zip(&made) {
            let Some(made) = made else { continue };
            let name = folder.join(format!("{}.iso", finding.filed.id));
            std::fs::write(name, model::casefile::print(&made.case)?)?;
        }
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        table::show(&figures);
    }
    Ok(0)
}

/// Judges originals and reduced cases afresh.
fn drift(
    args: &Args,
    findings: &[Finding],
    made: &[(Option<Made>, Option<Made>)],
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let mut bench = Bench::new(&args.how, args.candidates);
    for (finding, (kept, loose)) in findings.iter().zip(made) {
        let before = bench.explained(finding, &finding.case)?;
        if let Some(kept) = kept {
            figures.drift.count(&finding.filed.id, &before, &bench.explained(finding, &kept.case)?);
        }
        if let Some(loose) = loose {
            let after = bench.explained(finding, &loose.case)?;
            figures.drift_without_fingerprint.count(&finding.filed.id, &before, &after);
        }
    }
    Ok(())
}

/// The findings of all runs, families in turn, and within a family the runs.
fn load(args: &Args) -> anyhow::Result<Vec<Finding>> {
    let mut by_family: BTreeMap<String, BTreeMap<usize, Vec<Finding>>> = BTreeMap::new();
    for (number, run) in args.runs.iter().enumerate() {
        let folder = run.join("findings");
        let mut names: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map_err(|error| Advised {
                message: format!("{}: {error}", folder.display()),
                advice: vec!["a run folder is what isopod hunt --out leaves behind".into()],
            })?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        names.sort();
        for name in names {
            let filed: Filed = read_json(&name.join("verdict.json"))?;
            let path =
                [name.join("original.iso"), name.join("case.iso")].into_iter().find(|path| path.exists());
            // What no case file can say cannot be read back.
            let Some(path) = path else { continue };
            let case = loading::load(&path)?;
            let mut target = filed.target.clone();
            target.settings.extend(filed.drawn.clone());
            let finding = Finding { filed, target, case };
            by_family.entry(finding.family()).or_default().entry(number).or_default().push(finding);
        }
    }
    let most = args.findings.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let runs_in_turn = |runs: BTreeMap<usize, Vec<Finding>>| in_turn(runs.into_values().collect());
    let mut found = in_turn(by_family.into_values().map(runs_in_turn).collect());
    found.truncate(most);
    if found.is_empty() {
        return Err(Advised {
            message: "there is no finding in these folders".into(),
            advice: vec!["isopod hunt TARGET --no-reduce --keep 50 --out DIR".into()],
        }
        .into());
    }
    Ok(found)
}

/// The first of each list, then the second of each, and so on.
fn in_turn<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut found = Vec::new();
    loop {
        let before = found.len();
        lists.iter_mut().for_each(|list| found.extend(list.next()));
        if found.len() == before {
            return found;
        }
    }
}
