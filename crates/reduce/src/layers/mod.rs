//! What can be reduced, one layer per file, from coarse to fine. Each lists candidates; whoever drops most comes first.

mod clauses;
mod constants;
mod delay_steps;
mod expressions;
mod keep_expectations;
mod levels;
pub mod names;
mod order;
mod schema;
mod skeleton;
mod statements;
mod tokens;
mod transactions;
mod types;

use crate::view::{Candidate, View};

pub type Pass = fn(View<'_>) -> Vec<Candidate>;

/// A layer: its candidates are equally coarse, and a strategy chooses among them.
pub struct Layer {
    pub name: &'static str,
    /// Its lists, in the order in which they are tried without a better idea.
    pub passes: &'static [Pass],
}

/// All of them. Names come last, and once.
pub const ALL: &[Layer] = &[
    Layer {
        name: "transactions",
        passes: &[transactions::sessions, transactions::whole, transactions::merged],
    },
    Layer {
        name: "statements",
        passes: &[
            statements::pieces_of_many,
            statements::single,
            statements::brackets,
            statements::at_once,
            statements::savepoints,
        ],
    },
    Layer { name: "order", passes: &[order::list] },
    Layer {
        name: "schema",
        passes: &[
            schema::tables::list,
            schema::rows::list,
            schema::columns::list,
            schema::keys::list,
            schema::setup::list,
            levels::list,
        ],
    },
    Layer { name: "clauses", passes: &[clauses::list, tokens::list] },
    Layer { name: "expressions", passes: &[expressions::list] },
    Layer { name: "constants", passes: &[types::list, constants::everywhere, constants::single] },
    Layer {
        name: "merging",
        passes: &[schema::columns::merged, schema::rows::merged, schema::update_to_insert::list],
    },
    Layer { name: "pairs", passes: &[skeleton::list, delay_steps::list, statements::pairs] },
];

/// What may be tried where an expectation is all that fails.
pub const KEEP_EXPECTATIONS: &[Layer] = &[
    Layer { name: "statements", passes: &[keep_expectations::steps] },
    Layer { name: "schema", passes: &[keep_expectations::rows] },
];
