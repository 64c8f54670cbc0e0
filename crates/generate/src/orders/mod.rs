//! In which order the statements of a set are submitted: one kind of order per file.
//!
//! An order is a list of sessions: `[0, 1, 0]` says that session 0 submits its first statement, then session 1 its first, then
//! session 0 its second. A third of them is drawn uniformly among all, a third has few switches, which is how most known bugs
//! were reported, and a third is shaped after the ways in which a snapshot or a wait can go wrong.
//!
//! Fucci's three filters (section 3.1) hold for all of them as far as they apply: see [`filters`].

mod few_switches;
pub mod filters;
mod late_reader;
mod sandwich;
mod uniform;
mod waiter;

use model::{
    Rng,
    sql::{Statement, StatementKind},
};

use crate::profile::{OrderWeights, weighted};

model::named! {
    /// A kind of order; its name is a feature of a case.
    pub enum OrderKind {
        /// Each valid interleaving is as likely as any other.
        Uniform = "order:uniform",
        /// At most three switches between the sessions.
        FewSwitches = "order:few-switches",
        /// Read, the other commits, write, read.
        Sandwich = "order:sandwich",
        /// Write, the other waits, write again, end.
        Waiter = "order:waiter",
        /// Begin, the other writes, and only then the first read.
        LateReader = "order:late-reader",
    }
}

/// A statement of a set: which session, and where in its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub session: usize,
    /// The position in its script, BEGIN included.
    pub index: usize,
}

/// Two statements of different sessions that were made to collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The one whose session is to act first, where that matters.
    pub first: Place,
    /// The one that runs into it.
    pub second: Place,
    /// The shape of order in which they meet most sharply.
    pub shape: Option<OrderKind>,
}

/// What an order needs to know of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens a transaction.
    Begin,
    /// Reads and locks nothing.
    Read,
    /// Reads and locks, or writes.
    Write,
    /// Ends a transaction.
    End,
    /// Savepoints and settings.
    Other,
}

/// The roles of one script.
pub type Lane = Vec<Role>;

/// The role of a statement.
pub fn role(statement: &Statement) -> Role {
    match statement.kind() {
        StatementKind::Begin => Role::Begin,
        StatementKind::Select => Role::Read,
        StatementKind::Commit | StatementKind::Rollback => Role::End,
        StatementKind::Savepoint | StatementKind::Set => Role::Other,
        _ => Role::Write,
    }
}

/// How often a draw that breaks a filter is repeated before a shaped order, which breaks none, takes its place.
const TRIES: usize = 24;

/// Draws an order of a kind that the profile weighs: which session submits next, once for each statement.
pub fn draw(
    rng: &mut Rng,
    weights: &OrderWeights,
    lanes: &[Lane],
    pairs: &[Pair],
) -> (OrderKind, Vec<usize>) {
    let kind = match weighted(rng, &[weights.uniform, weights.few, weights.shaped]) {
        Some(0) | None => OrderKind::Uniform,
        Some(1) => OrderKind::FewSwitches,
        Some(_) => {
            // Whoever made them collide knows the shape best, and now and then is surprised.
            let known = pairs.first().and_then(|pair| pair.shape).filter(|_| rng.ratio(3, 4));
            let shapes = [OrderKind::Sandwich, OrderKind::Waiter, OrderKind::LateReader];
            known.unwrap_or_else(|| *rng.pick(&shapes))
        }
    };
    of_kind(rng, kind, lanes, pairs)
}

/// Draws an order of this kind; of another one where that is not to be had.
pub fn of_kind(rng: &mut Rng, kind: OrderKind, lanes: &[Lane], pairs: &[Pair]) -> (OrderKind, Vec<usize>) {
    let pair = if pairs.is_empty() { any_pair(rng, lanes) } else { Some(*rng.pick(pairs)) };
    // With one session, or nothing in common, there is nothing to interleave on purpose.
    let Some(pair) = pair else { return (OrderKind::Uniform, uniform::draw(rng, lanes)) };
    for _ in 0..TRIES {
        let (order, free) = match kind {
            OrderKind::Uniform => (uniform::draw(rng, lanes), true),
            OrderKind::FewSwitches => (few_switches::draw(rng, lanes), true),
            OrderKind::Sandwich => (sandwich::draw(rng, lanes, pair), false),
            OrderKind::Waiter => (waiter::draw(rng, lanes, pair), false),
            OrderKind::LateReader => (late_reader::draw(rng, lanes, pair), false),
        };
        // What is shaped after a pair says itself who ends when.
        if free && !(filters::overlap(lanes, &order) && filters::still_open(lanes, &order, pair)) {
            continue;
        }
        let sorted = filters::one_of_equal_beginnings(lanes, order.clone());
        // Sorting may add a switch, and here they are counted.
        if kind != OrderKind::FewSwitches || sorted == order {
            return (kind, sorted);
        }
    }
    let order = waiter::draw(rng, lanes, pair);
    (OrderKind::Waiter, filters::one_of_equal_beginnings(lanes, order))
}

