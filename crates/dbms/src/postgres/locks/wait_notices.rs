//! Where sessions write down which notices of waits they were sent, and the monitor reads them.
//!
//! With `log_lock_waits` a process that waits for a lock says so after it has looked for a deadlock, and says so again
//! when its wait is over; with `client_min_messages = log` the client hears it, too. Both come from the one function in
//! which every wait for a lock takes place. Their texts are translated, so they are told apart by the line of the
//! source that wrote them, which the monitor learns from a wait of its own making ([`super::proc`]).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use execute::SessionId;
use model::sync::lock;

use super::super::reply::NoticeOrigin;

/// The function of the server in which a process waits for a lock.
const ROUTINE: &str = "ProcSleep";

/// What was heard last of each session's statement.
#[derive(Clone, Debug, Default)]
pub struct WaitNotices(Arc<Mutex<BTreeMap<SessionId, Entry>>>);

/// What is known about the statement that a session has sent last.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The line of the last notice.
    line: Option<String>,
    /// When it was first asked about.
    outstanding_since: Option<Duration>,
    /// When it was first seen to wait.
    waits_since: Option<Duration>,
}

impl WaitNotices {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<SessionId, Entry>> {
        lock(&self.0)
    }

    /// A session heard this.
    pub fn note(&self, session: SessionId, place: NoticeOrigin) {
        if place.routine == ROUTINE {
            self.entries().entry(session).or_default().line = Some(place.line);
        }
    }

    /// A session sends a new statement, or is gone.
    pub fn clear(&self, session: SessionId) {
        self.entries().remove(&session);
    }

    /// The line of the last notice about this session's statement; none if there was no notice yet.
    pub fn last(&self, session: SessionId) -> Option<String> {
        self.entries().get(&session)?.line.clone()
    }

    /// Was the last notice about this session's statement written in this line?
    pub fn says(&self, session: SessionId, line: &str) -> bool {
        self.entries().get(&session).is_some_and(|entry| entry.line.as_deref() == Some(line))
    }

    /// Its statement has not answered. Since when is that known?
    pub fn outstanding_since(&self, session: SessionId, now: Duration) -> Duration {
        *self.entries().entry(session).or_default().outstanding_since.get_or_insert(now)
    }

    /// Its statement is seen to wait. Since when?
    pub fn waits_since(&self, session: SessionId, now: Duration) -> Duration {
        *self.entries().entry(session).or_default().waits_since.get_or_insert(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_notice_of_the_present_statement_counts() {
        let (notices, place) = (WaitNotices::default(), |routine: &str, line: &str| NoticeOrigin {
            routine: routine.to_string(),
            line: line.to_string(),
        });
        notices.note(7, place("exec_stmt_raise", "10"));
        assert_eq!(notices.last(7), None);
        notices.note(7, place("ProcSleep", "10"));
        assert!(notices.says(7, "10") && !notices.says(7, "11") && !notices.says(8, "10"));
        notices.note(7, place("ProcSleep", "11"));
        assert!(!notices.says(7, "10"));
        notices.clear(7);
        assert_eq!(notices.last(7), None);
        assert!(!notices.says(7, ""), "{notices:?}");
    }

    #[test]
    fn a_new_statement_waits_anew() {
        let (notices, ms) = (WaitNotices::default(), Duration::from_millis);
        assert_eq!(notices.waits_since(7, ms(5)), ms(5));
        assert_eq!(notices.waits_since(7, ms(9)), ms(5));
        assert_eq!(
            (notices.outstanding_since(7, ms(4)), notices.outstanding_since(7, ms(9))),
            (ms(4), ms(4))
        );
        notices.clear(7);
        assert_eq!(notices.outstanding_since(7, ms(9)), ms(9));
        assert_eq!(notices.waits_since(7, ms(9)), ms(9));
    }
}
