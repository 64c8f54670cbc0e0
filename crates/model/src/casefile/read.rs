//! Reads a text into its items, and goes on after a mistake, so that one run shows most of them.

use std::ops::Range;

use super::{
    document::{Document, Item, Kind, Section, Trivia},
    outcome,
    problem::{Problem, nearest},
    selector,
    source::{Cursor, in_name, without_comment},
    statement::{End, begins_other, begins_step, dedent, find_end},
};

/// The lines above the sections; [`super::header`] reads them.
pub(super) const KEYS: [&str; 5] = ["title", "link", "note", "for", "session"];

/// Reads a whole text.
pub(super) fn read(text: &str) -> Result<Document, Vec<Problem>> {
    let mut reader = Reader {
        cursor: Cursor { text, pos: 0 },
        section: None,
        expects: false,
        resume: None,
        problems: Vec::new(),
        document: Document::default(),
    };
    reader.run();
    if reader.problems.is_empty() { Ok(reader.document) } else { Err(reader.problems) }
}

/// How far the reading has come.
pub(super) struct Reader<'a> {
    pub cursor: Cursor<'a>,
    section: Option<Section>,
    /// Did this section already have something that `=>` or `step 1 =>` can belong to?
    expects: bool,
    /// Where to go on after a mistake, if not on the next line.
    resume: Option<usize>,
    problems: Vec<Problem>,
    pub document: Document,
}

/// An item and the bytes that its problems point at.
pub(super) type Read = Result<(Kind, Range<usize>), Problem>;

