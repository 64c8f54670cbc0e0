//! What a statement sees, by the contract: when the snapshot is taken, and which rows are in a view.

use dialect::contract::{SnapshotPoint, Visibility};
use model::{Reason, Reply};

use super::{DecoupledConversation, TableRoles, VersionFilter, VisibleRow, determinism};

impl DecoupledConversation<'_> {
    /// Does this statement take the transaction's snapshot? A query that the server can answer without looking at a table does not, and from
    /// outside that is not always seen.
    pub(super) fn take_snapshot(&mut self, step: usize, txn: usize, roles: &TableRoles) {
        let Some(rules) = self.rules(step) else { return };
        if self.txns[txn].sure || roles.tables.is_empty() {
            return;
        }
        let takes = match rules.snapshot.is {
            SnapshotPoint::Never => false,
            SnapshotPoint::FirstRead => roles.consistent || !roles.changes && roles.nested,
            SnapshotPoint::FirstStatement => true,
        };
        if !takes {
            return;
        }
        let looked = match &self.outcome(step).reply {
            Reply::Rows(rows) => {
                let step_info = &self.history.steps[step];
                !rows.is_empty() && determinism::rows_from_tables(step_info)
                    || determinism::unconditional(step_info)
            }
            Reply::Done { affected, .. } => *affected > 0,
            _ => false,
        };
        let sure = looked && (roles.consistent || rules.snapshot.is == SnapshotPoint::FirstStatement);
        let waited = self.seen.trace.waited(step);
        let (sent, now) = (self.sent[step], self.now);
        let state = &mut self.txns[txn];
        // What is read inside a statement may be read before its wait, after it, or between two.
        match (waited, roles.nested) {
            (true, true) => state.snapshot.extend(sent..now),
            (true, false) => state.snapshot.push(sent),
            (false, _) => {}
        }
        state.snapshot.push(now);
        state.sure = sure && !waited;
    }

    /// The view of one table by one rule; several where the moment is not known. And the reason why it may be yet another one, if
    /// there is one.
    pub(super) fn views(
        &self,
        step: usize,
        txn: usize,
        at: usize,
        sees: Visibility,
    ) -> (Vec<Vec<VisibleRow>>, Option<Reason>) {
        let chain = &self.chains[at];
        let mut open = None;
        let all = match sees {
            Visibility::Newest => {
                if self.half_done(at, step) {
                    open = Some(Reason::HalfDoneStatement);
                } else if self.seen.trace.waited(step) {
                    // It may have looked before its wait, at what has been undone since.
                    open = Some(Reason::DirtyReadBeforeWait);
                }
                vec![chain.view(txn, VersionFilter::Newest)]
            }
            Visibility::Committed => vec![chain.view(txn, VersionFilter::Committed(self.now))],
            // It may also have looked later: what is read inside a statement is read when it is needed.
            Visibility::Fresh if self.seen.trace.waited(step) => vec![
                chain.view(txn, VersionFilter::Committed(self.sent[step])),
                chain.view(txn, VersionFilter::Committed(self.now)),
            ],
            Visibility::Fresh => vec![chain.view(txn, VersionFilter::Committed(self.now))],
            Visibility::Snapshot => {
                let mut times = self.txns[txn].snapshot.clone();
                if times.is_empty() {
                    times.push(self.now);
                }
                let newest = chain.view(txn, VersionFilter::Committed(self.now));
                let views: Vec<Vec<VisibleRow>> = times
                    .iter()
                    .map(|time| {
                        self.shadowed(txn, at, chain.view(txn, VersionFilter::Committed(*time)), true)
                    })
                    .collect();
                if self.txns[txn].unclear.contains(&at) && views.iter().any(|view| !same_view(view, &newest))
                {
                    open = Some(Reason::UnchangedRows);
                }
                views
            }
        };
        (all, open)
    }

    /// Does a statement wait that changes this table, or did one when this step was sent? Half of what it does is, or was, there to
    /// be seen.
    pub(super) fn half_done(&self, at: usize, step: usize) -> bool {
        self.waiting.iter().chain(&self.beside[step]).any(|waiting| {
            self.named(*waiting)
                .is_none_or(|roles| roles.changes && roles.tables.iter().any(|(table, _)| *table == at))
        })
    }

    /// A row that the transaction wrote or deleted itself stands in the place of an older one with the same primary key: deleted
    /// by another since the snapshot, its key was free again. What it wrote without changing it counts or not, as in the view.
    pub(super) fn shadowed(
        &self,
        txn: usize,
        at: usize,
        view: Vec<VisibleRow>,
        unchanged: bool,
    ) -> Vec<VisibleRow> {
        let Some(scratch) = self.scratch() else { return view };
        let written = self.chains[at].overwritten_by(txn, unchanged);
        let own: Vec<_> = written.iter().filter_map(|data| scratch.key(at, data)).collect();
        let hidden =
            |row: &VisibleRow| !row.own && scratch.key(at, &row.data).is_some_and(|key| own.contains(&key));
        view.iter().filter(|row| !hidden(row)).cloned().collect()
    }
}

/// Do both hold the same rows?
pub(super) fn same_view(a: &[VisibleRow], b: &[VisibleRow]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.id == y.id && x.data == y.data)
}
