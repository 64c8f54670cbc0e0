//! What happened when a case ran.
//!
//! A trace is a list of rounds. A round begins with ONE cause (a statement sent, a rollback that ends a stalled
//! case) and lasts until the server has settled: everything outstanding has answered or provably waits.
//! So `T1: COMMIT` that wakes two sessions is one round with three answers. The order of the answers inside
//! a round is the server's own and is never compared; for whom a statement waits is a label, never compared.
//!
//! ```text
//! 1  T1: UPDATE t SET b = 2     sent step 0   answers 0
//! 2  T2: UPDATE t SET b = 3     sent step 1   waits 1 (for T1)
//! 3  T1: COMMIT                 sent step 2   answers 2, 1
//! ```

use serde::{Deserialize, Serialize};

use crate::{level::Level, outcome::Outcome, rows::RowSet, target::ServerInfo};

/// What began a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundCause {
    /// A step was sent (its index in the case).
    Sent(usize),
    /// Nothing was sent; a wait ended by its own time limit.
    Timeout,
    /// The case was over or had stalled, and this session's open transaction was rolled back by us.
    RolledBack(usize),
    /// Nothing else helped: this session's statement was killed by us.
    Killed(usize),
}

/// A statement that began to wait in this round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    pub step: usize,
    /// The sessions that it waits for, where the server could be asked. A label: never compared.
    #[serde(rename = "for", default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<usize>,
}

/// From one cause until the server settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// What began it.
    pub cause: RoundCause,
    /// The steps that answered, in the order in which the answers were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<usize>,
    /// The steps that began to wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Wait>,
}

/// A whole run of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The server, as it described itself.
    pub server: ServerInfo,
    /// The level that sessions without one of their own had.
    pub level: Level,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// The outcome of each step of the case.
    pub outcomes: Vec<Outcome>,
    /// Did nothing move any more before all steps were sent?
    pub stalled: bool,
    /// Answers that came after the server had been called settled. Above zero this trace is no evidence.
    pub false_decisions: u32,
    /// Every table after the end, read by a fresh session; none if the server could not be asked.
    #[serde(rename = "final")]
    pub final_state: Option<Vec<(String, RowSet)>>,
}

impl Trace {
    /// Of a run in which nothing happened, and after which nobody looked.
    pub fn empty(server: ServerInfo, level: Level) -> Trace {
        Trace {
            server,
            level,
            rounds: Vec::new(),
            outcomes: Vec::new(),
            stalled: false,
            false_decisions: 0,
            final_state: None,
        }
    }

    /// Did this step wait?
    pub fn waited(&self, step: usize) -> bool {
        self.rounds.iter().any(|round| round.waiting.iter().any(|wait| wait.step == step))
    }

    /// The round in which a step answered.
    pub fn answered_in(&self, step: usize) -> Option<&Round> {
        self.rounds.iter().find(|round| round.answered.contains(&step))
    }

    /// The round in which we first stepped in because nothing moved any more; none if the case did not stall.
    pub fn stalled_at(&self) -> Option<usize> {
        let ours = |round: &Round| matches!(round.cause, RoundCause::RolledBack(_) | RoundCause::Killed(_));
        self.rounds.iter().position(ours).filter(|_| self.stalled)
    }

    /// Did a step answer only because we had stepped in? Nobody who runs the case without us sees that answer.
    pub fn answered_after_stall(&self, step: usize) -> bool {
        let answered = self.rounds.iter().position(|round| round.answered.contains(&step));
        match (self.stalled_at(), answered) {
            (Some(stall), Some(answered)) => answered >= stall,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// The sessions that we rolled back before a step answered, in order; for none, before the end. Nothing if we did more than that.
    pub fn rolled_back_before(&self, step: Option<usize>) -> Option<Vec<usize>> {
        let stall = self.stalled_at()?;
        let answered = |step: usize| self.rounds.iter().position(|round| round.answered.contains(&step));
        let last = match step {
            Some(step) => answered(step)?,
            None => self.rounds.len() - 1,
        };
        let ours = self.rounds.get(stall..=last)?.iter().map(|round| round.cause);
        ours.filter(|cause| !matches!(cause, RoundCause::Sent(_) | RoundCause::Timeout))
            .map(|cause| match cause {
                RoundCause::RolledBack(session) => Some(session),
                RoundCause::Sent(_) | RoundCause::Timeout | RoundCause::Killed(_) => None,
            })
            .collect()
    }

    /// The steps that waited when the case stalled, in the order in which they began to.
    pub fn standing_waits(&self) -> Vec<usize> {
        let Some(stall) = self.stalled_at() else { return Vec::new() };
        let before = &self.rounds[..stall];
        let ended = |step: &usize| before.iter().any(|round| round.answered.contains(step));
        before
            .iter()
            .flat_map(|round| round.waiting.iter().map(|wait| wait.step))
            .filter(|step| !ended(step))
            .collect()
    }

    /// Does the other trace tell the same story? See the module's text for what is left out.
    pub fn same(&self, other: &Trace) -> bool {
        self.first_difference(other).is_none()
    }

    /// The first round at which two traces part; the number of rounds if only the final state differs.
    pub fn first_difference(&self, other: &Trace) -> Option<usize> {
        let sorted = |steps: &[usize]| {
            let mut steps = steps.to_vec();
            steps.sort_unstable();
            steps
        };
        let waits = |round: &Round| sorted(&round.waiting.iter().map(|wait| wait.step).collect::<Vec<_>>());
        for (i, (a, b)) in self.rounds.iter().zip(&other.rounds).enumerate() {
            let same_answers = sorted(&a.answered) == sorted(&b.answered)
                && a.answered.iter().all(|&step| self.outcomes[step].same(&other.outcomes[step]));
            if a.cause != b.cause || !same_answers || waits(a) != waits(b) {
                return Some(i);
            }
        }
        if self.rounds.len() != other.rounds.len() {
            return Some(self.rounds.len().min(other.rounds.len()));
        }
        let same_final = match (&self.final_state, &other.final_state) {
            (Some(a), Some(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((m, x), (n, y))| m == n && x.same_rows(y))
            }
            (a, b) => a.is_none() && b.is_none(),
        };
        (!same_final || self.stalled != other.stalled).then_some(self.rounds.len())
    }

    /// The step whose sending woke this one, if it waited and something we sent woke it.
    pub fn woken_by(&self, step: usize) -> Option<usize> {
        match self.answered_in(step)?.cause {
            RoundCause::Sent(by) if by != step => Some(by),
            RoundCause::Sent(_) | RoundCause::Timeout | RoundCause::RolledBack(_) | RoundCause::Killed(_) => {
                None
            }
        }
    }

    /// How many statements were outstanding and waiting when each round began.
    pub fn waiting_before(&self, round: usize) -> usize {
        let begun: usize = self.rounds[..round].iter().map(|r| r.waiting.len()).sum();
        let ended =
            self.rounds[..round].iter().flat_map(|r| &r.answered).filter(|&&step| self.waited(step)).count();
        begun - ended
    }
}
