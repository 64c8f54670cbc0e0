//! One run of a case, as everybody hands it on: from the executor to oracles, reducer, run folder and report.

use std::sync::Arc;

use model::{Aftermath, Case, RoundCause, Trace};

use super::ParsedCase;

/// What was run and what came of it. The case is parsed by the grammar of what it ran on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    pub case: Arc<ParsedCase>,
    pub trace: Trace,
    /// What was seen beside it.
    pub aftermath: Aftermath,
}

impl Execution {
    /// After which nobody looked at the server.
    pub fn new(case: Case, trace: Trace) -> Execution {
        Execution::looked_after(case, trace, Aftermath::default())
    }

    pub fn looked_after(case: Case, trace: Trace, aftermath: Aftermath) -> Execution {
        Execution { case: ParsedCase::new(trace.server.product, case), trace, aftermath }
    }

    /// The same case with another trace, after which nobody looked at the server.
    pub fn with_trace(&self, trace: Trace) -> Execution {
        Execution { case: self.case.clone(), trace, aftermath: Aftermath::default() }
    }

    /// Is it a trace of this case? What does not fit is nothing to judge.
    pub fn check(case: &Case, trace: &Trace) -> Result<(), String> {
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
                RoundCause::Sent(step) => (Some(step), None),
                RoundCause::RolledBack(session) | RoundCause::Killed(session) => (None, Some(session)),
                RoundCause::Timeout => (None, None),
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
    use model::{Level, Product, Round, ServerInfo, Version};

    use super::*;

    #[test]
    fn a_trace_of_another_case_does_not_fit() {
        let server = ServerInfo::bare(Product::Mysql, Version(vec![9, 7]));
        let (case, mut trace) = (Case::default(), Trace::empty(server, Level::RepeatableRead));
        assert_eq!(Execution::check(&case, &trace), Ok(()));
        let round = |cause| Round { cause, answered: vec![], waiting: vec![] };
        trace.rounds = vec![round(RoundCause::Sent(0))];
        assert!(Execution::check(&case, &trace).unwrap_err().contains("step 0"));
        trace.rounds = vec![round(RoundCause::Killed(2))];
        assert!(Execution::check(&case, &trace).unwrap_err().contains("session 2"));
    }
}
