//! Transactions told from traces made by hand: where they begin and end, what became of them, when their snapshot was taken and
//! which steps were undone. Where several places used to decide one of these for themselves, the test names what is right.

use std::sync::Arc;

use dialect::ParsedCase;
use history::{Fate, History, Moment, UndoneBy};
use model::{Level, Product, ServerInfo, Trace, Version};

struct Run {
    case: Arc<ParsedCase>,
    trace: Trace,
}

/// On the newest version that tests know of; the case in the notation of traces.
fn run(product: Product, level: Level, text: &str) -> Run {
    let (case, trace) = notation::trace(ServerInfo::bare(product, Version(vec![9, 7])), level, &[], text);
    Run { case: ParsedCase::new(product, case), trace }
}

impl Run {
    fn history(&self) -> History<'_> {
        History::new(&self.case, &self.trace)
    }

    /// `T1 1-3 committed`: whose, its steps counted from 1, its fate.
    fn told(&self) -> String {
        let history = self.history();
        let lines = history.transactions.iter().map(|transaction| {
            let steps: Vec<String> = transaction.steps.iter().map(|step| (step + 1).to_string()).collect();
            let fate = match transaction.fate {
                Fate::Committed => "committed",
                Fate::Undone => "undone",
                Fate::Unknown => "unknown",
            };
            format!("T{} {} {fate}", transaction.session + 1, steps.join(" "))
        });
        lines.collect::<Vec<_>>().join(", ")
    }

    /// Why each step was undone: `-`, `error`, `to 3` (by a ROLLBACK TO, as step 3), `all`.
    fn undone(&self) -> String {
        let word = |by: Option<UndoneBy>| match by {
            None => "-".to_string(),
            Some(UndoneBy::Error) => "error".to_string(),
            Some(UndoneBy::Savepoint(by)) => format!("to {}", by + 1),
            Some(UndoneBy::Transaction) => "all".to_string(),
        };
        self.history().steps.iter().map(|step| word(step.undone)).collect::<Vec<_>>().join(", ")
    }

    /// When the snapshot of the first transaction was taken: the round, counted from 1, and whether that was when its step was sent.
    fn snapshot(&self) -> Option<(usize, bool)> {
        let history = self.history();
        let at = history.transactions[0].snapshot?;
        Some((at.round() + 1, history.steps.iter().any(|step| step.sent == at)))
    }

    fn without_autocommit(mut self) -> Run {
        let mut case = self.case.case().clone();
        case.sessions.iter_mut().for_each(|session| session.autocommit = false);
        self.case = ParsedCase::new(self.case.product, case);
        self
    }
}

use Level::{ReadCommitted as RC, RepeatableRead as RR, Serializable as SER};
use Product::{Mariadb, Mysql, Postgres, Reference, Sqlite};

#[test]
fn begin_in_a_transaction_commits_it_only_where_the_dialect_says_so() {
    let text = "T1: BEGIN => ok *
                T1: INSERT INTO t VALUES (1) => 1 rows *
                T1: BEGIN => ok *
                T1: ROLLBACK => ok";
    for product in [Mysql, Mariadb, Reference] {
        let run = run(product, RC, text);
        assert_eq!(run.told(), "T1 1 2 committed, T1 3 4 undone", "{product}");
        let history = run.history();
        assert_eq!(history.transactions[0].ended_by, Some(2));
        assert_eq!(history.transactions[0].end, history.steps[2].answered);
    }
    // A warning, and nothing else.
    assert_eq!(run(Postgres, RC, text).told(), "T1 1 2 3 4 undone");
    let refused =
        text.replacen("BEGIN => ok *\n                T1: ROLLBACK", "BEGIN => busy *\n T1: ROLLBACK", 1);
    assert_eq!(run(Sqlite, SER, &refused).told(), "T1 1 2 3 4 undone");
}

#[test]
fn a_commit_that_is_refused_may_be_tried_again() {
    let text = "T1: BEGIN => ok *
                T1: INSERT INTO t VALUES (1) => 1 rows *
                T1: COMMIT => busy *
                T1: COMMIT => ok";
    assert_eq!(run(Sqlite, SER, text).told(), "T1 1 2 3 4 committed");
    // If nothing is open after it, it may have committed before it failed.
    let over = text.replace("busy *", "busy");
    assert_eq!(run(Mysql, RC, &over).told(), "T1 1 2 3 unknown, T1 4 committed");
    assert_eq!(run(Mysql, RC, "T1: COMMIT => busy").told(), "T1 1 undone");
}

