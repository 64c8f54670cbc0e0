//! Numbers of bug reports in a text, and where each can be read.

/// How a tracker's numbers are written, and what stands before the number in an address.
const TRACKERS: [(&str, &str); 2] =
    [("MDEV-", "https://jira.mariadb.org/browse/MDEV-"), ("MySQL#", "https://bugs.mysql.com/bug.php?id=")];

/// A piece of a text, with its address where it is the number of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub url: Option<String>,
}

/// The text in pieces; joined they are the text again.
pub fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    let plain = |text: &str| (!text.is_empty()).then(|| Part { text: text.to_string(), url: None });
    while let Some((at, name, address)) = next(rest) {
        parts.extend(plain(&rest[..at]));
        let digits = rest[at + name.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + name.len() + digits;
        let url = Some(format!("{address}{}", &rest[at + name.len()..end]));
        parts.push(Part { text: rest[at..end].to_string(), url });
        rest = &rest[end..];
    }
    parts.extend(plain(rest));
    parts
}

/// The first number of a report: where it begins, and whose it is.
fn next(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let first = |(name, address): (&'static str, &'static str)| {
        let mut found = text.match_indices(name).map(|(at, _)| at);
        let numbered = |at: &usize| text[at + name.len()..].starts_with(|c: char| c.is_ascii_digit());
        Some((found.find(numbered)?, name, address))
    };
    TRACKERS.into_iter().filter_map(first).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_addresses_and_the_text_stays() {
        let text = "MDEV-32898, MySQL#113228 (rejected by the vendor); MDEV-x";
        let all = parts(text);
        assert_eq!(all.iter().map(|part| part.text.as_str()).collect::<String>(), text);
        let urls: Vec<&str> = all.iter().filter_map(|part| part.url.as_deref()).collect();
        assert_eq!(
            urls,
            ["https://jira.mariadb.org/browse/MDEV-32898", "https://bugs.mysql.com/bug.php?id=113228"]
        );
    }
}
