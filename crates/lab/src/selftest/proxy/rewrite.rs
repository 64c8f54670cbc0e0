//! Lies about what is sent: each is a change of a statement, and says whether there was anything to change.

use model::sql::{
    Begin, BeginVerb, Commit, Expr, InsertModifier, Limit, Literal, Lock, LockStrength, LockWait, Query,
    QueryPart, Rollback, Statement, TransactionMode,
};

/// A lie about a statement.
pub type Rewrite = fn(&mut Statement) -> bool;

fn query(statement: &mut Statement) -> Option<&mut Query> {
    match statement {
        Statement::Query(query) => Some(query),
        _ => None,
    }
}

/// Reads this query tables, in one SELECT?
fn plain(query: &Query) -> bool {
    let reads = |part: &QueryPart| matches!(part, QueryPart::Select(select) if !select.from.is_empty());
    query.rest.is_empty() && reads(&query.first)
}

fn drop_locks(statement: &mut Statement, dropped: fn(LockStrength) -> bool) -> bool {
    query(statement).is_some_and(|query| {
        let before = query.locks.len();
        query.locks.retain(|lock| !dropped(lock.strength));
        query.locks.len() < before
    })
}

fn exclusive(strength: LockStrength) -> bool {
    match strength {
        LockStrength::Update | LockStrength::NoKeyUpdate => true,
        LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode => false,
    }
}

pub fn for_update_dropped(statement: &mut Statement) -> bool {
    drop_locks(statement, exclusive)
}

pub fn for_share_dropped(statement: &mut Statement) -> bool {
    drop_locks(statement, |strength| !exclusive(strength))
}

/// Without any of its locks.
pub fn unlocked(statement: &mut Statement) -> bool {
    drop_locks(statement, |_| true)
}

pub fn for_update_shared(statement: &mut Statement) -> bool {
    query(statement).is_some_and(|query| {
        let mut strong = query.locks.iter_mut().filter(|lock| exclusive(lock.strength));
        let strong = strong.by_ref().map(|lock| lock.strength = LockStrength::InShareMode);
        strong.count() > 0
    })
}

pub fn plain_read_locks(statement: &mut Statement) -> bool {
    query(statement).is_some_and(|query| {
        let may = plain(query) && query.locks.is_empty();
        if may {
            query.locks.push(Lock { strength: LockStrength::InShareMode, of: Vec::new(), wait: None });
        }
        may
    })
}

fn set_wait(statement: &mut Statement, fits: fn(&Lock) -> bool, wait: Option<LockWait>) -> bool {
    query(statement).is_some_and(|query| {
        let fitting = query.locks.iter_mut().filter(|lock| fits(lock));
        fitting.map(|lock| lock.wait.clone_from(&wait)).count() > 0
    })
}

pub fn nowait_stripped(statement: &mut Statement) -> bool {
    set_wait(statement, |lock| lock.wait == Some(LockWait::Nowait), None)
}

pub fn skip_stripped(statement: &mut Statement) -> bool {
    set_wait(statement, |lock| lock.wait == Some(LockWait::SkipLocked), None)
}

pub fn nowait_added(statement: &mut Statement) -> bool {
    set_wait(statement, |lock| lock.wait.is_none(), Some(LockWait::Nowait))
}

pub fn skip_added(statement: &mut Statement) -> bool {
    set_wait(statement, |lock| lock.wait.is_none(), Some(LockWait::SkipLocked))
}

fn drop_mode(statement: &mut Statement, dropped: TransactionMode) -> bool {
    match statement {
        Statement::Begin(begin) => {
            let before = begin.modes.len();
            begin.modes.retain(|mode| *mode != dropped);
            begin.modes.len() < before
        }
        _ => false,
    }
}

pub fn read_only_stripped(statement: &mut Statement) -> bool {
    drop_mode(statement, TransactionMode::ReadOnly)
}

pub fn snapshot_stripped(statement: &mut Statement) -> bool {
    drop_mode(statement, TransactionMode::ConsistentSnapshot)
}

pub fn snapshot_at_begin(statement: &mut Statement) -> bool {
    match statement {
        Statement::Begin(begin) if begin.modes.is_empty() => {
            let modes = vec![TransactionMode::ConsistentSnapshot];
            *begin = Begin { verb: BeginVerb::StartTransaction, word: None, modes, ..begin.clone() };
            true
        }
        _ => false,
    }
}

pub fn commit_as_rollback(statement: &mut Statement) -> bool {
    let fits = matches!(statement, Statement::Commit(_));
    if fits {
        *statement = Statement::Rollback(Rollback::default());
    }
    fits
}

pub fn rollback_as_commit(statement: &mut Statement) -> bool {
    let fits = matches!(statement, Statement::Rollback(rollback) if rollback.to.is_none());
    if fits {
        *statement = Statement::Commit(Commit::plain());
    }
    fits
}

