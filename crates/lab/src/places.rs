//! One case in many places: on several servers, at every level.

use std::collections::BTreeMap;

use campaign::{
    Panel,
    matrix::{self, Matrix},
};
use execute::Reset;
use model::{Case, Fingerprint, Level, Target};
use oracles::mvcc;
use serde::Serialize;

use crate::{Lab, levels};

/// A level of one place.
#[derive(Debug, Default, Serialize)]
pub struct Cell {
    pub runs: u64,
    pub wrong: u64,
    pub undecided: u64,
    /// The fingerprints, in words, or the reports by which they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub as_what: Vec<String>,
    /// The same, to be compared.
    #[serde(skip)]
    fingerprints: Vec<Fingerprint>,
}

impl Cell {
    fn new(cell: matrix::Cell) -> Cell {
        let mut as_what = Vec::new();
        for violation in &cell.violations {
            let fingerprint = &violation.fingerprint;
            let what = mvcc::known(fingerprint)
                .unwrap_or_else(|| format!("{}, {}", fingerprint.symptom, fingerprint.statement));
            if !as_what.contains(&what) {
                as_what.push(what);
            }
        }
        let fingerprints = cell.violations.into_iter().map(|violation| violation.fingerprint).collect();
        Cell { runs: cell.runs, wrong: cell.wrong, undecided: cell.undecided, as_what, fingerprints }
    }

    /// Is the same thing wrong there, and not another one that this case happens to show, too?
    pub fn shows(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.iter().any(|one| same(one, fingerprint))
    }

    /// What is wrong there, in words.
    pub fn as_what(&self) -> String {
        self.as_what.join(", ")
    }

    /// Are all of them right, and is that certain?
    pub fn right(&self) -> bool {
        self.runs > 0 && self.wrong == 0 && self.undecided == 0
    }
}

/// One place.
#[derive(Serialize)]
pub struct PlaceResult {
    /// The server, as a target.
    pub target: String,
    /// Why it could not be run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What came of it at each level.
    pub levels: BTreeMap<&'static str, Cell>,
}

/// How a case is tried in a place.
pub struct Attempt<'a> {
    pub panel: &'a Panel,
    pub runs: u64,
    /// The level at which the case was found, if that is known.
    pub found_at: Option<Level>,
}

impl Attempt<'_> {
    /// Tries it in all of these places, or in those before the user asked to stop.
    pub fn everywhere(&self, lab: &Lab<'_>, case: &Case, places: &[Target], name: &str) -> Vec<PlaceResult> {
        let mut progress = lab.job(name, places.len() as u64);
        let mut rows = Vec::new();
        for target in places {
            if lab.stopped() {
                break;
            }
            rows.push(self.row(lab, case, target));
            progress.step();
        }
        rows
    }

    fn row(&self, lab: &Lab<'_>, case: &Case, target: &Target) -> PlaceResult {
        let refused = |error: String| PlaceResult {
            target: target.to_string(),
            refused: Some(error),
            levels: BTreeMap::new(),
        };
        let mut server = match lab.clean_server(target) {
            Ok(server) => server,
            Err(error) => return refused(error.to_string()),
        };
        let Attempt { panel, runs: times, found_at } = *self;
        let matrix = Matrix { panel, times, reset: Reset::Clean, found_at, first_only: true };
        let mut found = BTreeMap::new();
        for (column, cell) in matrix.run(case, &mut server, levels(target.product)) {
            match cell {
                Ok(cell) => found.insert(column.short(), Cell::new(cell)),
                Err(error) => return refused(error.to_string()),
            };
        }
        PlaceResult { target: target.to_string(), refused: None, levels: found }
    }
}

/// Is it the same symptom, at whatever level? By what explains it, or by where it shows in which kind of statement.
fn same(one: &Fingerprint, other: &Fingerprint) -> bool {
    if one.deviations().is_some() || other.deviations().is_some() {
        return one.cause == other.cause;
    }
    one.statement == other.statement && one.symptom.visible() == other.symptom.visible()
}

pub const HEADS: [&str; 5] = ["RU", "RC", "RR", "SER", "mixed"];

/// What a cell says, if it is there.
pub fn word(cell: Option<&Cell>) -> String {
    match cell {
        None => "-".into(),
        Some(cell) if cell.wrong > 0 => format!("{} of {} wrong", cell.wrong, cell.runs),
        Some(cell) if cell.undecided > 0 => "?".into(),
        Some(_) => "right".into(),
    }
}

#[cfg(test)]
mod tests {
    use model::{RuleId, ShownBy, Symptom, sql::StatementKind, verdict::Cause};

    use super::*;

    #[test]
    fn the_same_symptom_is_known_at_another_level_and_by_another_oracle() {
        let print =
            |symptom, cause, statement, level| Fingerprint { symptom, cause, statement, level: Some(level) };
        let by = |name: &str| Cause::Deviations([name.into()].into());
        let of = |kind| ShownBy::Statement(Some(kind));
        let (alone, rule) = (Cause::Alone { after_wait: false }, Cause::Rule(RuleId::OneSnapshot));
        let (select, update) = (of(StatementKind::Select), of(StatementKind::Update));
        let (low, high) = (Level::ReadUncommitted, Level::ReadCommitted);
        let found = print(Symptom::WrongRows, alone.clone(), select, low);
        let cell =
            Cell { fingerprints: vec![print(Symptom::WrongMatch, rule, select, high)], ..Cell::default() };
        assert!(cell.shows(&found));
        for (symptom, cause, statement) in [
            (Symptom::NeedlessError, by("conflict-by-inner-read"), of(StatementKind::Insert)),
            (Symptom::WrongRows, by("noop-without-version"), select),
            (Symptom::WrongFinalState, alone, ShownBy::FinalState),
        ] {
            let other = print(symptom, cause, statement, high);
            assert!(!Cell { fingerprints: vec![other.clone()], ..Cell::default() }.shows(&found), "{other}");
        }
        let named = print(Symptom::WrongCount, by("moved-across-scan"), update, low);
        let face = print(Symptom::WrongMatch, by("moved-across-scan"), of(StatementKind::Delete), high);
        assert!(Cell { fingerprints: vec![face], ..Cell::default() }.shows(&named), "one bug has many faces");
    }
}
