//! The same statements without Isopod: one connection, one transaction after the other. Only to measure what the executor costs.

use model::{Case, Level, Open};

use crate::{
    ask::{LIMIT, ask, must},
    executor::{Executor, set_level},
    plan::Plan,
    prepare::{PreparedSchema, Reset},
    seams::{ConnectError, Session},
};

/// Sends cases as they are: one connection for resets and final states, and one for each level, since a level costs the
/// server something too. At any moment one of them is at work.
pub struct Bare {
    control: Box<dyn Session>,
    wires: Vec<(Level, Box<dyn Session>)>,
    schema: PreparedSchema,
    reset: Reset,
}

impl Executor {
    /// Connections that send cases as they are, with the executor's own kind of reset.
    pub fn bare(&mut self, levels: &[Level]) -> Result<Bare, ConnectError> {
        let mut wires = Vec::new();
        for &level in levels {
            let mut wire = self.server.connect()?;
            set_level(wire.as_mut(), self.dialect, &self.server.info().version, level)?;
            wires.push((level, wire));
        }
        let (control, reset) = (self.server.connect()?, self.options.reset);
        Ok(Bare { control, wires, schema: PreparedSchema::default(), reset })
    }

    /// What a case needs; whoever sends it bare works that out before the clock runs.
    pub fn plan(&mut self, case: &Case) -> Plan {
        let case = self.parsed.case(case.clone());
        self.planner.plan(&case, self.dialect)
    }
}

impl Bare {
    /// Sends reset, steps and the queries of the final state, session after session, and takes whatever comes.
    pub fn run(&mut self, on: &Executor, case: &Case, plan: &Plan, level: Level) -> Result<(), ConnectError> {
        let control = self.control.as_mut();
        self.schema.set(control, on.dialect, case, plan, self.reset)?;
        for (session, spec) in case.sessions.iter().enumerate() {
            let level = spec.level.unwrap_or(level);
            let Some((_, wire)) = self.wires.iter_mut().find(|(known, _)| *known == level) else {
                return Err(ConnectError::Level { asked: level, found: "no connection".into() });
            };
            let mut open = Open::No;
            for step in case.steps.iter().filter(|step| step.session == session) {
                open = ask(wire.as_mut(), &step.sql, LIMIT)?.transaction;
            }
            // One that never ended, or that an error left open; MySQL's errors do not say.
            if open != Open::No {
                ask(wire.as_mut(), "ROLLBACK", LIMIT)?;
            }
        }
        for (_, query) in plan.tables().unwrap_or_default() {
            must(control, &query)?;
        }
        Ok(())
    }
}