#[test]
fn an_error_ends_a_transaction_though_a_new_one_is_open_at_once() {
    let text = "T1: BEGIN => ok *
                T1: INSERT INTO t VALUES (1) => 1 rows *
                T1: UPDATE t SET a = 2 => deadlock *
                T1: INSERT INTO t VALUES (3) => 1 rows *
                T1: COMMIT => ok";
    assert_eq!(run(Mariadb, RR, text).told(), "T1 1 2 3 undone, T1 4 5 committed");
    assert_eq!(run(Mariadb, RR, text).undone(), "all, all, error, -, -");
}

#[test]
fn a_failed_transaction_goes_on_until_it_is_rolled_back_or_revived() {
    let text = "T1: BEGIN => ok *
                T1: SAVEPOINT s => ok *
                T1: INSERT INTO t VALUES (1) => deadlock !
                T1: SELECT a FROM t => deadlock !
                T1: COMMIT => rolled back";
    assert_eq!(run(Postgres, RC, text).told(), "T1 1 2 3 4 5 undone");
    let revived = text.replace("COMMIT => rolled back", "ROLLBACK TO s => ok *\n T1: COMMIT => ok");
    assert_eq!(run(Postgres, RC, &revived).told(), "T1 1 2 3 4 5 6 committed");
}

#[test]
fn what_is_open_at_the_end_ends_when_we_roll_it_back() {
    let run = run(
        Mysql,
        RC,
        "T1: BEGIN => ok *
         T1: UPDATE t SET a = 2 => 1 rows *
         T2: SELECT a FROM t => none
         T1 is rolled back",
    );
    assert_eq!(run.told(), "T1 1 2 undone, T2 3 committed");
    let history = run.history();
    assert_eq!(history.transactions[0].end.round(), 3);
    assert_eq!(history.transactions[0].ended_by, None);
    assert!(history.steps[2].answered < history.transactions[0].end);
}

#[test]
fn a_savepoint_without_autocommit_belongs_to_what_the_next_statement_begins() {
    let text = "T1: SAVEPOINT s => ok
                T1: SAVEPOINT r => ok
                T1: INSERT INTO t VALUES (1) => 1 rows *
                T1: ROLLBACK TO s => ok *
                T1: COMMIT => ok";
    let without = run(Mysql, RC, text).without_autocommit();
    assert_eq!(without.told(), "T1 1 2 3 4 5 committed");
    assert_eq!(without.undone(), "-, to 4, to 4, to 4, -");
    assert_eq!(without.history().steps[3].savepoint, Some(0));
    // With autocommit each is a transaction by itself, and there is nothing to go back to.
    assert_eq!(
        run(Mysql, RC, "T1: SAVEPOINT s => ok\n T1: ROLLBACK TO s => busy").told(),
        "T1 1 committed, T1 2 undone"
    );
    // SQLite's begins one, and releasing that commits it.
    let sqlite = "T1: SAVEPOINT s => ok *\n T1: INSERT INTO t VALUES (1) => 1 rows *\n T1: RELEASE s => ok -";
    assert_eq!(run(Sqlite, SER, sqlite).told(), "T1 1 2 3 committed");
}

#[test]
fn where_the_protocol_is_silent_a_transaction_stays_as_it_was() {
    let text = "T1: UPDATE t SET a = 1 => 1 rows ?
                T1: BEGIN => ok ?
                T1: UPDATE t SET a = 2 => busy ?
                T1: ROLLBACK => ok ?";
    assert_eq!(run(Mysql, RC, text).told(), "T1 1 committed, T1 2 3 4 undone");
    assert_eq!(run(Mysql, RC, text).without_autocommit().told(), "T1 1 committed, T1 2 3 4 undone");
    assert_eq!(run(Mysql, RC, "T1: UPDATE t SET a = 1 => busy ?").told(), "T1 1 undone");
}

