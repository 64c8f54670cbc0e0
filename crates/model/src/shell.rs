//! Commands for people to copy into a shell. Whatever goes into one is quoted here: paths, targets and names are what others chose.

/// A word that a shell reads back as it is.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    let obeyed = |c: char| c.is_control() && c != '\t';
    if !word.contains(obeyed) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // A line break would end the line that it is shown in, and a terminal would obey others.
    let written = word.chars().map(|c| match c {
        '\'' | '\\' => format!("\\{c}"),
        c if obeyed(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("$'{}'", written.collect::<String>())
}

/// A command of these words.
pub fn command<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_nothing_but_itself() {
        for plain in ["isopod", "runs/2026-11-16T14-31", "mysql@9.7", "--level", "a=b,c", "mysql://u@h:1/db"]
        {
            assert_eq!(quoted(plain), plain);
        }
        assert_eq!(quoted("mysql?x='$(touch /tmp/P)'"), "'mysql?x='\\''$(touch /tmp/P)'\\'''");
        assert_eq!(command(["isopod", "report", "run;id"]), "isopod report 'run;id'");
        assert_eq!(command(["a b", "", "~", "a\n\u{1b}'\\"]), "'a b' '' '~' $'a\\u000a\\u001b\\'\\\\'");
    }
}
