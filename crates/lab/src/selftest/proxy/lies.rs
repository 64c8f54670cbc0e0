//! The lies, by name: what each is about, how it is told, and whether the oracles judge it at all.

use std::{fmt, str::FromStr};

use generate::{Profile, profile::Odds};
use model::{Level, Seed, sql::StatementKind};
use serde::Serialize;

use super::{
    answer::Failure,
    rewrite::{self, Rewrite},
    tamper::{self, Tamper},
};

/// One way to lie.
pub struct Lie {
    pub name: &'static str,
    /// What is wrong, in a line.
    pub help: &'static str,
    /// Why the oracles do not judge it, if they do not: docs/oracles.md says so.
    pub not_judged: Option<&'static str>,
    /// Only at this level is it a lie; none for all.
    pub level: Option<Level>,
    /// What the cases must have for it to be told, where no profile draws that.
    pub cases: fn(&mut Profile),
    pub trick: Trick,
}

/// How a lie is told. Wherever a lie may come to nothing, it counts as told only if what the client gets, or what is stored, is
/// another thing than the truth.
#[derive(Clone, Copy)]
pub enum Trick {
    /// Not at all.
    Honest,
    /// Another statement is sent.
    Send(Rewrite),
    /// A transaction is not opened READ ONLY. It is told by each change of rows in it.
    WriteInReadOnly,
    /// The answer is changed.
    Answer(Tamper),
    /// The answer is changed if the statement had to wait.
    AnswerAfterWait(Tamper),
    /// As the answer is changed, so are the warnings that the client asks for next.
    Warnings { count: Tamper, rows: Warned },
    /// A transaction runs at another level than its session has.
    Level(fn(Level) -> Option<Level>),
    /// Changes of this kind are undone behind the client's back.
    Undo(StatementKind),
    /// Changes of any kind, if they had to wait.
    UndoAfterWait,
    /// Changes leave out one row, if they had to wait.
    MissRowAfterWait,
    /// Changes are carried out twice.
    Twice,
    /// COMMIT leaves out the last change.
    LoseLast,
    /// A change is committed at once.
    CommitEarly,
    /// Statements that fit are not sent: this error is the answer.
    Refuse { fits: fn(StatementKind) -> bool, error: fn() -> Failure, ends: bool },
    /// COMMIT is carried out, and said to have failed.
    DenyCommit,
    /// A plain read is answered with what another session, at this level, sees at that moment.
    ReadElsewhere { at: Level, who: Reader },
    /// Of that, one row only.
    OneRowElsewhere,
    /// A plain read is answered with what was there when the case began.
    ReadOld,
    /// A locking read that had to wait is answered with what was there before.
    OldAfterWait,
    /// A locking read is answered with what the snapshot of its transaction shows.
    LockedFromSnapshot,
    /// A read is answered with what another session was answered.
    AnswerOfAnother,
    /// A transaction that has only read gets a new snapshot.
    Refresh,
    /// What a locking read has locked is free again at once.
    Unlock,
    /// Changes do not look at foreign keys.
    NoForeignKeys,
    /// The connection is closed instead of an answer.
    Disconnect,
    /// Nothing is answered at all.
    Hang,
}

/// What is done to the warnings themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warned {
    Same,
    More,
    Others,
}

/// Whose plain reads are answered from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Anybody,
    /// In a transaction with a snapshot, which has changed nothing.
    Snapshot,
    /// In a transaction that has changed something.
    Writer,
}

/// At which statements a lie is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub enum Often {
    Always,
    /// Chosen by text and place, so that the same are chosen when the case is run again. The place is all that the case has sent
    /// before: by its number in its session the same COMMIT would stand in the same place in every second case.
    OneIn(u64),
}

impl Often {
    /// `before`: a hash of what stands before it.
    pub fn chooses(self, sql: &str, before: u64) -> bool {
        match self {
            Often::Always => true,
            Often::OneIn(few) => Often::place(sql, before).is_multiple_of(few),
        }
    }

    /// The hash of what stands before the next one.
    pub fn place(sql: &str, before: u64) -> u64 {
        Seed(before).sub(sql, 0)
    }
}

impl fmt::Display for Often {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Often::Always => f.pad("always"),
            Often::OneIn(few) => f.pad(&format!("1 in {few}")),
        }
    }
}

