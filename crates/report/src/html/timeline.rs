//! The timeline as SVG: a lane for each session, time from top to bottom.
//!
//! ```text
//!      T1                              T2
//!  1   ● BEGIN                         |
//!  2   ◇ SELECT * FROM t               |            ◇ the snapshot is taken here
//!  3   ┊                               ● UPDATE t   ▒ a bar: it waits, until where it ends
//!  4   ● COMMIT  ──────────────────▶   ● ↳ 1 row
//! ```
//!
//! The same drawing is made twice: wide, with the statements beside their lanes, and narrow for a phone, with all lanes close
//! together at the left and the statements below each other. The style sheet shows one of them.

use std::fmt::Write;

use model::{Account, Cause, Open};

use super::escape::escape;
use crate::{
    compare::{self, Side},
    finding::Finding,
    steps::{self, Entry, Mood, Waited, What},
    text,
};

/// The height of a line of text, and what is left free between rounds.
const LINE: usize = 18;
const GAP: usize = 16;
const HEAD: usize = 34;
/// From the top of a block to the middle of its dot.
const DOT: usize = 9;
/// The width of a character of the statements, in tenths of a pixel.
const CHAR: usize = 79;

/// The step that a round begins with.
pub fn step_of_round(finding: &Finding, round: usize) -> Option<usize> {
    match finding.trace.rounds.get(round)?.cause {
        Cause::Sent(step) => Some(step),
        Cause::Timeout | Cause::RolledBack(_) | Cause::Killed(_) => None,
    }
}

/// The section.
pub fn section(finding: &Finding) -> String {
    let lanes = finding.case.sessions.len().max(1);
    let wide = Plan { wide: true, width: (44 + lanes * 250).max(1040), lanes };
    let narrow = Plan { wide: false, width: 358, lanes };
    let entries = steps::entries(&finding.case, &finding.trace);
    let waits = steps::waits(&finding.case, &finding.trace);
    let draw = |plan| Drawing::new(finding, plan, &entries, &waits).svg();
    let plain = crate::timeline(
        &finding.case,
        &finding.trace,
        &crate::Marks { name: finding.id.clone(), ..crate::Marks::default() },
        &crate::Style::default(),
    );
    format!(
        "<section id=\"timeline\">\n<h2>Timeline</h2>\n<div class=\"line scroll\">\n{}{}</div>\n{}\
         <details><summary>As text</summary><pre>{}</pre></details>\n</section>\n",
        draw(wide),
        draw(narrow),
        legend(),
        escape(&plain)
    )
}

fn legend() -> String {
    let sign =
        |drawing: &str| format!("<svg width=\"22\" height=\"18\" aria-hidden=\"true\">{drawing}</svg>");
    let items = [
        (sign("<line class=\"open\" x1=\"11\" y1=\"2\" x2=\"11\" y2=\"16\"/>"), "a transaction is open"),
        (
            sign(
                "<rect class=\"wait\" x=\"6\" y=\"1\" width=\"10\" height=\"16\" rx=\"5\" fill=\"url(#hatch-wide)\"/>",
            ),
            "a statement waits",
        ),
        (
            sign("<path class=\"woke\" d=\"M2 9H15\"/><path class=\"arrow\" d=\"M20 9l-6-3.5v7z\"/>"),
            "what lets it go on",
        ),
        (
            sign(
                "<path class=\"view\" d=\"M5 9V18\"/><path class=\"shot\" d=\"M5 4l5 5-5 5-5-5z\" transform=\"translate(1 0)\"/>",
            ),
            "where the rows of a read are taken from",
        ),
        (sign("<circle class=\"dot bad\" cx=\"11\" cy=\"9\" r=\"6\"/>"), "what is wrong"),
    ];
    let items: String = items.iter().map(|(sign, words)| format!("<li>{sign}{words}</li>")).collect();
    format!("<ul class=\"legend\">{items}</ul>\n")
}

/// How a drawing is divided.
#[derive(Clone, Copy)]
struct Plan {
    wide: bool,
    width: usize,
    lanes: usize,
}

impl Plan {
    fn name(self) -> &'static str {
        if self.wide { "wide" } else { "narrow" }
    }

    /// Where a lane runs.
    fn lane(self, lane: usize) -> usize {
        if self.wide { 44 + lane * self.column() + 18 } else { 40 + lane * 22 }
    }

    fn column(self) -> usize {
        (self.width - 44) / self.lanes
    }

    /// Where the text of a lane begins.
    fn text(self, lane: usize) -> usize {
        if self.wide { self.lane(lane) + 18 } else { 40 + self.lanes * 22 }
    }

    /// How many characters of a statement fit in a line.
    fn chars(self) -> usize {
        let room = if self.wide { self.column() - 52 } else { self.width - self.text(0) };
        (room * 10 / CHAR).max(12)
    }
}

