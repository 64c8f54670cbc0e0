//! The notations in which cases are written down, told apart by the extension of a file: the one place that knows extensions.
//!
//! ```text
//! write-skew.iso --read--> Case, or problems with their lines
//! ```
//!
//! `.iso` is described in docs/case-format.md; its parser is `model::casefile`. Another notation is another [`Format`]: a variant, its
//! extension, and an arm in [`read`]. For tests there is [`trace`]: statements together with their answers.

mod trace;

use std::path::Path;

pub use trace::{reply, rows, server, trace};

use model::{
    Case,
    casefile::{self, Problem},
};

/// How a case is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Isopod's own.
    Iso,
}

impl Format {
    pub const ALL: [Format; 1] = [Format::Iso];

    /// Of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Iso => "iso",
        }
    }

    /// By the name of a file; none if it is no case by its name.
    pub fn of(name: &Path) -> Option<Format> {
        let extension = name.extension()?;
        Format::ALL.into_iter().find(|format| extension == format.extension())
    }
}

/// Reads a case. A name without an extension that we know is Isopod's own notation: whoever names a file means it.
pub fn read(name: &str, text: &str) -> Result<Case, Vec<Problem>> {
    match Format::of(Path::new(name)).unwrap_or(Format::Iso) {
        Format::Iso => Ok(casefile::parse(text)?.into_case()),
    }
}

/// The text in its usual layout.
pub fn format(name: &str, text: &str) -> Result<String, Vec<Problem>> {
    match Format::of(Path::new(name)).unwrap_or(Format::Iso) {
        Format::Iso => casefile::format(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_its_extension() {
        assert_eq!(Format::of(Path::new("corpus/phenomena/g0.iso")), Some(Format::Iso));
        for name in ["case.json", "iso", ".iso", "case.iso.tmp"] {
            assert_eq!(Format::of(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn a_case_or_its_problems() {
        let text = "title a case\nsteps\n T1: SELECT 1;\n";
        for name in ["case.iso", "case"] {
            assert_eq!(read(name, text).map(|case| case.steps.len()), Ok(1));
            assert_eq!(read(name, &format(name, text).unwrap()), read(name, text));
        }
        assert!(read("case.iso", "stesp").is_err());
    }
}
