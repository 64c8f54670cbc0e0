//! One run of a case, as everybody hands it on: from the executor to oracles, reducer, run folder and report.

use serde::{Deserialize, Serialize};

use crate::{Aftermath, Case, Cause, Trace};

/// What was run and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    pub case: Case,
    /// What happened.
    pub trace: Trace,
    /// What was seen beside it.
    #[serde(default, skip_serializing_if = "Aftermath::is_empty")]
    pub aftermath: Aftermath,
}

impl Execution {
    /// After which nobody looked at the server.
    pub fn new(case: Case, trace: Trace) -> Execution {
        Execution { case, trace, aftermath: Aftermath::default() }
    }

    /// Is it a trace of this case? What does not fit is nothing to judge.
    pub fn check(&self) -> Result<(), String> {
        let Execution { case, trace, .. } = self;
        let (steps, outcomes) = (case.steps.len(), trace.outcomes.len());
        if steps != outcomes {
            return Err(format!("the case has {steps} steps and the trace has {outcomes} outcomes"));
        }
        let sessions = case.sessions.len();
        if case.steps.iter().any(|step| step.session >= sessions) {
            return Err("a step of the case names no session".to_string());
        }
        for round in &trace.rounds {
            let (step, session) = match round.cause {
                Cause::Sent(step) => (Some(step), None),
                Cause::RolledBack(session) | Cause::Killed(session) => (None, Some(session)),
                Cause::Timeout => (None, None),
            };
            let waiting = round.waiting.iter().map(|wait| wait.step);
            let mut named = step.into_iter().chain(round.answered.iter().copied()).chain(waiting);
            if let Some(step) = named.find(|step| *step >= steps) {
                return Err(format!("the trace names step {step} and the case has {steps}"));
            }
            if let Some(session) = session.filter(|session| *session >= sessions) {
                return Err(format!("the trace names session {session} and the case has {sessions}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Product, Round, ServerInfo, Version};

    #[test]
    fn a_trace_of_another_case_does_not_fit() {
        let server = ServerInfo::bare(Product::Mysql, Version(vec![9, 7]));
        let mut execution = Execution::new(Case::default(), Trace::empty(server, Level::RepeatableRead));
        assert_eq!(execution.check(), Ok(()));
        let round = |cause| Round { cause, answered: vec![], waiting: vec![] };
        execution.trace.rounds = vec![round(Cause::Sent(0))];
        assert!(execution.check().unwrap_err().contains("step 0"));
        execution.trace.rounds = vec![round(Cause::Killed(2))];
        assert!(execution.check().unwrap_err().contains("session 2"));
    }
}
