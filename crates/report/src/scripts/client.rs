//! What the scripts have in common: how a session begins, how statements end, what the schema is called.

use model::Level;

use crate::bug_report::BugReport;

/// What each session says first.
pub fn greeting(bug: &BugReport, session: usize) -> Vec<String> {
    let dialect = dialect::of(bug.product());
    let level = |level: Level| dialect.set_level.as_ref().map(|how| (how.set)(level));
    let mut first: Vec<String> = level(bug.level_of(session)).into_iter().collect();
    if !bug.execution.case.sessions[session].autocommit {
        first.extend(dialect.autocommit_off.map(str::to_string));
    }
    first
}

/// A statement with its end.
pub fn ended(sql: &str) -> String {
    format!("{};", sql.trim().trim_end_matches(';'))
}

/// The name of the schema that a script makes for itself: nothing in it is needed for the effect.
pub fn schema(bug: &BugReport) -> String {
    let id = bug.finding.id.chars().filter(char::is_ascii_alphanumeric);
    format!("test_{}", id.collect::<String>())
}

/// A session's name as that of a file or a connection.
pub fn name(bug: &BugReport, session: usize) -> String {
    comment(bug.session(session)).replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

/// On one line: commands of the tools themselves begin lines.
pub fn one_line(sql: &str) -> String {
    sql.replace(['\n', '\r'], " ")
}

/// A comment that stays one line.
pub fn comment(text: &str) -> String {
    crate::text::clean(text)
}
