//! Why a server that is not ours cannot be used, and what to do about it.

use execute::LaunchError;

/// What went wrong and what to do. Neither holds a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{title}")]
pub struct AttachError {
    /// One line.
    pub title: String,
    /// What to do, a line each.
    pub help: Vec<String>,
}

impl AttachError {
    /// An error with advice.
    pub fn new(title: impl Into<String>, help: impl IntoIterator<Item = impl Into<String>>) -> AttachError {
        AttachError { title: title.into(), help: help.into_iter().map(Into::into).collect() }
    }

    /// An error that says enough by itself.
    pub fn bare(title: impl Into<String>) -> AttachError {
        AttachError { title: title.into(), help: Vec::new() }
    }
}

impl From<AttachError> for LaunchError {
    fn from(error: AttachError) -> LaunchError {
        LaunchError::not_started(error.title, error.help)
    }
}
