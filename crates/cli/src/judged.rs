//! From what the oracle says to what is shown: marks for the timeline, and words for the status.

use model::{Case, DeviationId, Product, Trace, Violation, verdict::Justification};
use oracles::{
    expectations::{CheckReport, CheckStatus, StepCheck, StepChecks, Surprise},
    invariants::exemptions,
};
use report::{Mark, Marks, Words, text::visible, timeline as draw};

use crate::errors::style;

/// The timeline of a run, marked with what was expected, and with what the oracles complain about.
pub fn timeline(
    case: &Case,
    trace: &Trace,
    report: &CheckReport,
    violations: &[Violation],
    name: &str,
) -> String {
    let StepChecks { steps, tables } = &report.should;
    let mut marks = Marks {
        name: name.to_string(),
        steps: steps.iter().map(mark).collect(),
        tables: tables.iter().map(|(table, check)| (table.clone(), mark(check))).collect(),
        known: report.known_as(case),
        closing: closing(report).filter(|_| violations.is_empty()),
    };
    let product = trace.server.product;
    violations.iter().for_each(|violation| words(violation, product).mark(&mut marks));
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
        CheckStatus::NothingExpected => Some("nothing is expected here, and nothing wrong was found".into()),
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

/// At most this many lines of the server's log are shown.
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

/// A complaint for people, with the rule that is broken, what explains it, and what the server says itself.
pub fn complaint(violation: &Violation, product: Product) -> String {
    let words = words(violation, product);
    let mut lines = vec![format!("\u{2717} {}", words.story()), format!("rule: {}", words.rule())];
    lines.extend(words.explanation());
    lines.extend(oracles::mvcc::known(&violation.fingerprint).map(|name| format!("known as {name}")));
    let log = &violation.evidence.log;
    lines.extend(log.iter().take(EVIDENCE).cloned());
    if let Some(more) = log.len().checked_sub(EVIDENCE).filter(|more| *more > 0) {
        lines.push(format!("... {more} more lines"));
    }
    let style = style();
    let wrapped =
        lines.iter().flat_map(|line| report::text::wrap(&visible(line), style.width.saturating_sub(4)));
    wrapped.collect::<Vec<_>>().join("\n    ") + "\n"
}
