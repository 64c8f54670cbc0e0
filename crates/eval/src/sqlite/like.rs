//! LIKE, which knows the cases of ASCII only and has no escape unless one is named, and GLOB, which knows cases.

use model::sql::LikeOp;

use super::{affinity, compute::NOT_HERE};
use crate::{Datum, Fault};

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Any,
    Single,
    One(char),
    /// After an escape at the end of the pattern: nothing fits.
    Never,
}

/// Does the text fit the pattern? Nothing if one of them is NULL.
pub(super) fn like(
    op: LikeOp,
    text: &Datum,
    pattern: &Datum,
    escape: Option<&Datum>,
) -> Result<Option<bool>, Fault> {
    let (any, single) = match op {
        LikeOp::Like => ('%', '_'),
        LikeOp::Glob => ('*', '?'),
        LikeOp::Regexp | LikeOp::Rlike | LikeOp::Ilike => return Err(NOT_HERE),
    };
    let cases = op == LikeOp::Glob;
    if text.is_null() || pattern.is_null() {
        return Ok(None);
    }
    let escape =
        match escape.map(affinity::text).transpose()?.as_deref().map(|text| (text.chars().next(), text)) {
            None => None,
            Some((Some(first), text))
                if text.chars().count() == 1 && !cases && first != any && first != single =>
            {
                Some(first)
            }
            Some(_) => return Err(NOT_HERE),
        };
    let pattern = affinity::text(pattern)?;
    if cases && pattern.contains('[') {
        return Err(Fault::unsure("a set of characters in a pattern"));
    }
    let letter = |c: char| if cases { c } else { c.to_ascii_lowercase() };
    let mut parts = Vec::with_capacity(pattern.len());
    let mut marks = pattern.chars();
    while let Some(mark) = marks.next() {
        parts.push(match mark {
            mark if Some(mark) == escape => marks.next().map_or(Part::Never, |c| Part::One(letter(c))),
            mark if mark == any => Part::Any,
            mark if mark == single => Part::Single,
            mark => Part::One(letter(mark)),
        });
    }
    let text: Vec<char> = affinity::text(text)?.chars().map(letter).collect();
    Ok(Some(fits(&text, &parts)))
}

fn fits(text: &[char], parts: &[Part]) -> bool {
    match (parts.split_first(), text.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((Part::Any, [])), _) => true,
        (Some((Part::Any, parts)), _) => (0..=text.len()).any(|at| fits(&text[at..], parts)),
        (Some((Part::Never, _)), _) | (Some(_), None) => false,
        (Some((part, parts)), Some((first, text))) => {
            (*part == Part::Single || *part == Part::One(*first)) && fits(text, parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let fit = |op, text: &str, pattern: &str, escape: Option<&str>| {
            let datum = |text: &str| Datum::Text(text.to_string());
            like(op, &datum(text), &datum(pattern), escape.map(datum).as_ref()).unwrap().unwrap()
        };
        let plain = |text, pattern| fit(LikeOp::Like, text, pattern, None);
        assert!(
            plain("ABC", "a%") && plain("a", "_") && plain("", "%") && !plain("", "_") && !plain("ab", "a")
        );
        assert!(fit(LikeOp::Glob, "abc", "a*", None) && !fit(LikeOp::Glob, "ABC", "a*", None));
        assert!(fit(LikeOp::Like, "a%", "a!%", Some("!")) && !fit(LikeOp::Like, "ab", "a!%", Some("!")));
        assert!(!fit(LikeOp::Like, "a", "a!", Some("!")));
    }
}
