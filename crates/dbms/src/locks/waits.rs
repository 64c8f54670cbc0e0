//! Who waits for whom, and whether that may be believed yet. Pure.
//!
//! A server looks for deadlocks on its own, and a look at its lock table may come before that. Two sessions
//! that wait for each other are then about to be separated, and calling them settled would be wrong. So the
//! graph is searched for cycles here, and a cycle means: not settled, an error will come. Some cycles are
//! never resolved though (MySQL keeps one blocker per waiter and overlooks a cycle while a third session
//! blocks both), so after a while, [`GIVE_UP`] where the server looks at once, and after [`GIVE_UP_LOOKS`] without
//! a change a cycle is taken for a wait like any other.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use execute::{ConnectError, SessionId, Settled};

/// A transaction in the server's own terms; it changes when a session begins another one.
pub type ServerTransactionId = u64;
/// From the one that waits to the one it waits for.
pub type Edges = BTreeSet<(ServerTransactionId, ServerTransactionId)>;

/// How long a cycle is expected to be ended by the server. With 5 ms a loaded machine gave one false decision in
/// 5,600 waits; a cycle that the server overlooks is rare enough to wait for.
pub const GIVE_UP: Duration = Duration::from_millis(50);
/// And how often it must have been seen meanwhile. On a loaded machine the server's own search for deadlocks
/// comes late; so do our looks, so that their number measures what a clock does not.
pub const GIVE_UP_LOOKS: u32 = 25;
/// Looks that are further apart than this do not belong to the same wait.
const SAME_LOOK: Duration = Duration::from_millis(20);

/// What one look at the server showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitGraph {
    /// Whose transaction is whose.
    pub owners: BTreeMap<ServerTransactionId, SessionId>,
    /// Transactions that wait for a lock of the storage engine.
    pub waiting: BTreeSet<ServerTransactionId>,
    pub edges: Edges,
    /// Sessions that wait for a lock above the storage engine: on a table's definition, or by name.
    pub above: BTreeSet<SessionId>,
    /// What a waiting transaction asks for, where the server tells it.
    pub requests: BTreeMap<ServerTransactionId, LockRequest>,
}

/// The lock that a transaction waits for, in the server's words, and for how long it has done so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockRequest {
    pub lock: String,
    pub waited: Duration,
}

impl WaitGraph {
    pub fn waits(&self, session: SessionId) -> bool {
        self.above.contains(&session)
            || self.waiting.iter().any(|transaction| self.owners.get(transaction) == Some(&session))
    }

    /// For whom it waits, in order of number; empty if that is not known.
    pub fn blockers(&self, session: SessionId) -> Vec<SessionId> {
        let owner = |transaction| self.owners.get(transaction).copied();
        let blockers: BTreeSet<SessionId> = self
            .edges
            .iter()
            .filter(|(waiter, _)| owner(waiter) == Some(session))
            .filter_map(|(_, holder)| owner(holder))
            .filter(|&blocker| blocker != session)
            .collect();
        blockers.into_iter().collect()
    }

    /// For whom each of these waits. Only labels: a run does not fail because the look did.
    pub fn labels(look: Result<WaitGraph, ConnectError>, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        match look {
            Ok(waits) => waiting.iter().map(|&session| waits.blockers(session)).collect(),
            Err(_) => vec![Vec::new(); waiting.len()],
        }
    }

    /// The part of it that concerns these sessions, for comparing two looks on a server that others use.
    fn about(&self, sessions: &[SessionId]) -> (BTreeSet<ServerTransactionId>, Edges, BTreeSet<SessionId>) {
        let ours = |transaction: &ServerTransactionId| {
            self.owners.get(transaction).is_some_and(|session| sessions.contains(session))
        };
        (
            self.waiting.iter().filter(|&transaction| ours(transaction)).copied().collect(),
            self.edges.iter().filter(|(waiter, _)| ours(waiter)).copied().collect(),
            self.above.iter().filter(|session| sessions.contains(session)).copied().collect(),
        )
    }

