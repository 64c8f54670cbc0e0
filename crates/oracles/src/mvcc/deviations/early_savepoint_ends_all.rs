//! Going back to a savepoint that was set before the transaction touched any table ends it in the engine: its locks and its snapshot go
//! too. It has no twin: it is listed apart, and neither known nor new.

use super::{
    super::hypothesis::{Savepoint, Txn},
    KnownDeviation, NO_HOOKS, Status,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "early-savepoint-ends-all",
    status: Status::Observed,
    source: "measured on MySQL 5.6 to 9.7 and MariaDB; MySQL Reference Manual, 15.3.4 SAVEPOINT: row locks stay",
    rollback_to: Some(as_if_begun_anew),
    ..NO_HOOKS
};

fn as_if_begun_anew(savepoint: &Savepoint, txn: &Txn) -> Option<Txn> {
    let mut txn = savepoint.early.then(|| txn.clone())?;
    (txn.view, txn.touched, txn.locking) = (None, 0, 0);
    txn.locks.clear();
    txn.ranges.clear();
    txn.trespassed.clear();
    Some(txn)
}