/// An entry with its place.
struct Block<'a> {
    entry: &'a Entry,
    top: usize,
    lines: Vec<(&'static str, String)>,
}

impl Block<'_> {
    fn middle(&self) -> usize {
        self.top + DOT
    }
}

struct Drawing<'a> {
    finding: &'a Finding,
    plan: Plan,
    waits: &'a [Waited],
    blocks: Vec<Block<'a>>,
    height: usize,
}

impl<'a> Drawing<'a> {
    fn new(finding: &'a Finding, plan: Plan, entries: &'a [Entry], waits: &'a [Waited]) -> Drawing<'a> {
        let mut drawing = Drawing { finding, plan, waits, blocks: Vec::new(), height: 0 };
        let mut top = HEAD + GAP;
        let mut at = 0;
        while at < entries.len() {
            let round = entries[at].round;
            let unsent = entries[at].what == What::Unsent;
            // What was never sent has no round: each stands by itself.
            let end = if unsent {
                at + 1
            } else {
                at + entries[at..].iter().take_while(|e| e.round == round && e.what != What::Unsent).count()
            };
            let mut lanes = vec![top; plan.lanes];
            for entry in &entries[at..end] {
                let lines = drawing.lines(entry);
                let y =
                    if plan.wide { lanes[entry.lane] } else { lanes.iter().copied().max().unwrap_or(top) };
                lanes[entry.lane] = y + lines.len().max(1) * LINE + if plan.wide { 0 } else { 6 };
                drawing.blocks.push(Block { entry, top: y, lines });
            }
            top = lanes.into_iter().max().unwrap_or(top) + GAP;
            at = end;
        }
        drawing.height = top + 4;
        drawing
    }

    /// The text of an entry, line by line with its class.
    fn lines(&self, entry: &Entry) -> Vec<(&'static str, String)> {
        let to = self.plan.chars();
        let mut lines = Vec::new();
        let wrong = self.wrong(entry);
        if let (What::Sent | What::Unsent, Some(step)) = (entry.what, entry.step) {
            let sql = text::clean(&self.finding.case.steps[step].sql);
            lines.extend(text::wrap_cut(&sql, to, 6).into_iter().map(|line| ("sql", line)));
        }
        let class = match (wrong, entry.mood) {
            (true, _) => "said bad-text",
            (false, Mood::Error) => "said error-text",
            (false, Mood::Plain | Mood::Quiet | Mood::Waits) => "said",
        };
        let said = match (entry.what, wrong) {
            (What::Woke, true) => format!("✗ after waiting: {}", entry.said),
            (What::Woke, false) => format!("↳ {}", entry.said),
            (What::Sent | What::Note | What::Unsent, true) if !entry.said.is_empty() => {
                format!("✗ {}", entry.said)
            }
            (What::Sent | What::Unsent, false) if !entry.said.is_empty() && entry.mood != Mood::Waits => {
                format!("→ {}", entry.said)
            }
            _ => entry.said.clone(),
        };
        if !said.is_empty() {
            lines.extend(text::wrap_cut(&said, to, 8).into_iter().map(|line| (class, line)));
        }
        if wrong && let Some(expected) = self.expected() {
            lines.extend(
                text::wrap_cut(&format!("expected {expected}"), to, 6).into_iter().map(|line| ("said", line)),
            );
        }
        lines
    }

    /// Is this where the finding shows? Of a statement that waited that is where it came back.
    fn wrong(&self, entry: &Entry) -> bool {
        let shows = entry.step.is_some() && entry.step == self.finding.violation.step;
        shows && (entry.what == What::Woke || entry.mood != Mood::Waits || self.never_woke(entry))
    }

    fn never_woke(&self, entry: &Entry) -> bool {
        self.waits.iter().any(|wait| Some(wait.step) == entry.step && wait.to.is_none())
    }

    fn expected(&self) -> Option<String> {
        match compare::of(self.finding).expected? {
            Side::Words(words) => Some(words),
            Side::Rows(rows) if rows.is_empty() => Some("no rows".into()),
            Side::Rows(rows) => Some(
                rows.iter().map(|row| format!("({})", row.cells.join(", "))).collect::<Vec<_>>().join(" "),
            ),
        }
    }

    fn block(&self, lane: usize, round: usize, what: Option<What>) -> Option<&Block<'a>> {
        self.blocks.iter().find(|block| {
            block.entry.lane == lane
                && block.entry.round == round
                && what.is_none_or(|what| block.entry.what == what)
        })
    }