impl Reader<'_> {
    fn run(&mut self) {
        let mut above = Vec::new();
        loop {
            self.cursor.skip_blanks();
            let alone = self.cursor.line_before().trim().is_empty();
            if let Some(text) = self.cursor.take_comment() {
                match self.document.items.last_mut().filter(|_| !alone) {
                    Some(item) => item.comment = Some(text),
                    None => above.push(Trivia::Comment { indented: self.is_indented(), text }),
                }
            }
            match self.cursor.peek() {
                None => break,
                Some('\n') => {
                    if alone && self.cursor.line_before().trim().is_empty() {
                        above.push(Trivia::Blank);
                    }
                    self.cursor.pos += 1;
                    continue;
                }
                Some(_) => {}
            }
            match self.item() {
                Ok((kind, span)) => {
                    let above = std::mem::take(&mut above);
                    self.document.items.push(Item { above, kind, comment: None, span });
                }
                Err(problem) => {
                    self.problems.push(problem);
                    self.cursor.pos = self.resume.take().unwrap_or(self.cursor.line_end());
                }
            }
        }
        self.document.end = above;
    }

    fn is_indented(&self) -> bool {
        self.cursor.line_before().starts_with([' ', '\t'])
    }

    fn item(&mut self) -> Read {
        let line = self.cursor.line_rest();
        let start = self.cursor.pos;
        let span = start..start + without_comment(line).len();
        if self.cursor.line_before().trim().is_empty() {
            if let Some(section) = Section::named_by(line) {
                return self.begin(section, span);
            }
            if !self.is_indented() {
                self.misplaced(line, span)?;
            }
        }
        match self.section {
            None => self.header(),
            Some(Section::Setup) => self.setup_statement(),
            Some(Section::Steps) => self.step_or_expectation(),
            Some(Section::Final) => self.table_or_expectation(),
            Some(Section::FailsOn) => self.group(),
        }
    }

    fn begin(&mut self, section: Section, span: Range<usize>) -> Read {
        self.cursor.pos = span.end;
        let before = self.section.replace(section);
        self.expects = false;
        match before {
            Some(before) if before >= section => {
                let name = section.name();
                let problem = if self.has(section) {
                    self.cursor.problem(span, format!("`{name}` stands twice"), "there is one above already")
                } else {
                    let label = format!("it stands before `{}`", before.name());
                    self.cursor.problem(span, format!("`{name}` is out of place"), label)
                };
                Err(problem.help("the sections are, in this order: setup, steps, final, fails on"))
            }
            _ => Ok((Kind::Section(section), span)),
        }
    }

    fn has(&self, wanted: Section) -> bool {
        self.document.items.iter().any(|item| matches!(item.kind, Kind::Section(have) if have == wanted))
    }

    /// Finds what stands at the left margin and does not belong there: header lines and misspelt sections.
    fn misplaced(&mut self, line: &str, span: Range<usize>) -> Result<(), Problem> {
        let written = without_comment(line);
        let mut words = written.split_whitespace();
        let (first, second) = (words.next().unwrap_or(""), words.next());
        if self.section.is_some() && KEYS.contains(&first) && second.is_some_and(|word| word != "=>") {
            let span = span.start..span.start + first.len();
            return Err(self.cursor.problem(
                span,
                format!("`{first}` is out of place"),
                "it stands above the sections",
            ));
        }
        let plain = written.strip_suffix(':').unwrap_or(written).trim_end();
        let is_name = plain.chars().all(|char| char.is_alphabetic() || char == ' ' || char == '-')
            && (self.section.is_none() || !KEYS.contains(&first));
        let meant = nearest(&plain.replace('-', " "), Section::ALL.map(Section::name))
            .and_then(|name| Section::ALL.into_iter().find(|section| section.name() == name));
        let Some(section) = meant.filter(|_| is_name && !(second.is_some() && KEYS.contains(&first))) else {
            return Ok(());
        };
        // What follows belongs to the section that was meant; it would only be reported again and again.
        self.section = Some(section);
        self.expects = false;
        let problem = self.cursor.problem(span, format!("unknown section `{written}`"), "not a section");
        Err(problem.help(format!("did you mean `{}`?", section.name())))
    }

    fn setup_statement(&mut self) -> Read {
        let start = self.cursor.pos;
        let line = self.cursor.line_rest();
        let (message, help) = if begins_step(line) {
            ("a step in the setup", "the steps begin with a line that says `steps`")
        } else if line.starts_with("=>") {
            ("an expectation in the setup", "only steps and tables have expectations")
        } else if Section::named_by(line).is_some() {
            ("a section behind a statement", "a section begins on a line of its own")
        } else {
            return self.sql(Section::Setup, start).map(|sql| (Kind::Statement(sql), start..start));
        };
        self.skip_statement(start, Section::Steps);
        Err(self.cursor.problem(self.cursor.word_span(), message, "not in the setup").help(help))
    }

    /// After a mistake at its beginning, goes on behind the statement.
    fn skip_statement(&mut self, start: usize, section: Section) {
        self.resume = Some(match find_end(self.cursor.text, start, section) {
            End::Semicolon(at) => at + 1,
            End::Missing { next, .. } => next,
            End::Unclosed(_) => return,
        });
    }

    fn step_or_expectation(&mut self) -> Read {
        let start = self.cursor.pos;
        if self.cursor.eat("=>") {
            return self.more(start, "step");
        }
        let session = self.cursor.take_while(in_name).to_string();
        let span = start..self.cursor.pos;
        let colon = self.cursor.clone().pos;
        self.cursor.skip_blanks();
        if session.is_empty() || !self.cursor.eat(":") {
            self.cursor.pos = start;
            self.expects = true;
            self.skip_statement(start, Section::Steps);
            let (span, label) = match span.is_empty() {
                true => (self.cursor.word_span(), "expected a session and a colon here".to_string()),
                false => (span, format!("expected `{session}:` or a session before it")),
            };
            return Err(self
                .cursor
                .problem(span, "a step without its session", label)
                .help("a step begins with its session: `T1: BEGIN;`"));
        }
        if session.starts_with(|char: char| char.is_ascii_digit()) {
            let problem = self.cursor.problem(
                span,
                "a session's name begins with a letter",
                "this begins with a digit",
            );
            self.skip_statement(colon, Section::Steps);
            return Err(problem.help("for example T1"));
        }
        self.expects = true;
        let sql = self.sql(Section::Steps, start)?;
        Ok((Kind::Step { session, sql }, span))
    }

    /// Reads a statement and its `;`.
    fn sql(&mut self, section: Section, item: usize) -> Result<String, Problem> {
        self.cursor.skip_blanks();
        while self.cursor.at_line_end() {
            let next = self.cursor.text[self.cursor.pos..].lines().nth(1);
            if next.is_none_or(|line| begins_other(section, line)) {
                let end = self.cursor.pos;
                return Err(self.cursor.problem(
                    item..end,
                    "a step without a statement",
                    "nothing stands behind it",
                ));
            }
            self.cursor.pos += 1;
            self.cursor.skip_blanks();
        }
        let start = self.cursor.pos;
        let text = self.cursor.text;
        match find_end(text, start, section) {
            End::Semicolon(end) => {
                let sql = dedent(&text[start..end], self.cursor.line_before().chars().count());
                self.cursor.pos = end + 1;
                if sql.is_empty() {
                    return Err(self.cursor.problem(
                        end..end + 1,
                        "an empty statement",
                        "nothing stands before it",
                    ));
                }
                Ok(sql)
            }
            End::Missing { after, next } => {
                self.resume = Some(next);
                Err(self
                    .cursor
                    .problem(after..after, "`;` is missing", "the statement has no end")
                    .help("every statement ends with `;`, also the last one"))
            }
            End::Unclosed(at) => {
                let (what, length) = if text[at..].starts_with("/*") { ("comment", 2) } else { ("quote", 1) };
                Err(self.cursor.problem(at..at + length, format!("a {what} is not closed"), "it begins here"))
            }
        }
    }

    /// A further expectation of the step or table above, behind its `=>`.
    fn more(&mut self, start: usize, what: &str) -> Read {
        if !self.expects {
            let message = format!("an expectation before any {what}");
            let problem =
                self.cursor.problem(start..start + 2, message, format!("no {what} stands above it"));
            return Err(problem.help(format!("`=>` says what should come of the {what} above it")));
        }
        let expect = outcome::expectation(&mut self.cursor)?;
        Ok((Kind::Expect(expect), self.first_line(start)))
    }

    /// From here to the end of the line, without what is no part of the item.
    fn first_line(&self, start: usize) -> Range<usize> {
        let line = self.cursor.text[start..self.cursor.pos].lines().next().unwrap_or("");
        start..start + without_comment(line).len()
    }

    fn table_or_expectation(&mut self) -> Read {
        let start = self.cursor.pos;
        if self.cursor.eat("=>") {
            return self.more(start, "table");
        }
        self.expects = true;
        let (table, span) = self.table("t => (1, 2)")?;
        let expect = outcome::expectation(&mut self.cursor)?;
        Ok((Kind::Table { table, expect }, span))
    }

    /// A table's name and the arrow behind it.
    fn table(&mut self, example: &str) -> Result<(String, Range<usize>), Problem> {
        self.cursor.skip_blanks();
        let start = self.cursor.pos;
        let table = if self.cursor.eat("`") {
            let mut name = String::new();
            loop {
                name.push_str(self.cursor.take_while(|char| char != '`' && char != '\n'));
                if self.cursor.eat("``") {
                    name.push('`');
                } else if self.cursor.eat("`") {
                    break name;
                } else {
                    return Err(self.cursor.problem(
                        start..start + 1,
                        "a quote is not closed",
                        "it begins here",
                    ));
                }
            }
        } else {
            self.cursor.take_while(|char| in_name(char) || char == '.').to_string()
        };
        let span = start..self.cursor.pos;
        self.cursor.skip_blanks();
        if table.is_empty() || !self.cursor.eat("=>") {
            let what = if table.is_empty() { "a table's name" } else { "`=>`" };
            let problem = self.cursor.unreadable("a line", format!("expected {what} here"));
            return Err(problem.help(format!("write `{example}`")));
        }
        Ok((table, span))
    }

    fn group(&mut self) -> Read {
        let start = self.cursor.pos;
        let line = without_comment(self.cursor.line_rest());
        let is_entry = line.contains("=>");
        if is_entry && !self.expects {
            let problem =
                self.cursor.problem(start..start + line.len(), "a known failure without its group", "where?");
            return Err(problem.help("first say where it fails: `mysql@9.7, at RR:`"));
        }
        if is_entry && self.cursor.eat_word("step") {
            self.cursor.skip_blanks();
            let at = self.cursor.pos;
            let number = self.cursor.take_while(|char| char.is_ascii_digit()).parse::<usize>();
            let span = at..self.cursor.pos;
            self.cursor.skip_blanks();
            return match number {
                Ok(number) if number > 0 && self.cursor.eat("=>") => {
                    let expected = outcome::expected(&mut self.cursor)?;
                    Ok((Kind::GroupStep { number, expected }, span))
                }
                _ => {
                    self.cursor.pos = at;
                    let span = self.cursor.word_span();
                    let problem = self.cursor.problem(
                        span,
                        "a line that cannot be read",
                        "expected a step's number here",
                    );
                    Err(problem.help("write `step 7 => 0 rows`; steps count from 1"))
                }
            };
        }
        if is_entry && self.cursor.eat_word("final") {
            let (table, span) = self.table("final t => (1, 2)")?;
            let expected = outcome::expected(&mut self.cursor)?;
            return Ok((Kind::GroupTable { table, expected }, span));
        }
        if is_entry {
            let problem = self.cursor.unreadable("a line", "expected `step N` or `final TABLE` here");
            return Err(problem.help("write `step 7 => 0 rows` or `final t => (1, 2)`"));
        }
        self.expects = true;
        let at = selector::selector(&mut self.cursor, ':')?;
        let span = start..self.cursor.pos - 1;
        self.cursor.skip_blanks();
        if !self.cursor.at_end_or_comment() {
            let problem = self.cursor.unreadable("a line", "one line too many");
            return Err(problem.help("what comes instead stands on lines of its own below the group"));
        }
        Ok((Kind::Group(at), span))
    }
}
