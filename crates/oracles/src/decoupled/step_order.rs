//! In which order the statements of a run took effect, as far as the trace tells.
//!
//! A statement takes effect when it answers. Within a round the order in which answers were seen is not always the order in which
//! the statements ran: a COMMIT and those whom it wakes answer at nearly the same time. So whatever ended a transaction
//! goes first, then the victims of deadlocks, then the others as they were seen; where there are several of these, other
//! orders are as good, and all are given.

use history::History;
use model::{Ends, RoundCause, sql::StatementClass};

/// What happened next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEvent {
    /// A step was sent.
    Sent(usize),
    /// A step took effect and answered.
    Answered(usize),
    /// A step was seen to wait.
    Waits(usize),
    /// The open transaction of this session was rolled back by us.
    RolledBack(usize),
}

/// At most this many orders are tried.
const ORDERS: usize = 6;

/// All orders that the trace allows, the observed one first; and whether there are more.
pub fn orders(history: &History<'_>) -> (Vec<Vec<StepEvent>>, bool) {
    let mut all: Vec<Vec<StepEvent>> = vec![Vec::new()];
    let mut more = false;
    for round in &history.trace.rounds {
        let mut begun = Vec::new();
        let mut cause = None;
        match round.cause {
            RoundCause::Sent(step) => {
                begun.push(StepEvent::Sent(step));
                cause = Some(step);
            }
            RoundCause::RolledBack(session) => begun.push(StepEvent::RolledBack(session)),
            RoundCause::Timeout | RoundCause::Killed(_) => {}
        }
        let (mut first, mut rest) = (Vec::new(), round.answered.clone());
        if let Some(step) = cause.filter(|step| rest.contains(step) && goes_first(history, *step)) {
            rest.retain(|other| *other != step);
            first.push(step);
        }
        let (victims, rest): (Vec<usize>, Vec<usize>) =
            rest.into_iter().partition(|step| over(history, *step));
        first.extend(victims);
        begun.extend(first.into_iter().map(StepEvent::Answered));
        let ways = permutations(&rest);
        let waits: Vec<StepEvent> = round.waiting.iter().map(|wait| StepEvent::Waits(wait.step)).collect();
        let mut longer = Vec::new();
        for way in &ways {
            for order in &all {
                let mut order = order.clone();
                order.extend(begun.iter().copied());
                order.extend(way.iter().map(|step| StepEvent::Answered(*step)));
                order.extend(waits.iter().copied());
                longer.push(order);
            }
        }
        more |= longer.len() > ORDERS || rest.len() > 4;
        longer.truncate(ORDERS);
        all = longer;
    }
    (all, more)
}

/// Did this step end a transaction, or could nothing else come before it?
fn goes_first(history: &History<'_>, step: usize) -> bool {
    let control = history.steps[step].kind().is_some_and(|kind| kind.class() == StatementClass::Control);
    control || (history.trace.outcomes[step].transaction == model::Open::No && !over(history, step))
}

/// Did it end its transaction by an error?
fn over(history: &History<'_>, step: usize) -> bool {
    let error = history.trace.outcomes[step].error();
    error.is_some_and(|error| matches!(error.ends, Ends::Transaction | Ends::Session))
}

/// All orders of a few; of many only the given one.
fn permutations(steps: &[usize]) -> Vec<Vec<usize>> {
    if steps.len() < 2 || steps.len() > 4 {
        return vec![steps.to_vec()];
    }
    let mut all = Vec::new();
    for (i, first) in steps.iter().enumerate() {
        let mut others = steps.to_vec();
        others.remove(i);
        for mut rest in permutations(&others) {
            rest.insert(0, *first);
            all.push(rest);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_given_order_comes_first() {
        assert_eq!(permutations(&[4, 2]), [[4, 2], [2, 4]]);
        assert_eq!(permutations(&[7]), [[7]]);
        assert_eq!(permutations(&[1, 2, 3])[0], [1, 2, 3]);
        assert_eq!(permutations(&[1, 2, 3]).len(), 6);
    }
}
