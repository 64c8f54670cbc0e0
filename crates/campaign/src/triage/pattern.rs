//! What the oracles say of a case in several places: the pattern by which two cases are compared.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Case, Product, ShownBy, Signature, Symptom, Violation,
    verdict::{Cause, Feature},
};
use oracles::expectations::{CheckStatus, Surprise};

use crate::matrix::{self, Column};

/// What came of a case in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cell {
    /// Each complaint.
    Wrong(BTreeSet<(Symptom, Cause, ShownBy)>),
    Right,
    Unsure,
    /// It could not be run.
    Not,
}

/// What the file of a case says of what came of it in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByFile {
    /// It is known to fail there, and failed so.
    Known,
    /// It says that the case holds there, and nothing unexplained is wrong; or it says nothing.
    Holds,
    /// Something is wrong that the file does not say, or what it says did not come.
    Otherwise,
}

impl ByFile {
    fn of(cell: &matrix::Cell) -> ByFile {
        let explained = |violation: &Violation| violation.fingerprint.deviations().is_some();
        let of_run = |status: &CheckStatus| match status {
            CheckStatus::KnownFailure => ByFile::Known,
            // What should hold and is called wrong is wrong for another reason than the one that is known.
            CheckStatus::Pass if cell.violations.iter().all(explained) => ByFile::Holds,
            // A file that was made of a finding speaks of the level of that.
            CheckStatus::NothingExpected => ByFile::Holds,
            CheckStatus::Pass
            | CheckStatus::Surprise(
                Surprise::UnexpectedFailure | Surprise::UnexpectedPass | Surprise::OtherFailure,
            )
            | CheckStatus::Invalid
            | CheckStatus::Contradiction(_) => ByFile::Otherwise,
        };
        let mut runs = cell.checks.iter().map(of_run);
        let first = runs.next().unwrap_or(ByFile::Otherwise);
        if runs.all(|other| other == first) { first } else { ByFile::Otherwise }
    }
}

/// Place by place.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    cells: BTreeMap<(usize, Column), Cell>,
    /// On the server itself; with its setting turned over a file may say nothing.
    by_file: BTreeMap<Column, ByFile>,
    /// The signatures of all complaints.
    pub signatures: BTreeSet<Signature>,
}

impl Pattern {
    /// Adds what came of a case in one place.
    pub fn add(&mut self, product: Product, case: &Case, place: (usize, Column), cell: Option<matrix::Cell>) {
        let Some(cell) = cell else {
            self.cells.insert(place, Cell::Not);
            return;
        };
        if place.0 == 0 {
            self.by_file.insert(place.1, ByFile::of(&cell));
        }
        for violation in &cell.violations {
            self.signatures.insert(oracles::signature::signature(product, case, violation));
            // As one that was not reduced has it.
            self.signatures.insert(oracles::signature::of_unreduced(product, case, violation));
        }
        let words = |violation: Violation| {
            let fingerprint = violation.fingerprint;
            (fingerprint.symptom, fingerprint.cause, fingerprint.statement)
        };
        let cell = match (cell.wrong, cell.undecided) {
            (0, 0) => Cell::Right,
            (0, _) => Cell::Unsure,
            (_, _) => Cell::Wrong(cell.violations.into_iter().map(words).collect()),
        };
        self.cells.insert(place, cell);
    }

    pub fn is_wrong(&self) -> bool {
        self.cells.values().any(|cell| matches!(cell, Cell::Wrong(_)))
    }

    /// Does the case fail on the server itself in the way that its file says, and in no other? A server that is wrong everywhere makes
    /// every case fail, and explains nothing.
    pub fn fails_as_written(&self) -> bool {
        let came = |wanted: ByFile| self.by_file.values().any(|one| *one == wanted);
        came(ByFile::Known) && !came(ByFile::Otherwise)
    }

    /// Complaint by complaint the same?
    pub fn same(&self, other: &Pattern) -> bool {
        self.is_wrong() && self.cells == other.cells
    }

    /// Wrong in the same places, and right in at least one: what is wrong everywhere is like nothing in particular.
    pub fn alike(&self, other: &Pattern) -> bool {
        let wrong = |pattern: &Pattern| -> Vec<(usize, Column)> {
            let cells = pattern.cells.iter().filter(|(_, cell)| matches!(cell, Cell::Wrong(_)));
            cells.map(|(place, _)| *place).collect()
        };
        let right = |pattern: &Pattern| pattern.cells.values().any(|cell| *cell == Cell::Right);
        let same = self.cells.keys().eq(other.cells.keys()) && wrong(self) == wrong(other);
        self.is_wrong() && same && right(self) && right(other)
    }

    /// Wrong in the same places, by a statement that is made of the same or of more: for what is wrong by itself, at whatever level.
    pub fn made_alike(&self, other: &Pattern, signature: &Signature) -> bool {
        let made = |signature: &Signature| match signature {
            Signature::Unexplained { symptom: Symptom::Logic, features, .. } => Some(features.clone()),
            _ => None,
        };
        let Some(mine) = made(signature).filter(|features| !features.is_empty()) else { return false };
        // One thing that both have, a NULL or a subquery, is what half of all statements have.
        let part =
            |theirs: &BTreeSet<Feature>| *theirs == mine || theirs.len() > 1 && theirs.is_subset(&mine);
        let wrong = |cell: &Cell| matches!(cell, Cell::Wrong(_));
        let places = |pattern: &Pattern| -> Vec<bool> { pattern.cells.values().map(wrong).collect() };
        self.is_wrong()
            && self.cells.keys().eq(other.cells.keys())
            && places(self) == places(other)
            && other.signatures.iter().filter_map(made).any(|theirs| part(&theirs))
    }

