//! A finding as a report needs it: with the story of its rows, and where it was seen.

use dialect::{Execution, contract::manual};
use model::{
    Account, Case, Finding, Level, Product, RuleId, ServerInfo, ShownBy, Symptom, regression,
    sql::StatementKind, verdict::Cause,
};

use crate::{
    compare,
    findings::{Story, What, plural},
    ready::Checklist,
    steps, text,
    words::{Sources, Words},
};

/// Everything about one finding.
#[derive(Clone, Debug)]
pub struct BugReport {
    /// `known` is the name by which it goes in this report.
    pub finding: Finding,
    /// A run that shows it.
    pub execution: Execution,
    /// The version of Isopod that found it.
    pub isopod: String,
    /// When the run began, in UTC; empty where that was not kept.
    pub date: String,
    /// The command that does the run again.
    pub hunt: String,
    /// Where known deviations are reported.
    pub sources: Sources,
    /// What happened to the rows, or why that cannot be told.
    pub account: Result<Account, String>,
    pub replay: String,
    /// Where findings of the same signature were seen in this run.
    pub seen: Vec<Seen>,
    /// Where else it was tried.
    pub elsewhere: Vec<Elsewhere>,
    /// Is it ready to be filed? None if nobody has asked.
    pub ready: Option<Checklist>,
}

/// A place at which a signature was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Product and version.
    pub server: String,
    pub level: Level,
    /// So many findings are kept there.
    pub findings: u64,
}

/// A server on which the case was tried afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The server, with the settings that it was given.
    pub server: String,
    /// What came of it at each level, in words; the columns of all servers are the same.
    pub levels: Vec<(String, String)>,
}

impl BugReport {
    /// The server as it described itself.
    pub fn server(&self) -> &ServerInfo {
        &self.execution.trace.server
    }

    pub fn product(&self) -> Product {
        self.server().product
    }

    /// The case as a file; none if it cannot be written as one.
    pub fn case_file(&self) -> Option<String> {
        let case = Case { title: self.title(), ..self.execution.case.case().clone() };
        regression::case_file(&case, &self.execution.trace, &self.finding).ok()
    }

    /// `known MDEV-32898`, or `NEW 9b1f0a2c`
    pub fn status(&self) -> String {
        match &self.finding.known {
            Some(name) => format!("known {name}"),
            None => format!("NEW {}", self.finding.id),
        }
    }

    /// What the server was started with, without the places on this machine.
    pub fn flags(&self) -> Vec<&str> {
        let local = |flag: &&str| {
            let name = flag.trim_start_matches('-').split('=').next().unwrap_or("");
            let places =
                ["dir", "socket", "pid-file", "log-error", "port", "user", "unix_socket_directories"];
            !places.iter().any(|word| name.ends_with(word)) && !flag.contains("/")
        };
        self.server().flags.iter().map(String::as_str).filter(local).collect()
    }

    /// The server in its own words.
    pub fn server_text(&self) -> String {
        match self.server().version_text.is_empty() {
            true => self.server_name(),
            false => {
                let (product, version) =
                    (self.server().product.to_string(), text::clean(&self.server().version_text));
                match version.to_ascii_lowercase().starts_with(&product) {
                    true => version,
                    false => format!("{product} {version}"),
                }
            }
        }
    }

    /// Product and version.
    pub fn server_name(&self) -> String {
        format!("{} {}", self.server().product, self.server().version)
    }

    /// What a bug tracker shows in its list.
    pub fn title(&self) -> String {
        let what = what(self);
        match self.finding.violation.fingerprint.level {
            Some(level) => format!("{what} at {}", level.sql()),
            None => what,
        }
    }