/// Two statements of different sessions, where none were made to collide: one that writes if there is one.
fn any_pair(rng: &mut Rng, lanes: &[Lane]) -> Option<Pair> {
    let mut sessions: Vec<usize> = (0..lanes.len()).filter(|&s| !lanes[s].is_empty()).collect();
    rng.shuffle(&mut sessions);
    let [first, second] = *sessions.get(..2)? else { return None };
    let mut place = |session: usize| {
        let among = |wanted: &[Role]| -> Vec<usize> {
            (0..lanes[session].len()).filter(|&i| wanted.contains(&lanes[session][i])).collect()
        };
        let writes = among(&[Role::Write]);
        let reads = among(&[Role::Read]);
        let index = match (writes.is_empty(), reads.is_empty()) {
            (false, _) => *rng.pick(&writes),
            (true, false) => *rng.pick(&reads),
            (true, true) => lanes[session].len() - 1,
        };
        Place { session, index }
    };
    Some(Pair { first: place(first), second: place(second), shape: None })
}

/// Puts the statements of the sessions that `order` leaves out at random places into it.
fn with_the_others(rng: &mut Rng, lanes: &[Lane], order: Vec<usize>) -> Vec<usize> {
    let mut left: Vec<usize> = lanes.iter().map(Vec::len).collect();
    order.iter().for_each(|&session| left[session] = 0);
    let mut rest = order.into_iter().peekable();
    let mut mixed = Vec::new();
    let mut known = rest.len();
    loop {
        let others: usize = left.iter().sum();
        if others == 0 {
            mixed.extend(rest);
            return mixed;
        }
        let at = rng.below(known + others);
        if at < known {
            mixed.extend(rest.next());
            known -= 1;
        } else {
            let session = nth(&left, at - known);
            left[session] -= 1;
            mixed.push(session);
        }
    }
}

/// The session that owns statement number `at`, counting what is left of each.
fn nth(left: &[usize], mut at: usize) -> usize {
    for (session, &count) in left.iter().enumerate() {
        if at < count {
            return session;
        }
        at -= count;
    }
    left.len() - 1
}

#[cfg(test)]
mod tests {
    use model::Seed;

    use super::*;

    fn lane(text: &str) -> Lane {
        text.chars()
            .map(|c| match c {
                'b' => Role::Begin,
                'r' => Role::Read,
                'w' => Role::Write,
                'c' => Role::End,
                _ => Role::Other,
            })
            .collect()
    }

    #[test]
    fn every_order_submits_every_statement_once() {
        let sets =
            [vec!["brwrc", "bwwc"], vec!["bwc", "w", "brrwc"], vec!["r", "w"], vec!["brc"; 6], vec!["bwc"]];
        for texts in sets {
            let lanes: Vec<Lane> = texts.iter().map(|t| lane(t)).collect();
            for (number, kind) in (0..300).zip(OrderKind::ALL.iter().copied().cycle()) {
                let mut rng = Seed(3).rng("orders", number);
                let (_, order) = of_kind(&mut rng, kind, &lanes, &[]);
                for (session, lane) in lanes.iter().enumerate() {
                    assert_eq!(
                        order.iter().filter(|&&s| s == session).count(),
                        lane.len(),
                        "{kind:?} {texts:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_third_is_uniform_a_third_has_few_switches_a_third_is_shaped() {
        let lanes = [lane("brwrwc"), lane("brwwrc")];
        let mut counts = [0usize; 5];
        let weights = OrderWeights { uniform: 1, few: 1, shaped: 1 };
        for number in 0..9000 {
            let (kind, order) = draw(&mut Seed(5).rng("orders", number), &weights, &lanes, &[]);
            counts[OrderKind::ALL.iter().position(|k| *k == kind).unwrap()] += 1;
            if kind == OrderKind::FewSwitches {
                assert!(order.windows(2).filter(|w| w[0] != w[1]).count() <= 3, "{order:?}");
            }
        }
        assert!((2700..3300).contains(&counts[0]) && (2700..3300).contains(&counts[1]), "{counts:?}");
        assert!(counts[2..].iter().all(|&n| n > 800), "{counts:?}");
    }

    #[test]
    fn a_sandwich_lets_the_other_end_between_two_statements() {
        let lanes = [lane("brwrc"), lane("bwc")];
        let pair = Pair {
            first: Place { session: 1, index: 1 },
            second: Place { session: 0, index: 2 },
            shape: None,
        };
        let (_, order) = of_kind(&mut Seed(1).rng("orders", 1), OrderKind::Sandwich, &lanes, &[pair]);
        assert_eq!(order, [0, 0, 1, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn a_waiter_arrives_between_two_writes() {
        let lanes = [lane("bwwc"), lane("bwc")];
        let pair = Pair {
            first: Place { session: 0, index: 1 },
            second: Place { session: 1, index: 1 },
            shape: None,
        };
        for number in 0..20 {
            let (_, order) = of_kind(&mut Seed(1).rng("orders", number), OrderKind::Waiter, &lanes, &[pair]);
            assert!(order == [0, 0, 1, 1, 0, 0, 1] || order == [0, 1, 0, 1, 0, 0, 1], "{order:?}");
        }
    }

    #[test]
    fn a_late_reader_has_begun_before_the_write() {
        let lanes = [lane("brc"), lane("bwc")];
        let pair = Pair {
            first: Place { session: 1, index: 1 },
            second: Place { session: 0, index: 1 },
            shape: None,
        };
        for number in 0..20 {
            let (_, order) =
                of_kind(&mut Seed(1).rng("orders", number), OrderKind::LateReader, &lanes, &[pair]);
            assert!(order.starts_with(&[0, 1, 1]), "{order:?}");
        }
    }
}
