//! One case at every level of a server, judged by a panel: for `isopod where`, for comparing findings with what is known, and for
//! families of findings.

use dialect::Execution;
use execute::Reset;
use model::{Case, Level, Verdict, Violation};
use oracles::expectations::{self, CheckStatus};

use crate::{
    clean_server::{CleanRuns, CleanServer, Rejected},
    panel::Panel,
};

/// How a case is run in each place.
pub struct Matrix<'a> {
    pub panel: &'a Panel,
    pub times: u64,
    pub reset: Reset,
    /// The level at which the case was found, if that is known.
    pub found_at: Option<Level>,
    /// Is the first objection to a run enough? The others are not asked then.
    pub first_only: bool,
}

/// Every session at one level, or each at its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    Level(Level),
    Mixed,
}

impl Column {
    pub fn short(self) -> &'static str {
        match self {
            Column::Level(level) => level.short(),
            Column::Mixed => "mixed",
        }
    }
}

/// What came of the runs in one place at one level.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub runs: u64,
    pub wrong: u64,
    /// Runs that nobody objects to, but about which somebody cannot tell.
    pub undecided: u64,
    /// What is objected to, each fingerprint once.
    pub violations: Vec<Violation>,
    /// What the case file says of each run.
    pub checks: Vec<CheckStatus>,
}

impl Cell {
    /// Adds what a panel says of a run.
    pub fn add(&mut self, panel: &Panel, seen: &Execution, runs: &mut dyn CleanRuns, first_only: bool) {
        let (mut wrong, mut undecided) = (false, false);
        for (_, verdict) in panel.judge(seen, runs) {
            match verdict {
                Verdict::Holds { .. } => {}
                Verdict::Undecided { .. } => undecided = true,
                Verdict::Violated(violation) => {
                    wrong = true;
                    let known = |one: &Violation| one.fingerprint == violation.fingerprint;
                    if !self.violations.iter().any(known) {
                        self.violations.push(violation);
                    }
                    if first_only {
                        break;
                    }
                }
            }
        }
        self.checks.push(expectations::check(&seen.case, &seen.trace).status);
        self.runs += 1;
        self.wrong += u64::from(wrong);
        self.undecided += u64::from(undecided && !wrong);
    }
}

impl Matrix<'_> {
    /// Runs a case at these levels, whatever it says of levels; one whose sessions need different levels as it is, once.
    pub fn run(
        &self,
        case: &Case,
        server: &mut CleanServer,
        levels: &[Level],
    ) -> impl Iterator<Item = (Column, Result<Cell, Rejected>)> {
        let mixed = case.has_mixed_levels(self.found_at);
        let mut plain = case.clone();
        if !mixed {
            plain.sessions.iter_mut().for_each(|session| session.level = None);
        }
        let columns: Vec<(Column, Level)> = match (mixed, self.found_at.or(levels.first().copied())) {
            (true, level) => level.map(|level| (Column::Mixed, level)).into_iter().collect(),
            (false, _) => levels.iter().map(|level| (Column::Level(*level), *level)).collect(),
        };
        columns.into_iter().map(move |(column, level)| (column, self.cell(&plain, server, level)))
    }

    fn cell(&self, case: &Case, server: &mut CleanServer, level: Level) -> Result<Cell, Rejected> {
        let mut cell = Cell::default();
        for _ in 0..self.times {
            let seen = server.try_run(case, level, self.reset)?;
            cell.add(self.panel, &seen, server, self.first_only);
        }
        Ok(cell)
    }
}
