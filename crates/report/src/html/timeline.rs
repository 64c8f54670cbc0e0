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

use model::{Account, Open, RoundCause, SessionSpec, account};

use crate::{
    bug_report::BugReport,
    compare::{self, Side},
    steps::{self, Entry, Waited, What},
    style::Tone,
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
pub fn step_of_round(bug: &BugReport, round: usize) -> Option<usize> {
    match bug.execution.trace.rounds.get(round)?.cause {
        RoundCause::Sent(step) => Some(step),
        RoundCause::Timeout | RoundCause::RolledBack(_) | RoundCause::Killed(_) => None,
    }
}

pub struct Section {
    /// Wide and narrow.
    pub drawings: [Drawing; 2],
    pub plain: String,
}

/// A drawing, as the template writes it. Steps and rounds are counted from 1, places are in pixels.
pub struct Drawing {
    pub name: &'static str,
    pub width: usize,
    pub height: usize,
    pub lanes: Vec<Lane>,
    pub bars: Vec<Bar>,
    pub reads: Vec<Read>,
    pub arrows: Vec<Arrow>,
    pub entries: Vec<Mark>,
}

/// A session.
pub struct Lane {
    pub lane: usize,
    pub name: String,
    pub x: usize,
    /// Where its name stands, and which end of it is there.
    pub text: usize,
    pub anchor: &'static str,
    /// From where to where a transaction is open.
    pub open: Vec<(usize, usize)>,
}

/// A statement that waits.
pub struct Bar {
    pub step: usize,
    pub lane: usize,
    pub from: usize,
    /// Empty if it waits for ever.
    pub to: String,
    pub whom: String,
    pub words: String,
    pub x: usize,
    pub y: usize,
    pub height: usize,
}

/// Where the rows of a read are taken from.
pub struct Read {
    pub step: usize,
    pub taken: usize,
    pub lane: usize,
    pub view: &'static str,
    pub wrong: bool,
    pub x: usize,
    pub y: usize,
    pub end: usize,
    pub top: f64,
}

/// From what let a statement go on to where it went on.
pub struct Arrow {
    pub step: usize,
    pub by: usize,
    pub route: String,
    pub x: usize,
    pub y: usize,
}

/// A statement, an answer or a note.
pub struct Mark {
    pub kind: &'static str,
    pub lane: usize,
    pub step: Option<usize>,
    /// The step, where it is sent.
    pub number: Option<usize>,
    pub x: usize,
    pub y: usize,
    pub dot: &'static str,
    pub radius: usize,
    /// Where its lines begin; then the class, the place and the text of each.
    pub text: usize,
    pub lines: Vec<(&'static str, usize, String)>,
}

impl Section {
    pub fn new(bug: &BugReport) -> Section {
        let lanes = bug.execution.case.sessions.len().max(1);
        let wide = Plan { wide: true, width: (44 + lanes * 250).max(1040), lanes };
        let narrow = Plan { wide: false, width: 358, lanes };
        let entries = steps::entries(&bug.execution.case, &bug.execution.trace);
        let waits = steps::waits(&bug.execution.case, &bug.execution.trace);
        let marks = crate::Marks { name: bug.finding.id.clone(), ..crate::Marks::default() };
        Section {
            drawings: [wide, narrow].map(|plan| Layout::new(bug, plan, &entries, &waits).drawing()),
            plain: crate::timeline(
                &bug.execution.case,
                &bug.execution.trace,
                &marks,
                &crate::Style::default(),
            ),
        }
    }
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

/// Where everything stands.
struct Layout<'a> {
    bug: &'a BugReport,
    plan: Plan,
    waits: &'a [Waited],
    blocks: Vec<Block<'a>>,
    height: usize,
}

impl<'a> Layout<'a> {
    fn new(bug: &'a BugReport, plan: Plan, entries: &'a [Entry], waits: &'a [Waited]) -> Layout<'a> {
        let mut layout = Layout { bug, plan, waits, blocks: Vec::new(), height: 0 };
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
                let lines = layout.lines(entry);
                let y =
                    if plan.wide { lanes[entry.lane] } else { lanes.iter().copied().max().unwrap_or(top) };
                lanes[entry.lane] = y + lines.len().max(1) * LINE + if plan.wide { 0 } else { 6 };
                layout.blocks.push(Block { entry, top: y, lines });
            }
            top = lanes.into_iter().max().unwrap_or(top) + GAP;
            at = end;
        }
        layout.height = top + 4;
        layout
    }

    /// The text of an entry, line by line with its class.
    fn lines(&self, entry: &Entry) -> Vec<(&'static str, String)> {
        let to = self.plan.chars();
        let mut lines = Vec::new();
        let wrong = self.wrong(entry);
        if let (What::Sent | What::Unsent, Some(step)) = (entry.what, entry.step) {
            let sql = text::clean(&self.bug.execution.case.steps[step].sql);
            lines.extend(text::wrap_cut(&sql, to, 6).into_iter().map(|line| ("sql", line)));
        }
        let class = match (wrong, entry.tone) {
            (true, _) => "said bad-text",
            (false, Tone::Error) => "said error-text",
            (false, _) => "said",
        };
        let said = match (entry.what, wrong) {
            (What::Woke, true) => format!("✗ after waiting: {}", entry.said),
            (What::Woke, false) => format!("↳ {}", entry.said),
            (What::Sent | What::Note | What::Unsent, true) if !entry.said.is_empty() => {
                format!("✗ {}", entry.said)
            }
            (What::Sent | What::Unsent, false) if !entry.said.is_empty() && entry.tone != Tone::Waits => {
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
        let shows = entry.step.is_some() && entry.step == self.bug.finding.violation.step;
        match self.bug.words().waits() {
            Some(_) => shows && entry.what == What::Sent,
            None => {
                shows && (entry.what == What::Woke || entry.tone != Tone::Waits || self.never_woke(entry))
            }
        }
    }

    fn never_woke(&self, entry: &Entry) -> bool {
        self.waits.iter().any(|wait| Some(wait.step) == entry.step && wait.to.is_none())
    }

    fn expected(&self) -> Option<String> {
        match compare::of(self.bug).expected? {
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

    fn drawing(&self) -> Drawing {
        Drawing {
            name: self.plan.name(),
            width: self.plan.width,
            height: self.height,
            lanes: self.lanes(),
            bars: self.waits.iter().filter_map(|wait| self.bar(wait)).collect(),
            reads: self.reads(),
            arrows: self.waits.iter().filter_map(|wait| self.arrow(wait)).collect(),
            entries: self.blocks.iter().map(|block| self.mark(block)).collect(),
        }
    }

    fn lanes(&self) -> Vec<Lane> {
        let levels = self.plan.wide && self.bug.one_level().is_none();
        let lane = |(lane, session): (usize, &SessionSpec)| {
            let x = self.plan.lane(lane);
            let (text, anchor) = if self.plan.wide { (x.saturating_sub(5), "start") } else { (x, "middle") };
            let name = match levels {
                true => format!("{} {}", session.name, self.bug.level_of(lane).short()),
                false => session.name.clone(),
            };
            Lane { lane, name, x, text, anchor, open: self.transactions(lane) }
        };
        self.bug.execution.case.sessions.iter().enumerate().map(lane).collect()
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
                (What::Sent, Some(_)) if entry.tone == Tone::Waits => continue,
                (What::Sent | What::Woke, Some(step)) => self.bug.execution.trace.outcomes[step].transaction,
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

    fn bar(&self, wait: &Waited) -> Option<Bar> {
        let y = self.block(wait.lane, wait.from, Some(What::Sent))?.middle();
        let end = wait.to.and_then(|round| self.woken(wait, round)).map_or(self.height - 4, Block::middle);
        let names: Vec<&str> = wait.whom().iter().map(|&session| self.bug.session(session)).collect();
        Some(Bar {
            step: wait.step + 1,
            lane: wait.lane,
            from: wait.from + 1,
            to: wait.to.map_or(String::new(), |round| (round + 1).to_string()),
            whom: names.join(" "),
            words: steps::waiting(&self.bug.execution.case, &self.bug.execution.trace, wait.step),
            x: self.plan.lane(wait.lane) - 5,
            y,
            height: end.saturating_sub(y).max(10),
        })
    }

    /// Where a statement that waited goes on.
    fn woken(&self, wait: &Waited, round: usize) -> Option<&Block<'a>> {
        self.blocks.iter().find(|block| block.entry.round == round && block.entry.step == Some(wait.step))
    }

    fn arrow(&self, wait: &Waited) -> Option<Arrow> {
        let (by, round) = (wait.woken_by?, wait.to?);
        let (cause, woke) = (self.block(by, round, Some(What::Sent))?, self.woken(wait, round)?);
        let (from, x) = (self.plan.lane(by), self.plan.lane(wait.lane));
        let (y, end) = (cause.middle(), woke.middle() - 9);
        // Above the text of its own line, then down to the dot.
        let turn = if self.plan.wide { cause.top.saturating_sub(5) } else { y + 13 };
        let route = format!("M{from} {y}V{turn}H{x}V{end}");
        (by != wait.lane).then(|| Arrow { step: wait.step + 1, by, route, x, y: woke.middle() - 7 })
    }

    fn reads(&self) -> Vec<Read> {
        let Ok(Account { reads, .. }) = &self.bug.account else { return Vec::new() };
        let drawn = |read: &account::Read| {
            let lane = self.bug.execution.case.steps[read.step].session;
            let own = self.blocks.iter().rev().find(|block| block.entry.step == Some(read.step))?;
            let y = self.block(lane, read.taken, None).unwrap_or(own).middle();
            Some(Read {
                step: read.step + 1,
                taken: read.taken + 1,
                lane,
                view: read.view.words(),
                wrong: self.bug.finding.violation.step == Some(read.step),
                x: self.plan.lane(lane) - 13,
                y,
                end: own.middle(),
                top: y as f64 - 4.5,
            })
        };
        reads.iter().filter_map(drawn).collect()
    }

    fn mark(&self, block: &Block) -> Mark {
        let entry = block.entry;
        let (dot, radius) = match (self.wrong(entry), entry.what) {
            (true, _) => ("dot bad", 7),
            (false, What::Sent | What::Woke) => ("dot", 5),
            (false, What::Note | What::Unsent) => ("dot note", 4),
        };
        let step = entry.step.map(|step| step + 1);
        let (kind, number) = match entry.what {
            What::Sent => ("sent", step),
            What::Woke => ("back", None),
            What::Note => ("note", None),
            What::Unsent => ("unsent", step),
        };
        let place = |(i, (class, line)): (usize, &(&'static str, String))| {
            (*class, block.top + i * LINE + 13, line.clone())
        };
        Mark {
            kind,
            lane: entry.lane,
            step,
            number,
            x: self.plan.lane(entry.lane),
            y: block.middle(),
            dot,
            radius,
            text: self.plan.text(entry.lane),
            lines: block.lines.iter().enumerate().map(place).collect(),
        }
    }
}
