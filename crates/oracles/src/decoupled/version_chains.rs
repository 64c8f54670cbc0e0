//! The versions of each row, filled from what the server did with single statements.
//!
//! Nothing here is shared with the model, so that a mistake in one of them is not a mistake of both.

use std::rc::Rc;

/// A moment, counted in statements that took effect and transactions that ended.
pub type Time = u64;

/// What a row holds: its cells as `SELECT *` shows them, and then what is needed to write it again exactly.
pub type RowData = Rc<Vec<Option<Vec<u8>>>>;

/// The writer of the rows that the case begins with.
pub const NOBODY: usize = usize::MAX;

/// A version of a row.
#[derive(Clone, Debug)]
struct Version {
    /// None: the row is deleted.
    data: Option<RowData>,
    /// The transaction that wrote it.
    writer: usize,
    /// When it was written, to go back to a savepoint.
    mark: u64,
    /// When its writer committed.
    committed: Option<Time>,
    /// Does it hold what was there before?
    unchanged: bool,
}

/// A row with all of its versions, the oldest first.
#[derive(Clone, Debug)]
struct Row {
    id: u64,
    versions: Vec<Version>,
}

/// The rows of one table.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    rows: Vec<Row>,
}

/// A row as a statement sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleRow {
    /// Which row.
    pub id: u64,
    /// What it holds.
    pub data: RowData,
    /// Did the reader's own transaction write this version?
    pub own: bool,
}

/// Which versions count, beside the reader's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionFilter {
    Newest,
    /// Those committed at this moment or before.
    Committed(Time),
}

impl Chain {
    /// A new row.
    pub fn insert(&mut self, id: u64, data: RowData, writer: usize, mark: u64) {
        let committed = (writer == NOBODY).then_some(0);
        let first = Version { data: Some(data), writer, mark, committed, unchanged: false };
        self.rows.push(Row { id, versions: vec![first] });
    }

