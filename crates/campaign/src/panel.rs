//! The oracles of a hunt and what they are told: every judgement of a run is asked for here. What an oracle asks for is run from
//! clean resets, on the same server.

use dialect::Execution;
use execute::Reset;
use model::{Case, JudgeOverrides, Level, Probe, ProbeResult, Reason, Verdict, Violation};
use oracles::{Ask, Oracle};

use crate::{clean_server::CleanRuns, overrides::overridden};

/// An oracle that asks for more than this is not answered any more.
const QUESTIONS: usize = 64;

/// Nor one that wants to see more probes than this: a case has some dozens of statements.
const PROBES: usize = 2_000;

/// Oracles that judge together, in the order in which they are asked.
#[derive(Default)]
pub struct Panel {
    oracles: Vec<Box<dyn Oracle>>,
    overrides: JudgeOverrides,
}

impl Panel {
    pub fn new(oracles: Vec<Box<dyn Oracle>>, overrides: JudgeOverrides) -> Panel {
        Panel { oracles, overrides }
    }

    /// The oracle that a finding names, told what it was told then; none if there is no such oracle any more.
    pub fn of_one(name: &str, overrides: JudgeOverrides) -> Option<Panel> {
        Some(Panel::new(oracles::named(&[name.to_string()]).ok()?, overrides))
    }

    pub fn judges(&self) -> impl Iterator<Item = Judge<'_>> {
        self.oracles.iter().map(|oracle| Judge { oracle: oracle.as_ref(), overrides: &self.overrides })
    }

    pub fn first(&self) -> Option<Judge<'_>> {
        self.judges().next()
    }

    /// What each of them says of a run. One is asked when its verdict is wanted.
    pub fn judge<'a>(
        &'a self,
        seen: &'a Execution,
        runs: &'a mut dyn CleanRuns,
    ) -> impl Iterator<Item = (Judge<'a>, Verdict)> {
        self.judges().map(move |judge| (judge, judge.verdict(seen, runs)))
    }

    /// What the first that objects to a run objects to.
    pub fn first_violation<'a>(
        &'a self,
        seen: &Execution,
        runs: &mut dyn CleanRuns,
    ) -> Option<(Judge<'a>, Violation)> {
        self.judges().find_map(|judge| Some((judge, violation(judge.verdict(seen, runs))?)))
    }

    /// What they object to in a stored run, without a server.
    pub fn violations_of_stored<'a>(
        &'a self,
        seen: &'a Execution,
    ) -> impl Iterator<Item = (Judge<'a>, Violation)> {
        self.judges().filter_map(|judge| Some((judge, violation(judge.verdict_of_stored(seen))?)))
    }
}

fn violation(verdict: Verdict) -> Option<Violation> {
    match verdict {
        Verdict::Violated(violation) => Some(violation),
        Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
    }
}

/// One oracle of a panel, and what it is told instead of what is true.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub oracle: &'a dyn Oracle,
    pub overrides: &'a JudgeOverrides,
}

impl<'a> Judge<'a> {
    /// Another oracle, told the same.
    pub fn with(self, oracle: &'a dyn Oracle) -> Judge<'a> {
        Judge { oracle, ..self }
    }

    pub fn verdict(&self, seen: &Execution, runs: &mut dyn CleanRuns) -> Verdict {
        if !admissible(seen) {
            return undecided(Reason::LateAnswer);
        }
        let mut runs = OverriddenRuns { runs, seen, overrides: self.overrides };
        converse(self.oracle, &overridden(self.overrides, seen), &mut runs)
    }

    /// What it says of a stored run, without a server.
    pub fn verdict_of_stored(&self, seen: &Execution) -> Verdict {
        if !admissible(seen) {
            return undecided(Reason::LateAnswer);
        }
        oracles::judge(self.oracle, &overridden(self.overrides, seen))
    }
}

/// Runs what an oracle asks for as it is in truth, and shows it as the oracle is told.
struct OverriddenRuns<'a> {
    runs: &'a mut dyn CleanRuns,
    seen: &'a Execution,
    overrides: &'a JudgeOverrides,
}

impl CleanRuns for OverriddenRuns<'_> {
    fn rerun(&mut self, case: &Case, level: Level, reset: Reset) -> Option<Execution> {
        if self.overrides.is_empty() {
            return self.runs.rerun(case, level, reset);
        }
        let case = Case { sessions: self.seen.case.sessions.clone(), ..case.clone() };
        let execution = self.runs.rerun(&case, self.seen.trace.level, reset)?;
        Some(overridden(self.overrides, &execution).into_owned())
    }

    fn probe(&mut self, probe: &Probe) -> Option<ProbeResult> {
        self.runs.probe(probe)
    }

    fn purges(&self) -> bool {
        self.runs.purges()
    }
}

/// Answers what an oracle asks about a run until it gives its verdict.
fn converse(oracle: &dyn Oracle, seen: &Execution, runs: &mut dyn CleanRuns) -> Verdict {
    let mut conversation = oracle.open(seen);
    let mut ask = conversation.next(&[]);
    let (mut questions, mut probes) = (0, 0);
    while questions < QUESTIONS && probes < PROBES {
        ask = match ask {
            Ask::Done(verdict) => return verdict,
            Ask::Run(requests) => {
                questions += 1;
                let run = |request: &oracles::Request| runs.rerun(&request.case, request.level, Reset::Clean);
                // What could not be run is missing among the answers.
                let answers: Vec<Execution> = requests.iter().filter_map(run).collect();
                conversation.next(&answers)
            }
            Ask::Probe(probe) => {
                probes += 1;
                match runs.probe(&probe) {
                    Some(shown) => conversation.probed(shown),
                    None => return undecided(Reason::NotProbed),
                }
            }
        };
    }
    undecided(Reason::TooManyQuestions)
}

fn undecided(reason: Reason) -> Verdict {
    Verdict::Undecided { reason }
}

/// A run that is not evidence says nothing, whatever it looks like.
pub fn admissible(execution: &Execution) -> bool {
    execution.trace.false_decisions == 0
}
