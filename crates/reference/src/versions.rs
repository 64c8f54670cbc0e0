//! The version store: every row is a chain of versions, the newest last.
//!
//! A row has a number of its own that never changes, whatever its key is; a change of the key is a new version like any
//! other. A version has a writer, and a stamp once that writer has committed. Stamps count commits, so a read view is just
//! a stamp: it sees of each row the newest version that its owner wrote or that was committed up to that stamp.
//!
//! ```text
//! row 7   (1, 10) by 3, stamp 5    (1, 11) by 8, stamp 6    (1, 12) by 9, open
//!
//! a view of stamp 5                sees (1, 10)
//! a view of stamp 6                sees (1, 11)
//! transaction 9, with any view     sees (1, 12)
//! READ UNCOMMITTED                 sees (1, 12)
//! ```
//!
//! A deleted row ends with a version without data. To undo a change is to take the last version away; a row without
//! versions is gone. Nothing here knows about locks: the callers see to it that only one open transaction writes a row.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use eval::Datum;

use crate::locks::TxnId;

/// The number of a row, unique in its table.
pub type RowId = u64;

/// When something was committed: commits are counted.
pub type Stamp = u64;

/// The values of a row, one for each column.
pub type Values = Rc<[Datum]>;

#[derive(Clone, Debug)]
pub struct Version {
    pub writer: TxnId,
    /// When that was committed; none while it is open.
    pub committed: Option<Stamp>,
    /// The values; none if the row was deleted.
    pub data: Option<Values>,
}

#[derive(Clone, Debug, Default)]
pub struct Row {
    versions: Vec<Version>,
}

/// What a plain read sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadView {
    /// The newest version of everything, committed or not.
    Newest,
    /// What was committed up to this stamp.
    At(Stamp),
}

impl Row {
    /// The newest version. A row that is there has one.
    pub fn newest(&self) -> Option<&Version> {
        self.versions.last()
    }

    pub fn committed(&self) -> Option<&Version> {
        self.versions.iter().rev().find(|version| version.committed.is_some())
    }

    /// What a transaction sees of it in a view.
    pub fn seen(&self, view: ReadView, by: TxnId) -> Option<&Values> {
        let sees = |version: &&Version| match view {
            ReadView::Newest => true,
            ReadView::At(stamp) => version.writer == by || version.committed.is_some_and(|at| at <= stamp),
        };
        self.versions.iter().rev().find(sees)?.data.as_ref()
    }

    /// Every state that the row may be in when those who write it now have gone on, from the view of `by`: the newest one
    /// and, if that is another's and open, all that this other may go back to, by ROLLBACK or to a savepoint.
    pub fn possible(&self, by: TxnId) -> impl Iterator<Item = &Values> {
        let last = self.versions.len().saturating_sub(1);
        let open = self.newest().is_some_and(|newest| newest.committed.is_none() && newest.writer != by);
        let committed = || self.versions.iter().rposition(|version| version.committed.is_some());
        let first = if open { committed().unwrap_or(0) } else { last };
        self.versions[first..].iter().rev().filter_map(|version| version.data.as_ref())
    }

    /// What a change that is open has replaced within its own transaction, if `by` looks at it from outside.
    pub fn replaced(&self, by: TxnId) -> Option<&Version> {
        let [.., before, newest] = self.versions.as_slice() else { return None };
        let open = |version: &Version| version.committed.is_none() && version.writer == newest.writer;
        (newest.writer != by && open(before) && open(newest)).then_some(before)
    }

    /// What a view sees of it, its owner's own changes aside.
    pub fn before_own(&self, stamp: Stamp) -> Option<&Values> {
        self.committed_by(stamp)?.data.as_ref()
    }

    /// The newest version that was committed up to a stamp.
    pub fn committed_by(&self, stamp: Stamp) -> Option<&Version> {
        self.versions.iter().rev().find(|version| version.committed.is_some_and(|at| at <= stamp))
    }

    /// What `by` has made of it, and what it was before that.
    pub fn written(&self, by: TxnId) -> impl Iterator<Item = &Values> {
        let own = |version: &Version| version.writer == by && version.committed.is_none();
        let first = self.versions.iter().position(own).unwrap_or(self.versions.len());
        self.versions[first.saturating_sub(1)..].iter().filter_map(|version| version.data.as_ref())
    }

