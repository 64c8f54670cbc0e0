//! What all sessions share: the tables, the locks, the count of commits.

use std::collections::BTreeSet;

use model::Level;

use crate::{
    error::{Attempt, no_table},
    locks::{Locks, TableId, TxnId},
    plants::Plants,
    table::Table,
    versions::{RowId, Stamp},
};

/// What all sessions share.
#[derive(Debug, Default)]
pub struct Base {
    /// The tables.
    pub tables: Vec<Table>,
    /// The locks.
    pub locks: Locks,
    /// What is planted.
    pub plants: Plants,
    /// How many commits there were.
    pub clock: Stamp,
    /// How many transactions hold a view.
    views: usize,
    transactions: u64,
    numbers: TableId,
}

/// An open transaction.
#[derive(Debug)]
pub struct Txn {
    /// Its number.
    pub id: TxnId,
    /// Its level.
    pub level: Level,
    /// Is it one statement that commits by itself?
    pub single: bool,
    /// Must it not write?
    pub read_only: bool,
    /// What its plain reads see, once the first of them has run: at REPEATABLE READ only.
    pub view: Option<Stamp>,
    /// What it has written, in order.
    pub undo: Vec<(TableId, RowId)>,
    /// Its savepoints, and how much was written when they were set.
    pub savepoints: Vec<(String, usize)>,
    /// The tables that it has used: they cannot be dropped under it.
    pub used: BTreeSet<TableId>,
}

impl Base {
    /// Begins a transaction.
    pub fn begin(&mut self, level: Level, single: bool) -> Txn {
        self.transactions += 1;
        Txn {
            id: TxnId(self.transactions),
            level,
            single,
            read_only: false,
            view: None,
            undo: Vec::new(),
            savepoints: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// Opens the view of a transaction, if it has none.
    pub fn open_view(&mut self, txn: &mut Txn) -> Stamp {
        *txn.view.get_or_insert_with(|| {
            self.views += 1;
            self.clock
        })
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
        self.undo(&mut txn, 0);
        self.close(&txn);
    }

    fn close(&mut self, txn: &Txn) {
        self.locks.release(txn.id);
        self.views -= usize::from(txn.view.is_some());
        if self.views == 0 {
            self.tables.iter_mut().for_each(|table| table.rows.purge());
        }
    }

    /// Undoes what was written since `mark`. Locks stay, but for those of rows that are gone with it.
    pub fn undo(&mut self, txn: &mut Txn, mark: usize) {
        for (number, row) in txn.undo.drain(mark..).rev() {
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
    pub fn find(&self, name: &str) -> Attempt<usize> {
        match self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name)) {
            Some(at) => Ok(at),
            None => no_table(name),
        }
    }
}
