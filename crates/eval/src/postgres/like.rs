//! LIKE as PostgreSQL matches it: a backslash escapes, and a pattern that ends in one is an error, but only if the match
//! gets that far.

use super::cast::RANGE;
use crate::Fault;

/// Does the text fit the pattern?
pub(super) fn like(text: &str, pattern: &str, ignores_case: bool) -> Result<bool, Fault> {
    let letters = |text: &str| -> Vec<char> {
        // In the "C" locale only ASCII has cases.
        text.chars().map(|c| if ignores_case { c.to_ascii_lowercase() } else { c }).collect()
    };
    matches(&letters(text), &letters(pattern)).map(|end| end == MatchEnd::Fits)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchEnd {
    Fits,
    Differs,
    /// The text was over before the pattern: no longer `%` helps.
    TooShort,
}

fn matches(mut text: &[char], mut pattern: &[char]) -> Result<MatchEnd, Fault> {
    while let ([first, ..], [mark, ..]) = (text, pattern) {
        match mark {
            '\\' => {
                let [_, escaped, ..] = pattern else { return Err(RANGE) };
                if first != escaped {
                    return Ok(MatchEnd::Differs);
                }
                pattern = &pattern[2..];
                text = &text[1..];
                continue;
            }
            '%' => return percent(text, &pattern[1..]),
            '_' => {}
            plain if plain != first => return Ok(MatchEnd::Differs),
            _ => {}
        }
        pattern = &pattern[1..];
        text = &text[1..];
    }
    if !text.is_empty() {
        return Ok(MatchEnd::Differs);
    }
    let rest = pattern.iter().position(|mark| *mark != '%').unwrap_or(pattern.len());
    Ok(if rest == pattern.len() { MatchEnd::Fits } else { MatchEnd::TooShort })
}

/// After a `%`.
fn percent(mut text: &[char], mut pattern: &[char]) -> Result<MatchEnd, Fault> {
    // Further wildcards: each `_` takes a character, `%` none.
    loop {
        match pattern {
            ['%', rest @ ..] => pattern = rest,
            ['_', rest @ ..] => {
                if text.is_empty() {
                    return Ok(MatchEnd::TooShort);
                }
                (text, pattern) = (&text[1..], rest);
            }
            [] => return Ok(MatchEnd::Fits),
            _ => break,
        }
    }
    let first = match pattern {
        ['\\'] => return Err(RANGE),
        ['\\', escaped, ..] => *escaped,
        [plain, ..] => *plain,
        [] => return Ok(MatchEnd::Fits),
    };
    while let [here, rest @ ..] = text {
        if *here == first {
            match matches(text, pattern)? {
                MatchEnd::Differs => {}
                end => return Ok(end),
            }
        }
        text = rest;
    }
    Ok(MatchEnd::TooShort)
}

/// The pattern with the default escape instead of its own.
pub(super) fn escaped(pattern: &str, escape: &str) -> Result<String, Fault> {
    let mut escapes = escape.chars();
    let own = escapes.next();
    if escapes.next().is_some() {
        return Err(RANGE);
    }
    let mut made = String::with_capacity(pattern.len() + 4);
    let mut after = false;
    for c in pattern.chars() {
        if Some(c) == own && !after {
            made.push('\\');
            after = true;
        } else {
            // A backslash is an ordinary character now, unless it is the escape.
            if c == '\\' && !after && own != Some('\\') {
                made.push('\\');
            }
            made.push(c);
            after = false;
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (text, pattern, fits) in [
            ("abc", "a%", true),
            ("abc", "a_", false),
            ("", "%", true),
            ("a%", "a\\%", true),
            ("ab", "a\\%", false),
            ("abcbc", "%bc", true),
            ("Abc", "a%", false),
            ("ab", "%_%_%_", false),
        ] {
            assert_eq!(like(text, pattern, false), Ok(fits), "{text} {pattern}");
        }
        assert_eq!(like("Abc", "aB_", true), Ok(true));
        assert_eq!(like("ab", "a\\", false), Err(RANGE));
        // The match ends before it comes to the lone escape.
        assert_eq!(like("b", "a\\", false), Ok(false));
        assert_eq!(like("a", "a\\", false), Ok(false));
    }

    #[test]
    fn other_escapes() {
        assert_eq!(escaped("a!%\\", "!").unwrap(), "a\\%\\\\");
        assert_eq!(escaped("a\\%", "").unwrap(), "a\\\\%");
        assert_eq!(escaped("a", "xy"), Err(RANGE));
    }
}
