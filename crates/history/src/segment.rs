//! Divides the steps of a session into transactions.

use dialect::{AccessSet, Semantics, contract::SnapshotPoint};
use model::{
    Ends, Level, Open, Reply,
    sql::{InsertModifier, LockTiming, Resolution, Statement, StatementKind, TransactionMode},
};

use crate::{Fate, History, Moment, StepInfo, Transaction, UndoneBy};

/// A session while its steps are gone through.
struct Session {
    number: usize,
    semantics: &'static Semantics,
    autocommit: bool,
    /// Of the next transaction, if it is known.
    level: Option<Level>,
    current: Option<usize>,
    /// Has the server said since it began that it is open?
    told_open: bool,
    /// The steps that set the savepoints which it has.
    savepoints: Vec<usize>,
}

impl History<'_> {
    /// `rolled_back`: when we rolled back what was open at the end of the case.
    pub(crate) fn segment(&mut self, number: usize, rolled_back: Moment) {
        let (case, trace) = (self.case, self.trace);
        let spec = &case.sessions[number];
        let mut session = Session {
            number,
            semantics: &dialect::of(trace.server.product).semantics,
            autocommit: spec.autocommit,
            level: Some(spec.level.unwrap_or(trace.level)),
            current: None,
            told_open: false,
            savepoints: Vec::new(),
        };
        let first = self.transactions.len();
        for step in 0..self.steps.len() {
            if self.steps[step].session == number && self.steps[step].outcome.reply != Reply::NotSent {
                self.place(&mut session, step);
            }
        }
        if let Some(open) = session.current {
            let died = trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
            let open = &mut self.transactions[open];
            open.end = rolled_back;
            open.fate = if died { Fate::Unknown } else { Fate::Undone };
        }
        for transaction in self.transactions[first..].iter().filter(|transaction| transaction.undone()) {
            for &step in &transaction.steps {
                self.steps[step].undone.get_or_insert(UndoneBy::Transaction);
            }
        }
    }

    /// Gives a step its transaction.
    fn place(&mut self, session: &mut Session, step: usize) {
        let kind = self.steps[step].kind();
        let failed = self.steps[step].outcome.error().is_some();
        if kind == Some(StatementKind::Begin) && session.semantics.begin_commits_open && !failed {
            self.end(session, step, Fate::Committed);
        }
        let was_open = session.current.is_some();
        let current = *session.current.get_or_insert_with(|| {
            self.transactions.push(Transaction {
                session: session.number,
                level: session.level,
                begin: self.steps[step].sent,
                snapshot: None,
                end: Moment::NEVER,
                ended_by: None,
                fate: Fate::Unknown,
                steps: Vec::new(),
            });
            self.transactions.len() - 1
        });
        self.transactions[current].steps.push(step);
        self.steps[step].transaction = Some(current);
        self.note_level(session, current, step);
        self.note_snapshot(session, current, step);
        match failed {
            true if !keeps_part(self.steps[step].statement()) => {
                self.steps[step].undone = Some(UndoneBy::Error);
            }
            true => {}
            false => self.note_savepoint(session, current, step),
        }
        let open = match self.steps[step].outcome.transaction {
            Open::Yes | Open::Failed => {
                session.told_open = true;
                true
            }
            // Without autocommit one is open only from the first statement that touches a table, but the savepoints before belong to it.
            Open::No => {
                let touched_nothing =
                    kind.is_some_and(|kind| kind.is_data() || kind == StatementKind::Savepoint);
                !session.autocommit && !session.told_open && touched_nothing
            }
            Open::Unknown => was_open || !session.autocommit || kind == Some(StatementKind::Begin),
        };
        if let Some(fate) = fate(&self.steps[step], open, was_open) {
            self.end(session, step, fate);
        }
    }

    fn end(&mut self, session: &mut Session, step: usize, fate: Fate) {
        if let Some(current) = session.current.take() {
            let transaction = &mut self.transactions[current];
            transaction.end = self.steps[step].answered;
            transaction.ended_by = Some(step);
            transaction.fate = fate;
        }
        session.told_open = false;
        session.savepoints.clear();
    }

    fn note_level(&mut self, session: &mut Session, current: usize, step: usize) {
        match self.steps[step].statement() {
            Some(Statement::Begin(begin)) => {
                for mode in &begin.modes {
                    if let TransactionMode::Isolation(level) = mode {
                        self.transactions[current].level = Some(*level);
                    }
                }
            }
            // Whether this holds for the open transaction, for the next or for all is another matter in each product.
            Some(Statement::SetTransaction(_) | Statement::Set(_)) | None => {
                session.level = None;
                self.transactions[current].level = None;
            }
            Some(_) => {}
        }
    }

    fn note_snapshot(&mut self, session: &Session, current: usize, step: usize) {
        let transaction = &mut self.transactions[current];
        let keeps = transaction.level.is_some_and(|level| session.semantics.snapshot_levels.contains(&level));
        let step = &self.steps[step];
        if !keeps || transaction.snapshot.is_some() || !step.succeeded() {
            return;
        }
        let touches = || step.access().is_some_and(AccessSet::touches_tables);
        let begins = |by: fn(&model::sql::Begin) -> bool| match step.statement() {
            Some(Statement::Begin(begin)) => by(begin),
            Some(_) | None => false,
        };
        let at = match session.semantics.snapshot_at {
            SnapshotPoint::Never => None,
            SnapshotPoint::FirstRead => {
                let asks =
                    |begin: &model::sql::Begin| begin.modes.contains(&TransactionMode::ConsistentSnapshot);
                (step.is(StatementKind::Select) && touches() || begins(asks)).then_some(step.answered)
            }
            // One that waits has taken it before.
            SnapshotPoint::FirstStatement => {
                let locks = |begin: &model::sql::Begin| {
                    matches!(begin.timing, Some(LockTiming::Immediate | LockTiming::Exclusive))
                };
                (touches() || begins(locks)).then_some(step.sent)
            }
        };
        transaction.snapshot = at;
    }

    /// Keeps the list of savepoints; going back to one undoes what came after it.
    fn note_savepoint(&mut self, session: &mut Session, current: usize, step: usize) {
        let (name, goes_back) = match self.steps[step].statement() {
            Some(Statement::Savepoint(_)) => return session.savepoints.push(step),
            Some(Statement::Release(target)) => (&target.name.name, false),
            Some(Statement::Rollback(rollback)) => match &rollback.to {
                Some(target) => (&target.name.name, true),
                None => return,
            },
            Some(_) | None => return,
        };
        let named = |set: &usize| match self.steps[*set].statement() {
            Some(Statement::Savepoint(known)) => known.name.eq_ignore_ascii_case(name),
            Some(_) | None => false,
        };
        let Some(at) = session.savepoints.iter().rposition(named) else { return };
        let set = session.savepoints[at];
        self.steps[step].savepoint = Some(set);
        session.savepoints.truncate(at + usize::from(goes_back));
        if goes_back {
            for &undone in self.transactions[current].steps.iter().filter(|undone| **undone > set) {
                self.steps[undone].undone.get_or_insert(UndoneBy::Savepoint(step));
            }
        }
    }
}