/// The savepoint is set anew, which changes no row.
pub fn back_ignored(statement: &mut Statement) -> bool {
    match statement {
        Statement::Rollback(Rollback { to: Some(to), .. }) => {
            *statement = Statement::Savepoint(to.name.clone());
            true
        }
        _ => false,
    }
}

pub fn insert_ignores(statement: &mut Statement) -> bool {
    match statement {
        Statement::Insert(insert) if insert.modifier.is_none() => {
            insert.modifier = Some(InsertModifier::Ignore);
            true
        }
        _ => false,
    }
}

/// A change of one table that is told how many rows to change at most.
pub fn limited(statement: &Statement, rows: u64) -> Option<Statement> {
    let count = Expr::Literal(Literal::Number(rows.to_string()));
    let limit = Some(Limit { count, offset: None });
    match statement {
        Statement::Update(update)
            if update.limit.is_none()
                && update.tables.len() == 1
                && update.tables[0].joins.is_empty()
                && update.from.is_empty() =>
        {
            let mut update = update.clone();
            update.limit = limit;
            Some(Statement::Update(update))
        }
        Statement::Delete(delete) if delete.limit.is_none() && delete.using.is_empty() => {
            let mut delete = delete.clone();
            delete.limit = limit;
            Some(Statement::Delete(delete))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dialect::sql;
    use model::Product;

    use super::*;

    fn parsed(text: &str) -> Statement {
        sql::parse(Product::Mariadb, text).tree().unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn a_statement_is_changed_in_one_place() {
        let lies: [(Rewrite, &str, &str); 16] = [
            (
                for_update_dropped,
                "SELECT a FROM t WHERE a = 1 FOR UPDATE NOWAIT",
                "SELECT a FROM t WHERE a = 1",
            ),
            (for_share_dropped, "SELECT a FROM t LOCK IN SHARE MODE", "SELECT a FROM t"),
            (for_update_shared, "SELECT a FROM t FOR UPDATE", "SELECT a FROM t LOCK IN SHARE MODE"),
            (plain_read_locks, "SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a LOCK IN SHARE MODE"),
            (nowait_stripped, "SELECT a FROM t FOR UPDATE NOWAIT", "SELECT a FROM t FOR UPDATE"),
            (skip_stripped, "SELECT a FROM t FOR UPDATE SKIP LOCKED", "SELECT a FROM t FOR UPDATE"),
            (nowait_added, "SELECT a FROM t FOR UPDATE", "SELECT a FROM t FOR UPDATE NOWAIT"),
            (skip_added, "SELECT a FROM t FOR UPDATE", "SELECT a FROM t FOR UPDATE SKIP LOCKED"),
            (read_only_stripped, "START TRANSACTION READ ONLY", "START TRANSACTION"),
            (snapshot_stripped, "START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION"),
            (snapshot_at_begin, "BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT"),
            (commit_as_rollback, "COMMIT", "ROLLBACK"),
            (rollback_as_commit, "ROLLBACK", "COMMIT"),
            (back_ignored, "ROLLBACK TO SAVEPOINT s", "SAVEPOINT s"),
            (insert_ignores, "INSERT INTO t VALUES (1)", "INSERT IGNORE INTO t VALUES (1)"),
            (unlocked, "SELECT a FROM t FOR UPDATE", "SELECT a FROM t"),
        ];
        for (lie, text, expected) in lies {
            let mut statement = parsed(text);
            assert!(lie(&mut statement), "{text}");
            assert_eq!(sql::print(Product::Mariadb, &statement), expected);
            let mut other = parsed("SELECT 1");
            assert!(!lie(&mut other) && other == parsed("SELECT 1"), "{text}");
        }
        assert!(!rollback_as_commit(&mut parsed("ROLLBACK TO s")));
        assert!(!nowait_added(&mut parsed("SELECT a FROM t FOR UPDATE SKIP LOCKED")));
    }

    #[test]
    fn a_change_of_one_table_can_be_limited() {
        let limited = |text: &str| limited(&parsed(text), 2).map(|made| sql::print(Product::Mariadb, &made));
        assert_eq!(limited("UPDATE t SET a = 1"), Some("UPDATE t SET a = 1 LIMIT 2".to_string()));
        assert_eq!(
            limited("DELETE FROM t WHERE a = 1"),
            Some("DELETE FROM t WHERE a = 1 LIMIT 2".to_string())
        );
        assert_eq!(limited("UPDATE t SET a = 1 LIMIT 1"), None);
        assert_eq!(limited("UPDATE t JOIN s ON t.a = s.a SET t.a = 1"), None);
        assert_eq!(limited("INSERT INTO t VALUES (1)"), None);
    }
}
