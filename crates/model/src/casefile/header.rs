//! Reads the lines above the sections: `title`, `link`, `note`, `for` and `session`.

use std::ops::Range;

use super::{
    document::{Item, Kind, Section},
    problem::Problem,
    read::{KEYS, Read, Reader},
    source::{in_name, without_comment},
    statement::begins_step,
};
use crate::{case::SessionSpec, level::Level, target::Product};

impl Reader<'_> {
    /// One line above the sections.
    pub fn header(&mut self) -> Read {
        let start = self.cursor.pos;
        let key = self.cursor.take_while(|char| !char.is_whitespace());
        let key_span = start..self.cursor.pos;
        if begins_step(&self.cursor.text[start..]) {
            let problem = self.cursor.problem(key_span, "a step above the steps", "no section has begun");
            return Err(problem.help("the steps begin with a line that says `steps`"));
        }
        if !KEYS.contains(&key) {
            let known = KEYS.into_iter().chain(Section::ALL.map(Section::name));
            let problem = self.cursor.problem(key_span, format!("unknown key `{key}`"), "not known here");
            let all = "the keys are title, link, note, for and session; the sections setup, steps, final and fails on";
            return Err(problem.help(all).did_you_mean(key, known));
        }
        self.cursor.skip_blanks();
        let value = without_comment(self.cursor.line_rest());
        let span = self.cursor.pos..self.cursor.pos + value.len();
        if value.is_empty() {
            return Err(self.cursor.problem(
                key_span,
                format!("`{key}` without a value"),
                "nothing stands behind it",
            ));
        }
        let kind = match key {
            "title" => {
                if self.document.items.iter().any(|item| matches!(item.kind, Kind::Title(_))) {
                    let problem =
                        self.cursor.problem(key_span, "a second title", "there is a title above already");
                    return Err(problem);
                }
                Kind::Title(value.to_string())
            }
            "link" => Kind::Link(
                self.list(value, span.start, |word| (!word.is_empty()).then(|| word.to_string())).map_err(
                    |(span, _)| self.cursor.problem(span, "an empty link", "nothing between the commas"),
                )?,
            ),
            "note" => Kind::Note(value.to_string()),
            "for" => Kind::For(self.list(value, span.start, |word| word.parse::<Product>().ok()).map_err(
                |(span, word)| {
                    let names: Vec<&str> = Product::ALL.iter().map(|product| product.name()).collect();
                    let known = format!("Isopod knows {}", names.join(", "));
                    self.cursor
                        .problem(span, format!("unknown product `{word}`"), "not a product")
                        .help(known)
                        .did_you_mean(word, names)
                },
            )?),
            _ => Kind::Session(self.session(value, span.clone())?),
        };
        self.cursor.pos = span.end;
        Ok((kind, span))
    }

    /// Items between commas, each with its place if it cannot be read.
    fn list<'v, T>(
        &self,
        value: &'v str,
        start: usize,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, (Range<usize>, &'v str)> {
        let mut at = start;
        let mut all = Vec::new();
        for part in value.split(',') {
            let word = part.trim();
            let from = at + part.len() - part.trim_start().len();
            all.push(read(word).ok_or((from..from + word.len(), word))?);
            at += part.len() + 1;
        }
        Ok(all)
    }

    /// `T3 level SER, autocommit off`
    fn session(&self, value: &str, span: Range<usize>) -> Result<SessionSpec, Problem> {
        let wrong = |label: String| {
            self.cursor
                .problem(span.clone(), "a session that cannot be read", label)
                .help("write `session T3 level SER`, `session T3 autocommit off` or both, with a comma")
        };
        let name = &value[..value.find(|char| !in_name(char)).unwrap_or(value.len())];
        if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
            return Err(wrong("expected a name of letters and digits, such as T3".into()));
        }
        let mut session = SessionSpec::plain(name);
        let options = value[name.len()..].trim();
        for option in options.split(',').map(str::trim).filter(|_| !options.is_empty()) {
            match option.split_whitespace().collect::<Vec<_>>()[..] {
                ["level", level] => match level.parse::<Level>() {
                    Ok(level) => session.level = Some(level),
                    Err(unknown) => return Err(wrong(unknown.to_string())),
                },
                ["autocommit", "on"] => session.autocommit = true,
                ["autocommit", "off"] => session.autocommit = false,
                _ => return Err(wrong(format!("`{option}` is neither `level L` nor `autocommit off`"))),
            }
        }
        let twice = |item: &Item| matches!(&item.kind, Kind::Session(other) if other.name == name);
        if self.document.items.iter().any(twice) {
            return Err(self.cursor.problem(
                span,
                "a session is declared twice",
                format!("{name} stands above already"),
            ));
        }
        Ok(session)
    }
}
