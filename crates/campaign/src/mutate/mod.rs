//! Traces that are wrong in one place: the test of whoever judges them.
//!
//! A trace that an oracle accepted is changed in one way, as a bug of the server would have changed it, and shown to it again. What
//! it does not notice is a bug that it would not have found. Some changes are none: which row a LIMIT takes is free. So the share
//! that is noticed never is all of them, and whoever counts says what let the others through.
//!
//! Everything here is a pure function of the trace and the numbers drawn.

mod cells;
mod counts;
mod rows;
mod waits;

use model::{Case, Rng, RowSet, Trace};

/// A way to change a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// A row of a result or of the final state is missing.
    DropRow,
    /// A row of a result or of the final state has a value that its column had elsewhere.
    SwapVersion,
    /// A count of affected rows is one more or less.
    ChangeCount,
    /// A statement that waited did not, or one that did not wait did.
    FlipWait,
}

impl Mutation {
    pub const ALL: [Mutation; 4] =
        [Mutation::DropRow, Mutation::SwapVersion, Mutation::ChangeCount, Mutation::FlipWait];

    pub fn name(self) -> &'static str {
        match self {
            Mutation::DropRow => "drop-row",
            Mutation::SwapVersion => "swap-version",
            Mutation::ChangeCount => "change-count",
            Mutation::FlipWait => "flip-wait",
        }
    }

    /// The trace, changed in this way at a place that is drawn; none if it has no such place.
    pub fn of(self, case: &Case, trace: &Trace, rng: &mut Rng) -> Option<Mutant> {
        match self {
            Mutation::DropRow => rows::drop(trace, rng),
            Mutation::SwapVersion => cells::swap(trace, rng),
            Mutation::ChangeCount => counts::change(case, trace, rng),
            Mutation::FlipWait => waits::flip(case, trace, rng),
        }
    }
}

/// One of them; none if there is none.
fn pick<'a, T>(rng: &mut Rng, all: &'a [T]) -> Option<&'a T> {
    (!all.is_empty()).then(|| rng.pick(all))
}

/// A trace that is wrong in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    pub trace: Trace,
    /// The way, more exactly where it has two sides: `drop-wait`, `add-wait`.
    pub name: &'static str,
    /// The step whose answer or wait was changed; none for the final state.
    pub step: Option<usize>,
    /// What was changed, for people.
    pub what: String,
}

/// Where rows stand in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In the answer to a step.
    Step(usize),
    /// In the final state, by the number of the table.
    Table(usize),
}

impl Place {
    fn all(trace: &Trace) -> Vec<Place> {
        let steps = (0..trace.outcomes.len()).map(Place::Step);
        let tables = (0..trace.final_state.as_ref().map_or(0, Vec::len)).map(Place::Table);
        steps.chain(tables).filter(|place| place.rows(trace).is_some()).collect()
    }

    fn rows<'a>(&self, trace: &'a Trace) -> Option<&'a RowSet> {
        match self {
            Place::Step(step) => trace.outcomes[*step].rows(),
            Place::Table(table) => {
                trace.final_state.as_ref().and_then(|tables| tables.get(*table)).map(|(_, rows)| rows)
            }
        }
    }

    /// The trace with other rows there.
    fn with(&self, trace: &Trace, rows: RowSet) -> Trace {
        let mut trace = trace.clone();
        match self {
            Place::Step(step) => trace.outcomes[*step].reply = model::Reply::Rows(rows),
            Place::Table(table) => {
                let place = trace.final_state.as_mut().and_then(|tables| tables.get_mut(*table));
                place.into_iter().for_each(|place| place.1 = rows.clone());
            }
        }
        trace
    }

    fn step(&self) -> Option<usize> {
        match self {
            Place::Step(step) => Some(*step),
            Place::Table(_) => None,
        }
    }

    fn words(&self, trace: &Trace) -> String {
        match self {
            Place::Step(step) => format!("step {}", step + 1),
            Place::Table(table) => {
                let name = trace.final_state.as_ref().and_then(|tables| tables.get(*table));
                format!("final {}", name.map_or("", |(name, _)| name))
            }
        }
    }
}

#[cfg(test)]
mod tests;
