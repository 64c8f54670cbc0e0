//! A finding as a report needs it: what is said of it, what it rests on, and where it was seen.

use model::{Account, Aftermath, Case, Level, Product, ServerInfo, Trace, Violation};

use crate::{compare, findings::Story, ready::Checklist, text};

/// Everything about one finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its own name.
    pub id: String,
    /// The name under which it is known; none is new.
    pub known: Option<String>,
    /// The version of Isopod that found it.
    pub isopod: String,
    /// The target as it was asked for, with the settings that were drawn.
    pub target: String,
    /// The server as it described itself.
    pub server: ServerInfo,
    /// The seed of the run and the number of the case.
    pub origin: (String, u64),
    /// The level of the session that shows it.
    pub level: Level,
    /// The oracle that says so.
    pub oracle: String,
    /// What it says.
    pub violation: Violation,
    /// What the oracles were told instead of what is true; empty for nothing.
    pub judged_as: String,
    /// Under which condition it comes back; empty for none.
    pub condition: String,
    /// So many runs showed it, of so many.
    pub runs: [u32; 2],
    /// How many statements the case had before it was made smaller; none if it was not.
    pub reduced_from: Option<usize>,
    /// Milliseconds of hunting before it was found.
    pub at: u64,
    /// The case.
    pub case: Case,
    /// The case as a file; none if it cannot be written as one.
    pub case_file: Option<String>,
    /// A run that shows it.
    pub trace: Trace,
    /// What was seen beside it.
    pub aftermath: Aftermath,
    /// What happened to the rows, or why that cannot be told.
    pub account: Result<Account, String>,
    /// The command that replays it.
    pub replay: String,
    /// Where findings of the same signature were seen in this run.
    pub seen: Vec<Seen>,
    /// Where else it was tried.
    pub elsewhere: Vec<Elsewhere>,
    /// Is it ready to be filed? None if nobody has asked.
    pub ready: Option<Checklist>,
    /// A dependency graph, if an oracle made one: as lines of text for now.
    pub graph: Option<String>,
}

/// A place at which a signature was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// Product and version.
    pub server: String,
    /// The level.
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

impl Finding {
    /// The product that it was found on.
    pub fn product(&self) -> Product {
        self.server.product
    }

    /// `known MDEV-32898`, or `NEW 9b1f0a2c`
    pub fn status(&self) -> String {
        match &self.known {
            Some(name) => format!("known {name}"),
            None => format!("NEW {}", self.id),
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
        self.server.flags.iter().map(String::as_str).filter(local).collect()
    }

    /// The server in its own words.
    pub fn server_text(&self) -> String {
        match self.server.version_text.is_empty() {
            true => self.server_name(),
            false => format!("{} {}", self.server.product, text::clean(&self.server.version_text)),
        }
    }

    /// Product and version.
    pub fn server_name(&self) -> String {
        format!("{} {}", self.server.product, self.server.version)
    }

    /// What a bug tracker shows in its list.
    pub fn title(&self) -> String {
        let what = what(self);
        match self.violation.fingerprint.level {
            Some(level) => format!("{what} at {}", level.sql()),
            None => what,
        }
    }

    /// The rule that is broken, in the words of the evidence where it has them.
    pub fn rule(&self) -> String {
        let words = self.evidence("rule: ").unwrap_or(&self.violation.fingerprint.rule);
        text::clean(words)
    }

    /// A line of the evidence that begins like this, without its beginning.
    pub fn evidence(&self, key: &str) -> Option<&str> {
        self.violation.evidence.iter().find_map(|line| line.strip_prefix(key))
    }

    /// As the five lines tell it.
    pub fn story(&self) -> Story {
        Story {
            known: self.known.clone(),
            id: self.id.clone(),
            server: self.server_name(),
            level: self.level.sql(),
            runs: self.runs,
            story: self.violation.story.clone(),
            rule: self.violation.fingerprint.rule.clone(),
            evidence: self.violation.evidence.clone(),
            oracle: self.oracle.clone(),
            condition: self.condition.clone(),
            statements: self.case.steps.len(),
            reduced_from: self.reduced_from,
            replay: self.replay.clone(),
        }
    }

    /// Can what is wrong be seen in rows, counts, errors or the state, by somebody who only has the answers? A wait cannot, and where
    /// two ways to judge disagree nobody knows what is right.
    pub fn visible(&self) -> Result<(), &'static str> {
        match self.violation.fingerprint.kind.as_str() {
            "missing-wait" | "needless-wait" | "inconsistent-blocking" => Err("only a wait is wrong"),
            "logic" => Err("the model and the decoupled run disagree: nobody knows what is right"),
            _ => Ok(()),
        }
    }

    /// Is what is stored wrong: the final state, or a change that was not made, or made where it should not have been?
    pub fn damaged(&self) -> bool {
        let print = &self.violation.fingerprint;
        let changes = matches!(print.statement.as_str(), "insert" | "update" | "delete");
        match print.kind.as_str() {
            "wrong-final-state" | "incorrect-final-state" | "crash" => true,
            "wrong-count" | "incorrect-query-result" => changes,
            "invariant" => self.violation.step.is_none(),
            _ => false,
        }
    }

    /// The name of a session.
    pub fn session(&self, session: usize) -> &str {
        self.case.sessions.get(session).map_or("?", |session| &session.name)
    }

    /// The level of a session.
    pub fn level_of(&self, session: usize) -> Level {
        self.case.sessions.get(session).and_then(|session| session.level).unwrap_or(self.trace.level)
    }

    /// Do all sessions have the same level?
    pub fn one_level(&self) -> Option<Level> {
        (!self.case.has_mixed_levels(Some(self.trace.level))).then(|| self.level_of(0))
    }
}

/// What goes wrong, in a few words.
fn what(finding: &Finding) -> String {
    let print = &finding.violation.fingerprint;
    let statement = statement_words(&print.statement);
    let rows = |n: usize| format!("{n} row{}", if n == 1 { "" } else { "s" });
    match print.kind.as_str() {
        "wrong-rows" | "incorrect-query-result" => {
            let (missing, extra) = compare::odd(&compare::of(finding));
            match (missing, extra) {
                (0, 0) => format!("{statement} gives a wrong answer"),
                (missing, 0) => format!("{statement} misses {}", rows(missing)),
                (0, extra) => format!("{statement} returns {} too many", rows(extra)),
                _ => format!("{statement} returns wrong rows"),
            }
        }
        "wrong-count" => format!("{statement} changes the wrong number of rows"),
        "wrong-match" => format!("{statement} says that it found the wrong number of rows"),
        "wrong-final-state" | "incorrect-final-state" => "Wrong rows are left in the end".to_string(),
        "missing-wait" => format!("{statement} does not wait for a lock"),
        "needless-wait" | "inconsistent-blocking" => format!("{statement} waits for nobody"),
        "needless-error" => format!("{statement} is refused without a conflict"),
        "phantom" => format!("{statement} meets a row that its locks should have kept out"),
        "crash" => format!("The server dies ({})", print.rule),
        "hang" => format!("The server hangs in {statement}"),
        "internal-error" => format!("{statement} ends in an internal error"),
        "logic" => format!("{statement}: two ways to judge it disagree"),
        kind => match print.rule.as_str() {
            rule if kind == "invariant" => format!("{statement}: {rule}"),
            _ => format!("{statement}: {kind}"),
        },
    }
}

fn statement_words(kind: &str) -> String {
    match kind {
        "locking-select" => "Locking SELECT".to_string(),
        "final" => "The final state".to_string(),
        other => other.to_ascii_uppercase(),
    }
}