    /// Is the wait of this session the one that an earlier look showed: the same transaction, the same lock, and longer than
    /// before? False where the server does not tell.
    pub fn same_wait(&self, earlier: &WaitGraph, session: SessionId) -> bool {
        let mut own =
            self.waiting.iter().filter(|transaction| self.owners.get(transaction) == Some(&session));
        own.any(|transaction| match (self.requests.get(transaction), earlier.requests.get(transaction)) {
            (Some(now), Some(then)) => {
                !now.lock.is_empty() && now.lock == then.lock && now.waited >= then.waited
            }
            (Some(_) | None, _) => false,
        })
    }

    /// Is nothing different for these sessions?
    pub fn same_for(&self, other: &WaitGraph, sessions: &[SessionId]) -> bool {
        self.about(sessions) == other.about(sessions)
    }
}

/// The edges that are left when whoever waits for nobody, or is waited for by nobody, is taken out again and
/// again: those of the cycles and of the paths between them. Empty if there is no cycle.
pub fn knot(edges: &Edges) -> Edges {
    let mut left = edges.clone();
    loop {
        let waiters: BTreeSet<ServerTransactionId> = left.iter().map(|edge| edge.0).collect();
        let holders: BTreeSet<ServerTransactionId> = left.iter().map(|edge| edge.1).collect();
        let before = left.len();
        left.retain(|(waiter, holder)| holders.contains(waiter) && waiters.contains(holder));
        if left.len() == before {
            return left;
        }
    }
}

/// Decides, look by look. It remembers only since when a cycle has been there.
#[derive(Debug)]
pub struct DeadlockWatch {
    give_up: Duration,
    seen: Option<Cycle>,
}

impl Default for DeadlockWatch {
    /// For servers that look for deadlocks at once.
    fn default() -> DeadlockWatch {
        DeadlockWatch::new(GIVE_UP)
    }
}

#[derive(Debug)]
struct Cycle {
    edges: Edges,
    first: Duration,
    last: Duration,
    looks: u32,
}

impl DeadlockWatch {
    /// Takes a cycle for a wait only after this time.
    pub fn new(give_up: Duration) -> DeadlockWatch {
        DeadlockWatch { give_up, seen: None }
    }