    fn svg(&self) -> String {
        let (name, width, height) = (self.plan.name(), self.plan.width, self.height);
        let mut out = format!(
            "<svg class=\"{name}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"Timeline of {} sessions and {} statements\">\n\
             <defs><pattern id=\"hatch-{name}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect class=\"hatched\" width=\"5\" height=\"5\"/>\
             <line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"5\"/></pattern></defs>\n",
            self.plan.lanes,
            self.finding.case.steps.len(),
        );
        self.lanes(&mut out);
        self.bars(&mut out);
        self.views(&mut out);
        self.arrows(&mut out);
        self.entries(&mut out);
        out += "</svg>\n";
        out
    }

    fn lanes(&self, out: &mut String) {
        for (lane, session) in self.finding.case.sessions.iter().enumerate() {
            let x = self.plan.lane(lane);
            let level = match self.finding.one_level() {
                Some(_) => String::new(),
                None => format!(" {}", self.finding.level_of(lane).short()),
            };
            let (at, anchor) = if self.plan.wide { (x.saturating_sub(5), "start") } else { (x, "middle") };
            let _ = writeln!(
                out,
                "<g class=\"session\" data-lane=\"{lane}\"><text class=\"name\" x=\"{at}\" y=\"20\" text-anchor=\"{anchor}\">{}</text>\
                 <line class=\"lane\" x1=\"{x}\" y1=\"{HEAD}\" x2=\"{x}\" y2=\"{}\"/></g>",
                escape(&format!("{}{}", session.name, if self.plan.wide { level } else { String::new() })),
                self.height - 4
            );
            for (from, to) in self.transactions(lane) {
                let _ = writeln!(
                    out,
                    "<line class=\"open\" data-lane=\"{lane}\" x1=\"{x}\" y1=\"{from}\" x2=\"{x}\" y2=\"{to}\"/>"
                );
            }
        }
    }

    /// Where transactions are open in a lane, by what each answer said.
    fn transactions(&self, lane: usize) -> Vec<(usize, usize)> {
        let mut open: Option<usize> = None;
        let mut all = Vec::new();
        for block in self.blocks.iter().filter(|block| block.entry.lane == lane) {
            let entry = block.entry;
            let ends = match (entry.what, entry.step) {
                (What::Note, _) => Open::No,
                (What::Unsent, _) | (_, None) => continue,
                (What::Sent, Some(_)) if entry.mood == Mood::Waits => continue,
                (What::Sent | What::Woke, Some(step)) => self.finding.trace.outcomes[step].transaction,
            };
            match (ends, open) {
                (Open::Yes | Open::Failed, None) => open = Some(block.middle()),
                (Open::No, Some(from)) => {
                    all.push((from, block.middle()));
                    open = None;
                }
                (Open::Yes | Open::Failed, Some(_)) | (Open::No, None) | (Open::Unknown, _) => {}
            }
        }
        all.extend(open.map(|from| (from, self.height - 4)));
        all
    }

    fn bars(&self, out: &mut String) {
        for wait in self.waits {
            let Some(from) = self.block(wait.lane, wait.from, Some(What::Sent)) else { continue };
            let to = wait.to.and_then(|round| {
                self.blocks
                    .iter()
                    .find(|block| block.entry.round == round && block.entry.step == Some(wait.step))
            });
            let (x, y) = (self.plan.lane(wait.lane), from.middle());
            let end = to.map_or(self.height - 4, Block::middle);
            let words = steps::waiting(&self.finding.case, &self.finding.trace, wait.step);
            let whom = wait.whom();
            let names: Vec<&str> = whom.iter().map(|&session| self.finding.session(session)).collect();
            let _ = writeln!(
                out,
                "<rect class=\"wait\" data-step=\"{}\" data-lane=\"{}\" data-from=\"{}\" data-to=\"{}\" data-for=\"{}\" \
                 x=\"{}\" y=\"{}\" width=\"10\" height=\"{}\" rx=\"5\" fill=\"url(#hatch-{})\"><title>step {} {}</title></rect>",
                wait.step + 1,
                wait.lane,
                wait.from + 1,
                wait.to.map_or(String::new(), |round| (round + 1).to_string()),
                escape(&names.join(" ")),
                x - 5,
                y,
                (end.saturating_sub(y)).max(10),
                self.plan.name(),
                wait.step + 1,
                escape(&words)
            );
        }
    }

