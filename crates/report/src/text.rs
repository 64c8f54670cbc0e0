//! Small tools for text in cells: its width, cleaning, cutting, wrapping.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A blank at which no line is broken. It cannot come from elsewhere: [`clean`] escapes it.
pub const HARD_BLANK: char = '\u{1}';

/// How many columns of a terminal it takes: wide characters take two.
pub fn width(text: &str) -> usize {
    text.width()
}

/// On one line and without anything that a terminal would obey.
pub fn clean(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars() {
        match c {
            '\n' | '\r' | '\t' if out.ends_with(' ') => {}
            '\n' | '\r' | '\t' => out.push(' '),
            ' ' if out.ends_with(' ') && text.contains('\n') => {}
            c if obeyed(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Would a terminal or a page do something with it instead of showing it? Marks that turn the direction of writing do that to what stands
/// around them.
pub fn obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// A value with its line breaks and the like written out, so that none is lost or obeyed.
pub fn visible(text: &str) -> String {
    text.chars().flat_map(|c| if obeyed(c) { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Several lines, each with nothing in it that a terminal would obey.
pub fn lines(text: &str) -> String {
    text.split('\n').map(|line| visible(&line.replace('\t', " "))).collect::<Vec<_>>().join("\n")
}

/// What goes to a terminal: colours as we set them stay, everything else that it would obey is written out.
pub fn for_terminal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c| obeyed(c) && c != '\n' && c != '\t') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = colour(from).unwrap_or_else(|| from.chars().next().map_or(0, char::len_utf8));
        match colour(from) {
            Some(_) => out.push_str(&from[..length]),
            None => out.extend(from[..length].chars().flat_map(char::escape_default)),
        }
        rest = &from[length..];
    }
    out + rest
}

/// The length of the sequence that sets a colour or a weight of ours, if the text begins with one. None hides text.
fn colour(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let codes = &codes[..codes.find('m')?];
    let ours = |code: &str| {
        matches!(
            code,
            "" | "0"
                | "1"
                | "2"
                | "3"
                | "4"
                | "22"
                | "24"
                | "31"
                | "32"
                | "33"
                | "34"
                | "35"
                | "36"
                | "39"
                | "90"
                | "91"
                | "92"
                | "93"
                | "94"
                | "95"
                | "96"
        )
    };
    codes.split(';').all(ours).then_some(codes.len() + 3)
}

/// With a capital letter first.
pub fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Several blanks in a row as one.
pub fn squeeze(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    out
}

/// Not longer than this, with `…` where something is missing.
pub fn cut(text: &str, longest: usize) -> String {
    if width(text) <= longest {
        return text.to_string();
    }
    let (kept, _) = text.split_at(fits(text, longest.saturating_sub(1)));
    format!("{kept}…")
}

/// The bytes of it that fit into so many columns.
fn fits(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(1);
        taken > columns
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// Filled up with blanks.
pub fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// Lines of at most this width. A row in parentheses or a text in quotes is broken only if it must be.
pub fn wrap(text: &str, to: usize) -> Vec<String> {
    let to = to.max(4);
    let mut lines = vec![String::new()];
    for word in words(text) {
        let whole = width(&word) <= to;
        let parts: Vec<String> =
            if whole { vec![word] } else { word.split(' ').flat_map(|part| chop(part, to)).collect() };
        for part in parts {
            let last = lines.last_mut().expect("there is always one");
            if last.is_empty() {
                *last = part;
            } else if width(last) + 1 + width(&part) <= to {
                last.push(' ');
                last.push_str(&part);
            } else {
                lines.push(part);
            }
        }
    }
    lines.iter().map(|line| line.replace(HARD_BLANK, " ")).collect()
}

/// As [`wrap`], but of more than `most` lines the last one ends with `…`.
pub fn wrap_cut(text: &str, to: usize, most: usize) -> Vec<String> {
    let mut lines = wrap(text, to);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{}…", cut(last, to.saturating_sub(1)).trim_end_matches('…'));
        }
    }
    lines
}

/// Split at blanks outside of parentheses and quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut depth, mut quoted) = (0usize, false);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        match words.last_mut() {
            Some(last) if c != ' ' || depth > 0 || quoted => last.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn chop(mut word: &str, to: usize) -> Vec<String> {
    let mut parts = Vec::new();
    while !word.is_empty() {
        let (part, rest) = word.split_at(fits(word, to));
        parts.push(part.to_string());
        word = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_whole_where_they_can() {
        assert_eq!(wrap("(1, 'a b') (2, 'c d')", 12), ["(1, 'a b')", "(2, 'c d')"]);
        assert_eq!(wrap("(1, 'abcdefghij')", 8), ["(1,", "'abcdefg", "hij')"]);
        assert_eq!(wrap_cut("a b c d e f", 4, 2), ["a b", "c d…"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!((width("日本"), width("e\u{301}")), (4, 1));
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(pad("日", 4), "日  ");
        assert_eq!(wrap("日本語日本", 4), ["日本", "語日", "本"]);
    }

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(clean("a\n\t  b\u{1b}[31m"), "a b\\u{1b}[31m");
        assert_eq!(visible("'a\n  b\u{1b}'"), "'a\\n  b\\u{1b}'");
        let attack = "\u{1b}]0;PWN\u{7}\u{1b}[2J\u{9b}2J\u{1b}[8m\u{1b}[999m\u{1b}[1;\u{202e}\r\u{1b}";
        let shown = for_terminal(attack);
        assert!(!shown.contains(obeyed), "{shown:?}");
        assert_eq!(
            for_terminal("\u{1b}[1m\u{1b}[91merror\u{1b}[0m: a\n\tb"),
            "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: a\n\tb"
        );
        assert_eq!(lines("a\n\u{1b}[31mb"), "a\n\\u{1b}[31mb");
    }
}
