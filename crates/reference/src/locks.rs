//! The lock table: who holds which row, who has read which range, and who waits for whom.
//!
//! Two kinds of locks, both held until their transaction ends:
//!
//! * a **row** lock, shared or exclusive. A row is one lock, whatever index led to it;
//! * a **range** lock: the part of a condition by which a locking read at REPEATABLE READ or SERIALIZABLE chose the rows that
//!   it looked at. Ranges never conflict with each other. Whoever brings a row into another's range waits: so there are no
//!   phantoms, and neither are there gaps between neighbours, as InnoDB locks them.
//!
//! A request is granted or names those who are in its way; those who wait are in nobody's way. The waiting itself is a
//! list of edges, from the one who waits to those for whom: a request that closes a circle is the deadlock's victim.
//!
//! ```text
//! T1 holds row 1, T2 holds row 2
//! T1 wants row 2     waits for T2
//! T2 wants row 1     waits for T1, who waits for T2: T2 is the victim
//! ```

use std::{collections::BTreeMap, rc::Rc};

use crate::{access::ScanRange, versions::RowId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u64);

/// The number of a table, never used again after it was dropped.
pub type TableId = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Others may read it with a lock too.
    Shared,
    /// Nobody else may.
    Exclusive,
}

/// A range that was read.
#[derive(Clone, Debug)]
pub struct Range {
    pub owner: TxnId,
    pub table: TableId,
    /// Which rows it would have looked at.
    pub path: Rc<ScanRange>,
}

#[derive(Debug, Default)]
pub struct Locks {
    rows: BTreeMap<(TableId, RowId), Vec<(TxnId, Mode)>>,
    ranges: Vec<Range>,
}

impl Locks {
    /// Who is in the way of this request?
    pub fn in_the_way(&self, of: TxnId, table: TableId, row: RowId, mode: Mode) -> Vec<TxnId> {
        let Some(held) = self.rows.get(&(table, row)) else { return Vec::new() };
        let conflicts = |(owner, theirs): &&(TxnId, Mode)| {
            *owner != of && (*theirs == Mode::Exclusive || mode == Mode::Exclusive)
        };
        held.iter().filter(conflicts).map(|(owner, _)| *owner).collect()
    }

    /// Gives a row lock. The stronger of two remains.
    pub fn take(&mut self, owner: TxnId, table: TableId, row: RowId, mode: Mode) {
        let held = self.rows.entry((table, row)).or_default();
        match held.iter_mut().find(|(other, _)| *other == owner) {
            Some((_, theirs)) => *theirs = mode.max(*theirs),
            None => held.push((owner, mode)),
        }
    }

    pub fn take_range(&mut self, owner: TxnId, table: TableId, path: &Rc<ScanRange>) {
        let there = |range: &Range| range.owner == owner && range.table == table && range.path == *path;
        if !self.ranges.iter().any(there) {
            self.ranges.push(Range { owner, table, path: path.clone() });
        }
    }

    /// The ranges that others hold in a table.
    pub fn ranges(&self, of: TxnId, table: TableId) -> impl Iterator<Item = &Range> {
        self.ranges.iter().filter(move |range| range.owner != of && range.table == table)
    }

    /// A row is gone, and with it all that was locked of it.
    pub fn forget_row(&mut self, table: TableId, row: RowId) {
        self.rows.remove(&(table, row));
    }

    /// All locks of one become another's.
    pub fn hand_over(&mut self, from: TxnId, to: TxnId) {
        let mut given = Vec::new();
        for (place, held) in &self.rows {
            given.extend(held.iter().filter(|(owner, _)| *owner == from).map(|(_, mode)| (*place, *mode)));
        }
        given.into_iter().for_each(|((table, row), mode)| self.take(to, table, row, mode));
        self.ranges.iter_mut().filter(|range| range.owner == from).for_each(|range| range.owner = to);
        self.release(from);
    }

    /// A transaction has ended.
    pub fn release(&mut self, owner: TxnId) {
        self.rows.retain(|_, held| {
            held.retain(|(other, _)| *other != owner);
            !held.is_empty()
        });
        self.ranges.retain(|range| range.owner != owner);
    }
}

/// Does a wait for these close a circle? `waits` holds, for each that waits, for whom it does.
pub fn closes_circle(waiter: TxnId, blockers: &[TxnId], waits: &[(TxnId, &[TxnId])]) -> bool {
    let (mut open, mut seen) = (blockers.to_vec(), Vec::new());
    while let Some(next) = open.pop() {
        if next == waiter {
            return true;
        }
        if !seen.contains(&next) {
            seen.push(next);
            let onward = waits.iter().filter(|(from, _)| *from == next);
            open.extend(onward.flat_map(|(_, to)| to.iter().copied()));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const T1: TxnId = TxnId(1);
    const T2: TxnId = TxnId(2);
    const T3: TxnId = TxnId(3);

    #[test]
    fn shared_locks_share_and_exclusive_ones_do_not() {
        let mut locks = Locks::default();
        locks.take(T1, 1, 1, Mode::Shared);
        assert!(locks.in_the_way(T2, 1, 1, Mode::Shared).is_empty());
        locks.take(T2, 1, 1, Mode::Shared);
        assert_eq!(locks.in_the_way(T1, 1, 1, Mode::Exclusive), [T2]);
        assert_eq!(locks.in_the_way(T3, 1, 1, Mode::Exclusive), [T1, T2]);
        locks.release(T2);
        assert!(locks.in_the_way(T1, 1, 1, Mode::Exclusive).is_empty(), "one's own is not in the way");
        locks.take(T1, 1, 1, Mode::Exclusive);
        locks.take(T1, 1, 1, Mode::Shared);
        assert_eq!(locks.in_the_way(T2, 1, 1, Mode::Shared), [T1], "the stronger one remains");
        assert!(locks.in_the_way(T2, 1, 2, Mode::Exclusive).is_empty());
    }

    #[test]
    fn a_circle_is_found_whoever_is_in_it() {
        let waits: [(TxnId, &[TxnId]); 2] = [(T1, &[T2]), (T2, &[T3])];
        assert!(closes_circle(T3, &[T1], &waits));
        assert!(!closes_circle(TxnId(4), &[T1], &waits));
        assert!(!closes_circle(T3, &[], &waits));
    }
}
