//! What the scripts have in common: how a session begins, how statements end, what the schema is called.

use model::Level;

use crate::finding::Finding;

/// What each session says first.
pub fn greeting(finding: &Finding, session: usize) -> Vec<String> {
    let dialect = dialect::of(finding.product());
    let level = |level: Level| dialect.set_level.as_ref().map(|how| (how.set)(level));
    let mut first: Vec<String> = level(finding.level_of(session)).into_iter().collect();
    if !finding.case.sessions[session].autocommit {
        first.extend(dialect.autocommit_off.map(str::to_string));
    }
    first
}

/// A statement with its end.
pub fn ended(sql: &str) -> String {
    format!("{};", sql.trim().trim_end_matches(';'))
}

/// The name of the schema that a script makes for itself: nothing in it is needed for the effect.
pub fn schema(finding: &Finding) -> String {
    format!("test_{}", finding.id)
}

/// A comment that stays one line.
pub fn comment(text: &str) -> String {
    crate::text::clean(text)
}