#[test]
fn the_level_is_that_of_the_session_until_something_else_is_said() {
    let levels = |product, text: &str| {
        let run = run(product, RC, text);
        run.history().transactions.iter().map(|transaction| transaction.level).collect::<Vec<_>>()
    };
    let begin =
        "T1: BEGIN ISOLATION LEVEL SERIALIZABLE => ok *\n T1: COMMIT => ok\n T1: SELECT a FROM t => none";
    assert_eq!(levels(Postgres, begin), [Some(SER), Some(RC)]);
    let set = "T1: SELECT a FROM t => none
               T1: SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE => ok
               T1: SELECT a FROM t => none
               T2: SELECT a FROM t => none";
    assert_eq!(levels(Mysql, set), [Some(RC), None, None, Some(RC)]);
    // Some products set that of the open transaction.
    let inside =
        "T1: BEGIN => ok *\n T1: SET TRANSACTION ISOLATION LEVEL SERIALIZABLE => ok *\n T1: COMMIT => ok";
    assert_eq!(levels(Postgres, inside), [None]);
    assert_eq!(levels(Mysql, "T1: CALL p() => ok\n T1: SELECT a FROM t => none"), [None, None]);
    assert_eq!(
        levels(Sqlite, "T1: PRAGMA foreign_keys = ON => ok\n T1: SELECT a FROM t => none"),
        [Some(RC); 2]
    );
}

#[test]
fn what_a_text_without_a_tree_does_is_known_only_if_it_is_alone() {
    assert_eq!(run(Mysql, RC, "T1: CALL p() => ok").told(), "T1 1 committed");
    assert_eq!(run(Mysql, RC, "T1: CALL p() => busy").told(), "T1 1 unknown");
    assert_eq!(run(Mysql, RC, "T1: CALL p() => busy").undone(), "-");
    let inside = "T1: BEGIN => ok *\n T1: INSERT INTO t VALUES (1) => 1 rows *\n T1: CALL p() => ok -";
    assert_eq!(run(Mysql, RC, inside).told(), "T1 1 2 3 unknown");
}

#[test]
fn what_was_killed_or_lost_has_no_known_fate() {
    let begun = "T1: BEGIN => ok *\n T1: INSERT INTO t VALUES (1) => 1 rows *\n";
    assert_eq!(run(Mysql, RC, "T1: UPDATE t SET a = 1 => killed").told(), "T1 1 unknown");
    assert_eq!(run(Mysql, RC, &format!("{begun} T1: COMMIT => lost")).told(), "T1 1 2 3 unknown");
    assert_eq!(run(Mysql, RC, &format!("{begun} T1: COMMIT => gone")).told(), "T1 1 2 3 unknown");
    assert_eq!(run(Mysql, RC, &format!("{begun} T1: SELECT a FROM t => gone")).told(), "T1 1 2 3 undone");
    assert_eq!(
        run(Mysql, RC, &format!("{begun} T2: SELECT a FROM t => died")).told(),
        "T1 1 2 unknown, T2 3 unknown"
    );
    // The kill of a statement leaves the transaction open.
    assert_eq!(
        run(Mysql, RC, &format!("{begun} T1: UPDATE t SET a = 1 => killed *")).told(),
        "T1 1 2 3 undone"
    );
}

#[test]
fn a_step_that_was_never_sent_is_in_no_transaction() {
    let run = run(Mysql, RC, "T1: SELECT a FROM t => lost\n T1: SELECT a FROM t => not sent");
    assert_eq!(run.told(), "T1 1 unknown");
    let history = run.history();
    assert_eq!((history.steps[1].transaction, history.steps[1].sent), (None, Moment::NEVER));
}

#[test]
fn going_back_to_a_savepoint_undoes_what_came_after_it() {
    let between =
        |middle: &str| run(Postgres, RC, &format!("T1: BEGIN => ok *\n{middle}\nT1: COMMIT => ok")).undone();
    let insert = "T1: INSERT INTO t VALUES (1) => 1 rows *";
    // Names have no case.
    assert_eq!(
        between(&format!("T1: SAVEPOINT s => ok *\n{insert}\nT1: ROLLBACK TO S => ok *")),
        "-, -, to 4, to 4, -"
    );
    // One that was not set, or is refused, undoes nothing.
    assert_eq!(
        between(&format!("T1: SAVEPOINT s => busy *\n{insert}\nT1: ROLLBACK TO s => busy *")),
        "-, error, -, error, -"
    );
    // Of two with one name the newer; once that is released, the older.
    let twice = format!("T1: SAVEPOINT s => ok *\n{insert}\nT1: SAVEPOINT s => ok *\n{insert}");
    assert_eq!(between(&format!("{twice}\nT1: ROLLBACK TO s => ok *")), "-, -, -, -, to 6, to 6, -");
    assert_eq!(
        between(&format!("{twice}\nT1: RELEASE s => ok *\nT1: ROLLBACK TO s => ok *")),
        "-, -, to 7, to 7, to 7, to 7, to 7, -"
    );
}

