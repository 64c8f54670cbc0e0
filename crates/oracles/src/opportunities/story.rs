//! A run told as who did what when: transactions with their beginning, view and end, and each step with what came of it.
//!
//! Time is a number that only grows: a step is sent at the beginning of its round and answered inside one, so `a.answered < b.sent`
//! says that b was sent in full knowledge of a.

use std::{collections::BTreeMap, sync::Arc};

use dialect::{
    contract::SnapshotPoint,
    sql::{self, Parsed},
};
use model::{
    Case, Cause, ErrorClass, Level, Open, Outcome, Product, Reply, Trace,
    schema::{KeyKind, SetupData, Table},
    sql::StatementKind,
};

use super::deed::Deed;

/// A moment of a run.
pub type Moment = u32;

/// Never.
pub const NEVER: Moment = Moment::MAX;

/// Moments in one round; more answers than that share the last one.
const ROUND: usize = 64;

/// Reads cases, and remembers what it has read: the orders of a set share their statements, the sets of a schema its tables.
pub struct Reader {
    product: Product,
    deeds: BTreeMap<String, Option<Arc<Deed>>>,
    setup: (Vec<String>, Arc<SetupData>),
}

/// So many texts are remembered before the book is begun anew.
const BOOK: usize = 2_000;

impl Reader {
    /// For the dialect of this product.
    pub fn new(product: Product) -> Reader {
        Reader { product, deeds: BTreeMap::new(), setup: (Vec::new(), Arc::default()) }
    }

    /// Tells a run.
    pub fn story(&mut self, case: &Case, trace: &Trace) -> Story {
        if self.setup.0 != case.setup.statements {
            // What does not read as data has no keys that we know of.
            let data = sql::setup(self.product, &case.setup.statements).unwrap_or_default();
            self.setup = (case.setup.statements.clone(), Arc::new(data));
        }
        let deeds: Vec<Option<Arc<Deed>>> = case.steps.iter().map(|step| self.deed(&step.sql)).collect();
        Story::new(self.product, self.setup.1.clone(), case, trace, deeds)
    }

    /// What a text does; none if it cannot be read.
    pub fn deed(&mut self, text: &str) -> Option<Arc<Deed>> {
        if let Some(known) = self.deeds.get(text) {
            return known.clone();
        }
        if self.deeds.len() >= BOOK {
            self.deeds.clear();
        }
        let deed = match sql::parse(self.product, text) {
            Parsed::Tree(statement) => Some(Arc::new(Deed::of(&statement))),
            Parsed::Opaque(_) => None,
        };
        self.deeds.insert(text.to_string(), deed.clone());
        deed
    }
}

/// A step and what came of it.
#[derive(Clone, Debug)]
pub struct Told {
    /// Whose.
    pub session: usize,
    /// What it does; none if its text cannot be read.
    pub deed: Option<Arc<Deed>>,
    /// The transaction that it belongs to.
    pub life: usize,
    /// When it was sent; [`NEVER`] if it was not.
    pub sent: Moment,
    /// When it answered; [`NEVER`] if it did not.
    pub answered: Moment,
    /// Did it wait?
    pub waited: bool,
    /// Did it succeed?
    pub ok: bool,
    /// Was it refused because of somebody else?
    pub refused: bool,
    /// Was what it did taken back to a savepoint?
    pub undone: bool,
    /// Rows affected.
    pub affected: u64,
    /// Rows matched, where the server says so.
    pub matched: Option<u64>,
}

impl Told {
    /// Is it of this kind?
    pub fn is(&self, kind: StatementKind) -> bool {
        self.deed.as_ref().is_some_and(|deed| deed.kind == kind)
    }

    /// Its deed if it has changed rows that stand.
    pub fn change(&self) -> Option<&Deed> {
        self.deed
            .as_deref()
            .filter(|deed| self.ok && !self.undone && self.affected > 0 && !deed.writes.is_empty())
    }
}

/// A transaction, from its first statement to its end.
#[derive(Clone, Debug)]
pub struct Life {
    /// Whose.
    pub session: usize,
    /// Its level.
    pub level: Level,
    /// When it began.
    pub from: Moment,
    /// When it had ended; [`NEVER`] if it did not.
    pub to: Moment,
    /// Did it commit?
    pub committed: bool,
    /// When it took the view that its later reads share, if it has one.
    pub view: Option<Moment>,
    /// Its steps, in order.
    pub steps: Vec<usize>,
}

/// A run, told.
pub struct Story {
    /// Whose dialect.
    pub product: Product,
    /// The tables that it began with.
    pub setup: Arc<SetupData>,
    /// The steps of the case.
    pub steps: Vec<Told>,
    /// The transactions.
    pub lives: Vec<Life>,
}

/// Is this an error that another transaction causes, by waiting, snapshots or locks?
pub fn refused_by_others(class: ErrorClass) -> bool {
    class.by_concurrency() || class == ErrorClass::TableChanged
}

