//! Going back to a savepoint that was set before the transaction touched any table ends it in the engine: its locks and its snapshot go
//! too, although both manuals say that the locks survive, and a transaction has one snapshot.

use model::{Reason, Step, sql::Statement};

use super::{
    super::{
        hypothesis::{Savepoint, Txn},
        twins::{TwinDraft, Why},
    },
    KnownDeviation, NO_HOOKS, Status,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "early-savepoint-ends-all",
    status: Status::Found,
    source: "not reported; MySQL 5.6 to 9.7 and MariaDB, corpus/found/early-savepoint-loses-the-snapshot.iso",
    rollback_to: Some(as_if_begun_anew),
    twin: Some(known_to_the_engine),
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

/// The twin: before the savepoint a read that finds nothing makes the transaction known to the engine, without a lock or a snapshot.
fn known_to_the_engine(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let Some(Statement::Rollback(rollback)) = draft.seen.case.tree(step) else {
        return Err(Reason::StatementWouldBeGone);
    };
    let Some(target) = &rollback.to else { return Err(Reason::StatementWouldBeGone) };
    let session = draft.session(step);
    let sets = |other: &usize| {
        matches!(draft.seen.case.tree(*other), Some(Statement::Savepoint(name)) if name.name.eq_ignore_ascii_case(&target.name.name))
            && draft.session(*other) == session
    };
    let set = (0..step).rev().find(sets).ok_or(Reason::StatementWouldBeGone)?;
    let place = draft.steps.iter().position(|(number, _)| *number == set);
    let place = place.ok_or(Reason::StatementWouldBeGone)?;
    // Of a partitioned table such a read opens no partition, and the engine hears nothing of it.
    let table = draft.schema.tables.iter().find(|table| table.partitions.is_none());
    let table = table.ok_or(Reason::PartitionedScan)?;
    let sql = format!("SELECT * FROM {} WHERE 1 = 0", table.name);
    draft.steps.insert(place, (usize::MAX, Step { session, sql, expect: Vec::new() }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use dialect::Execution;
    use model::Level;

    use super::DEVIATION;
    use crate::mvcc::Mvcc;

    const T: [&str; 2] = ["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 10)"];

    #[test]
    fn in_the_twin_the_engine_knows_the_transaction_before_its_savepoint() {
        let text = "T1: BEGIN => ok
                    T1: SAVEPOINT s => ok
                    T1: SELECT b FROM t => (10)
                    T2: UPDATE t SET b = 99 => 1 of 1
                    T1: ROLLBACK TO SAVEPOINT s => ok
                    T1: SELECT b FROM t => (99)
                    T1: COMMIT => ok";
        let server = notation::server("mysql@9.7.4");
        let (case, trace) = notation::trace(server, Level::RepeatableRead, &T, text);
        let seen = Execution::new(case, trace);
        let (_, uses) = Mvcc::default().account(&seen, &[]);
        assert_eq!(uses, [(&DEVIATION, 4)]);
        let twin = Mvcc::default().twin(&seen, &uses, Some(5)).unwrap_or_else(|why| panic!("{why}"));
        let steps: Vec<&str> = twin.request.case.steps.iter().map(|step| step.sql.as_str()).collect();
        assert_eq!(steps[..3], ["BEGIN", "SELECT * FROM t WHERE 1 = 0", "SAVEPOINT s"]);
        let parts = ["CREATE TABLE t (a INT PRIMARY KEY, b INT) PARTITION BY HASH (a) PARTITIONS 3", T[1]];
        let (case, trace) =
            notation::trace(notation::server("mysql@9.7.4"), Level::RepeatableRead, &parts, text);
        let seen = Execution::new(case, trace);
        let (_, uses) = Mvcc::default().account(&seen, &[]);
        assert!(Mvcc::default().twin(&seen, &uses, Some(5)).is_err(), "the read would open no partition");
    }
}
