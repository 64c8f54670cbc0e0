//! Bugs that can be planted, by name.
//!
//! Each is a mistake that a real engine could make, and shows only when transactions meet in a certain way. With
//! `one_in=N` only one occasion in N is taken. Which one is decided by the text of the statement and the rows at hand, not by
//! chance: the same case gives the same trace. The engine asks [`Plants::hits`] at the one place where it would go wrong; beside
//! that, only what a statement remembers of an earlier attempt (`memory`) is there for bugs alone.

use model::target::Settings;

macro_rules! bugs {
    ($($name:ident = $text:literal: $sentence:literal,)*) => {
        /// A bug that can be planted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Bug { $(#[doc = $sentence] $name,)* }

        impl Bug {
            pub const ALL: &'static [Bug] = &[$(Bug::$name,)*];

            /// Its name in targets.
            pub fn name(self) -> &'static str {
                match self { $(Bug::$name => $text,)* }
            }

            pub fn sentence(self) -> &'static str {
                match self { $(Bug::$name => $sentence,)* }
            }
        }
    };
}

bugs! {
    Crash = "crash": "An UPDATE or DELETE that has waited and then finds its rows gone takes the whole server down.",
    Hang = "hang": "A statement that waits for a transaction which is rolled back is never woken.",
    InternalError = "internal-error": "The victim of a deadlock is answered with an internal error.",
    AbortedRead = "aborted-read": "A plain SELECT above READ UNCOMMITTED sees what another transaction has not committed yet.",
    DuplicateUnique = "duplicate-unique": "A write that has waited does not look again whether its UNIQUE value is taken meanwhile.",
    LostUpdate = "lost-update": "An UPDATE at REPEATABLE READ computes from the row of its snapshot, and what others have committed since is lost.",
    DirtyRead = "dirty-read": "A plain SELECT above READ UNCOMMITTED sees a row that another transaction has inserted and not committed.",
    IntermediateRead = "intermediate-read": "Of a row that an open transaction has changed twice, a plain SELECT of another sees the first change.",
    NonRepeatableRead = "non-repeatable-read": "A plain SELECT at REPEATABLE READ shows a row of its snapshot as others have updated it since.",
    PhantomInsert = "phantom-insert": "A plain SELECT at REPEATABLE READ shows rows that were inserted after its snapshot was taken.",
    PhantomDelete = "phantom-delete": "A plain SELECT at REPEATABLE READ misses rows that were deleted after its snapshot was taken.",
    PhantomUpdate = "phantom-update": "A plain SELECT at REPEATABLE READ judges its condition on rows as others have updated them since its snapshot.",
    SnapshotTooLate = "snapshot-too-late": "A transaction at REPEATABLE READ that has read takes a new snapshot when it begins to write.",
    SnapshotTooEarly = "snapshot-too-early": "The snapshot of REPEATABLE READ shows the state at BEGIN, not the one at the first read.",
    ResumedScan = "resumed-scan": "A statement that has waited goes on where it stood, and does not look again at rows that it had passed by before.",
    NoopUpdateNoVersion = "noop-update-no-version": "An UPDATE that finds its values there already writes no version, so its transaction goes on seeing the old row.",
    KeyChangeLeavesOldRow = "key-change-leaves-old-row": "A change of the primary key is a new row beside a deleted one, which older snapshots keep showing to whoever updates the new one.",
    DuplicateRowAfterRollback = "duplicate-row-after-rollback": "A locking SELECT on a table with a UNIQUE index that has waited for an insert which is rolled back gives a row twice.",
    DeleteMissesMovedRow = "delete-misses-moved-row": "A DELETE that has waited misses a row whose primary key has become smaller meanwhile.",
    MissingRowLock = "missing-row-lock": "A row that is found through a secondary index is not locked.",
    MissingUniqueLock = "missing-unique-lock": "A write does not wait for a transaction that has written the same UNIQUE value and is still open.",
    LockReleasedEarly = "lock-released-early": "ROLLBACK TO SAVEPOINT lets go of all locks of its transaction.",
    LockNeverReleased = "lock-never-released": "A ROLLBACK beside another open transaction keeps its locks for as long as any transaction is open.",
    LostWakeup = "lost-wakeup": "Of several statements that wait for one transaction only the first is woken.",
    LostOwnWrite = "lost-own-write": "A transaction at REPEATABLE READ does not see its own change of a row that another has changed since its snapshot.",
    RollbackLeavesRow = "rollback-leaves-row": "A ROLLBACK beside another open transaction leaves the rows that were inserted.",
    SavepointUndoesTooMuch = "savepoint-undoes-too-much": "ROLLBACK TO SAVEPOINT also undoes the last change before the savepoint, if another transaction has committed since.",
    SavepointUndoesTooLittle = "savepoint-undoes-too-little": "ROLLBACK TO SAVEPOINT leaves the first change after the savepoint, if another transaction has committed since.",
    WriteSkew = "write-skew": "A plain SELECT at SERIALIZABLE takes no lock.",
}