impl From<Often> for String {
    fn from(often: Often) -> String {
        often.to_string()
    }
}

impl FromStr for Often {
    type Err = String;

    fn from_str(text: &str) -> Result<Often, String> {
        match text.parse() {
            Ok(1) => Ok(Often::Always),
            Ok(few @ 2..) => Ok(Often::OneIn(few)),
            Ok(0) | Err(_) if text == "always" => Ok(Often::Always),
            Ok(0) | Err(_) => Err("write always, or 50 for one statement in 50".into()),
        }
    }
}

const WARNINGS: Option<&str> = Some("warnings are not judged");

/// One that is judged, at every level.
const fn lie(name: &'static str, help: &'static str, trick: Trick) -> Lie {
    Lie { name, help, not_judged: None, level: None, cases: |_| {}, trick }
}

/// One about locking reads: of these there are many.
const fn locking(lie: Lie) -> Lie {
    Lie { cases: |profile| profile.statements.locking_select *= 4, ..lie }
}

/// One about locking reads that are asked not to wait.
const fn asked_not_to_wait(lie: Lie) -> Lie {
    let cases = |profile: &mut Profile| {
        profile.statements.locking_select *= 4;
        profile.details.lock_wait = Odds(2, 3);
    };
    Lie { cases, ..lie }
}

const fn at(level: Level, lie: Lie) -> Lie {
    Lie { level: Some(level), ..lie }
}

fn locks(kind: StatementKind) -> bool {
    kind.writes() || kind == StatementKind::LockingSelect
}

fn lower(level: Level) -> Option<Level> {
    match level {
        Level::ReadUncommitted => None,
        Level::ReadCommitted => Some(Level::ReadUncommitted),
        Level::RepeatableRead => Some(Level::ReadCommitted),
        Level::Serializable => Some(Level::RepeatableRead),
    }
}

fn higher(level: Level) -> Option<Level> {
    match level {
        Level::ReadUncommitted => Some(Level::ReadCommitted),
        Level::ReadCommitted => Some(Level::RepeatableRead),
        Level::RepeatableRead => Some(Level::Serializable),
        Level::Serializable => None,
    }
}

/// No lie at all.
pub const HONEST: &str = "honest";

