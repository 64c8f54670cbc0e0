//! Compares what happened with what the case file says should come.
//!
//! For the server and the level of a trace, every step and every table has at most one expectation: the narrowest
//! that fits. A group of `fails on` that fits replaces some of them. The trace is held against both, so that a
//! surprise shows in either direction:
//!
//! ```text
//!                        no group fits          a group fits
//! as it should be        Pass                   UnexpectedPass
//! as the group says      -                      KnownFailure
//! neither                UnexpectedFailure      OtherFailure
//! ```
//!
//! What nothing is said about is `Unspecified`. The one exception: a server that dies, a connection that is lost and
//! a statement that hangs are never fine, whether or not the file mentions that step.

use model::{
    Case, Ends, Expectation, Expected, Level, Open, Outcome, Product, Reply, RowSet, ServerInfo, Trace,
    expect::{ExpectedReply, Literal, Tie, pick},
    value::{Kind, Value},
};
use serde::Serialize;

/// What one step or table came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepCheck {
    /// As expected.
    Met,
    /// Not as expected.
    Missed {
        /// What should have come.
        expected: Expected,
        /// What came, in the words of the case file.
        got: String,
    },
    /// The file says nothing about it here.
    Unspecified,
}

impl StepCheck {
    fn is_missed(&self) -> bool {
        matches!(self, StepCheck::Missed { .. })
    }
}

/// Every step and table of a case, held against one set of expectations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepChecks {
    pub steps: Vec<StepCheck>,
    /// For each table that is mentioned.
    pub tables: Vec<(String, StepCheck)>,
}

impl StepChecks {
    fn all(&self) -> impl Iterator<Item = &StepCheck> {
        self.steps.iter().chain(self.tables.iter().map(|(_, finding)| finding))
    }

    /// Is nothing missed?
    pub fn holds(&self) -> bool {
        !self.all().any(StepCheck::is_missed)
    }

    /// How many were met, missed, and unspecified.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |wanted: fn(&StepCheck) -> bool| self.all().filter(|finding| wanted(finding)).count();
        (
            count(|finding| *finding == StepCheck::Met),
            count(StepCheck::is_missed),
            count(|finding| *finding == StepCheck::Unspecified),
        )
    }
}

/// What a run came to as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// All that is expected came, and it is not known to fail here.
    Pass,
    /// It is known to fail here, and came out exactly as that says.
    KnownFailure,
    /// Not what the file says.
    Surprise(Surprise),
    /// The file expects nothing here.
    NothingExpected,
    /// The trace is no evidence: an answer came after the server had been called settled.
    Invalid,
    /// The file contradicts itself here; says where.
    Contradiction(String),
}

/// How a run differs from what the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surprise {
    /// It should hold here, and does not.
    UnexpectedFailure,
    /// It is known to fail here, and came out as it should.
    UnexpectedPass,
    /// It is known to fail here, and failed in another way.
    OtherFailure,
}

/// What [`check`] found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// As a whole.
    pub status: CheckStatus,
    /// Against what should come.
    pub should: StepChecks,
    /// Against what is known to come instead, where a group of known failures fits.
    pub known: Option<StepChecks>,
    /// The groups that fit: indexes into [`Case::fails`].
    pub groups: Vec<usize>,
}

