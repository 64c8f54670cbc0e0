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

use model::{Case, Outcome, RoundCause, Trace};

use crate::{
    grid::{Cell, CellText, GridRow, grid},
    marks::{Mark, Marks},
    steps,
    style::{Style, Tone},
    text::{HARD_BLANK, clean, width, wrap},
};

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
        format!(
            "{} {} · {} · {}",
            server.product,
            server.version,
            steps::level(self.case, self.trace.level),
            clean(name)
        )
    }

    fn head(&self, session: &model::SessionSpec) -> String {
        let mut also = Vec::new();
        if self.case.has_mixed_levels(Some(self.trace.level)) {
            also.push(session.level.unwrap_or(self.trace.level).short());
        }
        also.extend((!session.autocommit).then_some("autocommit off"));
        match also.is_empty() {
            true => session.name.clone(),
            false => format!("{} ({})", session.name, also.join(", ")),
        }
    }

    fn rows(&self) -> Vec<GridRow> {
        let columns = self.case.sessions.len();
        let mut rows = Vec::new();
        let mut sent = vec![false; self.case.steps.len()];
        for round in &self.trace.rounds {
            let mut row = GridRow::new(None, columns);
            match round.cause {
                RoundCause::Sent(step) => {
                    sent[step] = true;
                    row.number = Some(step + 1);
                    row.cells[self.case.steps[step].session] = Some(self.statement(step));
                }
                cause => {
                    if let Some((session, words)) = steps::ours(self.trace, cause) {
                        let text = format!("({words})");
                        row.cells[session] =
                            Some(Cell::Note(CellText { text, tone: Tone::Quiet, expected: None }));
                    }
                }
            }
            // Whoever answers late stands beside what woke it; in a row of its own if that place is taken.
            let mut late = GridRow::new(None, columns);
            for &step in round.answered.iter().filter(|&&step| round.cause != RoundCause::Sent(step)) {
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
    fn left_over(&self, sent: &[bool], rows: &mut Vec<GridRow>) {
        for (step, sent) in sent.iter().enumerate() {
            let session = self.case.steps[step].session;
            let mut row = GridRow::new(None, self.case.sessions.len());
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
                let text = steps::waits_for(self.case, &wait.blockers);
                Some(CellText {
                    text,
                    tone: Tone::Waits,
                    expected: self.marks.step(step).expected_when(true),
                })
            }
            None => self.said(step),
        };
        Cell::Statement { sql, said }
    }

    /// The row in which a waiting statement came back.
    fn woken(&self, step: usize, cause: Option<RoundCause>) -> Cell {
        let outcome = &self.trace.outcomes[step];
        let mut text = format!("↳ {}", self.outcome(outcome));
        match cause {
            Some(RoundCause::Killed(session)) if session != self.case.steps[step].session => {
                text += &format!(" (after {} was killed)", steps::name(self.case, session));
            }
            Some(cause) => text += &steps::after(self.case, cause),
            None => {}
        }
        let tone = match Tone::of(outcome) {
            Tone::Error => Tone::Error,
            _ => Tone::Woke,
        };
        Cell::Note(CellText { text, tone, expected: self.marks.step(step).expected_when(false) })
    }

    /// The result of a step; nothing where success is all that there is to say.
    fn said(&self, step: usize) -> Option<CellText> {
        let outcome = &self.trace.outcomes[step];
        let expected = self.marks.step(step).expected();
        if self.quiet(step) {
            return expected.is_some().then(|| CellText { text: "ok".into(), tone: Tone::Plain, expected });
        }
        Some(CellText { text: self.outcome(outcome), tone: Tone::of(outcome), expected })
    }

    fn quiet(&self, step: usize) -> bool {
        steps::quiet(&self.case.steps[step].sql, &self.trace.outcomes[step])
    }

    fn outcome(&self, outcome: &Outcome) -> String {
        steps::said_with(outcome, self.style.rows, HARD_BLANK)
    }

    /// Everything below the table.
    fn closing(&self, table_width: usize) -> String {
        let mut lines = Lines { style: self.style, lines: Vec::new() };
        match &self.trace.final_state {
            Some(tables) => {
                tables.iter().for_each(|(name, rows)| {
                    self.table(name, &steps::result(rows, self.style.rows, HARD_BLANK), &mut lines)
                });
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
            Mark::Missed { expected } | Mark::Waits { expected } => {
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