    /// From what let a statement go on to where it went on.
    fn arrows(&self, out: &mut String) {
        for wait in self.waits {
            let (Some(by), Some(round)) = (wait.woken_by, wait.to) else { continue };
            let cause = self.blocks.iter().find(|block| {
                block.entry.round == round && block.entry.lane == by && block.entry.what == What::Sent
            });
            let woke = self
                .blocks
                .iter()
                .find(|block| block.entry.round == round && block.entry.step == Some(wait.step));
            let (Some(cause), Some(woke)) = (cause, woke) else { continue };
            if by == wait.lane {
                continue;
            }
            let (from, to) = (self.plan.lane(by), self.plan.lane(wait.lane));
            let (y, end) = (cause.middle(), woke.middle() - 9);
            let above = cause.top.saturating_sub(5);
            // Above the text of its own line, then down to the dot.
            let route = if self.plan.wide {
                format!("M{from} {y}V{above}H{to}V{end}")
            } else {
                format!("M{from} {y}V{}H{to}V{end}", y + 13)
            };
            let _ = writeln!(
                out,
                "<g class=\"wakes\" data-step=\"{}\" data-by=\"{by}\"><path class=\"woke\" d=\"{route}\"/>\
                 <path class=\"arrow\" d=\"M{to} {}l-3.5-6h7z\"/></g>",
                wait.step + 1,
                woke.middle() - 7
            );
        }
    }

    /// Where the rows of each read are taken from.
    fn views(&self, out: &mut String) {
        let Ok(Account { reads, .. }) = &self.finding.account else { return };
        for read in reads {
            let lane = self.finding.case.steps[read.step].session;
            let own = self.blocks.iter().rev().find(|block| block.entry.step == Some(read.step));
            let Some(own) = own else { continue };
            let taken = self.block(lane, read.taken, None).unwrap_or(own);
            let bad = if self.finding.violation.step == Some(read.step) { " bad" } else { "" };
            let x = self.plan.lane(lane) - 13;
            let (y, end) = (taken.middle(), own.middle());
            let _ = write!(
                out,
                "<g class=\"snapshot\" data-step=\"{}\" data-taken=\"{}\" data-lane=\"{lane}\"><title>{}</title>",
                read.step + 1,
                read.taken + 1,
                escape(&format!("step {} reads {}", read.step + 1, read.view.words())),
            );
            if end > y {
                let _ = write!(out, "<path class=\"view{bad}\" d=\"M{x} {y}V{end}H{}\"/>", x + 9);
            }
            let _ = writeln!(
                out,
                "<path class=\"shot{bad}\" d=\"M{x} {}l4.5 4.5-4.5 4.5-4.5-4.5z\"/></g>",
                y as f64 - 4.5
            );
        }
    }

    fn entries(&self, out: &mut String) {
        for block in &self.blocks {
            let entry = block.entry;
            let (x, y) = (self.plan.lane(entry.lane), block.middle());
            let wrong = self.wrong(entry);
            let step = entry.step.map_or(String::new(), |step| format!(" data-step=\"{}\"", step + 1));
            let kind = match entry.what {
                What::Sent => "sent",
                What::Woke => "back",
                What::Note => "note",
                What::Unsent => "unsent",
            };
            let _ = write!(out, "<g class=\"entry {kind}\" data-lane=\"{}\"{step}>", entry.lane);
            if let (What::Sent | What::Unsent, Some(step)) = (entry.what, entry.step) {
                let _ = write!(
                    out,
                    "<text class=\"num\" x=\"14\" y=\"{}\" text-anchor=\"end\">{}</text>",
                    y + 4,
                    step + 1
                );
            }
            let (class, r) = match (wrong, entry.what) {
                (true, _) => ("dot bad", 7),
                (false, What::Sent | What::Woke) => ("dot", 5),
                (false, What::Note | What::Unsent) => ("dot note", 4),
            };
            let _ = write!(out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>");
            for (i, (class, line)) in block.lines.iter().enumerate() {
                let _ = write!(
                    out,
                    "<text class=\"{class}\" x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>",
                    self.plan.text(entry.lane),
                    block.top + i * LINE + 13,
                    escape(line)
                );
            }
            *out += "</g>\n";
        }
    }
}
