//! What it takes more runs to know of a case: does it differ from a serial order of its transactions, and would its statements fail
//! if each session were alone? Too dear for every case of a hunt, so it is measured on a sample.

use std::collections::BTreeMap;

use model::{Case, ErrorClass, Open, Reply, Step, Trace};
use serde::{Deserialize, Serialize};

use crate::quality::conflict;

/// What a sample of the cases came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    pub cases: u64,
    /// Those that truly conflicted: waited, refused, or other than a serial order.
    pub conflicting: u64,
    /// Those among them that only the comparison with the serial orders tells.
    pub by_comparison: u64,
    /// The numbers of those that did not, the first hundred.
    pub quiet: Vec<u64>,
    /// Statements that were run by their session alone on fresh data.
    pub statements_alone: u64,
    /// Those that failed there, by class; what a failed transaction refuses afterwards is not counted again.
    pub failed_alone: BTreeMap<ErrorClass, u64>,
    /// The first few that failed, for people: case number, error, text.
    pub examples: Vec<String>,
}

/// Orders of sessions that a case is compared with, at most: all of them for up to three sessions.
const ORDERS: usize = 6;

/// Examples kept for each class.
const EXAMPLES: usize = 3;

impl Sample {
    /// Adds a case and its trace; `run` runs another case on the same server from the same rows.
    pub fn add<E>(
        &mut self,
        number: u64,
        case: &Case,
        trace: &Trace,
        mut run: impl FnMut(&Case) -> Result<Trace, E>,
    ) -> Result<(), E> {
        let told = conflict(trace);
        let conflicting = truly_conflicts(case, trace, &mut run)?;
        self.by_comparison += u64::from(conflicting && told == (false, false));
        self.cases += 1;
        self.conflicting += u64::from(conflicting);
        if !conflicting && self.quiet.len() < 100 {
            self.quiet.push(number);
        }
        for session in 0..case.sessions.len() {
            let (alone, _) = in_turn(case, &[session]);
            let trace = run(&alone)?;
            self.alone(number, &alone, &trace);
        }
        Ok(())
    }

    fn alone(&mut self, number: u64, case: &Case, trace: &Trace) {
        let mut failed_before = false;
        for (step, outcome) in case.steps.iter().zip(&trace.outcomes) {
            self.statements_alone += 1;
            if let Some(error) = outcome.error().filter(|_| !failed_before) {
                let count = self.failed_alone.entry(error.class).or_default();
                *count += 1;
                if *count <= EXAMPLES as u64 {
                    self.examples
                        .push(format!("{} · case {number} · {} · {}", error.class, error.message, step.sql));
                }
            }
            failed_before = outcome.transaction == Open::Failed;
        }
    }

    pub fn failures_alone(&self) -> u64 {
        self.failed_alone.values().sum()
    }
}

/// Did the case truly conflict: wait, be refused, or come to something else than a serial order of its sessions?
pub fn truly_conflicts<E>(
    case: &Case,
    trace: &Trace,
    mut run: impl FnMut(&Case) -> Result<Trace, E>,
) -> Result<bool, E> {
    if conflict(trace) != (false, false) {
        return Ok(true);
    }
    for order in orders(case.sessions.len()) {
        let (serial, steps) = in_turn(case, &order);
        if differs(trace, &run(&serial)?, &steps) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The case with its sessions one after the other, and which of its steps each is.
pub fn in_turn(case: &Case, sessions: &[usize]) -> (Case, Vec<usize>) {
    let steps: Vec<usize> = sessions
        .iter()
        .flat_map(|&session| (0..case.steps.len()).filter(move |&step| case.steps[step].session == session))
        .collect();
    let bare = |&step: &usize| Step { expect: Vec::new(), ..case.steps[step].clone() };
    let serial = Case { steps: steps.iter().map(bare).collect(), ..case.clone() };
    (serial, steps)
}

/// The first orders of so many sessions, in the order of a dictionary.
fn orders(sessions: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..sessions {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let next: Vec<usize> = (0..sessions).filter(|s| !order.contains(s)).collect();
                next.into_iter().map(move |session| [order.clone(), vec![session]].concat())
            })
            .collect();
    }
    // Of many, those from both ends: they differ most.
    if all.len() > ORDERS {
        let back = all.split_off(all.len() - ORDERS / 2);
        all.truncate(ORDERS / 2);
        all.extend(back);
    }
    all
}

/// Does another run of the same statements come to something else, in an answer or in the end?
fn differs(trace: &Trace, serial: &Trace, steps: &[usize]) -> bool {
    let answers = steps.iter().zip(&serial.outcomes).any(|(&step, other)| {
        let one = &trace.outcomes[step];
        match (&one.reply, &other.reply) {
            (Reply::Rows(a), Reply::Rows(b)) => !a.same_rows(b),
            (Reply::Error(a), Reply::Error(b)) => a.class != b.class,
            (a, b) => a != b,
        }
    });
    let ends = match (&trace.final_state, &serial.final_state) {
        (Some(a), Some(b)) => a.iter().zip(b).any(|((_, a), (_, b))| !a.same_rows(b)),
        (None, _) | (_, None) => false,
    };
    answers || ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_of_few_sessions_and_some_of_many() {
        assert_eq!(orders(2), [[0, 1], [1, 0]]);
        assert_eq!(orders(3).len(), 6);
        let many = orders(5);
        assert_eq!((many.len(), &many[0][..], &many[5][..]), (6, &[0, 1, 2, 3, 4][..], &[4, 3, 2, 1, 0][..]));
    }
}