    /// What is wrong, in words.
    pub fn words(&self) -> Words<'_> {
        Words { violation: &self.finding.violation, product: self.server().product, sources: self.sources }
    }

    pub fn rule(&self) -> String {
        text::clean(&self.words().rule())
    }

    /// How it was found and judged, a line each: for those who know Isopod.
    pub fn background(&self) -> Vec<String> {
        let finding = &self.finding;
        let mut lines =
            vec![format!("Found by isopod {}, seed {}, case {}", self.isopod, finding.seed, finding.case)];
        lines.push(format!("Judged by: {} ({})", finding.oracle, finding.violation.fingerprint.label()));
        if let Some(from) = finding.reduced_from {
            let to = crate::findings::plural(self.execution.case.steps.len() as u64, "statement");
            lines.push(format!("Reduced from {from} to {to}"));
        }
        lines.extend(self.words().remarks());
        lines.iter().map(|line| text::clean(line)).collect()
    }

    /// Why it is wrong, a paragraph each: the rule in our words, in those of the manual, and what is known to break it.
    pub fn why(&self) -> Vec<String> {
        let words = self.words();
        let print = &self.finding.violation.fingerprint;
        if print.symptom == Symptom::Logic && print.cause != Cause::DecoupledObjects {
            // A rule about what a statement sees is not what breaks here.
            return vec![
                "The server gives the same answer to the statement alone, on the same rows. Computed from these rows by what the statement \
                 says, it should be the one above."
                    .to_string(),
            ];
        }
        let mut why = vec![format!("{}.", text::upper(self.rule().trim_end_matches('.')))];
        let quote = words.broken().and_then(|rule| manual::quoted(self.server(), rule));
        why.extend(quote.map(|quote| quote.text(self.product())));
        why.extend(words.explanation());
        why
    }

    /// What should have come, if somebody says so.
    pub fn expected(&self) -> Option<String> {
        self.words().expected()
    }

    /// As the five lines tell it.
    pub fn story(&self) -> Story {
        Story {
            known: self.finding.known.clone(),
            id: self.finding.id.clone(),
            server: self.server_name(),
            level: self.finding.shown_at().sql(),
            runs: self.finding.runs,
            what: What::of(&self.words()),
            oracle: self.finding.oracle.clone(),
            condition: self.finding.condition.words().to_string(),
            statements: self.execution.case.steps.len(),
            reduced_from: self.finding.reduced_from,
            replay: self.replay.clone(),
        }
    }

    /// Can what is wrong be seen in rows, counts, errors or the state, by somebody who only has the answers? A wait cannot, and where
    /// two ways to judge disagree nobody knows what is right.
    pub fn visible(&self) -> Result<(), &'static str> {
        match self.finding.violation.fingerprint.symptom {
            symptom if symptom.is_wait() => Err("only a wait is wrong"),
            Symptom::Logic => Err("the model and the decoupled run disagree: nobody knows what is right"),
            _ => Ok(()),
        }
    }

    /// Is what is stored wrong: the final state, or a change that was not made, or made where it should not have been?
    pub fn damaged(&self) -> bool {
        let print = &self.finding.violation.fingerprint;
        match print.symptom {
            Symptom::WrongFinalState | Symptom::Crash => true,
            Symptom::WrongRows
            | Symptom::WrongCount
            | Symptom::WrongTypes
            | Symptom::WrongOrder
            | Symptom::WrongError
            | Symptom::WrongAnswer => print.statement.writes(),
            _ if print.cause == Cause::Invariant => self.finding.violation.step.is_none(),
            _ => false,
        }
    }

    pub fn session(&self, session: usize) -> &str {
        steps::name(&self.execution.case, session)
    }

    pub fn level_of(&self, session: usize) -> Level {
        let own = self.execution.case.sessions.get(session).and_then(|session| session.level);
        own.unwrap_or(self.execution.trace.level)
    }

    /// Do all sessions have the same level?
    pub fn one_level(&self) -> Option<Level> {
        (!self.execution.case.has_mixed_levels(Some(self.execution.trace.level))).then(|| self.level_of(0))
    }
}

/// What goes wrong, in a few words.
fn what(bug: &BugReport) -> String {
    let print = &bug.finding.violation.fingerprint;
    let statement = statement_words(print.statement);
    let rows = |count: usize| plural(count as u64, "row");
    match print.symptom {
        Symptom::WrongRows | Symptom::WrongTypes | Symptom::WrongError | Symptom::WrongAnswer => {
            let (missing, extra) = compare::odd(&compare::of(bug));
            match (missing, extra) {
                (0, 0) => format!("{statement} gives a wrong answer"),
                (missing, 0) => format!("{statement} misses {}", rows(missing)),
                (0, extra) => format!("{statement} returns {} too many", rows(extra)),
                _ => format!("{statement} returns wrong rows"),
            }
        }
        Symptom::WrongOrder => format!("{statement} returns its rows in the wrong order"),
        Symptom::WrongCount => format!("{statement} changes the wrong number of rows"),
        Symptom::WrongMatch => format!("{statement} says that it found the wrong number of rows"),
        Symptom::WrongFinalState => "Wrong rows are left in the end".to_string(),
        Symptom::MissingWait => format!("{statement} does not wait for a lock"),
        Symptom::NeedlessWait => match bug.finding.violation.evidence.rule {
            Some(RuleId::AskedNotToWait) => format!("{statement} waits although it was asked not to"),
            Some(RuleId::PlainReadTakesNoLocks) => format!("{statement} waits although it takes no locks"),
            _ => format!("{statement} waits for nobody"),
        },
        Symptom::UnreportedDeadlock => "A deadlock is not reported".to_string(),
        Symptom::NeedlessError => format!("{statement} is refused without a conflict"),
        Symptom::Phantom => format!("{statement} meets a row that its locks should have kept out"),
        Symptom::Crash => match &print.cause {
            Cause::Unknown => "The server dies".to_string(),
            cause => format!("The server dies ({cause})"),
        },
        Symptom::Hang => format!("The server hangs in {statement}"),
        Symptom::InternalError => format!("{statement} ends in an internal error"),
        Symptom::Logic if print.cause == Cause::DecoupledObjects => {
            format!("{statement} answers otherwise than alone on the same rows")
        }
        Symptom::Logic => format!("{statement} is evaluated wrongly, also by one session alone"),
        Symptom::MissingError => format!("{statement} is not refused"),
        other => format!("{statement}: {other}"),
    }
}

fn statement_words(shown: ShownBy) -> String {
    match shown {
        ShownBy::Statement(Some(StatementKind::LockingSelect)) => "Locking SELECT".to_string(),
        ShownBy::FinalState => "The final state".to_string(),
        other => other.name().to_ascii_uppercase(),
    }
}