impl CheckReport {
    /// One word for the status, for counting.
    pub fn name(&self) -> &'static str {
        match &self.status {
            CheckStatus::Pass => "pass",
            CheckStatus::KnownFailure => "known-failure",
            CheckStatus::Surprise(Surprise::UnexpectedFailure) => "unexpected-failure",
            CheckStatus::Surprise(Surprise::UnexpectedPass) => "unexpected-pass",
            CheckStatus::Surprise(Surprise::OtherFailure) => "other-failure",
            CheckStatus::NothingExpected => "nothing-expected",
            CheckStatus::Invalid => "invalid",
            CheckStatus::Contradiction(_) => "contradiction",
        }
    }

    /// The names under which this failure is known, if it came out as known.
    pub fn known_as(&self, case: &Case) -> Vec<String> {
        match self.status {
            CheckStatus::KnownFailure if case.links.is_empty() => {
                vec!["the case file says so (fails on)".into()]
            }
            CheckStatus::KnownFailure => case.links.clone(),
            _ => Vec::new(),
        }
    }

    /// Is it something that the case file does not say?
    pub fn surprise(&self) -> bool {
        match self.status {
            CheckStatus::Pass | CheckStatus::KnownFailure | CheckStatus::NothingExpected => false,
            CheckStatus::Surprise(_) | CheckStatus::Invalid | CheckStatus::Contradiction(_) => true,
        }
    }

    /// Was an expectation not met, known or not?
    pub fn missed(&self) -> bool {
        !self.should.holds() || self.surprise()
    }

    /// The steps, counted from 1, about which the file says nothing.
    pub fn unspecified(&self) -> Vec<usize> {
        let steps = self.should.steps.iter().enumerate();
        steps.filter(|(_, finding)| **finding == StepCheck::Unspecified).map(|(i, _)| i + 1).collect()
    }
}

/// Is the case written for this product?
pub fn applies(case: &Case, product: Product) -> bool {
    case.products.is_empty() || case.products.contains(&product)
}

/// Holds a trace against the expectations of its case.
pub fn check(case: &Case, trace: &Trace) -> CheckReport {
    let groups: Vec<usize> = (0..case.fails.len())
        .filter(|&i| case.fails[i].at.weight(&trace.server, trace.level).is_some())
        .collect();
    let (should, known) = match expected_here(case, &trace.server, trace.level, &groups) {
        Ok(both) => both,
        Err(contradiction) => {
            let status = CheckStatus::Contradiction(contradiction);
            return CheckReport { status, should: StepChecks::default(), known: None, groups };
        }
    };
    let expects = !groups.is_empty() || should.says_anything();
    let should = should.compare(case, trace);
    let known = (!groups.is_empty()).then(|| known.compare(case, trace));
    let status = if trace.false_decisions > 0 {
        CheckStatus::Invalid
    } else {
        match &known {
            Some(known) if known.holds() => CheckStatus::KnownFailure,
            Some(_) if should.holds() => CheckStatus::Surprise(Surprise::UnexpectedPass),
            Some(_) => CheckStatus::Surprise(Surprise::OtherFailure),
            None if !should.holds() => CheckStatus::Surprise(Surprise::UnexpectedFailure),
            None if !expects => CheckStatus::NothingExpected,
            None => CheckStatus::Pass,
        }
    };
    CheckReport { status, should, known, groups }
}

/// What is expected of each step and table at one place.
#[derive(Clone)]
struct ExpectedSteps<'a> {
    steps: Vec<Option<&'a Expected>>,
    tables: Vec<(&'a str, Option<&'a Expected>)>,
}