/// May part of a statement stay that failed? SQLite's OR FAIL keeps what was done before the failure.
fn keeps_part(statement: Option<&Statement>) -> bool {
    match statement {
        Some(Statement::Insert(insert)) => insert.modifier == Some(InsertModifier::Or(Resolution::Fail)),
        Some(Statement::Update(update)) => update.modifier == Some(InsertModifier::Or(Resolution::Fail)),
        Some(_) => false,
        None => true,
    }
}

/// If the transaction is over after this step: what became of it. `open`: one is open after the step; `was_open`: one was
/// before it.
fn fate(step: &StepInfo<'_>, open: bool, was_open: bool) -> Option<Fate> {
    let kind = step.kind();
    match &step.outcome.reply {
        Reply::RolledBack => Some(Fate::Undone),
        Reply::ConnectionLost | Reply::ServerDied => Some(Fate::Unknown),
        // A kill is answered in many ways, and may have come too late.
        Reply::Hung | Reply::Killed => (!open).then_some(Fate::Unknown),
        Reply::NotSent => None,
        Reply::Rows(_) | Reply::Done { .. } => match kind {
            Some(StatementKind::Rollback) => Some(Fate::Undone),
            Some(StatementKind::Commit) => Some(Fate::Committed),
            Some(_) => (!open).then_some(Fate::Committed),
            // What it did by itself is committed; what it did to an open transaction is not known.
            None => (!open).then_some(if was_open { Fate::Unknown } else { Fate::Committed }),
        },
        Reply::Error(error) => match (error.ends, kind) {
            (Ends::Transaction, _) if step.outcome.transaction == Open::Failed => None,
            // Where a new transaction is open at once, the old one is over all the same.
            (Ends::Transaction, _) => Some(Fate::Undone),
            (Ends::Session, Some(StatementKind::Commit)) => Some(Fate::Unknown),
            (Ends::Session, _) => Some(Fate::Undone),
            // There was nothing that they could have committed.
            (Ends::Statement, Some(StatementKind::Commit | StatementKind::Begin)) if !was_open && !open => {
                Some(Fate::Undone)
            }
            // Such a statement may have committed before it failed.
            (
                Ends::Statement,
                None
                | Some(StatementKind::Ddl | StatementKind::Set | StatementKind::Commit | StatementKind::Begin),
            ) => (!open).then_some(Fate::Unknown),
            (Ends::Statement, _) => (!open).then_some(Fate::Undone),
        },
    }
}