/// What is planted in one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plants {
    bugs: Vec<Bug>,
    one_in: u64,
}

impl Default for Plants {
    fn default() -> Plants {
        Plants { bugs: Vec::new(), one_in: 1 }
    }
}

/// A target's settings are not understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadPlant {
    #[error("the reference engine has no bug called `{0}`")]
    Bug(String),
    #[error("`one_in={0}` is not a whole number from 1 on")]
    Rate(String),
    #[error("the reference engine has no setting `{0}`")]
    Setting(String),
}

impl From<BadPlant> for execute::LaunchError {
    fn from(error: BadPlant) -> execute::LaunchError {
        execute::LaunchError::not_started(&error, error.advice())
    }
}

impl BadPlant {
    /// What to do about it, a line each.
    pub fn advice(&self) -> Vec<String> {
        match self {
            BadPlant::Bug(_) => {
                let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or(0);
                let line = |bug: &Bug| format!("{:width$}  {}", bug.name(), bug.sentence());
                std::iter::once("it has these:".to_string()).chain(Bug::ALL.iter().map(line)).collect()
            }
            BadPlant::Rate(_) => vec!["one_in=100 takes one occasion in a hundred".to_string()],
            BadPlant::Setting(_) => {
                vec!["write plant=NAME, or plant=NAME,NAME, and one_in=N to have it now and then".to_string()]
            }
        }
    }
}

impl Plants {
    /// Reads the settings of a target: `plant=crash,hang` and `one_in=100`.
    pub fn read(settings: &Settings) -> Result<Plants, BadPlant> {
        let mut plants = Plants::default();
        for (name, value) in settings {
            match name.as_str() {
                "plant" => {
                    for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                        let found = Bug::ALL.iter().find(|bug| bug.name().eq_ignore_ascii_case(word));
                        plants.bugs.push(*found.ok_or_else(|| BadPlant::Bug(word.to_string()))?);
                    }
                }
                "one_in" => {
                    let rate = value.parse().ok().filter(|rate| *rate > 0);
                    plants.one_in = rate.ok_or_else(|| BadPlant::Rate(value.clone()))?;
                }
                _ => return Err(BadPlant::Setting(name.clone())),
            }
        }
        Ok(plants)
    }

    /// Is there any? If not, there is no need to ask for each.
    pub fn any(&self) -> bool {
        !self.bugs.is_empty()
    }

    /// Does the bug show on this occasion, which is told from others by `what`?
    pub fn hits(&self, bug: Bug, what: impl FnOnce() -> String) -> bool {
        self.bugs.contains(&bug) && (self.one_in == 1 || sum(&what()).is_multiple_of(self.one_in))
    }
}

/// With its high bits folded in: its low bits alone are poor.
fn sum(text: &str) -> u64 {
    let sum = model::hash64(text.as_bytes());
    sum ^ (sum >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Plants, BadPlant> {
        Plants::read(&pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    #[test]
    fn settings_name_bugs_and_their_rate() {
        let plants = read(&[("plant", "crash,aborted-read"), ("one_in", "3")]).unwrap();
        assert_eq!(plants.bugs, [Bug::Crash, Bug::AbortedRead]);
        let hits = (0..300).filter(|n| plants.hits(Bug::Crash, || format!("case {n}"))).count();
        assert!((60..140).contains(&hits), "{hits}");
        assert!(!plants.hits(Bug::Hang, || "x".into()));
        assert_eq!(read(&[]), Ok(Plants::default()));
    }

    #[test]
    fn what_is_unknown_is_an_error_with_the_list() {
        let error = read(&[("plant", "crush")]).unwrap_err();
        assert_eq!(error, BadPlant::Bug("crush".into()));
        for bug in Bug::ALL {
            assert!(error.advice().iter().any(|line| line.contains(bug.name())));
        }
        assert!(matches!(read(&[("one_in", "0")]), Err(BadPlant::Rate(_))));
        assert!(matches!(read(&[("log_bin", "ON")]), Err(BadPlant::Setting(_))));
    }
}