/// What should come, and what comes where these groups of known failures are right.
fn expected_here<'a>(
    case: &'a Case,
    server: &ServerInfo,
    level: Level,
    groups: &[usize],
) -> Result<(ExpectedSteps<'a>, ExpectedSteps<'a>), String> {
    let choose = |expect: &'a [Expectation], what: String| {
        pick(expect, server, level).map_err(|tie: Tie| format!("{what}: {tie}"))
    };
    let mut should = ExpectedSteps { steps: Vec::new(), tables: Vec::new() };
    for (i, step) in case.steps.iter().enumerate() {
        should.steps.push(choose(&step.expect, format!("step {}", i + 1))?);
    }
    for state in &case.final_state {
        should.tables.push((&state.table, choose(&state.expect, format!("final {}", state.table))?));
    }
    let mut known = should.clone();
    let mut said: Vec<(String, &Expected)> = Vec::new();
    let mut note = |what: String, expected: &'a Expected| match said.iter().find(|(have, _)| *have == what) {
        Some((what, other)) if *other != expected => {
            Err(format!("{what}: two groups of known failures fit and say different things"))
        }
        Some(_) => Ok(()),
        None => {
            said.push((what, expected));
            Ok(())
        }
    };
    for group in groups.iter().map(|&i| &case.fails[i]) {
        for (step, expected) in &group.steps {
            note(format!("step {}", step + 1), expected)?;
            match known.steps.get_mut(*step) {
                Some(place) => *place = Some(expected),
                None => return Err(format!("step {}: there is no such step", step + 1)),
            }
        }
        for (table, expected) in &group.final_state {
            note(format!("final {table}"), expected)?;
            match known.tables.iter_mut().find(|(have, _)| have == table) {
                Some((_, place)) => *place = Some(expected),
                None => known.tables.push((table, Some(expected))),
            }
        }
    }
    Ok((should, known))
}

impl ExpectedSteps<'_> {
    fn says_anything(&self) -> bool {
        self.steps.iter().any(Option::is_some) || self.tables.iter().any(|(_, expected)| expected.is_some())
    }

    fn compare(&self, case: &Case, trace: &Trace) -> StepChecks {
        let steps =
            (0..self.steps.len()).map(|step| compare_step(case, trace, step, self.steps[step])).collect();
        let tables = self
            .tables
            .iter()
            .map(|(table, expected)| (table.to_string(), compare_table(trace, table, *expected)))
            .collect();
        StepChecks { steps, tables }
    }
}

fn compare_step(case: &Case, trace: &Trace, step: usize, expected: Option<&Expected>) -> StepCheck {
    let not_sent = Outcome::bare(Reply::NotSent);
    let outcome = trace.outcomes.get(step).unwrap_or(&not_sent);
    let waited = trace.waited(step);
    let met = match expected {
        None if outcome.is_lost() => false,
        None => return StepCheck::Unspecified,
        Some(Expected { waits: true, answer: None }) => waited || queued_to_the_end(case, trace, step),
        Some(Expected { waits, answer }) => {
            *waits == waited && answer.as_ref().is_some_and(|answer| answers(answer, outcome))
        }
    };
    if met {
        return StepCheck::Met;
    }
    let answer = match (expected.and_then(|expected| expected.answer.as_ref()), &outcome.reply) {
        // Where only the rows that matched may differ, they are said.
        (
            Some(ExpectedReply::Affected { of: Some(_), .. }),
            Reply::Done { affected, matched: Some(matched) },
        ) => {
            let got = ExpectedReply::Affected { count: *affected, of: Some(*matched) };
            Expected { waits: false, answer: Some(got) }.to_string()
        }
        _ => outcome.to_string(),
    };
    let got = if waited { format!("waits, then {answer}") } else { answer };
    // A step that nobody mentions should at least have come to an answer.
    let ok = Expected { waits: false, answer: Some(ExpectedReply::Ok) };
    StepCheck::Missed { expected: expected.cloned().unwrap_or(ok), got }
}

/// Was this step never sent because an earlier one of its session waited until the end?
fn queued_to_the_end(case: &Case, trace: &Trace, step: usize) -> bool {
    let reply = |step: usize| trace.outcomes.get(step).map(|outcome| &outcome.reply);
    let same_session = |earlier: &usize| case.steps[*earlier].session == case.steps[step].session;
    match reply(step) {
        Some(Reply::Killed) => true,
        Some(Reply::NotSent) | None => {
            (0..step).filter(same_session).any(|earlier| matches!(reply(earlier), Some(Reply::Killed)))
        }
        Some(
            Reply::Rows(_)
            | Reply::Done { .. }
            | Reply::RolledBack
            | Reply::Error(_)
            | Reply::ConnectionLost
            | Reply::ServerDied
            | Reply::Hung,
        ) => false,
    }
}