/// All of them, the honest proxy first.
pub const ALL: &[Lie] = &[
    lie(HONEST, "no lie: nothing new may be found that the server itself does not show", Trick::Honest),
    // Counts.
    lie("count-plus-1", "a change says one row more than it has changed", Trick::Answer(tamper::count_more)),
    lie("count-minus-1", "a change says one row less than it has changed", Trick::Answer(tamper::count_less)),
    lie("matched-plus-1", "an UPDATE says that one row more matched", Trick::Answer(tamper::matched_more)),
    lie("matched-minus-1", "an UPDATE says that one row less matched", Trick::Answer(tamper::matched_less)),
    // Errors.
    lie(
        "deadlock-invented",
        "a change or a locking read ends in a deadlock that there is none of; the transaction is rolled back",
        Trick::Refuse { fits: locks, error: tamper::deadlock, ends: true },
    ),
    lie(
        "timeout-invented",
        "a change or a locking read says that it has waited too long, at once",
        Trick::Refuse { fits: locks, error: tamper::lock_timeout, ends: false },
    ),
    lie(
        "internal-error",
        "a statement fails with an internal error",
        Trick::Refuse { fits: StatementKind::is_data, error: tamper::internal, ends: false },
    ),
    lie(
        "no-record",
        "a statement cannot find a record",
        Trick::Refuse { fits: StatementKind::is_data, error: tamper::no_record, ends: false },
    ),
    lie("commit-says-deadlock", "COMMIT is carried out and says deadlock", Trick::DenyCommit),
    lie("connection-dropped", "the connection is closed instead of an answer", Trick::Disconnect),
    lie("hang", "one statement of a case is never answered; a tenth of the cases", Trick::Hang),
    // Locks.
    lie("plain-read-locks", "a plain SELECT locks in share mode", Trick::Send(rewrite::plain_read_locks)),
    locking(lie("for-update-dropped", "FOR UPDATE locks nothing", Trick::Send(rewrite::for_update_dropped))),
    locking(lie(
        "for-share-dropped",
        "LOCK IN SHARE MODE locks nothing",
        Trick::Send(rewrite::for_share_dropped),
    )),
    locking(lie(
        "for-update-shared",
        "FOR UPDATE locks in share mode",
        Trick::Send(rewrite::for_update_shared),
    )),
    asked_not_to_wait(lie("nowait-stripped", "NOWAIT waits", Trick::Send(rewrite::nowait_stripped))),
    lie("nowait-added", "a locking read does not wait, and fails", Trick::Send(rewrite::nowait_added)),
    asked_not_to_wait(lie("skip-locked-stripped", "SKIP LOCKED waits", Trick::Send(rewrite::skip_stripped))),
    lie("skip-locked-added", "a locking read leaves out what is locked", Trick::Send(rewrite::skip_added)),
    locking(lie("lock-released", "what a locking read has locked is free again at once", Trick::Unlock)),
    // Views.
    lie("level-lowered", "a transaction runs at the next lower level", Trick::Level(lower)),
    lie("level-raised", "a transaction runs at the next higher level", Trick::Level(higher)),
    lie(
        "dirty-read",
        "a plain read sees what others have not committed",
        Trick::ReadElsewhere { at: Level::ReadUncommitted, who: Reader::Anybody },
    ),
    lie(
        "own-writes-unseen",
        "a plain read does not see what its own transaction has changed",
        Trick::ReadElsewhere { at: Level::ReadCommitted, who: Reader::Writer },
    ),
    lie("stale-read", "a plain read sees what was there when the case began", Trick::ReadOld),
    at(
        Level::RepeatableRead,
        lie(
            "snapshot-too-new",
            "a plain read sees what was committed after its snapshot",
            Trick::ReadElsewhere { at: Level::ReadCommitted, who: Reader::Snapshot },
        ),
    ),
    at(
        Level::RepeatableRead,
        lie("one-row-newer", "one row of a plain read is newer than its snapshot", Trick::OneRowElsewhere),
    ),
    at(
        Level::RepeatableRead,
        lie("snapshot-refreshed", "a transaction that has only read gets a new snapshot", Trick::Refresh),
    ),
    at(
        Level::RepeatableRead,
        lie(
            "snapshot-stripped",
            "WITH CONSISTENT SNAPSHOT takes no snapshot",
            Trick::Send(rewrite::snapshot_stripped),
        ),
    ),
    at(
        Level::RepeatableRead,
        lie("snapshot-at-begin", "BEGIN takes a snapshot", Trick::Send(rewrite::snapshot_at_begin)),
    ),
    at(
        Level::RepeatableRead,
        lie(
            "locking-read-old",
            "a locking read shows what the snapshot of its transaction shows",
            Trick::LockedFromSnapshot,
        ),
    ),
    lie("answers-swapped", "a read is answered with what another session got", Trick::AnswerOfAnother),
    // Rows.
    lie("row-dropped", "a query loses its last row", Trick::Answer(tamper::row_dropped)),
    lie("row-doubled", "a query shows its last row twice", Trick::Answer(tamper::row_doubled)),
    lie("null-as-zero", "a query shows 0 for a NULL", Trick::Answer(tamper::null_as_zero)),
    lie("value-plus-1", "a query shows a number that is too large by 1", Trick::Answer(tamper::value_more)),
    lie(
        "order-reversed",
        "rows under ORDER BY come the other way round",
        Trick::Answer(tamper::order_reversed),
    ),
    lie("type-changed", "a column of a result has another type", Trick::Answer(tamper::type_changed)),
    // After a wait.
    lie(
        "row-lost-after-wait",
        "a query that had to wait loses its last row",
        Trick::AnswerAfterWait(tamper::row_dropped),
    ),
    lie(
        "row-doubled-after-wait",
        "a query that had to wait shows its last row twice",
        Trick::AnswerAfterWait(tamper::row_doubled),
    ),
    lie(
        "stale-after-wait",
        "a locking read that had to wait shows what was there before",
        Trick::OldAfterWait,
    ),
    lie("row-missed-after-wait", "a change that had to wait misses one row", Trick::MissRowAfterWait),
    lie("change-lost-after-wait", "a change that had to wait changes nothing", Trick::UndoAfterWait),
    // Changes.
    lie("update-swallowed", "an UPDATE changes nothing", Trick::Undo(StatementKind::Update)),
    lie("delete-swallowed", "a DELETE deletes nothing", Trick::Undo(StatementKind::Delete)),
    lie("insert-swallowed", "an INSERT inserts nothing", Trick::Undo(StatementKind::Insert)),
    lie("insert-ignores", "an INSERT that fails says that all is well", Trick::Send(rewrite::insert_ignores)),
    lie("executed-twice", "a change is carried out twice", Trick::Twice),
    lie("foreign-keys-off", "a change does not look at foreign keys", Trick::NoForeignKeys),
    // Ends of transactions.
    lie("commit-as-rollback", "COMMIT rolls back", Trick::Send(rewrite::commit_as_rollback)),
    lie("rollback-as-commit", "ROLLBACK commits", Trick::Send(rewrite::rollback_as_commit)),
    lie("savepoint-kept", "ROLLBACK TO undoes nothing", Trick::Send(rewrite::back_ignored)),
    lie("commit-loses-last", "COMMIT loses the last change", Trick::LoseLast),
    lie("commit-early", "a change is committed before its transaction is", Trick::CommitEarly),
    Lie {
        cases: |profile| profile.scripts.read_only_writer = Odds(1, 4),
        ..lie("read-only-stripped", "a READ ONLY transaction writes", Trick::WriteInReadOnly)
    },
    // Warnings.
    Lie {
        not_judged: WARNINGS,
        ..lie(
            "warning-added",
            "a statement has one warning more",
            Trick::Warnings { count: tamper::warning_added, rows: Warned::More },
        )
    },
    Lie {
        not_judged: WARNINGS,
        ..lie(
            "warnings-lost",
            "a statement has no warnings",
            Trick::Warnings { count: tamper::warnings_lost, rows: Warned::Same },
        )
    },
    Lie {
        not_judged: WARNINGS,
        ..lie(
            "warnings-changed",
            "a warning has another number",
            Trick::Warnings { count: tamper::has_warnings, rows: Warned::Others },
        )
    },
];

