//! At which levels a planted bug breaks a promise, by its name: elsewhere it changes nothing, or nothing that was promised.

use model::Level::{self, ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};

/// What only a snapshot that lasts can show.
const SNAPSHOT: [&str; 10] = [
    "lost-update",
    "non-repeatable-read",
    "phantom-insert",
    "phantom-delete",
    "phantom-update",
    "snapshot-too-late",
    "snapshot-too-early",
    "lost-own-write",
    "noop-update-no-version",
    "key-change-leaves-old-row",
];

/// What READ UNCOMMITTED does not promise, and SERIALIZABLE does not let happen: its reads wait.
const COMMITTED: [&str; 3] = ["aborted-read", "dirty-read", "intermediate-read"];

/// The levels; all of them for a bug that no level excuses.
pub fn levels(bug: &str) -> &'static [Level] {
    if SNAPSHOT.contains(&bug) {
        &[RepeatableRead]
    } else if COMMITTED.contains(&bug) {
        &[ReadCommitted, RepeatableRead]
    } else if bug == "write-skew" {
        &[Serializable]
    } else {
        &[ReadUncommitted, ReadCommitted, RepeatableRead, Serializable]
    }
}

#[cfg(test)]
mod tests {
    use reference::Bug;

    use super::*;

    #[test]
    fn every_name_is_that_of_a_bug() {
        for name in SNAPSHOT.iter().chain(&COMMITTED).chain(&["write-skew"]) {
            assert!(Bug::ALL.iter().any(|bug| bug.name() == *name), "{name}");
        }
        for bug in Bug::ALL {
            assert!(!levels(bug.name()).is_empty());
        }
    }
}
