//! A run as a list of what happened, round by round: what timelines and scripts are made of.
//!
//! A round of the trace begins with one cause and ends when the server has settled. Here each of its parts is an [`Entry`] in the
//! lane of its session, in words, and what waited knows from where to where and for whom.

use model::{Case, Level, Outcome, Reply, RoundCause, RowSet, Trace};

use crate::{
    style::Tone,
    text::{clean, cut, visible},
};

/// A row of a result that is longer than this is cut: it would hide all others.
const LONGEST_ROW: usize = 240;

/// Of a longer result only the number of the other rows is said.
const ROWS: usize = 12;

/// Something that happened in one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The session.
    pub lane: usize,
    /// The round, from 0; behind the last one for what was never sent.
    pub round: usize,
    /// The step that it is about, from 0.
    pub step: Option<usize>,
    pub what: What,
    /// What came of it, or a remark.
    pub said: String,
    /// What the words mean.
    pub tone: Tone,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Sent,
    /// A statement that waited came back.
    Woke,
    /// Something that Isopod did.
    Note,
    Unsent,
}

/// A wait: from the round in which it began to the one in which it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    pub step: usize,
    /// Its session.
    pub lane: usize,
    /// The round in which it began.
    pub from: usize,
    /// The round in which it ended; none if it never did.
    pub to: Option<usize>,
    /// The sessions that it waited for, where the server could be asked.
    pub blockers: Vec<usize>,
    /// The session whose statement ended it.
    pub woken_by: Option<usize>,
}

pub fn entries(case: &Case, trace: &Trace) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut sent = vec![false; case.steps.len()];
    for (round, of) in trace.rounds.iter().enumerate() {
        match of.cause {
            RoundCause::Sent(step) => {
                sent[step] = true;
                entries.push(statement(case, trace, step, round));
            }
            cause => entries.extend(ours(trace, cause).map(|(lane, said)| note(lane, round, said))),
        }
        for &step in of.answered.iter().filter(|&&step| of.cause != RoundCause::Sent(step)) {
            entries.push(Entry {
                lane: case.steps[step].session,
                round,
                step: Some(step),
                what: What::Woke,
                said: said(&trace.outcomes[step]) + &after(case, of.cause),
                tone: Tone::of(&trace.outcomes[step]),
            });
        }
    }
    for step in (0..case.steps.len()).filter(|&step| !sent[step]) {
        entries.push(Entry {
            what: What::Unsent,
            said: "not sent".into(),
            tone: Tone::Quiet,
            ..statement(case, trace, step, trace.rounds.len())
        });
    }
    entries
}

/// What Isopod itself did to a session, and why.
pub fn ours(trace: &Trace, cause: RoundCause) -> Option<(usize, String)> {
    match cause {
        RoundCause::RolledBack(session) => {
            let why = if trace.stalled { "the case had stalled" } else { "it was left open" };
            Some((session, format!("rolled back by isopod: {why}")))
        }
        RoundCause::Killed(session) => {
            Some((session, "killed by isopod: nothing else ended its wait".into()))
        }
        RoundCause::Sent(_) | RoundCause::Timeout => None,
    }
}

/// The level that a run is headed with: that of its sessions. Where these differ, the level of each stands with its name.
pub fn level(case: &Case, run: Level) -> &'static str {
    match case.has_mixed_levels(Some(run)) {
        true => "mixed levels",
        false => case.sessions.first().and_then(|session| session.level).unwrap_or(run).sql(),
    }
}

/// The name of a session.
pub fn name(case: &Case, session: usize) -> &str {
    case.sessions.get(session).map_or("?", |session| &session.name)
}

/// What let a statement go on, in words.
pub fn after(case: &Case, cause: RoundCause) -> String {
    match cause {
        RoundCause::Sent(by) => {
            let step = &case.steps[by];
            format!(" (after {}'s {})", name(case, step.session), verb(&step.sql))
        }
        RoundCause::RolledBack(session) => format!(" (after {}'s rollback)", name(case, session)),
        RoundCause::Timeout => " (its time was over)".to_string(),
        RoundCause::Killed(_) => String::new(),
    }
}