    /// A new version of a row; none deletes it.
    pub fn write(&mut self, id: u64, data: Option<RowData>, writer: usize, mark: u64) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.id == id) {
            let before = row.versions.last().and_then(|version| version.data.as_ref());
            let unchanged = data.is_some() && before == data.as_ref();
            row.versions.push(Version { data, writer, mark, committed: None, unchanged });
        }
    }

    /// What this transaction wrote is committed now.
    pub fn commit(&mut self, writer: usize, now: Time) {
        let versions = self.rows.iter_mut().flat_map(|row| &mut row.versions);
        versions.filter(|version| version.writer == writer).for_each(|version| version.committed = Some(now));
    }

    /// What this transaction wrote from this mark on is gone.
    pub fn undo(&mut self, writer: usize, from: u64) {
        for row in &mut self.rows {
            row.versions.retain(|version| version.writer != writer || version.mark < from);
        }
        self.rows.retain(|row| !row.versions.is_empty());
    }

    /// The rows that a transaction sees.
    pub fn view(&self, reader: usize, until: VersionFilter) -> Vec<VisibleRow> {
        self.view_by(reader, until, true)
    }

    /// As if what it wrote without changing it did not count.
    pub fn view_of_changes(&self, reader: usize, until: VersionFilter) -> Vec<VisibleRow> {
        self.view_by(reader, until, false)
    }

    fn view_by(&self, reader: usize, until: VersionFilter, unchanged: bool) -> Vec<VisibleRow> {
        let counts = |version: &&Version| {
            version.writer == reader && (unchanged || !version.unchanged)
                || match until {
                    VersionFilter::Newest => true,
                    VersionFilter::Committed(time) => version.committed.is_some_and(|at| at <= time),
                }
        };
        let seen = |row: &Row| {
            let version = row.versions.iter().rev().find(counts)?;
            let data = version.data.clone()?;
            Some(VisibleRow { id: row.id, data, own: version.writer == reader })
        };
        self.rows.iter().filter_map(seen).collect()
    }

    /// Old selves of rows that this transaction wrote after others had changed their key since that moment.
    pub fn left_behind<K: PartialEq>(
        &self,
        reader: usize,
        time: Time,
        key: impl Fn(&RowData) -> Option<K>,
    ) -> Vec<VisibleRow> {
        let old = |row: &Row| {
            let before = |version: &Version| version.committed.is_some_and(|at| at <= time);
            let at = row.versions.iter().rposition(|version| version.writer != reader && before(version))?;
            let data = row.versions[at].data.clone()?;
            let later = &row.versions[at + 1..];
            // One that came back to its old key is the same record again.
            let last = later.iter().rev().find(|version| version.writer != reader);
            let moved =
                last.is_some_and(|version| version.data.as_ref().is_some_and(|now| key(now) != key(&data)));
            let own = later.iter().any(|version| version.writer == reader);
            (moved && own).then_some(VisibleRow { id: row.id, data, own: false })
        };
        self.rows.iter().filter_map(old).collect()
    }

    /// What the rows held that this transaction has written or deleted, before and since; what it wrote without changing it counts
    /// or not.
    pub fn overwritten_by(&self, reader: usize, unchanged: bool) -> Vec<RowData> {
        let wrote = |version: &&Version| version.writer == reader && (unchanged || !version.unchanged);
        let mut all = Vec::new();
        for row in &self.rows {
            let Some(at) = row.versions.iter().position(|version| wrote(&version)) else { continue };
            let before = row.versions[..at].iter().rev().find_map(|version| version.data.clone());
            all.extend(before);
            let own = row.versions[at..].iter().filter(wrote);
            all.extend(own.filter_map(|version| version.data.clone()));
        }
        all
    }

    /// Was this row last changed by another transaction that committed after this moment?
    pub fn newer(&self, id: u64, reader: usize, than: Time) -> bool {
        let row = self.rows.iter().find(|row| row.id == id);
        let newest = row.and_then(|row| row.versions.iter().rev().find(|version| !version.unchanged));
        newest
            .is_some_and(|version| version.writer != reader && version.committed.is_some_and(|at| at > than))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> RowData {
        Rc::new(vec![Some(text.as_bytes().to_vec())])
    }

    fn texts(view: &[VisibleRow]) -> Vec<String> {
        view.iter().map(|row| String::from_utf8_lossy(row.data[0].as_ref().unwrap()).into_owned()).collect()
    }

    #[test]
    fn each_reader_has_a_view_of_its_own() {
        let mut chain = Chain::default();
        chain.insert(1, data("a"), NOBODY, 0);
        chain.insert(2, data("b"), NOBODY, 0);
        chain.write(1, Some(data("A")), 7, 1);
        chain.write(2, None, 7, 2);
        chain.insert(3, data("c"), 7, 3);
        assert_eq!(texts(&chain.view(7, VersionFilter::Committed(0))), ["A", "c"]);
        assert_eq!(texts(&chain.view(8, VersionFilter::Committed(0))), ["a", "b"]);
        assert_eq!(texts(&chain.view(8, VersionFilter::Newest)), ["A", "c"]);
        chain.undo(7, 2);
        assert_eq!(texts(&chain.view(7, VersionFilter::Committed(0))), ["A", "b"]);
        chain.commit(7, 5);
        assert_eq!(texts(&chain.view(8, VersionFilter::Committed(4))), ["a", "b"]);
        assert_eq!(texts(&chain.view(8, VersionFilter::Committed(5))), ["A", "b"]);
        assert!(chain.newer(1, 8, 4) && !chain.newer(1, 8, 5) && !chain.newer(1, 7, 4));
        // Transaction 8 writes what is there already: that is its own, if it counts at all.
        chain.write(1, Some(data("A")), 8, 6);
        assert_eq!(texts(&chain.view(8, VersionFilter::Committed(4))), ["A", "b"]);
        assert_eq!(texts(&chain.view_of_changes(8, VersionFilter::Committed(4))), ["a", "b"]);
        assert_eq!(texts(&chain.left_behind(8, 4, |data| data[0].clone())), ["a"]);
        assert!(chain.left_behind(8, 5, |data| data[0].clone()).is_empty());
        chain.write(2, None, 8, 7);
        assert_eq!(chain.overwritten_by(8, true), [data("A"), data("A"), data("b")]);
        assert_eq!(chain.overwritten_by(8, false), [data("b")]);
    }
}
