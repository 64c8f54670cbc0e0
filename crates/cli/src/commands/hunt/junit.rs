//! What a hunt came to, for build servers.

use std::time::Duration;

use model::RunSummary;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::summary::{relative, what};
use crate::judged;

/// As JUnit XML: a suite per target, a failure per kind of finding.
pub fn junit(summary: &RunSummary) -> anyhow::Result<String> {
    let mut report = Report::new("isopod hunt");
    for hunted in &summary.targets {
        let mut suite = TestSuite::new(xml(&hunted.target.to_string()));
        suite.set_time(Duration::from_millis(summary.elapsed_ms));
        let mut add = |name: String, status: TestCaseStatus| {
            let mut case = TestCase::new(xml(&name), status);
            case.set_classname(xml(&hunted.target.to_string()));
            suite.add_test_case(case);
        };
        for row in summary.findings.iter().filter(|row| row.targets.contains(&hunted.target)) {
            let mut status = if row.is_new() {
                TestCaseStatus::non_success(NonSuccessKind::Failure)
            } else {
                TestCaseStatus::skipped()
            };
            match (&row.known, row.not_reproduced()) {
                (_, Some(on)) => {
                    let kind = relative(row).map_or(String::new(), |kind| format!("; {kind}"));
                    status.set_message(xml(&format!("not reproduced on {}{kind}", on.words())))
                }
                (Some(name), None) => status.set_message(xml(&format!("known: {name}"))),
                (None, None) => {
                    let words = judged::words(&row.smallest.violation, row.smallest.target.product);
                    status.set_message(xml(&words.story())).set_description(xml(&words.lines().join("\n")))
                }
            };
            add(format!("{} {}", what(row), row.id), status);
        }
        if let Some(why) = &hunted.lost {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(xml(why));
            add("server".to_string(), status);
        }
        add(format!("{} cases", hunted.tally.cases), TestCaseStatus::success());
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}

/// Characters that XML does not have are written out.
fn xml(text: &str) -> String {
    let known = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().flat_map(|c| if known(c) { vec![c] } else { c.escape_unicode().collect() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_have_is_written_out() {
        let text = "a\u{fffe}\u{ffff}\u{0}\u{1b}\u{fffd}\u{10ffff}\n";
        assert_eq!(xml(text), "a\\u{fffe}\\u{ffff}\\u{0}\\u{1b}\u{fffd}\u{10ffff}\n");
    }
}