impl Story {
    fn new(
        product: Product,
        setup: Arc<SetupData>,
        case: &Case,
        trace: &Trace,
        deeds: Vec<Option<Arc<Deed>>>,
    ) -> Story {
        let mut steps: Vec<Told> = case
            .steps
            .iter()
            .zip(deeds)
            .zip(&trace.outcomes)
            .map(|((step, deed), outcome)| told(step.session, deed, outcome))
            .collect();
        for (number, round) in trace.rounds.iter().enumerate() {
            let at = |place: usize| (number * ROUND + place.min(ROUND - 1)) as Moment;
            if let Cause::Sent(step) = round.cause {
                steps[step].sent = at(0);
            }
            for (place, &step) in round.answered.iter().enumerate() {
                steps[step].answered = at(place + 1);
            }
            round.waiting.iter().for_each(|wait| steps[wait.step].waited = true);
        }
        let mut story = Story { product, setup, steps, lives: Vec::new() };
        for session in 0..case.sessions.len() {
            let level = case.sessions[session].level.unwrap_or(trace.level);
            story.live(session, level, trace);
        }
        story
    }

    /// Divides a session's steps into transactions.
    fn live(&mut self, session: usize, level: Level, trace: &Trace) {
        let mut open: Option<usize> = None;
        for i in 0..self.steps.len() {
            if self.steps[i].session != session || self.steps[i].sent == NEVER {
                continue;
            }
            let kind = self.steps[i].deed.as_ref().map(|deed| deed.kind);
            if kind == Some(StatementKind::Begin) && self.steps[i].ok {
                // BEGIN commits what is open.
                if let Some(life) = open.take() {
                    self.end(life, self.steps[i].answered, true);
                }
            }
            let life = open.unwrap_or_else(|| self.begin(session, level, self.steps[i].sent));
            self.lives[life].steps.push(i);
            self.steps[i].life = life;
            self.note_view(life, i);
            self.note_savepoint(life, i);
            let still = match trace.outcomes[i].transaction {
                Open::Yes | Open::Failed => true,
                Open::No => false,
                Open::Unknown => open.is_some() || kind == Some(StatementKind::Begin),
            };
            let ended = matches!(kind, Some(StatementKind::Commit | StatementKind::Rollback));
            open = if still && !ended { Some(life) } else { None };
            if open.is_none() {
                let committed = self.steps[i].ok && kind != Some(StatementKind::Rollback);
                self.end(life, self.steps[i].answered, committed);
            }
        }
    }

    fn begin(&mut self, session: usize, level: Level, from: Moment) -> usize {
        self.lives.push(Life {
            session,
            level,
            from,
            to: NEVER,
            committed: false,
            view: None,
            steps: Vec::new(),
        });
        self.lives.len() - 1
    }

    fn end(&mut self, life: usize, at: Moment, committed: bool) {
        self.lives[life].to = at;
        self.lives[life].committed = committed;
    }

    fn note_view(&mut self, life: usize, step: usize) {
        let keeps = super::view_levels(self.product).contains(&self.lives[life].level);
        let told = &self.steps[step];
        let Some(deed) = &told.deed else { return };
        let opens = match dialect::of(self.product).semantics.snapshot_at {
            SnapshotPoint::Never => false,
            SnapshotPoint::FirstRead => deed.kind == StatementKind::Select || deed.takes_view,
            SnapshotPoint::FirstStatement => !deed.reads.is_empty() || !deed.writes.is_empty(),
        };
        if keeps && opens && told.ok && self.lives[life].view.is_none() {
            self.lives[life].view = Some(told.answered);
        }
    }

    fn note_savepoint(&mut self, life: usize, step: usize) {
        let told = &self.steps[step];
        let Some(name) = told.deed.as_ref().filter(|_| told.ok).and_then(|deed| deed.back_to.clone()) else {
            return;
        };
        let mine = self.lives[life].steps.clone();
        let set = mine.iter().rposition(|&s| {
            let deed = self.steps[s].deed.as_ref();
            deed.is_some_and(|deed| deed.savepoint.as_ref() == Some(&name))
        });
        for &s in mine.iter().skip(set.map_or(mine.len(), |at| at + 1)) {
            self.steps[s].undone = true;
        }
    }

    /// The steps of a transaction.
    pub fn of<'a>(&'a self, life: &'a Life) -> impl Iterator<Item = &'a Told> + Clone {
        life.steps.iter().map(|&step| &self.steps[step])
    }

    /// Every two transactions of different sessions whose lives overlap, in both orders.
    pub fn meetings(&self) -> impl Iterator<Item = (&Life, &Life)> {
        self.lives.iter().flat_map(move |one| {
            self.lives
                .iter()
                .filter(move |other| {
                    other.session != one.session && one.from < other.to && other.from < one.to
                })
                .map(move |other| (one, other))
        })
    }

    /// A table of the setup.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.setup.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// Is a column part of a key of this table, of one of these kinds?
    pub fn is_key(&self, table: &str, column: &str, kinds: &[KeyKind]) -> bool {
        self.table(table).is_some_and(|table| {
            table.keys.iter().any(|key| kinds.contains(&key.kind) && key.columns.iter().any(|c| c == column))
        })
    }
}

fn told(session: usize, deed: Option<Arc<Deed>>, outcome: &Outcome) -> Told {
    let (ok, affected, matched) = match &outcome.reply {
        // RETURNING gives rows.
        Reply::Rows(rows) => (true, rows.len() as u64, None),
        Reply::Done { affected, matched } => (true, *affected, *matched),
        _ => (false, 0, None),
    };
    let refused = outcome.error().is_some_and(|error| refused_by_others(error.class));
    let (sent, answered) = (NEVER, NEVER);
    Told {
        session,
        deed,
        life: 0,
        sent,
        answered,
        waited: false,
        ok,
        refused,
        undone: false,
        affected,
        matched,
    }
}
