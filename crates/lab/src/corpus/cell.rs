//! One case on one target at one level, run as often as asked: the unit that `corpus test` counts.

use std::collections::{BTreeMap, BTreeSet};

use model::{Case, Level, Product, Target, Trace, Version};
use oracles::expectations::{self, CheckReport};
use serde::Serialize;

use crate::Stop;

/// What one target came to.
pub struct Tested {
    /// The target, with the settings that it was tested under.
    pub target: Target,
    /// What answered: of a server that somebody else started this is known only then.
    pub product: Product,
    pub version: Version,
    pub levels: Vec<Level>,
    /// Case by case, level by level.
    pub cells: Vec<Cell>,
}

impl Tested {
    /// `mysql 9.7.4 · log_bin=ON`
    pub fn name(&self) -> String {
        let settings: String =
            self.target.settings.iter().map(|(name, value)| format!(" · {name}={value}")).collect();
        format!("{} {}{settings}", self.product, self.version)
    }
}

/// One case on one target at one level.
#[derive(Serialize)]
pub struct Cell {
    /// `phenomena/write-skew`
    pub case: &'static str,
    target: String,
    server: String,
    pub level: Level,
    /// How often each status came.
    statuses: BTreeMap<String, u64>,
    pub runs: u64,
    /// Runs whose trace was that of the first.
    pub alike: u64,
    /// Not as the file says, or not always the same?
    pub surprise: bool,
    /// The names under which it is known to fail here, if it did.
    pub known: Vec<String>,
    /// Errors by which the server resolved or refused a conflict.
    pub conflicts: BTreeSet<String>,
    unspecified_steps: Vec<usize>,
}

impl Cell {
    /// It failed, as is known.
    pub fn known(&self) -> bool {
        !self.surprise && !self.known.is_empty()
    }

    /// Its file expects nothing here.
    pub fn unjudged(&self) -> bool {
        !self.surprise && self.statuses.contains_key("nothing-expected")
    }

    /// It came out as it should. What nobody expects anything of did not.
    pub fn fine(&self) -> bool {
        !self.surprise && self.known.is_empty() && !self.unjudged()
    }
}

/// A cell and the run that is worth showing: the first surprise, or else the first run.
pub struct CellEvidence {
    pub cell: Cell,
    pub trace: Trace,
    pub report: CheckReport,
}

/// Which case, where and how often.
pub struct Place<'a> {
    pub name: &'static str,
    pub case: &'a Case,
    pub target: &'a Target,
    pub level: Level,
    pub repeat: u64,
}

/// Counts the runs of a case, which come in a row so that its tables are made once; none if there was not even one. `run` runs it once.
pub fn count<E>(
    place: &Place<'_>,
    stop: &Stop,
    mut run: impl FnMut() -> Result<Trace, E>,
) -> Result<Option<CellEvidence>, E> {
    let &Place { name, case, target, level, repeat } = place;
    let mut first: Option<(Trace, CheckReport)> = None;
    let mut odd: Option<(Trace, CheckReport)> = None;
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    let (mut alike, mut runs) = (0, 0);
    for _ in 0..repeat {
        if stop() && first.is_some() {
            break;
        }
        let trace = run()?;
        let report = expectations::check(case, &trace);
        *statuses.entry(report.name().to_string()).or_default() += 1;
        let first = first.get_or_insert_with(|| (trace.clone(), report.clone()));
        alike += u64::from(trace.same(&first.0));
        runs += 1;
        if report.surprise() && odd.is_none() {
            odd = Some((trace, report));
        }
    }
    let surprise = odd.is_some() || alike < runs;
    let Some((trace, report)) = odd.or(first) else { return Ok(None) };
    let cell = Cell {
        case: name,
        target: target.to_string(),
        server: format!("{} {}", trace.server.product, trace.server.version),
        level,
        surprise,
        known: report.known_as(case),
        conflicts: conflicts(&trace),
        unspecified_steps: report.unspecified(),
        statuses,
        runs,
        alike,
    };
    Ok(Some(CellEvidence { cell, trace, report }))
}

fn conflicts(trace: &Trace) -> BTreeSet<String> {
    let errors = trace.outcomes.iter().filter_map(|outcome| outcome.error());
    errors.filter(|error| error.class.by_concurrency()).map(|error| error.class.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(status: &str) -> Cell {
        Cell {
            case: "seeds/x",
            target: "sqlite".into(),
            server: "sqlite 3".into(),
            level: Level::Serializable,
            statuses: [(status.to_string(), 1)].into(),
            runs: 1,
            alike: 1,
            surprise: false,
            known: Vec::new(),
            conflicts: BTreeSet::new(),
            unspecified_steps: Vec::new(),
        }
    }

    #[test]
    fn every_cell_is_counted_once() {
        let known = Cell { known: vec!["MDEV-1".into()], ..cell("known-failure") };
        let surprise = Cell { surprise: true, ..cell("unexpected-failure") };
        for (cell, counted) in [
            (cell("pass"), [true, false, false, false]),
            (cell("nothing-expected"), [false, true, false, false]),
            (known, [false, false, true, false]),
            (surprise, [false, false, false, true]),
        ] {
            assert_eq!([cell.fine(), cell.unjudged(), cell.known(), cell.surprise], counted);
        }
    }
}
