//! What a plain read sees of a row, and the ways to get that wrong that can be planted.

use crate::{
    plants::Bug,
    statement_run::StatementRun,
    versions::{ReadView, Row, Values},
};

impl StatementRun<'_> {
    /// What a plain read sees of a row.
    pub fn seen<'r>(&self, row: &'r Row, view: ReadView) -> Option<&'r Values> {
        let right = row.seen(view, self.txn.id);
        match view {
            ReadView::At(stamp) if self.base.plants.any() => {
                let wrong = self.taken_for_committed(row).or_else(|| self.beside_the_snapshot(row, stamp));
                wrong.unwrap_or(right)
            }
            ReadView::At(_) | ReadView::Newest => right,
        }
    }

    /// The planted bugs that take an open change of another for a committed one.
    fn taken_for_committed<'r>(&self, row: &'r Row) -> Option<Option<&'r Values>> {
        let newest =
            row.newest().filter(|newest| newest.committed.is_none() && newest.writer != self.txn.id)?;
        let hits = |bug| self.base.plants.hits(bug, || format!("{} {:?}", self.statement.text, newest.data));
        if hits(Bug::AbortedRead) || row.committed().is_none() && hits(Bug::DirtyRead) {
            return Some(newest.data.as_ref());
        }
        let replaced = row.replaced(self.txn.id)?;
        hits(Bug::IntermediateRead).then_some(replaced.data.as_ref())
    }

    /// The planted bugs that look past the snapshot, at what was committed since.
    fn beside_the_snapshot<'r>(&self, row: &'r Row, stamp: u64) -> Option<Option<&'r Values>> {
        let now = row.committed().filter(|now| now.committed > Some(stamp))?;
        let hits = |bug| self.base.plants.hits(bug, || format!("{} {:?}", self.statement.text, now.data));
        let before = row.before_own(stamp);
        if row.newest().is_some_and(|newest| newest.writer == self.txn.id && newest.committed.is_none()) {
            return hits(Bug::LostOwnWrite).then_some(before);
        }
        let bug = match (before, &now.data) {
            (Some(_), Some(_)) => Bug::NonRepeatableRead,
            (Some(_), None) => Bug::PhantomDelete,
            (None, Some(_)) => Bug::PhantomInsert,
            (None, None) => return None,
        };
        hits(bug).then_some(now.data.as_ref())
    }

    /// The values on which a plain read judges its condition: those that it sees. The planted bug: those of now.
    pub fn judged<'r>(&self, row: &'r Row, view: ReadView, seen: &'r Values) -> &'r Values {
        let ReadView::At(stamp) = view else { return seen };
        let now = row.committed().filter(|now| now.committed > Some(stamp)).and_then(|now| now.data.as_ref());
        let own = row.newest().is_some_and(|newest| newest.writer == self.txn.id);
        match now.filter(|_| !own) {
            Some(now)
                if self
                    .base
                    .plants
                    .hits(Bug::PhantomUpdate, || format!("{} {now:?}", self.statement.text)) =>
            {
                now
            }
            _ => seen,
        }
    }
}