#[test]
fn what_failed_is_undone_unless_part_of_it_may_stay() {
    let text = "T1: BEGIN => ok *
                T1: INSERT INTO t VALUES (1) => busy *
                T1: INSERT OR FAIL INTO t VALUES (1), (2) => busy *
                T1: COMMIT => ok";
    assert_eq!(run(Sqlite, SER, text).undone(), "-, error, -, -");
    assert_eq!(run(Sqlite, SER, &text.replace("COMMIT", "ROLLBACK")).undone(), "all, error, all, all");
}

#[test]
fn a_snapshot_is_taken_by_the_first_read_or_by_the_first_statement_that_touches_a_table() {
    let after =
        |product, level, text: &str| run(product, level, &format!("T1: BEGIN => ok *\n{text}")).snapshot();
    let write = "T1: UPDATE t SET a = 1 => 1 rows *\n";
    let read = "T1: SELECT a FROM t => none *\n";
    for product in [Mysql, Mariadb, Reference] {
        assert_eq!(after(product, RR, &format!("{write}{read}")), Some((3, false)), "{product}");
        assert_eq!(after(product, RR, &format!("T1: SELECT 1 => none *\n{read}")), Some((3, false)));
        assert_eq!(
            after(product, RR, &format!("T1: SELECT a FROM t FOR UPDATE => none *\n{read}")),
            Some((3, false))
        );
        assert_eq!(after(product, RC, read), None);
        assert_eq!(after(product, SER, read), None, "reads lock there");
    }
    for (product, level) in [(Postgres, RR), (Postgres, SER), (Sqlite, SER)] {
        assert_eq!(after(product, level, &format!("{write}{read}")), Some((2, true)), "{product}");
    }
    assert_eq!(after(Postgres, RC, read), None);
    // What fails shows nothing, and takes none that later reads would share.
    assert_eq!(after(Mysql, RR, "T1: SELECT a FROM t => busy *"), None);
}

#[test]
fn begin_may_take_the_snapshot_itself() {
    let begin = |product, level, begin: &str| {
        run(product, level, &format!("T1: {begin} => ok *\nT1: SELECT a FROM t => none *")).snapshot()
    };
    let consistent = "START TRANSACTION WITH CONSISTENT SNAPSHOT";
    assert_eq!(begin(Mysql, RR, consistent), Some((1, false)));
    assert_eq!(begin(Mysql, RC, consistent), None);
    assert_eq!(begin(Sqlite, SER, "BEGIN IMMEDIATE"), Some((1, true)));
    assert_eq!(begin(Sqlite, SER, "BEGIN DEFERRED"), Some((2, true)));
}

#[test]
fn a_statement_that_waits_has_taken_its_snapshot_before() {
    let run = run(
        Postgres,
        RR,
        "T1: BEGIN => ok *
         T2: BEGIN => ok *
         T2: INSERT INTO t VALUES (1) => 1 rows *
         T1: INSERT INTO t VALUES (1) => waits
         T2: ROLLBACK => ok | 1 rows *",
    );
    assert_eq!(run.snapshot(), Some((4, true)));
    let history = run.history();
    assert!(history.steps[3].waited);
    assert!(history.transactions[0].snapshot.unwrap() < history.transactions[1].end);
    assert!(history.transactions[1].end < history.steps[3].answered);
}

#[test]
fn transactions_of_two_sessions_are_concurrent_while_both_are_open() {
    let run = run(
        Mysql,
        RR,
        "T1: BEGIN => ok *
         T2: SELECT a FROM t => none
         T1: COMMIT => ok
         T2: SELECT a FROM t => none",
    );
    let history = run.history();
    let pairs: Vec<_> = history.concurrent().map(|(one, other)| (one.session, &other.steps[..])).collect();
    assert_eq!(pairs, [(0, &[1][..]), (1, &[0, 2][..])]);
    let open = |step: usize| history.open_at(0, history.steps[step].answered).is_some();
    assert!(open(1) && !open(3));
}