/// The lie of this name.
pub fn named(name: &str) -> Option<&'static Lie> {
    ALL.iter().find(|lie| lie.name.eq_ignore_ascii_case(name))
}

impl Lie {
    /// Can it be told there?
    pub fn fits(&self, level: Level) -> bool {
        self.level.is_none_or(|only| only == level)
            && match self.trick {
                Trick::Level(other) => other(level).is_some(),
                _ => true,
            }
    }

    pub fn is_honest(&self) -> bool {
        matches!(self.trick, Trick::Honest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lie_has_a_name_of_its_own() {
        let mut names: Vec<&str> = ALL.iter().map(|lie| lie.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(names.len() > 40);
        assert!(ALL.iter().all(|lie| named(lie.name).is_some_and(|found| found.name == lie.name)));
        assert!(named("tarot").is_none());
    }

    #[test]
    fn the_same_statements_are_chosen_each_time() {
        let chosen = |few: u64| {
            let texts = (0..1000u64).map(|n| (format!("SELECT {}", n % 40), n));
            texts.filter(|(sql, before)| Often::OneIn(few).chooses(sql, *before)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(50), chosen(50));
        assert!((5..50).contains(&chosen(50).len()), "{}", chosen(50).len());
        assert!(Often::Always.chooses("SELECT 1", 0));
        assert_eq!(
            ("50".parse(), "always".parse(), "1".parse()),
            (Ok(Often::OneIn(50)), Ok(Often::Always), Ok(Often::Always))
        );
        assert!("0".parse::<Often>().is_err() && "often".parse::<Often>().is_err());
    }

    #[test]
    fn a_level_has_a_neighbour_or_none() {
        let fits = |name: &str, level: Level| named(name).unwrap().fits(level);
        assert!(
            fits("level-lowered", Level::ReadCommitted) && !fits("level-lowered", Level::ReadUncommitted)
        );
        assert!(fits("one-row-newer", Level::RepeatableRead) && !fits("one-row-newer", Level::ReadCommitted));
        assert!(fits("count-plus-1", Level::Serializable));
    }
}
