//! Transactions while a run is gone through: when they begin and end, their savepoints and their fate.

use model::{
    Probe, Reason,
    sql::{LockTiming, Statement, StatementKind, TransactionMode},
};

use dialect::contract::SnapshotPoint;
use history::{Fate, StepInfo};

use super::{Conclusion, DecoupledConversation};

impl DecoupledConversation<'_> {
    pub(super) fn send(&mut self, step: usize) {
        self.sent[step] = self.now;
        self.beside[step].clone_from(&self.waiting);
        if let Some(txn) = self.history.steps[step].transaction {
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
            if self.txns[txn].open && self.history.transactions[txn].session == session {
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
    pub(super) fn answered(&mut self, step: usize) -> Result<Option<Box<Probe>>, Conclusion> {
        self.waiting.retain(|waiting| *waiting != step);
        let Some(txn) = self.history.steps[step].transaction else { return Ok(None) };
        // BEGIN commits what was open before it.
        if let Some(before) = self.ended_by(step).filter(|before| *before != txn) {
            self.finish_by_fate(before)?;
        }
        self.txns[txn].open = true;
        self.now += 1;
        let kind = self.history.steps[step].kind();
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
    fn fate(&self, txn: usize) -> Fate {
        let wrote = |step: &StepInfo<'_>| {
            step.kind().is_none_or(StatementKind::writes) && step.outcome.error().is_none()
        };
        let transaction = &self.history.transactions[txn];
        match transaction.fate {
            // Of one that wrote nothing it does not matter.
            Fate::Unknown if !self.history.steps_of(transaction).any(wrote) => Fate::Undone,
            fate => fate,
        }
    }

    /// Ends the transaction, if this was its last step.
    pub(super) fn close(&mut self, step: usize, txn: usize) -> Result<(), Conclusion> {
        match self.ended_by(step) == Some(txn) {
            true => self.finish_by_fate(txn),
            false => Ok(()),
        }
    }

    fn ended_by(&self, step: usize) -> Option<usize> {
        self.history.transactions.iter().position(|transaction| transaction.ended_by == Some(step))
    }

    fn finish_by_fate(&mut self, txn: usize) -> Result<(), Conclusion> {
        let fate = self.fate(txn);
        if fate == Fate::Unknown {
            return Err(Conclusion::Undecided(Reason::UnknownFate));
        }
        self.finish(txn, fate);
        Ok(())
    }

    pub(super) fn begin(&mut self, step: usize, txn: usize) {
        let Some(rules) = self.rules(step) else { return };
        let Some(Statement::Begin(begin)) = self.history.steps[step].statement() else { return };
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
        match self.history.steps[step].statement() {
            Some(Statement::Savepoint(_)) => self.txns[txn].savepoints.push((step, mark)),
            Some(Statement::Rollback(_)) => {
                let set = self.history.steps[step].savepoint;
                let known = self.txns[txn].savepoints.iter().find(|(by, _)| Some(*by) == set);
                let from = known.map_or(0, |(_, mark)| *mark);
                self.chains.iter_mut().for_each(|chain| chain.undo(txn, from));
            }
            Some(_) | None => {}
        }
    }
}
