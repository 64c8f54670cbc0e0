//! A run as a history: its transactions, and its steps with what came of them. Made once from a parsed case and its trace.
//!
//! A trace says for each statement what came back and whether a transaction was open afterwards. From that the transactions
//! follow, with very few facts of the dialect: does BEGIN commit what is open, and which statement takes a snapshot?
//!
//! ```text
//! T1: BEGIN                      transaction 0 of T1
//! T1: UPDATE t SET b = 2         in 0
//! T2: SELECT * FROM t            transaction 1 of T2: no transaction was open after it, so it committed by itself
//! T1: ROLLBACK                   0 is undone, and so is its UPDATE
//! ```
//!
//! Whoever asks for more than the trace says gets "unknown", never a guess: the fate of a transaction whose COMMIT lost its
//! connection, say.
//!
//! | what comes | what follows |
//! |---|---|
//! | BEGIN in a transaction | commits it where the dialect says so; elsewhere it is refused or changes nothing |
//! | COMMIT that is refused | the transaction goes on if one is open after it (SQLite's BUSY); otherwise its fate is unknown |
//! | an error that ends the transaction | it is over, though some servers are in a new one at once; in PostgreSQL it goes on, failed, until ROLLBACK |
//! | SAVEPOINT without autocommit | it belongs to the transaction that the next statement begins, though none is open yet |
//! | SET, or a text without a tree | the level is unknown from here on |
//! | the end of the case | what is open is rolled back by us, at the moment that the trace says |
//!
//! Each of these was decided in several ways before there was one place for it; the tests name them.

mod moment;
mod segment;
mod step;
mod transaction;

use dialect::ParsedCase;
use model::{Level, RoundCause, Trace};

pub use moment::Moment;
pub use step::{StepInfo, UndoneBy, refused_by_others};
pub use transaction::{Fate, Transaction};

#[derive(Clone, Debug)]
pub struct History<'a> {
    pub case: &'a ParsedCase,
    pub trace: &'a Trace,
    /// One for each step of the case.
    pub steps: Vec<StepInfo<'a>>,
    /// By session, and those of one session in order.
    pub transactions: Vec<Transaction>,
}

impl<'a> History<'a> {
    pub fn new(case: &'a ParsedCase, trace: &'a Trace) -> History<'a> {
        let steps = case.steps.iter().zip(&trace.outcomes).zip(&case.statements);
        let steps = steps.map(|((step, outcome), parsed)| StepInfo {
            session: step.session,
            parsed: parsed.as_deref(),
            outcome,
            transaction: None,
            sent: Moment::NEVER,
            answered: Moment::NEVER,
            waited: false,
            undone: None,
            savepoint: None,
        });
        let mut history = History { case, trace, steps: steps.collect(), transactions: Vec::new() };
        let mut rolled_back = vec![Moment::NEVER; case.sessions.len()];
        for (number, round) in trace.rounds.iter().enumerate() {
            match round.cause {
                RoundCause::Sent(step) => history.steps[step].sent = Moment::begins(number),
                RoundCause::RolledBack(session) => rolled_back[session] = Moment::begins(number),
                RoundCause::Timeout | RoundCause::Killed(_) => {}
            }
            for (place, &step) in round.answered.iter().enumerate() {
                history.steps[step].answered = Moment::answers(number, place + 1);
            }
            round.waiting.iter().for_each(|wait| history.steps[wait.step].waited = true);
        }
        for (session, rolled_back) in rolled_back.into_iter().enumerate() {
            history.segment(session, rolled_back);
        }
        history
    }

    /// The level at which a step ran, if it is known.
    pub fn level(&self, step: usize) -> Option<Level> {
        self.transaction_of(step)?.level
    }

    /// None if the step was never sent.
    pub fn transaction_of(&self, step: usize) -> Option<&Transaction> {
        Some(&self.transactions[self.steps[step].transaction?])
    }

    pub fn steps_of<'b>(
        &'b self,
        transaction: &'b Transaction,
    ) -> impl Iterator<Item = &'b StepInfo<'a>> + Clone {
        transaction.steps.iter().map(|&step| &self.steps[step])
    }

    /// The transaction that a session had open at a moment.
    pub fn open_at(&self, session: usize, at: Moment) -> Option<&Transaction> {
        let open = |of: &&Transaction| of.session == session && of.begin < at && at < of.end;
        self.transactions.iter().find(open)
    }

    /// Every two transactions of different sessions that were open at the same time, in both orders.
    pub fn concurrent(&self) -> impl Iterator<Item = (&Transaction, &Transaction)> {
        self.transactions.iter().flat_map(move |one| {
            let others = self.transactions.iter();
            others
                .filter(move |other| other.session != one.session && one.overlaps(other))
                .map(move |other| (one, other))
        })
    }
}
