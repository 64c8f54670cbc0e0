//! How a session sets its level and begins.

use model::{Level, Version};

/// How a level is set in a session and how the session is asked for it.
pub struct SetLevel {
    /// The statement that sets it.
    pub set: fn(Level) -> String,
    /// The query that reads it back.
    pub read: fn(&Version) -> &'static str,
    /// What that query answers at a level.
    pub answer: fn(Level) -> String,
}

/// The three ways to begin.
pub struct Begin {
    pub plain: &'static str,
    /// With a snapshot taken at once.
    pub snapshot: Option<&'static str>,
    pub read_only: Option<&'static str>,
}