    /// What is wrong somewhere, and what is behind it.
    pub fn complaints(&self) -> BTreeSet<(Symptom, &Cause)> {
        let wrong = self.cells.values().filter_map(|cell| match cell {
            Cell::Wrong(all) => Some(all),
            Cell::Right | Cell::Unsure | Cell::Not => None,
        });
        wrong.flatten().map(|(symptom, cause, _)| (*symptom, cause)).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::{Level, RuleId, sql::StatementKind};

    use super::*;

    fn pattern(cells: &[Cell]) -> Pattern {
        let cells =
            Level::ALL.into_iter().zip(cells).map(|(level, cell)| ((0, Column::Level(level)), cell.clone()));
        Pattern { cells: cells.collect(), ..Pattern::default() }
    }

    const ROWS: Symptom = Symptom::WrongRows;

    fn wrong(symptom: Symptom) -> Cell {
        let shown = ShownBy::Statement(Some(StatementKind::Select));
        Cell::Wrong([(symptom, Cause::Rule(RuleId::OneSnapshot), shown)].into())
    }

    #[test]
    fn the_same_is_the_same_everywhere() {
        let one = pattern(&[Cell::Right, wrong(ROWS), wrong(ROWS), Cell::Unsure]);
        assert!(one.same(&one.clone()) && one.alike(&one));
        let kind = pattern(&[Cell::Right, wrong(ROWS), wrong(Symptom::WrongCount), Cell::Unsure]);
        assert!(!one.same(&kind) && one.alike(&kind));
        let place = pattern(&[Cell::Right, wrong(ROWS), Cell::Right, Cell::Unsure]);
        assert!(!one.same(&place) && !one.alike(&place));
        // Less is known of one of them.
        let less = pattern(&[Cell::Right, wrong(ROWS), wrong(ROWS), Cell::Right]);
        assert!(!one.same(&less) && one.alike(&less));
        assert_eq!(one.complaints(), [(ROWS, &Cause::Rule(RuleId::OneSnapshot))].into());
    }

    #[test]
    fn one_common_feature_makes_two_statements_not_alike() {
        let made = |features: &[Feature]| Signature::Unexplained {
            symptom: Symptom::Logic,
            cause: Cause::ModelObjects,
            statements: BTreeSet::new(),
            features: features.iter().copied().collect(),
        };
        let mut mine = pattern(&[wrong(Symptom::Logic), wrong(Symptom::Logic)]);
        let alike = |mine: &mut Pattern, theirs: &[Feature], own: &[Feature]| {
            let other = Pattern { signatures: [made(theirs)].into(), ..mine.clone() };
            mine.made_alike(&other, &made(own))
        };
        let (null, hint, join) = (Feature::Null, Feature::IndexHint, Feature::Join);
        assert!(alike(&mut mine, &[null], &[null]) && alike(&mut mine, &[null, join], &[null, join, hint]));
        assert!(!alike(&mut mine, &[null], &[null, hint]) && !alike(&mut mine, &[null, join], &[null]));
    }

    #[test]
    fn a_case_explains_only_if_it_fails_as_its_file_says() {
        let violation = |cause: Cause| Violation {
            fingerprint: model::Fingerprint {
                symptom: Symptom::WrongCount,
                cause,
                statement: ShownBy::Statement(Some(StatementKind::Update)),
                level: None,
            },
            step: Some(0),
            evidence: Box::default(),
        };
        let rule = || vec![violation(Cause::Rule(RuleId::NewestForChanges))];
        let named = || vec![violation(Cause::Deviations(["noop-without-version".into()].into()))];
        // By level: what the file says of the run, and who objects to it.
        let fails = |cells: Vec<(CheckStatus, Vec<Violation>)>| {
            let mut pattern = Pattern::default();
            for (level, (status, violations)) in Level::ALL.into_iter().zip(cells) {
                let wrong = u64::from(!violations.is_empty());
                let cell = matrix::Cell { runs: 1, wrong, undecided: 0, violations, checks: vec![status] };
                let place = (0, Column::Level(level));
                pattern.add(Product::Mariadb, &Case::default(), place, Some(cell));
            }
            pattern.fails_as_written()
        };
        let (known, pass) = (|| CheckStatus::KnownFailure, || CheckStatus::Pass);
        let other = |how: Surprise| CheckStatus::Surprise(how);
        assert!(fails(vec![(pass(), vec![]), (known(), rule())]));
        assert!(fails(vec![(pass(), named()), (known(), rule())]), "another known bug lives beside it");
        // Every count is off by one: another answer than the one that is known, or one more of them.
        assert!(!fails(vec![(pass(), vec![]), (other(Surprise::OtherFailure), rule())]));
        assert!(!fails(vec![(other(Surprise::UnexpectedFailure), rule()), (known(), rule())]));
        // The file says nothing of the step that is wrong where the case should hold.
        assert!(!fails(vec![(pass(), rule()), (known(), rule())]));
        assert!(!fails(vec![(pass(), vec![]), (other(Surprise::UnexpectedPass), vec![])]));
        assert!(!fails(vec![(pass(), vec![]), (pass(), vec![])]));
        // A file that speaks of one level only.
        assert!(fails(vec![(CheckStatus::NothingExpected, rule()), (known(), rule())]));
    }

    #[test]
    fn what_is_wrong_nowhere_or_everywhere_is_like_nothing() {
        let right = pattern(&[Cell::Right, Cell::Right, Cell::Right, Cell::Right]);
        let all = pattern(&[wrong(ROWS), wrong(ROWS), wrong(ROWS), wrong(ROWS)]);
        assert!(!right.same(&right.clone()) && !right.alike(&right.clone()));
        assert!(all.same(&all.clone()) && !all.alike(&all.clone()));
    }
}
