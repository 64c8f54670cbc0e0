//! What is wrong with a case file, and where: plain data that a program can show in its own way.

use std::ops::Range;

use serde::Serialize;
use strsim::osa_distance;

use super::source::line_and_column;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// How many characters of the line it is about; 0 where something is missing.
    pub length: usize,
    /// What is wrong, in a few words.
    pub message: String,
    /// Why, or what is there instead; stands beside the place.
    pub label: String,
    pub help: Option<String>,
}

impl Problem {
    /// A problem of these bytes of the text. Only the first line of them is marked.
    pub(super) fn at(
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        let (line, column) = line_and_column(text, span.start);
        let marked = text[span].lines().next().unwrap_or("");
        Problem {
            line,
            column,
            length: marked.trim_end().chars().count(),
            message: message.into(),
            label: label.into(),
            help: None,
        }
    }

    /// With advice.
    pub(super) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// With the name that was probably meant, if one of these is near.
    pub(super) fn did_you_mean<'a>(self, written: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
        match nearest(written, known) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// The known name that is at most two typing mistakes away.
pub(super) fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    known
        .into_iter()
        // Letters put in, left out, changed or swapped with their neighbour.
        .map(|name| (osa_distance(&written, name), name))
        // Two mistakes in a word of three letters are another word.
        .filter(|(distance, name)| *distance <= 2.min(name.len() / 2))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["setup", "steps", "final", "for"];
        assert_eq!(nearest("stesp", known), Some("steps"));
        assert_eq!(nearest("Finale", known), Some("final"));
        assert_eq!(nearest("tables", known), None);
        assert_eq!(nearest("if", known), None);
    }
}
