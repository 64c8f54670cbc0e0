//! One run of a case as people read it: a column for each session, time from top to bottom.
//!
//! ```text
//! mysql 9.7.4 · REPEATABLE READ · lost-update.iso
//!
//!      T1                                   T2
//!  1   UPDATE t SET b = 2   1 row
//!  2                                        UPDATE t SET b = 3   waits for T1
//!  3   COMMIT                               ↳ 1 row (after T1's COMMIT)
//! ```
//!
//! A row is a round of the trace. The number is that of the step in the case, so a statement that was queued
//! behind a waiting one shows where it was really sent.

use model::{Case, Cause, Outcome, Reply, RowSet, Trace};

use crate::{
    grid::{Cell, Row, Said, grid},
    marks::{Mark, Marks},
    style::{Style, Tone},
    text::{HARD_BLANK, clean, cut, visible, width, wrap},
};

/// A row of a result that is longer than this is cut: it would hide all others.
const LONGEST_ROW: usize = 240;

/// The timeline of a run, with its final state and what is to be said of it; ends with a line break.
pub fn timeline(case: &Case, trace: &Trace, marks: &Marks, style: &Style) -> String {
    let page = Page { case, trace, marks, style };
    let heads: Vec<String> = case.sessions.iter().map(|session| page.head(session)).collect();
    let (table, table_width) = grid(&heads, &page.rows(), style);
    let closing = page.closing(table_width);
    let between = if closing.is_empty() { "" } else { "\n" };
    format!("{}\n\n{table}{between}{closing}", page.title())
}

struct Page<'a> {
    case: &'a Case,
    trace: &'a Trace,
    marks: &'a Marks,
    style: &'a Style,
}

