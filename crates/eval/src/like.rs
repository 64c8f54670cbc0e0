//! LIKE: `%` stands for any characters, `_` for one, and an escape takes the meaning from what follows it.

/// Does the text fit the pattern? `same` says which characters count as equal. Nothing if the pattern ends in its
/// escape: products differ there.
pub fn like(
    text: &[char],
    pattern: &[char],
    escape: Option<char>,
    same: &dyn Fn(char, char) -> bool,
) -> Option<bool> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut rest = pattern.iter();
    while let Some(&c) = rest.next() {
        parts.push(match c {
            c if Some(c) == escape => Part::One(*rest.next()?),
            '%' => Part::Any,
            '_' => Part::Single,
            c => Part::One(c),
        });
    }
    Some(fits(text, &parts, same))
}

#[derive(Clone, Copy)]
enum Part {
    Any,
    Single,
    One(char),
}

fn fits(text: &[char], parts: &[Part], same: &dyn Fn(char, char) -> bool) -> bool {
    match (parts.split_first(), text.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((Part::Any, parts)), _) => (0..=text.len()).any(|at| fits(&text[at..], parts, same)),
        (Some((Part::Single, parts)), Some((_, text))) => fits(text, parts, same),
        (Some((Part::One(c), parts)), Some((first, text))) => same(*first, *c) && fits(text, parts, same),
        (Some((Part::Single | Part::One(_), _)), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(text: &str, pattern: &str) -> Option<bool> {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        like(&chars(text), &chars(pattern), Some('\\'), &|a, b| a.eq_ignore_ascii_case(&b))
    }

    #[test]
    fn wildcards_and_escapes() {
        assert_eq!(fit("Abc", "a%"), Some(true));
        assert_eq!(fit("abc", "a_"), Some(false));
        assert_eq!(fit("", "%"), Some(true));
        assert_eq!(fit("a%", "a\\%"), Some(true));
        assert_eq!(fit("ab", "a\\%"), Some(false));
        assert_eq!(fit("a", "a\\"), None);
    }
}
