//! A place in the text that moves forward, and the few things that every reader asks of it.

use std::ops::Range;

use super::problem::Problem;

/// The line and the column of a byte, both from 1; columns count characters.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Does a comment begin here? Two dashes, then a blank or the end of the line.
pub(super) fn is_comment(rest: &str) -> bool {
    rest.strip_prefix("--").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
}

/// A line without the comment at its end, for lines that hold no quotes.
pub(super) fn without_comment(line: &str) -> &str {
    let mut before = None;
    for (at, char) in line.char_indices() {
        if char == '-' && before.is_none_or(|c| c == ' ' || c == '\t') && is_comment(&line[at..]) {
            return line[..at].trim_end();
        }
        before = Some(char);
    }
    line.trim_end()
}

/// Is this a letter of a name?
pub(super) fn in_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '$'
}

/// A place in the text.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub pos: usize,
}

impl<'a> Cursor<'a> {
    /// A problem of these bytes.
    pub fn problem(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        Problem::at(self.text, span, message, label)
    }

    /// The word that stands here is not what was expected.
    pub fn unreadable(&self, what: &str, label: impl Into<String>) -> Problem {
        self.problem(self.word_span(), format!("{what} that cannot be read"), label)
    }

    /// What is still to come.
    pub fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Past blanks and tabs, but not past the end of the line.
    pub fn skip_blanks(&mut self) {
        self.pos += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// Is nothing left on this line?
    pub fn at_line_end(&self) -> bool {
        matches!(self.peek(), None | Some('\n'))
    }

    /// Is nothing left on this line but a comment?
    pub fn at_end_or_comment(&self) -> bool {
        self.at_line_end() || is_comment(self.rest())
    }

    /// Where this line ends (its line feed, or the end of the text).
    pub fn line_end(&self) -> usize {
        self.rest().find('\n').map_or(self.text.len(), |i| self.pos + i)
    }

    /// What is left of this line.
    pub fn line_rest(&self) -> &'a str {
        &self.text[self.pos..self.line_end()]
    }

    /// What stands before the cursor on its line.
    pub fn line_before(&self) -> &'a str {
        let start = self.text[..self.pos].rfind('\n').map_or(0, |i| i + 1);
        &self.text[start..self.pos]
    }

    /// Takes this text if it comes next.
    pub fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.pos += what.len();
        }
        found
    }

    /// Takes this word if it comes next, with blanks before it.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let found = ahead.take_while(in_name) == word;
        if found {
            self.pos = ahead.pos;
        }
        found
    }

    /// Takes as many characters as fit.
    pub fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|char| !fits(char)).unwrap_or(rest.len())];
        self.pos += taken.len();
        taken
    }

    /// Takes a comment up to the end of the line.
    pub fn take_comment(&mut self) -> Option<String> {
        is_comment(self.rest()).then(|| {
            let comment = self.line_rest().trim_end().to_string();
            self.pos = self.line_end();
            comment
        })
    }

    /// The word that stands here, for messages: up to the next blank, or one character.
    pub fn word_span(&self) -> Range<usize> {
        let rest = self.line_rest();
        let length = rest.find([' ', '\t', ',', ')', ']', ';']).unwrap_or(rest.len());
        let least = rest.chars().next().map_or(0, char::len_utf8);
        self.pos..self.pos + length.max(least)
    }
}