    /// Do all of these sessions wait, by this look at this time?
    pub fn look(&mut self, waits: &WaitGraph, outstanding: &[SessionId], now: Duration) -> Settled {
        if !outstanding.iter().all(|&session| waits.waits(session)) {
            self.seen = None;
            return Settled::Working;
        }
        let edges = knot(&waits.edges);
        let ours = edges
            .iter()
            .any(|(waiter, _)| waits.owners.get(waiter).is_some_and(|session| outstanding.contains(session)));
        if !ours {
            self.seen = None;
            return Settled::AllWait;
        }
        match &mut self.seen {
            Some(cycle) if cycle.edges == edges && now.saturating_sub(cycle.last) <= SAME_LOOK => {
                cycle.last = now;
                cycle.looks += 1;
                let over = now.saturating_sub(cycle.first) >= self.give_up && cycle.looks >= GIVE_UP_LOOKS;
                if over { Settled::AllWait } else { Settled::Working }
            }
            _ => {
                self.seen = Some(Cycle { edges, first: now, last: now, looks: 1 });
                Settled::Working
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transactions 11, 12, .. belong to sessions 1, 2, ..
    fn waits(edges: &[(u64, u64)]) -> WaitGraph {
        WaitGraph {
            owners: (11..20).map(|transaction| (transaction, transaction - 10)).collect(),
            waiting: edges.iter().map(|edge| edge.0).collect(),
            edges: edges.iter().copied().collect(),
            ..WaitGraph::default()
        }
    }

    #[test]
    fn a_chain_has_no_knot() {
        assert!(knot(&[(11, 12), (12, 13), (14, 13)].into()).is_empty());
    }

    #[test]
    fn a_cycle_is_found_without_those_who_only_lead_to_it() {
        let edges = Edges::from([(11, 12), (12, 13), (13, 12), (13, 14)]);
        assert_eq!(knot(&edges), Edges::from([(12, 13), (13, 12)]));
        assert_eq!(knot(&[(11, 11)].into()), Edges::from([(11, 11)]));
    }

    #[test]
    fn who_is_not_listed_works() {
        let mut judge = DeadlockWatch::default();
        assert_eq!(judge.look(&waits(&[(11, 12)]), &[1], Duration::ZERO), Settled::AllWait);
        assert_eq!(judge.look(&waits(&[(11, 12)]), &[1, 2], Duration::ZERO), Settled::Working);
    }

    #[test]
    fn a_cycle_is_waited_out_but_not_for_ever() {
        let mut judge = DeadlockWatch::default();
        let cycle = waits(&[(11, 12), (12, 11)]);
        let at = Duration::from_micros;
        for look in 0..24 {
            assert_eq!(judge.look(&cycle, &[1, 2], at(look * 2_500)), Settled::Working, "seen too seldom");
        }
        assert_eq!(judge.look(&cycle, &[1, 2], at(60_000)), Settled::AllWait);
        let mut hasty = DeadlockWatch::default();
        for look in 0..50 {
            assert_eq!(hasty.look(&cycle, &[1, 2], at(look * 1_000)), Settled::Working, "seen too short");
        }
        assert_eq!(hasty.look(&cycle, &[1, 2], at(50_000)), Settled::AllWait);
        // The same edges much later are another deadlock.
        assert_eq!(judge.look(&cycle, &[1, 2], at(120_000)), Settled::Working);
        // So is another cycle.
        assert_eq!(judge.look(&waits(&[(11, 13), (13, 11)]), &[1, 3], at(120_100)), Settled::Working);
    }

    #[test]
    fn a_slow_server_is_given_its_time() {
        let mut judge = DeadlockWatch::new(Duration::from_millis(2_050));
        let cycle = waits(&[(11, 12), (12, 11)]);
        for look in 0..205 {
            let now = Duration::from_millis(look * 10);
            assert_eq!(judge.look(&cycle, &[1, 2], now), Settled::Working, "{now:?}");
        }
        assert_eq!(judge.look(&cycle, &[1, 2], Duration::from_millis(2_050)), Settled::AllWait);
    }

    #[test]
    fn a_cycle_of_strangers_is_not_ours() {
        let mut judge = DeadlockWatch::default();
        let both = waits(&[(11, 12), (18, 19), (19, 18)]);
        assert_eq!(judge.look(&both, &[1], Duration::ZERO), Settled::AllWait);
        let mut other = both.clone();
        other.edges.remove(&(18, 19));
        assert!(both.same_for(&other, &[1]));
        assert!(!both.same_for(&other, &[8]));
    }

    #[test]
    fn a_wait_is_the_same_if_it_is_for_the_same_lock_and_longer() {
        let asks = |transaction, lock: &str, waited| {
            let request = LockRequest { lock: lock.to_string(), waited: Duration::from_micros(waited) };
            WaitGraph { requests: [(transaction, request)].into(), ..waits(&[(transaction, 12)]) }
        };
        let before = asks(11, "row 1", 100);
        assert!(asks(11, "row 1", 300).same_wait(&before, 1));
        assert!(!asks(11, "row 1", 300).same_wait(&before, 2), "another session");
        assert!(!asks(11, "row 1", 50).same_wait(&before, 1), "a later wait for the same row");
        assert!(!asks(11, "row 2", 300).same_wait(&before, 1));
        assert!(!asks(13, "row 1", 300).same_wait(&before, 3), "another transaction");
        assert!(!asks(11, "", 300).same_wait(&asks(11, "", 100), 1), "the server does not tell");
        assert!(!waits(&[(11, 12)]).same_wait(&before, 1));
    }

    #[test]
    fn blockers_are_sessions() {
        let waits = waits(&[(11, 13), (11, 12), (12, 13), (11, 99)]);
        assert_eq!(waits.blockers(1), [2, 3]);
        assert!(waits.blockers(4).is_empty());
        assert_eq!(WaitGraph::labels(Ok(waits), &[2, 4]), [vec![3], vec![]]);
        assert_eq!(WaitGraph::labels(Err(ConnectError::Gone), &[1, 2]), [[0; 0], []]);
    }
}