    /// Its values as `by` would change them, if no other transaction writes it just now.
    pub fn current(&self, by: TxnId) -> Option<&Values> {
        let newest = self.newest()?;
        (newest.committed.is_some() || newest.writer == by).then_some(newest.data.as_ref()).flatten()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: BTreeMap<RowId, Row>,
    next: RowId,
    /// Rows with versions that nobody will need once no transaction is open.
    stale: BTreeSet<RowId>,
}

impl Rows {
    pub fn iter(&self) -> impl Iterator<Item = (RowId, &Row)> {
        self.rows.iter().map(|(id, row)| (*id, row))
    }

    pub fn get(&self, id: RowId) -> Option<&Row> {
        self.rows.get(&id)
    }

    /// A number for a new row.
    pub fn number(&mut self) -> RowId {
        self.next += 1;
        self.next
    }

    /// A new version of a row; without values the row is deleted.
    pub fn write(&mut self, id: RowId, writer: TxnId, data: Option<Values>) {
        let version = Version { writer, committed: None, data };
        self.rows.entry(id).or_default().versions.push(version);
    }

    /// Takes the newest version of a row away.
    pub fn undo(&mut self, id: RowId) {
        if let Some(row) = self.rows.get_mut(&id) {
            row.versions.pop();
            if row.versions.is_empty() {
                self.rows.remove(&id);
            }
        }
    }

    /// What `writer` wrote in this row is committed. Of several versions only the last counts.
    pub fn commit(&mut self, id: RowId, writer: TxnId, stamp: Stamp) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        for version in &mut row.versions {
            if version.writer == writer && version.committed.is_none() {
                version.committed = Some(stamp);
            }
        }
        if row.versions.len() > 1 || row.newest().is_some_and(|newest| newest.data.is_none()) {
            self.stale.insert(id);
        }
    }

    /// Forgets what nobody can see any more. Only when no transaction is open.
    pub fn purge(&mut self) {
        for id in std::mem::take(&mut self.stale) {
            let Some(row) = self.rows.get_mut(&id) else { continue };
            let last = row.versions.iter().rposition(|version| version.committed.is_some()).unwrap_or(0);
            row.versions.drain(..last);
            match row.versions.as_slice() {
                [] => _ = self.rows.remove(&id),
                [only] if only.committed.is_some() && only.data.is_none() => _ = self.rows.remove(&id),
                [_] => {}
                _ => _ = self.stale.insert(id),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: i64) -> Option<Values> {
        Some([Datum::Int(n)].into())
    }

    fn seen(rows: &Rows, view: ReadView, by: u64) -> Option<Datum> {
        rows.get(1)?.seen(view, TxnId(by)).map(|values| values[0].clone())
    }

    #[test]
    fn a_view_sees_what_was_committed_before_it_and_its_owners_writes() {
        let mut rows = Rows::default();
        let id = rows.number();
        rows.write(id, TxnId(3), values(10));
        rows.commit(id, TxnId(3), 5);
        rows.write(id, TxnId(8), values(11));
        rows.commit(id, TxnId(8), 6);
        rows.write(id, TxnId(9), values(12));
        assert_eq!(seen(&rows, ReadView::At(4), 1), None);
        assert_eq!(seen(&rows, ReadView::At(5), 1), Some(Datum::Int(10)));
        assert_eq!(seen(&rows, ReadView::At(6), 1), Some(Datum::Int(11)));
        assert_eq!(seen(&rows, ReadView::At(5), 9), Some(Datum::Int(12)));
        assert_eq!(seen(&rows, ReadView::Newest, 1), Some(Datum::Int(12)));
        assert_eq!(rows.get(id).map(|row| row.possible(TxnId(1)).count()), Some(2));
        rows.undo(id);
        assert_eq!(seen(&rows, ReadView::Newest, 1), Some(Datum::Int(11)));
    }

    #[test]
    fn what_is_undone_or_deleted_for_all_is_gone() {
        let mut rows = Rows::default();
        let id = rows.number();
        rows.write(id, TxnId(1), values(1));
        rows.undo(id);
        assert!(rows.get(id).is_none());
        rows.write(id, TxnId(1), values(1));
        rows.commit(id, TxnId(1), 1);
        rows.write(id, TxnId(2), None);
        rows.purge();
        assert!(rows.get(id).is_some(), "the deletion is still open");
        rows.commit(id, TxnId(2), 2);
        rows.purge();
        assert!(rows.get(id).is_none());
    }
}