impl Page<'_> {
    fn title(&self) -> String {
        let server = &self.trace.server;
        let name = if self.marks.name.is_empty() { &self.case.title } else { &self.marks.name };
        format!("{} {} · {} · {}", server.product, server.version, self.trace.level.sql(), clean(name))
    }

    fn head(&self, session: &model::SessionSpec) -> String {
        let mut also = Vec::new();
        also.extend(session.level.map(|level| level.short()));
        also.extend((!session.autocommit).then_some("autocommit off"));
        match also.is_empty() {
            true => session.name.clone(),
            false => format!("{} ({})", session.name, also.join(", ")),
        }
    }

    fn name(&self, session: usize) -> &str {
        self.case.sessions.get(session).map_or("?", |session| &session.name)
    }

    fn rows(&self) -> Vec<Row> {
        let columns = self.case.sessions.len();
        let mut rows = Vec::new();
        let mut sent = vec![false; self.case.steps.len()];
        for round in &self.trace.rounds {
            let mut row = Row::new(None, columns);
            match round.cause {
                Cause::Sent(step) => {
                    sent[step] = true;
                    row.number = Some(step + 1);
                    row.cells[self.case.steps[step].session] = Some(self.statement(step));
                }
                Cause::Timeout => {}
                Cause::RolledBack(session) => {
                    let why = if self.trace.stalled { "the case had stalled" } else { "it was left open" };
                    row.cells[session] = Some(note(format!("(rolled back by isopod: {why})"), Tone::Quiet));
                }
                Cause::Killed(session) => {
                    row.cells[session] =
                        Some(note("(killed by isopod: nothing else ended its wait)".into(), Tone::Quiet));
                }
            }
            // Whoever answers late stands beside what woke it; in a row of its own if that place is taken.
            let mut late = Row::new(None, columns);
            for &step in round.answered.iter().filter(|&&step| round.cause != Cause::Sent(step)) {
                let session = self.case.steps[step].session;
                let cell = Some(self.woken(step, Some(round.cause)));
                match row.cells[session] {
                    None => row.cells[session] = cell,
                    Some(_) => late.cells[session] = cell,
                }
            }
            rows.extend([row, late].into_iter().filter(|row| row.cells.iter().any(Option::is_some)));
        }
        self.left_over(&sent, &mut rows);
        rows
    }

    /// What no round tells of: statements that were never sent, and waits that nothing ended.
    fn left_over(&self, sent: &[bool], rows: &mut Vec<Row>) {
        for (step, sent) in sent.iter().enumerate() {
            let session = self.case.steps[step].session;
            let mut row = Row::new(None, self.case.sessions.len());
            if !sent {
                row.number = Some(step + 1);
                row.cells[session] = Some(self.statement(step));
            } else if self.trace.waited(step) && self.trace.answered_in(step).is_none() {
                row.cells[session] = Some(self.woken(step, None));
            } else {
                continue;
            }
            rows.push(row);
        }
    }

    /// The row in which a statement was sent: with its result, if that came at once.
    fn statement(&self, step: usize) -> Cell {
        let sql = clean(&self.case.steps[step].sql);
        let waits = self.trace.rounds.iter().flat_map(|round| &round.waiting).find(|wait| wait.step == step);
        let said = match waits {
            Some(wait) => {
                let names: Vec<&str> = wait.blockers.iter().map(|&session| self.name(session)).collect();
                let text = match names.is_empty() {
                    true => "waits".to_string(),
                    false => format!("waits for {}", names.join(", ")),
                };
                Some(Said { text, tone: Tone::Waits, expected: None })
            }
            None => self.said(step),
        };
        Cell::Statement { sql, said }
    }

    /// The row in which a waiting statement came back.
    fn woken(&self, step: usize, cause: Option<Cause>) -> Cell {
        let outcome = &self.trace.outcomes[step];
        let mut text = format!("↳ {}", self.outcome(outcome));
        match cause {
            Some(Cause::Sent(by)) => {
                let by = &self.case.steps[by];
                text += &format!(" (after {}'s {})", self.name(by.session), verb(&by.sql));
            }
            Some(Cause::RolledBack(session)) => {
                text += &format!(" (after {}'s rollback)", self.name(session));
            }
            Some(Cause::Killed(session)) if session != self.case.steps[step].session => {
                text += &format!(" (after {} was killed)", self.name(session));
            }
            Some(Cause::Timeout) => text += " (its time was over)",
            Some(Cause::Killed(_)) | None => {}
        }
        let tone = match Tone::of(outcome) {
            Tone::Error => Tone::Error,
            _ => Tone::Woke,
        };
        Cell::Note(Said { text, tone, expected: self.marks.step(step).expected() })
    }

    /// The result of a step; nothing where success is all that there is to say.
    fn said(&self, step: usize) -> Option<Said> {
        let outcome = &self.trace.outcomes[step];
        let expected = self.marks.step(step).expected();
        if self.quiet(step) {
            return expected.is_some().then(|| Said { text: "ok".into(), tone: Tone::Plain, expected });
        }
        Some(Said { text: self.outcome(outcome), tone: Tone::of(outcome), expected })
    }

    /// `BEGIN`, `COMMIT`, `SET` and the like, when they went well.
    fn quiet(&self, step: usize) -> bool {
        let outcome = &self.trace.outcomes[step];
        let counts = ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "MERGE", "LOAD"];
        matches!(outcome.reply, Reply::Done { affected: 0, .. })
            && outcome.warnings.is_empty()
            && !counts.contains(&&*verb(&self.case.steps[step].sql))
    }

    fn outcome(&self, outcome: &Outcome) -> String {
        let mut text = outcome.rows().map_or_else(|| outcome.to_string(), |rows| self.result(rows));
        match outcome.warnings.len() {
            0 => {}
            1 => text += &format!(", warning {}", outcome.warnings[0].code),
            n => text += &format!(", {n} warnings"),
        }
        text
    }

    fn result(&self, rows: &RowSet) -> String {
        if rows.is_empty() {
            return "no rows".into();
        }
        // Hiding one row behind `… 1 more` would gain nothing.
        let shown = if rows.len() <= self.style.rows + 1 { rows.len() } else { self.style.rows };
        let mut texts: Vec<String> =
            (0..shown).map(|row| cut(&visible(&rows.row_text(row)), LONGEST_ROW)).collect();
        if shown < rows.len() {
            texts.push(format!("…{HARD_BLANK}{}{HARD_BLANK}more", rows.len() - shown));
        }
        texts.join(" ")
    }

    /// Everything below the table.
    fn closing(&self, table_width: usize) -> String {
        let mut lines = Lines { style: self.style, lines: Vec::new() };
        match &self.trace.final_state {
            Some(tables) => {
                tables.iter().for_each(|(name, rows)| self.table(name, &self.result(rows), &mut lines));
                let there = |name: &String| tables.iter().any(|(table, _)| table.eq_ignore_ascii_case(name));
                let named = self.marks.tables.iter().map(|(name, _)| name);
                named
                    .filter(|name| !there(name))
                    .for_each(|name| self.table(name, "no such table", &mut lines));
            }
            None => lines.put(Tone::Error, "final: the server could not be asked"),
        }
        if !self.marks.known.is_empty() {
            let known = format!("known: {}", self.marks.known.join(", "));
            lines.at_the_right(&known, table_width.max(60).min(self.style.width));
        }
        let unspecified: Vec<String> = self.unspecified().iter().map(|step| (step + 1).to_string()).collect();
        match unspecified.len() {
            0 => {}
            1 => lines.put(Tone::Quiet, &format!("unspecified: step {}", unspecified[0])),
            _ => lines.put(Tone::Quiet, &format!("unspecified: steps {}", unspecified.join(", "))),
        }
        match self.trace.false_decisions {
            0 => {}
            1 => {
                lines.put(Tone::Error, "no evidence: an answer came after the server had been called settled")
            }
            n => lines.put(
                Tone::Error,
                &format!("no evidence: {n} answers came after the server had been called settled"),
            ),
        }
        if let Some(closing) = &self.marks.closing {
            let bad = self.marks.missed() && self.marks.known.is_empty();
            lines.put(if bad { Tone::Wrong } else { Tone::Plain }, closing);
        }
        lines.lines.iter().map(|(_, line)| format!("{line}\n")).collect()
    }

    fn table(&self, name: &str, rows: &str, lines: &mut Lines) {
        let head = format!("final {}: ", clean(name));
        match self.marks.table(name) {
            Mark::Missed { expected } => {
                lines.wrapped(&head, "✗ ", rows);
                lines.wrapped(
                    &format!("{:>1$} ", "expected", width(&head).saturating_sub(1)),
                    "  ",
                    expected,
                );
            }
            Mark::Met | Mark::Unspecified => lines.wrapped(&head, "", rows),
        }
    }

    /// Steps with a visible outcome that no expectation covers, where others have one.
    fn unspecified(&self) -> Vec<usize> {
        if !self.marks.judged() {
            return Vec::new();
        }
        (0..self.case.steps.len())
            .filter(|&step| *self.marks.step(step) == Mark::Unspecified)
            .filter(|&step| self.trace.waited(step) || !self.quiet(step))
            .collect()
    }
}