/// The waits, in the order in which they began.
pub fn waits(case: &Case, trace: &Trace) -> Vec<Waited> {
    let mut all = Vec::new();
    for (from, round) in trace.rounds.iter().enumerate() {
        for wait in &round.waiting {
            let to = trace.rounds.iter().position(|round| round.answered.contains(&wait.step));
            let woken_by = trace.woken_by(wait.step).map(|by| case.steps[by].session);
            all.push(Waited {
                step: wait.step,
                lane: case.steps[wait.step].session,
                from,
                to,
                blockers: wait.blockers.clone(),
                woken_by,
            });
        }
    }
    all
}

impl Waited {
    /// The sessions that it waited for: those that the server named, or else the one that let it go on.
    pub fn whom(&self) -> Vec<usize> {
        match self.blockers.is_empty() {
            true => self.woken_by.into_iter().filter(|by| *by != self.lane).collect(),
            false => self.blockers.clone(),
        }
    }
}

/// What is said of a step that waits.
pub fn waiting(case: &Case, trace: &Trace, step: usize) -> String {
    let whom = waits(case, trace).iter().find(|wait| wait.step == step).map(Waited::whom).unwrap_or_default();
    waits_for(case, &whom)
}

pub fn waits_for(case: &Case, sessions: &[usize]) -> String {
    match sessions {
        [] => "waits".to_string(),
        some => {
            let names: Vec<&str> = some.iter().map(|session| name(case, *session)).collect();
            format!("waits for {}", names.join(", "))
        }
    }
}

fn statement(case: &Case, trace: &Trace, step: usize, round: usize) -> Entry {
    let lane = case.steps[step].session;
    let waits = trace.rounds.iter().flat_map(|round| &round.waiting).find(|wait| wait.step == step);
    let outcome = &trace.outcomes[step];
    let (said, tone) = match waits {
        Some(_) => (waiting(case, trace, step), Tone::Waits),
        None if quiet(&case.steps[step].sql, outcome) => (String::new(), Tone::Quiet),
        None => (said(outcome), Tone::of(outcome)),
    };
    Entry { lane, round, step: Some(step), what: What::Sent, said, tone }
}

fn note(lane: usize, round: usize, said: String) -> Entry {
    Entry { lane, round, step: None, what: What::Note, said, tone: Tone::Quiet }
}

/// `BEGIN`, `COMMIT`, `SET` and the like, when they went well.
pub fn quiet(sql: &str, outcome: &Outcome) -> bool {
    let counts = ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "MERGE", "LOAD"];
    matches!(outcome.reply, Reply::Done { affected: 0, .. })
        && outcome.warnings.is_empty()
        && !counts.contains(&&*verb(sql))
}

/// The first word of a statement.
fn verb(sql: &str) -> String {
    sql.split(|c: char| !c.is_ascii_alphabetic())
        .find(|word| !word.is_empty())
        .unwrap_or("")
        .to_ascii_uppercase()
}

/// What came of a step that did not wait; nothing where success is all that there is to say.
pub fn answer(case: &Case, trace: &Trace, step: usize) -> String {
    match quiet(&case.steps[step].sql, &trace.outcomes[step]) {
        true => String::new(),
        false => said(&trace.outcomes[step]),
    }
}

/// What came, in words.
pub fn said(outcome: &Outcome) -> String {
    said_with(outcome, ROWS, ' ')
}

/// The same with at most so many rows. What is said of the others has these blanks in it.
pub fn said_with(outcome: &Outcome, most: usize, blank: char) -> String {
    let mut words =
        outcome.rows().map_or_else(|| clean(&outcome.to_string()), |rows| result(rows, most, blank));
    match outcome.warnings.len() {
        0 => {}
        1 => words += &format!(", warning {}", outcome.warnings[0].code),
        n => words += &format!(", {n} warnings"),
    }
    words
}

/// The rows of a result.
pub fn result(rows: &RowSet, most: usize, blank: char) -> String {
    if rows.is_empty() {
        return "no rows".into();
    }
    // Hiding one row behind `… 1 more` would gain nothing.
    let shown = if rows.len() <= most + 1 { rows.len() } else { most };
    let mut texts: Vec<String> =
        (0..shown).map(|row| cut(&visible(&rows.row_text(row)), LONGEST_ROW)).collect();
    if shown < rows.len() {
        texts.push(format!("…{blank}{}{blank}more", rows.len() - shown));
    }
    texts.join(" ")
}
