//! Scripts that show a finding again without Isopod, in the order in which things really happened.
//!
//! * [`terminals`]: plain SQL for people with a terminal for each session;
//! * [`shell`]: drives the vendor's own command-line clients and checks the answer;
//! * [`mysqltest`]: the test format of MySQL and MariaDB;
//! * [`spec`]: the one of PostgreSQL's isolation tests.
//!
//! No script is written for a case that holds what its tool would run by itself ([`Withheld`]).
//!
//! The order is that of the trace, not that of the case: a statement that was queued behind one that waited stands where it was sent.

mod client;
mod harmless;
pub mod mysqltest;
mod order;
pub mod shell;
pub mod spec;
pub mod terminals;

use dialect::{TestTool, own_commands::MYSQLTEST};

pub use client::ended;
pub use harmless::Withheld;

use self::order::{Act, acts};
use crate::{bug_report::BugReport, markdown, steps, text, words};

/// A file beside the page of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub name: String,
    /// What it is, in two or three words.
    pub label: &'static str,
    /// What to do with it.
    pub about: &'static str,
    pub text: String,
    pub runs: bool,
}

/// Every file that a finding has beside its page: the case file and the Markdown first.
pub fn all(bug: &BugReport) -> Vec<Script> {
    let file = |ending: &str, label, about, text, runs| Script {
        name: format!("{}{ending}", bug.finding.id),
        label,
        about,
        text,
        runs,
    };
    let mut files = Vec::new();
    if let Some(text) = bug.case_file() {
        files.push(file(".iso", "Case file", "isopod run FILE --target TARGET", text, false));
    }
    files.push(file(".md", "Markdown", "ready for a bug tracker", markdown::markdown(bug), false));
    if let Ok(Some(text)) = shell::script(bug) {
        files.push(file(
            ".sh",
            "Shell script",
            "drives the command-line clients and checks the answer",
            text,
            true,
        ));
    }
    if let Ok(Some(text)) = terminals::script(bug) {
        files.push(file(".sql", "Terminals", "to be typed, a terminal for each session", text, false));
    }
    match dialect::of(bug.product()).test_tool {
        Some(TestTool::Mysqltest { includes }) => {
            files.extend(mysqltest::script(bug, includes).ok().flatten().map(|text| {
                file(".test", "mysqltest", "for mysql-test-run or mysqltest by itself", text, false)
            }))
        }
        Some(TestTool::Isolationtester) => {
            files.extend(spec::script(bug).map(|text| {
                file(".spec", "isolationtester", "for PostgreSQL's isolation tests", text, false)
            }))
        }
        None => {}
    }
    files
}

/// Why there are fewer of them than the product has tools for.
pub fn withheld(bug: &BugReport) -> Vec<Withheld> {
    let dialect = dialect::of(bug.product());
    let terminal = dialect.terminal.as_ref().map(|terminal| terminal.commands);
    let test = matches!(dialect.test_tool, Some(TestTool::Mysqltest { .. })).then_some(MYSQLTEST);
    terminal.iter().chain(&test).filter_map(|commands| harmless::check(bug, commands).err()).collect()
}

/// Nobody in a deadlock is ended after this, in seconds: servers search at once, or every second.
const STILL: u32 = 10;

/// Why a script rolls somebody back who does not in the case.
const UNBLOCKED: &str = "not in the case: nothing moves any more, and what is wrong comes only after this";

/// What is said where a script ends because nothing moves any more.
fn stalled(bug: &BugReport, steps: &[usize]) -> String {
    let waits = bug.finding.violation.circle();
    let wrong = if waits.is_empty() { "" } else { "   <-- wrong" };
    let steps = words::numbered(if waits.is_empty() { steps } else { waits });
    let (step, verb) = if steps.contains(' ') { ("steps", "wait") } else { ("step", "waits") };
    let whom = if waits.is_empty() { "" } else { " for each other" };
    format!("nothing moves any more: {step} {steps} {verb}{whom} until a timeout{wrong}")
}

/// The statements in their real order, each with what came of it: for people.
pub fn real_order(bug: &BugReport) -> Vec<String> {
    let mut lines = Vec::new();
    for session in 0..bug.execution.case.sessions.len() {
        for sql in client::greeting(bug, session) {
            lines.push(format!("/*    {} */ {}", bug.session(session), ended(&sql)));
        }
    }
    for act in acts(bug) {
        lines.push(match act {
            Act::Run(step) => markdown::step_line(
                bug,
                step,
                &steps::answer(&bug.execution.case, &bug.execution.trace, step),
            ),
            Act::Begin(step, _) => {
                let words = steps::waiting(&bug.execution.case, &bug.execution.trace, step);
                markdown::step_line(bug, step, &words)
            }
            Act::Back(step) => markdown::back_line(bug, step),
            Act::RollBack(session) => format!("/*    {} */ ROLLBACK;", bug.session(session)),
            Act::Unblock(session) => format!("/*    {} */ ROLLBACK;   -- {UNBLOCKED}", bug.session(session)),
            Act::Stall(steps) => format!("-- {}", text::clean(&stalled(bug, &steps))),
        });
    }
    lines
}