/// The lines below the table, each with its width without colours.
struct Lines<'a> {
    style: &'a Style,
    lines: Vec<(usize, String)>,
}

impl Lines<'_> {
    fn put(&mut self, tone: Tone, text: &str) {
        self.lines.push((width(text), self.style.paint(tone, text)));
    }

    /// After a head and a mark, under which further lines are indented.
    fn wrapped(&mut self, head: &str, mark: &str, text: &str) {
        let indent = width(head) + width(mark);
        for (i, line) in wrap(text, self.style.width.saturating_sub(indent).max(20)).iter().enumerate() {
            let before = match i {
                0 => format!("{head}{}", self.style.paint(Tone::Wrong, mark)),
                _ => " ".repeat(indent),
            };
            self.lines.push((indent + width(line), before + line));
        }
    }

    /// Ends the last line with this at the right edge, if there is room; otherwise it gets its own.
    fn at_the_right(&mut self, text: &str, edge: usize) {
        match self.lines.last_mut() {
            Some((used, line)) if *used + 3 + width(text) <= edge => {
                line.push_str(&format!("{}{text}", " ".repeat(edge - *used - width(text))));
                *used = edge;
            }
            Some(_) | None => self.put(Tone::Plain, text),
        }
    }
}

fn note(text: String, tone: Tone) -> Cell {
    Cell::Note(Said { text, tone, expected: None })
}

/// The first word of a statement.
fn verb(sql: &str) -> String {
    sql.split(|c: char| !c.is_ascii_alphabetic())
        .find(|word| !word.is_empty())
        .unwrap_or("")
        .to_ascii_uppercase()
}
