//! The same statements without Isopod: one connection, one transaction after the other. Only to measure what the executor costs.

use model::{Case, Open};

use crate::{
    ask::{LIMIT, ask, must},
    executor::Executor,
    plan::Plan,
    prepare::{Reset, Stage},
    seams::{ConnectError, Session},
};

/// One connection that sends cases as they are.
pub struct Bare {
    wire: Box<dyn Session>,
    stage: Stage,
    reset: Reset,
}

impl Executor {
    /// A connection that sends cases as they are, with the executor's own kind of reset.
    pub fn bare(&mut self) -> Result<Bare, ConnectError> {
        Ok(Bare { wire: self.server.connect()?, stage: Stage::default(), reset: self.options.reset })
    }

    /// What a case needs; whoever sends it bare works that out before the clock runs.
    pub fn plan(&mut self, case: &Case) -> Plan {
        self.reader.plan(case, self.dialect)
    }
}

impl Bare {
    /// Sends reset, steps and the queries of the final state, session after session, and takes whatever comes. How many
    /// statements were steps?
    pub fn run(&mut self, on: &Executor, case: &Case, plan: &Plan) -> Result<usize, ConnectError> {
        let wire = self.wire.as_mut();
        self.stage.set(wire, on.dialect, case, plan, self.reset)?;
        for session in 0..case.sessions.len() {
            let mut open = Open::No;
            for step in case.steps.iter().filter(|step| step.session == session) {
                open = ask(wire, &step.sql, LIMIT)?.transaction;
            }
            // One that never ended, or that an error left open; MySQL's errors do not say.
            if open != Open::No {
                ask(wire, "ROLLBACK", LIMIT)?;
            }
        }
        for (_, query) in plan.tables().unwrap_or_default() {
            must(wire, &query)?;
        }
        Ok(case.steps.len())
    }
}
