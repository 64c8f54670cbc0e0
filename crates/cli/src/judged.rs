//! From what the oracle says to what is shown: marks for the timeline, and words for the status.

use campaign::Panel;
use dialect::Execution;
use model::{Case, DeviationId, JudgeOverrides, Product, Trace, Violation, verdict::Justification};
use oracles::{
    expectations::{CheckReport, CheckStatus, StepCheck, StepChecks, Surprise},
    invariants::exemptions,
};
use report::{Mark, Marks, Words, timeline as draw};

use crate::errors::style;

/// The timeline of a run, marked with what was expected.
pub fn timeline(case: &Case, trace: &Trace, report: &CheckReport, name: &str) -> String {
    let StepChecks { steps, tables } = &report.should;
    let marks = Marks {
        name: name.to_string(),
        steps: steps.iter().map(mark).collect(),
        tables: tables.iter().map(|(table, check)| (table.clone(), mark(check))).collect(),
        known: report.known_as(case),
        closing: closing(report),
    };
    draw(case, trace, &marks, &style())
}

fn mark(check: &StepCheck) -> Mark {
    match check {
        StepCheck::Met => Mark::Met,
        StepCheck::Missed { expected, .. } => Mark::Missed { expected: expected.to_string() },
        StepCheck::Unspecified => Mark::Unspecified,
    }
}

fn closing(report: &CheckReport) -> Option<String> {
    match &report.status {
        CheckStatus::Pass | CheckStatus::KnownFailure => None,
        CheckStatus::NothingExpected => Some("nothing is expected here, so nothing was judged".into()),
        CheckStatus::Surprise(Surprise::UnexpectedFailure) => None,
        CheckStatus::Surprise(Surprise::UnexpectedPass) => {
            Some("it is known to fail here (`fails on`), but came out as it should".into())
        }
        CheckStatus::Surprise(Surprise::OtherFailure) => {
            Some("it is known to fail here (`fails on`), but not in this way".into())
        }
        CheckStatus::Invalid => {
            Some("not judged: an answer came after the server had been called settled".into())
        }
        CheckStatus::Contradiction(why) => Some(format!("the case file contradicts itself: {why}")),
    }
}

/// What the oracles that need no expectations complain about.
pub fn violations(seen: &Execution) -> Vec<Violation> {
    let panel = Panel::new(oracles::without_server(), JudgeOverrides::default());
    panel.violations_of_stored(seen).map(|(_, violation)| violation).collect()
}

/// At most this many lines of evidence are shown.
const EVIDENCE: usize = 12;

/// A violation in words.
pub fn words(violation: &Violation, product: Product) -> Words<'_> {
    Words { violation, product, sources: oracles::mvcc::source }
}

/// Why a run holds, for people: a name, and the place that says so.
pub fn justification(by: &Justification) -> String {
    let of = |by: &DeviationId| format!("{by}: {}", oracles::mvcc::source(by).unwrap_or("not known here"));
    match by {
        Justification::Documented(by) => of(by),
        Justification::Undocumented(by) => format!("undocumented, {}", of(by)),
        Justification::Exempt(by) => exemptions::of(*by).text(),
        Justification::Uncertain(why) => format!("accepted without certainty: {why}"),
        Justification::AskedFor => "a step of the case ends sessions or the server".to_string(),
    }
}

/// A complaint for people, with the first of what it rests on.
pub fn complaint(violation: &Violation, product: Product) -> String {
    let (print, words) = (&violation.fingerprint, words(violation, product));
    let mut text = format!("\u{2717} {} ({}): {}", print.symptom, print.cause, words.story());
    let lines = words.lines();
    for line in lines.iter().take(EVIDENCE) {
        text += &format!("\n    {line}");
    }
    if let Some(more) = lines.len().checked_sub(EVIDENCE).filter(|more| *more > 0) {
        text += &format!("\n    ... {more} more lines");
    }
    text + "\n"
}
