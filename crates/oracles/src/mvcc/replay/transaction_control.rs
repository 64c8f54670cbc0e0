//! Statements that begin, end and go back: BEGIN, savepoints; and the pragma of foreign keys, which a transaction ignores.

use model::sql::{Begin, Pragma, TransactionMode};
use model::{Reason, RuleId, Symptom, verdict::Response};

use smallvec::{SmallVec, smallvec};

use super::{Explained, Rejection, Replay};
use crate::mvcc::hypothesis::Hypothesis;

impl Replay<'_> {
    pub(super) fn opens(&self, mut hypothesis: Hypothesis, step: usize, begin: &Begin) -> Explained {
        let session = self.seen.case.steps[step].session;
        match self.seen.trace.outcomes[step].error() {
            None => {}
            Some(error) if Some(error.class) == self.contract.busy => return Ok(smallvec![hypothesis]),
            Some(_) => return Err(Rejection::Undecided(Reason::BeginRefused)),
        }
        hypothesis.commit(session);
        let clock = hypothesis.clock;
        let txn = hypothesis.txn(session, true);
        txn.lasts = true;
        if begin.timing.is_some_and(|timing| timing != model::sql::LockTiming::Deferred) {
            txn.view = Some(clock);
            (txn.touched, txn.locking) = (u64::MAX, u64::MAX);
        }
        for mode in &begin.modes {
            match mode {
                TransactionMode::ConsistentSnapshot => {
                    if self.rules(session).is_some_and(|rules| rules.begin_takes_it) {
                        txn.view = Some(clock);
                    }
                }
                TransactionMode::ReadOnly => txn.read_only = true,
                TransactionMode::ReadWrite => {}
                TransactionMode::Isolation(_)
                | TransactionMode::Deferrable
                | TransactionMode::NotDeferrable => return Err(Rejection::Undecided(Reason::BeginWithLevel)),
            }
        }
        Ok(smallvec![hypothesis])
    }

    /// What holds before the first step.
    pub fn beginning(&self) -> Hypothesis {
        let server = &self.seen.trace.server;
        let enforced = self.foreign_keys_on().is_none_or(|name| {
            server.settings.get(name).is_some_and(|value| value.eq_ignore_ascii_case("ON") || value == "1")
        });
        Hypothesis::new(self.schema, self.seen.case.sessions.len(), enforced)
    }

    /// The setting without which foreign keys are not enforced, if there is one.
    fn foreign_keys_on(&self) -> Option<&'static str> {
        let server = &self.seen.trace.server;
        dialect::capabilities(server.product, &server.version).foreign_keys_on
    }

    /// `PRAGMA foreign_keys`. SQLite's manual: "This pragma is a no-op within a transaction".
    pub(super) fn asks_for_foreign_keys(
        &self,
        hypothesis: &mut Hypothesis,
        step: usize,
        pragma: &Pragma,
    ) -> Result<(), Rejection> {
        let asked = self.foreign_keys_on().is_some_and(|name| pragma.name.name.eq_ignore_ascii_case(name));
        let Some(value) = pragma.value.as_ref().filter(|_| asked) else { return Ok(()) };
        let session = &mut hypothesis.sessions[self.seen.case.steps[step].session];
        if session.txn.is_none() {
            let on = value.as_bool().ok_or(Rejection::Undecided(Reason::SettingsChanged))?;
            session.foreign_keys = on;
        }
        Ok(())
    }

    /// ROLLBACK TO and RELEASE.
    pub(super) fn back(&self, mut hypothesis: Hypothesis, step: usize, name: &str, undo: bool) -> Explained {
        let session = self.seen.case.steps[step].session;
        let error = self.seen.trace.outcomes[step].error();
        // To release the savepoint that began a transaction is to commit: that may be tried again.
        if error.is_some_and(|error| Some(error.class) == self.contract.busy) {
            return Ok(smallvec![hypothesis]);
        }
        let failed = error.is_some();
        let known = hypothesis.sessions[session].txn.as_ref().and_then(|txn| {
            let at = txn.savepoints.iter().rposition(|known| known.name.eq_ignore_ascii_case(name))?;
            Some((at, txn.savepoints[at].length))
        });
        match (known, failed) {
            (None, true) => Ok(smallvec![hypothesis]),
            (Some((at, length)), false) => {
                if undo {
                    hypothesis.undo_to(session, length);
                }
                let mut hypotheses = SmallVec::new();
                let mut over = false;
                if let Some(txn) = &mut hypothesis.sessions[session].txn {
                    txn.savepoints.truncate(if undo { at + 1 } else { at });
                    over = !undo && txn.by_savepoint && at == 0;
                }
                if over {
                    hypothesis.commit(session);
                }
                for deviation in self.tried(session).filter(|_| undo) {
                    let txn = hypothesis.sessions[session].txn.as_ref();
                    let left = txn
                        .zip(deviation.rollback_to)
                        .and_then(|(txn, leaves)| leaves(txn.savepoints.get(at)?, txn));
                    if let Some(left) = left {
                        let mut other = hypothesis.clone();
                        other.sessions[session].txn = Some(left);
                        other.used.push((deviation, step));
                        hypotheses.push(other);
                    }
                }
                hypotheses.insert(0, hypothesis);
                Ok(hypotheses)
            }
            (None, false) | (Some(_), true) if hypothesis.sessions[session].perhaps_open => {
                Err(Rejection::Undecided(Reason::SavepointAfterAnError))
            }
            (None, false) | (Some(_), true) => Err(Replay::mismatch(
                step,
                Symptom::Savepoint,
                RuleId::SavepointLasts,
                if failed { Response::Success } else { Response::AnError },
            )),
        }
    }
}
