//! What an answer does to the hypothesis: changes, locks, the end of a transaction.

use model::{
    DbError, Ends, Open, Reply, RuleId, Symptom,
    sql::{Expr, Query, Statement},
    verdict::Response,
};

use super::{Rejection, Replay};
use crate::mvcc::{
    allowed_outcome::{AllowedOutcome, Effect, Expected},
    hypothesis::{Hypothesis, Lock},
    schema::Values,
    statement_context::alike,
};

impl Replay<'_> {
    pub(super) fn apply(
        &self,
        hypothesis: &mut Hypothesis,
        step: usize,
        allowed: &AllowedOutcome,
        success: bool,
    ) -> Result<(), Rejection> {
        let session = self.seen.case.steps[step].session;
        if let Some(by) = allowed.by {
            hypothesis.used.push((by, step));
        }
        hypothesis.unchecked |= allowed.reply == Expected::Anything;
        if success {
            self.trespass(hypothesis, session, step, &allowed.effects)?;
            self.shared(hypothesis, session, step, &allowed.locks)?;
        }
        if let Some(txn) = &mut hypothesis.sessions[session].txn {
            if let (Some(moment), true) = (allowed.opens_view, txn.lasts) {
                txn.view.get_or_insert(moment);
            }
            if success {
                let met = |lock: &Lock| txn.trespassed.contains(&(lock.table, lock.row));
                if allowed.locks.iter().any(met) {
                    return Err(Replay::mismatch(
                        step,
                        Symptom::Phantom,
                        RuleId::LockedRange,
                        Response::LockedRows,
                    ));
                }
            }
            txn.locks.extend(allowed.locks.iter().cloned());
            if allowed.range && success {
                txn.ranges.push(step);
            }
        }
        for effect in &allowed.effects {
            match effect {
                Effect::Put { table, row, data, noop } => {
                    hypothesis.write(session, *table, *row, data.clone(), *noop)
                }
                Effect::Insert { table, data } => hypothesis.insert(session, *table, data.clone()),
            }
        }
        Ok(())
    }

    /// Does a change touch what another transaction has locked?
    pub(super) fn trespass(
        &self,
        hypothesis: &mut Hypothesis,
        session: usize,
        step: usize,
        effects: &[Effect],
    ) -> Result<(), Rejection> {
        let mut into: Vec<(usize, usize, usize)> = Vec::new();
        let mut fresh = 0;
        for effect in effects {
            let (table, row, old, new) = match effect {
                Effect::Put { noop: true, .. } => continue,
                Effect::Put { table, row, data, .. } => {
                    (*table, *row, hypothesis.tables[*table][*row].newest().cloned(), data.clone())
                }
                Effect::Insert { table, data } => {
                    fresh += 1;
                    (*table, hypothesis.tables[*table].len() + fresh - 1, None, Some(data.clone()))
                }
            };
            for (other, state) in
                hypothesis.sessions.iter().enumerate().filter(|(other, _)| *other != session)
            {
                let Some(txn) = &state.txn else { continue };
                let locked = txn.locks.iter().find(|lock| {
                    (lock.table, lock.row) == (table, row)
                        && lock.columns.is_none_or(|columns| match (&old, &new) {
                            (Some(old), Some(new)) => !alike(old, new, columns),
                            _ => true,
                        })
                });
                if let Some(lock) = locked {
                    return Err(Replay::missing(
                        step,
                        RuleId::LockedNotChanged,
                        Response::WaitFor(lock.step),
                        Some(other),
                    ));
                }
                for &range in &txn.ranges {
                    if self.selects(range, table, old.as_ref()) != self.selects(range, table, new.as_ref()) {
                        into.push((other, table, row));
                    }
                }
            }
        }
        for (other, table, row) in into {
            if let Some(txn) = &mut hypothesis.sessions[other].txn {
                txn.trespassed.push((table, row));
            }
        }
        Ok(())
    }

    /// Does it lock what another transaction has locked?
    fn shared(
        &self,
        hypothesis: &Hypothesis,
        session: usize,
        step: usize,
        locks: &[Lock],
    ) -> Result<(), Rejection> {
        // A shared lock may be on the record of an index that holds all that was read.
        let apart =
            |lock: &Lock| lock.columns.is_some_and(|columns| self.schema.tables[lock.table].covers(columns));
        for lock in locks {
            for (other, state) in
                hypothesis.sessions.iter().enumerate().filter(|(other, _)| *other != session)
            {
                let Some(txn) = &state.txn else { continue };
                let against = |held: &&Lock| {
                    (held.table, held.row) == (lock.table, lock.row)
                        && (held.columns.is_none() || lock.columns.is_none())
                        && !apart(held)
                        && !apart(lock)
                };
                if let Some(held) = txn.locks.iter().find(against) {
                    return Err(Replay::missing(
                        step,
                        RuleId::LockedNotLocked,
                        Response::WaitFor(held.step),
                        Some(other),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Does the condition of a step select these values? Where that is not clear, no.
    pub(super) fn selects(&self, step: usize, table: usize, values: Option<&Values>) -> bool {
        let Some(values) = values else { return false };
        let filter = match self.seen.case.tree(step) {
            Some(Statement::Query(Query { first: model::sql::QueryPart::Select(select), .. })) => {
                &select.filter
            }
            Some(Statement::Update(update)) => &update.filter,
            Some(Statement::Delete(delete)) => &delete.filter,
            Some(_) | None => return false,
        };
        if self.footprints[step].target != Some(table) || filter.as_ref().is_some_and(Expr::has_query) {
            return false;
        }
        match filter {
            None => true,
            Some(filter) => {
                self.evaluator().known_range(&self.schema.tables[table].columns, filter, values)
                    == Ok(Some(true))
            }
        }
    }

    /// What the answer leaves of the transaction.
    pub(super) fn after(
        &self,
        hypothesis: &mut Hypothesis,
        step: usize,
        error: Option<&DbError>,
        open: Open,
    ) {
        let session = self.seen.case.steps[step].session;
        let ends = error.map(|error| error.ends);
        match ends {
            Some(Ends::Transaction | Ends::Session) => {
                let lasted = hypothesis.sessions[session].txn.as_ref().is_some_and(|txn| txn.lasts);
                hypothesis.roll_back(session);
                hypothesis.sessions[session].perhaps_open = lasted;
                if lasted && (open == Open::Yes || self.goes_on(step)) {
                    hypothesis.txn(session, true);
                }
            }
            Some(Ends::Statement) | None => {
                let single = hypothesis.sessions[session].txn.as_ref().is_some_and(|txn| !txn.lasts);
                if single {
                    hypothesis.commit(session);
                }
            }
        }
    }

    /// After an error that ended its transaction the protocol does not say whether a session is in a new one; its next
    /// answer does, if that comes from a table: what touches none (a savepoint) says no either way.
    pub(super) fn goes_on(&self, step: usize) -> bool {
        let session = self.seen.case.steps[step].session;
        let later = (step + 1..self.seen.case.steps.len())
            .filter(|&later| self.seen.case.steps[later].session == session);
        for later in later {
            let outcome = &self.seen.trace.outcomes[later];
            match (self.seen.case.tree(later), &outcome.reply) {
                (Some(Statement::Begin(_) | Statement::Commit(_)), _) => return false,
                (Some(Statement::Rollback(rollback)), _) if rollback.to.is_none() => return false,
                (_, Reply::Rows(_) | Reply::Done { .. }) if self.footprints[later].tables != 0 => {
                    return outcome.transaction == Open::Yes;
                }
                (_, Reply::NotSent | Reply::Killed) => return false,
                _ => {}
            }
        }
        false
    }
}
