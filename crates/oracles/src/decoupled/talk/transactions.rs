//! Transactions while a run is gone through: when they begin and end, their savepoints and their fate.

use model::{
    Open, Reason, Reply, Scene,
    sql::{LockTiming, Statement, StatementKind, TransactionMode},
};

use dialect::contract::SnapshotPoint;

use super::{Found, Talk, Txn};
use crate::story::Fate;

impl Talk<'_> {
    pub(super) fn send(&mut self, step: usize) {
        self.sent[step] = self.now;
        self.beside[step].clone_from(&self.waiting);
        if let Some(txn) = self.steps[step].transaction {
            self.txns[txn].open = true;
            let named: Vec<usize> = match self.named(step) {
                Some(roles) => roles.tables.iter().map(|(at, _)| *at).collect(),
                None => Vec::new(),
            };
            self.txns[txn].touched.extend(named);
        }
    }

    pub(super) fn roll_back(&mut self, session: usize) {
        for txn in 0..self.txns.len() {
            if self.txns[txn].open && self.transactions[txn].session == session {
                self.finish(txn, Fate::Undone);
            }
        }
    }

    pub(super) fn finish(&mut self, txn: usize, fate: Fate) {
        self.now += 1;
        let now = self.now;
        match fate {
            Fate::Committed => self.chains.iter_mut().for_each(|chain| chain.commit(txn, now)),
            Fate::Undone | Fate::Unknown => self.chains.iter_mut().for_each(|chain| chain.undo(txn, 0)),
        }
        self.txns[txn].open = false;
        self.txns[txn].ended = Some(now);
    }

    /// A step took effect.
    pub(super) fn answered(&mut self, step: usize) -> Result<Option<Box<Scene>>, Found> {
        self.waiting.retain(|waiting| *waiting != step);
        let Some(txn) = self.steps[step].transaction else { return Ok(None) };
        // BEGIN commits what was open before it, and what an error ended is over when the next one comes.
        let session = self.seen.case.steps[step].session;
        for other in 0..self.txns.len() {
            if other != txn && self.txns[other].open && self.transactions[other].session == session {
                let fate = self.fate(other);
                if fate == Fate::Unknown {
                    return Err(Found::Undecided(Reason::UnknownFate));
                }
                self.finish(other, fate);
            }
        }
        self.txns[txn].open = true;
        self.now += 1;
        let kind = self.steps[step].kind;
        match kind {
            Some(StatementKind::Begin) => self.begin(step, txn),
            Some(StatementKind::Savepoint) => self.savepoint(step, txn),
            Some(kind) if !kind.is_data() => {}
            Some(_) | None => return self.data(step, txn),
        }
        self.close(step, txn)?;
        Ok(None)
    }

    /// What became of a transaction.
    pub(super) fn fate(&self, txn: usize) -> Fate {
        let told = &self.transactions[txn];
        let last = told.steps.last().copied();
        let alone = |step: usize| {
            told.steps.len() == 1
                && self.steps[step].kind.is_none()
                && matches!(self.outcome(step).reply, Reply::Rows(_) | Reply::Done { .. })
        };
        let wrote = |step: usize| {
            let kind = self.steps[step].kind;
            kind.is_none_or(StatementKind::writes) && self.outcome(step).error().is_none()
        };
        match told.fate {
            Fate::Unknown if last.is_some_and(alone) => Fate::Committed,
            // Of one that wrote nothing it does not matter: a BEGIN that was refused, say.
            Fate::Unknown if !told.steps.iter().any(|step| wrote(*step)) => Fate::Undone,
            fate => fate,
        }
    }

    /// Ends the transaction, if this was its last step.
    pub(super) fn close(&mut self, step: usize, txn: usize) -> Result<(), Found> {
        if self.transactions[txn].steps.last() != Some(&step) {
            return Ok(());
        }
        let outcome = self.outcome(step);
        let over = match self.steps[step].kind.is_some_and(StatementKind::ends_transaction) {
            true => outcome.error().is_none() || outcome.transaction == Open::No,
            false => {
                outcome.transaction == Open::No
                    || outcome.error().is_some_and(|error| error.ends != model::Ends::Statement)
            }
        };
        if over {
            let fate = self.fate(txn);
            if fate == Fate::Unknown {
                return Err(Found::Undecided(Reason::UnknownFate));
            }
            self.finish(txn, fate);
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, step: usize, txn: usize) {
        let Some(rules) = self.rules(step) else { return };
        let Some(Statement::Begin(begin)) = self.steps[step].statement() else { return };
        let asked = begin.modes.contains(&TransactionMode::ConsistentSnapshot);
        let at_once = match begin.timing {
            Some(LockTiming::Immediate | LockTiming::Exclusive) => true,
            Some(LockTiming::Deferred) | None => false,
        };
        if asked && rules.begin_takes_it || at_once && rules.snapshot.is == SnapshotPoint::FirstStatement {
            (self.txns[txn].snapshot, self.txns[txn].sure) = (vec![self.now], true);
        }
    }

    pub(super) fn savepoint(&mut self, step: usize, txn: usize) {
        if self.outcome(step).error().is_some() {
            return;
        }
        self.mark += 1;
        let mark = self.mark;
        let place = |txn: &Txn, name: &str| {
            txn.savepoints.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        match self.steps[step].statement().cloned() {
            Some(Statement::Savepoint(name)) => self.txns[txn].savepoints.push((name.name, mark)),
            Some(Statement::Release(target)) => {
                if let Some(at) = place(&self.txns[txn], &target.name.name) {
                    self.txns[txn].savepoints.truncate(at);
                }
            }
            Some(Statement::Rollback(rollback)) => {
                let name = rollback.to.map(|target| target.name.name).unwrap_or_default();
                // One that is not known was set before the first statement that touched a table, when the server did not
                // yet say that a transaction was open.
                let at = place(&self.txns[txn], &name);
                let from = at.map_or(0, |at| self.txns[txn].savepoints[at].1);
                self.chains.iter_mut().for_each(|chain| chain.undo(txn, from));
                self.txns[txn].savepoints.truncate(at.map_or(0, |at| at + 1));
            }
            Some(_) | None => {}
        }
    }
}
