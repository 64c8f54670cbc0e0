//! What all sessions share: the tables, the locks, the count of commits.

use std::collections::BTreeSet;

use model::Level;

use crate::{
    error::{StatementResult, no_table},
    locks::{Locks, TableId, TxnId},
    plants::{Bug, Plants},
    table::Table,
    versions::{RowId, Stamp},
};

/// What all sessions share.
#[derive(Debug, Default)]
pub struct Database {
    pub tables: Vec<Table>,
    pub locks: Locks,
    pub plants: Plants,
    /// How many commits there were.
    pub clock: Stamp,
    /// How many transactions are open.
    open: usize,
    transactions: u64,
    numbers: TableId,
}

/// Who owns locks that nobody will release.
const NOBODY: TxnId = TxnId(u64::MAX);

#[derive(Debug)]
pub struct Txn {
    pub id: TxnId,
    pub level: Level,
    /// Is it one statement that commits by itself?
    pub single: bool,
    pub read_only: bool,
    /// How many commits there were when it began.
    pub began: Stamp,
    /// What its plain reads see, once the first of them has run: at REPEATABLE READ only.
    pub view: Option<Stamp>,
    /// What it has written, in order.
    pub undo: Vec<(TableId, RowId)>,
    pub savepoints: Vec<Savepoint>,
    /// The tables that it has used: they cannot be dropped under it.
    pub used: BTreeSet<TableId>,
}

#[derive(Debug)]
pub struct Savepoint {
    pub name: String,
    /// How much was written before it.
    pub mark: usize,
    /// How many commits there were.
    pub set: Stamp,
}

impl Database {
    /// Begins a transaction. It must come to an end: what it could see is kept until then.
    pub fn begin(&mut self, level: Level, single: bool) -> Txn {
        self.transactions += 1;
        self.open += 1;
        Txn {
            id: TxnId(self.transactions),
            level,
            single,
            read_only: false,
            began: self.clock,
            view: None,
            undo: Vec::new(),
            savepoints: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// What it wrote is there for all.
    pub fn commit(&mut self, txn: Txn) {
        if !txn.undo.is_empty() {
            self.clock += 1;
        }
        for &(table, row) in &txn.undo {
            let stamp = self.clock;
            if let Some(table) = self.by_number(table) {
                table.rows.commit(row, txn.id, stamp);
            }
        }
        self.close(&txn);
    }

    /// What it wrote never was.
    pub fn roll_back(&mut self, mut txn: Txn) {
        self.leave_rows(&mut txn);
        // The planted bug: as long as anybody is there, somebody may still need these locks.
        if self.open > 1 && self.plants.hits(Bug::LockNeverReleased, || self.written(&txn)) {
            self.locks.hand_over(txn.id, NOBODY);
        }
        self.undo(&mut txn, 0);
        self.close(&txn);
    }

    fn close(&mut self, txn: &Txn) {
        self.locks.release(txn.id);
        self.open -= 1;
        if self.open == 0 {
            self.locks.release(NOBODY);
            self.tables.iter_mut().for_each(|table| table.rows.purge());
        }
    }

    /// The planted bug: while another transaction may look at them, new rows are not taken away.
    fn leave_rows(&mut self, txn: &mut Txn) {
        if self.open < 2 {
            return;
        }
        let left = |(table, row): &(TableId, RowId)| {
            let row = self.tables.iter().find(|of| of.id == *table).and_then(|of| of.rows.get(*row));
            let values = row.filter(|row| row.committed().is_none()).and_then(|row| row.current(txn.id));
            values.is_some_and(|values| self.plants.hits(Bug::RollbackLeavesRow, || format!("{values:?}")))
        };
        let left: Vec<(TableId, RowId)> = txn.undo.iter().filter(|written| left(written)).copied().collect();
        txn.undo.retain(|written| !left.contains(written));
        self.clock += u64::from(!left.is_empty());
        let stamp = self.clock;
        for (table, row) in left {
            if let Some(table) = self.by_number(table) {
                table.rows.commit(row, txn.id, stamp);
            }
        }
    }

    /// What a transaction has written, as it is now: tells it from others.
    pub fn written(&self, txn: &Txn) -> String {
        let rows = txn.undo.iter().filter_map(|(table, row)| {
            self.tables.iter().find(|of| of.id == *table)?.rows.get(*row)?.current(txn.id)
        });
        format!("{:?}", rows.collect::<Vec<_>>())
    }

    /// Undoes what was written since `mark`. Locks stay, but for those of rows that are gone with it.
    pub fn undo(&mut self, txn: &mut Txn, mark: usize) {
        for (number, row) in txn.undo.drain(mark.min(txn.undo.len())..).rev() {
            let Some(table) = self.by_number(number) else { continue };
            table.rows.undo(row);
            if table.rows.get(row).is_none() {
                self.locks.forget_row(number, row);
            }
        }
    }

    /// A number for a new table.
    pub fn number(&mut self) -> TableId {
        self.numbers += 1;
        self.numbers
    }

    fn by_number(&mut self, number: TableId) -> Option<&mut Table> {
        self.tables.iter_mut().find(|table| table.id == number)
    }

    /// Where a table is, by its name.
    pub fn find(&self, name: &str) -> StatementResult<usize> {
        match self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name)) {
            Some(at) => Ok(at),
            None => no_table(name),
        }
    }
}
