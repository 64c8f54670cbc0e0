//! What a statement did to its rows, read off the tables and put into the chains.

use dialect::contract::OnStaleWrite;
use model::{
    Reason, Reply, RowSet, Symptom, sql::StatementKind, verdict::Cause, verdict::Response,
    verdict::evidence::Sighting,
};

use super::{
    Conclusion, DecoupledConversation, FirstQuery, MARKED, PendingStatement, RowData, VersionFilter,
    VisibleRow, determinism,
};
use crate::mvcc::{
    deviations::{KnownDeviation, MissedConflict},
    ids,
};

impl DecoupledConversation<'_> {
    /// Reads off the tables what the statement did, and writes it down.
    pub(super) fn effects(
        &mut self,
        pending: &PendingStatement,
        txn: usize,
        first_query: Option<RowSet>,
        tables: &[RowSet],
    ) -> Result<(), Conclusion> {
        let undecided = Conclusion::Undecided;
        let setup = self.known.scratch.clone();
        let Ok(scratch) = setup.as_ref() else { return Err(undecided(Reason::SetupNotRead)) };
        self.mark += 1;
        for ((at, view), read) in pending.views.iter().zip(tables) {
            let after = scratch.rows(*at, read).map_err(undecided)?;
            let changes = match pending.schema {
                MARKED => marked(view, after),
                _ => unmarked(view, after),
            };
            self.stale(pending, txn, *at, &changes)?;
            for (id, data) in changes {
                match id {
                    Some(id) => self.chains[*at].write(id, data, txn, self.mark),
                    None => {
                        if let Some(data) = data {
                            self.chains[*at].insert(self.next_id, data, txn, self.mark);
                            self.next_id += 1;
                        }
                    }
                }
            }
        }
        self.unchanged(pending, txn, first_query);
        Ok(())
    }

    /// Rows that were written without being changed become the transaction's own all the same.
    pub(super) fn unchanged(&mut self, pending: &PendingStatement, txn: usize, first_query: Option<RowSet>) {
        let maybe = match &self.outcome(pending.step).reply {
            Reply::Done { affected, matched: Some(matched) } => matched > affected,
            // Nothing is said about rows that were met and left as they were.
            Reply::Done { .. } => !determinism::only_adds(&self.history.steps[pending.step]),
            _ => true,
        };
        if !maybe {
            return;
        }
        if let (FirstQuery::Matching, Some(first_query)) = (pending.first_query, first_query) {
            let id = |row| {
                String::from_utf8_lossy(first_query.cell(row, 0).unwrap_or_default()).parse::<u64>().ok()
            };
            let ids: Vec<u64> = (0..first_query.len()).filter_map(id).collect();
            let at = pending.views.iter().position(|(_, view)| view.iter().any(|row| ids.contains(&row.id)));
            let Some((at, view)) = at.map(|at| &pending.views[at]) else { return };
            let now = self.chains[*at].view(txn, VersionFilter::Committed(self.now));
            for row in view.iter().filter(|row| ids.contains(&row.id)) {
                let same = now.iter().any(|one| one.id == row.id && one.data == row.data);
                if same && !row.own {
                    self.chains[*at].write(row.id, Some(row.data.clone()), txn, self.mark);
                }
            }
            return;
        }
        if !self.history.steps[pending.step].is(StatementKind::Delete) {
            let tables = pending.views.iter().filter(|(_, view)| !view.is_empty()).map(|(at, _)| *at);
            self.txns[txn].unclear.extend(tables);
        }
    }

    /// Where a row that changed since the snapshot must be refused, was one accepted?
    pub(super) fn stale(
        &self,
        pending: &PendingStatement,
        txn: usize,
        at: usize,
        changes: &[RowChange],
    ) -> Result<(), Conclusion> {
        let Some(rules) = self.rules(pending.step) else { return Ok(()) };
        let (OnStaleWrite::Refused(class), true, Some(taken)) =
            (rules.stale.is, self.txns[txn].sure, self.txns[txn].snapshot.last().copied())
        else {
            return Ok(());
        };
        let newer = |id: &Option<u64>| id.is_some_and(|id| self.chains[at].newer(id, txn, taken));
        if !changes.iter().any(|(id, _)| newer(id)) {
            return Ok(());
        }
        let found = self.violated(Symptom::MissingError, rules.stale.id, pending.step, |evidence| {
            evidence.expected = Some(Response::Error(class));
            evidence.sighting = Some(Sighting::StaleWrite);
        });
        let level = self.level(pending.step);
        let misses = |by: &&&'static KnownDeviation| {
            by.misses_conflict == Some(MissedConflict::All) && by.levels.contains(&level)
        };
        Err(match (found, self.deviations.iter().find(misses)) {
            (Conclusion::Violated(mut violation), Some(by)) => {
                violation.fingerprint.cause = Cause::Deviations(ids([by]));
                Conclusion::Violated(violation)
            }
            (found, _) => found,
        })
    }
}

/// A row that changed: which one, none for a new one, and what it holds now, none if it is gone.
type RowChange = (Option<u64>, Option<RowData>);

/// What changed, by the marks of the rows.
fn marked(view: &[VisibleRow], after: Vec<(Option<u64>, RowData)>) -> Vec<RowChange> {
    let gone = view.iter().filter(|row| !after.iter().any(|(id, _)| *id == Some(row.id)));
    let mut changes: Vec<RowChange> = gone.map(|row| (Some(row.id), None)).collect();
    for (id, data) in after {
        let before = view.iter().find(|row| Some(row.id) == id);
        if before.is_none_or(|row| row.data != data) {
            changes.push((id, Some(data)));
        }
    }
    changes
}

/// What came and went, by what the rows hold. Of rows that hold the same it does not matter which one goes.
fn unmarked(view: &[VisibleRow], mut after: Vec<(Option<u64>, RowData)>) -> Vec<RowChange> {
    let mut changes = Vec::new();
    for row in view {
        match after.iter().position(|(_, data)| *data == row.data) {
            Some(at) => {
                after.remove(at);
            }
            None => changes.push((Some(row.id), None)),
        }
    }
    changes.extend(after.into_iter().map(|(_, data)| (None, Some(data))));
    changes
}