fn answers(answer: &ExpectedReply, outcome: &Outcome) -> bool {
    match answer {
        ExpectedReply::Ok => matches!(outcome.reply, Reply::Rows(_) | Reply::Done { .. }),
        ExpectedReply::Affected { count, of } => {
            matches!(outcome.reply, Reply::Done { affected, matched } if affected == *count && (of.is_none() || *of == matched))
        }
        ExpectedReply::RolledBack => outcome.reply == Reply::RolledBack,
        ExpectedReply::Rows { ordered, rows } => {
            outcome.rows().is_some_and(|got| same_rows(rows, got, *ordered))
        }
        ExpectedReply::Error { what, over } => outcome.error().is_some_and(|error| {
            // The transaction is over if the error ends it, and also if the server says that none is open any
            // more. It does not follow from an open one that it goes on: MySQL 5.6 opens the next at once.
            let is_over = match error.ends {
                Ends::Transaction | Ends::Session => true,
                Ends::Statement => match outcome.transaction {
                    Open::No | Open::Failed => true,
                    Open::Yes | Open::Unknown => false,
                },
            };
            what.fits(error) && over.is_none_or(|over| over == is_over)
        }),
    }
}

fn compare_table(trace: &Trace, table: &str, expected: Option<&Expected>) -> StepCheck {
    let Some(expected) = expected else { return StepCheck::Unspecified };
    let missed = |got: String| StepCheck::Missed { expected: expected.clone(), got };
    let Some(state) = &trace.final_state else { return missed("the tables could not be read".into()) };
    let by_name = |same: fn(&str, &str) -> bool| state.iter().find(|(name, _)| same(name, table));
    let found = by_name(|a, b| a == b).or_else(|| by_name(str::eq_ignore_ascii_case));
    let Some((_, got)) = found else { return missed("there is no such table".into()) };
    match &expected.answer {
        Some(ExpectedReply::Rows { ordered, rows }) if same_rows(rows, got, *ordered) => StepCheck::Met,
        Some(
            ExpectedReply::Rows { .. }
            | ExpectedReply::Ok
            | ExpectedReply::Affected { .. }
            | ExpectedReply::RolledBack
            | ExpectedReply::Error { .. },
        )
        | None => missed(got.to_string()),
    }
}

/// Are these the same rows, each as often? An expected row fixes every byte, so that any of the rows that fit it
/// will do, and none has to be kept for another.
fn same_rows(expected: &[Vec<Literal>], got: &RowSet, ordered: bool) -> bool {
    if expected.len() != got.len() {
        return false;
    }
    let fits = |row: &[Literal], index: usize| {
        row.len() == got.columns().len()
            && row.iter().zip(got.row(index)).all(|(literal, value)| same_value(literal, &value))
    };
    if ordered {
        return expected.iter().enumerate().all(|(i, row)| fits(row, i));
    }
    let mut left: Vec<usize> = (0..got.len()).collect();
    expected.iter().all(|row| match left.iter().position(|&index| fits(row, index)) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    })
}

/// A number is compared with the server's bytes whatever their kind, since not every server types its expressions;
/// text only with what is written as text, bytes with anything that is not a number.
fn same_value(literal: &Literal, value: &Value<'_>) -> bool {
    let Some(bytes) = value.bytes else { return *literal == Literal::Null };
    let is_number = match value.kind {
        Kind::Integer | Kind::Decimal | Kind::Float => true,
        Kind::Text | Kind::Bytes | Kind::Time | Kind::Json | Kind::Bit | Kind::Other => false,
    };
    let is_bytes = matches!(value.kind, Kind::Bytes | Kind::Bit);
    match literal {
        Literal::Null => false,
        Literal::Number(number) => number.as_bytes() == bytes,
        Literal::Text(text) => !is_number && !is_bytes && text.as_bytes() == bytes,
        Literal::Bytes(expected) => !is_number && expected == bytes,
    }
}
