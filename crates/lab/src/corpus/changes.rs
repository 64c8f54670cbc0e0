//! What one version of a server did at one level, and where the next one did something else.
//!
//! Behaviour is the comparable trace: what each statement answered, whether it waited, and the final state. A version
//! whose own runs differ has no behaviour to compare, so changes are sought between the stable ones.

use std::collections::BTreeSet;

use model::{Case, Level, Open, Outcome, Reply, RowSet, Trace};
use serde::Serialize;

/// What one version did at one level.
#[derive(Serialize)]
pub struct Behaviour {
    /// `10.11.19`
    pub version: String,
    pub target: String,
    /// By what the file expects.
    pub status: String,
    pub runs: u64,
    /// Runs whose trace was that of the first, and evidence.
    pub alike: u64,
    /// The first run.
    pub trace: Trace,
}

impl Behaviour {
    /// Counts a run. One in which something answered that had been said to wait is no evidence, even of the same.
    pub fn count(&mut self, trace: &Trace) {
        self.runs += 1;
        self.alike += u64::from(trace.false_decisions == 0 && trace.same(&self.trace));
    }

    /// Did all its runs come out the same?
    pub fn stable(&self) -> bool {
        self.alike == self.runs
    }
}

/// Two versions, one after the other, that do not behave the same.
#[derive(Serialize)]
pub struct Change {
    /// The last that behaves in the old way.
    pub from: String,
    /// The first that behaves in the new way.
    pub to: String,
    pub differences: Vec<Difference>,
    /// Settings in force that are not the same in both: perhaps the reason.
    pub settings: Vec<String>,
}

/// A step or a table that came out differently.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `step 7, T2: SELECT * FROM t`
    pub at: String,
    pub before: String,
    pub after: String,
}

/// All versions at one level, and the changes between them.
#[derive(Serialize)]
pub struct AtLevel {
    pub level: Level,
    /// In order of the versions.
    pub behaviours: Vec<Behaviour>,
    /// In the same order.
    pub changes: Vec<Change>,
}

impl AtLevel {
    /// Compares each stable version with the stable one before it.
    pub fn new(case: &Case, level: Level, behaviours: Vec<Behaviour>) -> AtLevel {
        let stable: Vec<&Behaviour> = behaviours.iter().filter(|behaviour| behaviour.stable()).collect();
        let changes = stable
            .windows(2)
            .filter(|pair| !pair[0].trace.same(&pair[1].trace))
            .map(|pair| Change {
                from: pair[0].version.clone(),
                to: pair[1].version.clone(),
                differences: differences(case, &pair[0].trace, &pair[1].trace),
                settings: settings(&pair[0].trace, &pair[1].trace),
            })
            .collect();
        AtLevel { level, behaviours, changes }
    }

    /// Versions in a row that did the same and are judged the same.
    pub fn groups(&self) -> Vec<&[Behaviour]> {
        let together = |a: &Behaviour, b: &Behaviour| {
            a.stable() && b.stable() && a.status == b.status && a.trace.same(&b.trace)
        };
        self.behaviours.chunk_by(together).collect()
    }
}

/// Where two traces of a case differ, for people.
fn differences(case: &Case, before: &Trace, after: &Trace) -> Vec<Difference> {
    let mut found = Vec::new();
    for (i, step) in case.steps.iter().enumerate() {
        let (Some(old), Some(new)) = (before.outcomes.get(i), after.outcomes.get(i)) else { continue };
        if old.same(new) && before.waited(i) == after.waited(i) {
            continue;
        }
        let at = format!("step {}, {}: {}", i + 1, case.sessions[step.session].name, step.sql);
        let (mut old_words, mut new_words) = (words(before, i), words(after, i));
        // The words are those of case files, which do not say everything that is compared.
        if old_words == new_words && old.transaction != new.transaction {
            old_words += open(old.transaction);
            new_words += open(new.transaction);
        } else if old_words == new_words {
            old_words += &more(old);
            new_words += &more(new);
        }
        found.push(Difference { at, before: old_words, after: new_words });
    }
    found.extend(tables(before, after));
    if found.is_empty() {
        // The same answers, but not at the same moments.
        let moments = |trace: &Trace| {
            let rounds = trace.rounds.iter().map(|round| {
                let mut steps = round.answered.clone();
                steps.sort_unstable();
                steps.iter().map(|step| (step + 1).to_string()).collect::<Vec<_>>().join(" ")
            });
            rounds.collect::<Vec<_>>().join(", ")
        };
        let at = "the moments at which the steps answered".to_string();
        found.push(Difference { at, before: moments(before), after: moments(after) });
    }
    found
}

/// Tables that hold other rows in the end, or are there only once.
fn tables(before: &Trace, after: &Trace) -> Vec<Difference> {
    let all = |trace: &Trace| trace.final_state.clone().unwrap_or_default();
    let (old, new) = (all(before), all(after));
    let names: BTreeSet<&String> = old.iter().chain(&new).map(|(name, _)| name).collect();
    let rows = |tables: &[(String, RowSet)], name: &String| {
        tables.iter().find(|(have, _)| have == name).map(|(_, rows)| rows.clone())
    };
    let words = |rows: Option<RowSet>| rows.map_or("not there".to_string(), |rows| rows.to_string());
    let mut found = Vec::new();
    for name in names {
        let (old, new) = (rows(&old, name), rows(&new, name));
        if !matches!((&old, &new), (Some(old), Some(new)) if old.same_rows(new)) {
            found.push(Difference { at: format!("final {name}"), before: words(old), after: words(new) });
        }
    }
    found
}

fn words(trace: &Trace, step: usize) -> String {
    let waits = if trace.waited(step) { "waits, then " } else { "" };
    let warnings: Vec<String> =
        trace.outcomes[step].warnings.iter().map(|warning| warning.code.to_string()).collect();
    let with = if warnings.is_empty() { String::new() } else { format!(", warning {}", warnings.join(", ")) };
    format!("{waits}{}{with}", trace.outcomes[step])
}

fn more(outcome: &Outcome) -> String {
    match &outcome.reply {
        Reply::Rows(rows) => {
            let columns: Vec<String> =
                rows.columns().iter().map(|column| format!("{} {}", column.name, column.type_name)).collect();
            format!(", columns {}", columns.join(", "))
        }
        Reply::Done { matched: Some(matched), .. } => format!(", {matched} matched"),
        _ => String::new(),
    }
}

fn open(state: Open) -> &'static str {
    match state {
        Open::Yes => ", a transaction is open after it",
        Open::No => ", no transaction is open after it",
        Open::Failed => ", a failed transaction is open after it",
        Open::Unknown => ", not known whether a transaction is open after it",
    }
}

fn settings(before: &Trace, after: &Trace) -> Vec<String> {
    let (old, new) = (&before.server.settings, &after.server.settings);
    let value = |settings: &model::target::Settings, name: &String| {
        settings.get(name).cloned().unwrap_or_else(|| "not there".into())
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names
        .into_iter()
        .filter(|name| !value(old, name).eq_ignore_ascii_case(&value(new, name)))
        .map(|name| format!("{name}: {}, then {}", value(old, name), value(new, name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use model::{
        Product, Round, RoundCause, ServerInfo, SessionSpec, Step, Version, outcome::Reply, target::Settings,
    };

    use super::*;

    fn case() -> Case {
        let step = |session, sql: &str| Step { session, sql: sql.into(), expect: Vec::new() };
        Case {
            sessions: vec![SessionSpec::plain("T1"), SessionSpec::plain("T2")],
            steps: vec![step(0, "DELETE FROM t"), step(1, "UPDATE t SET a = 1")],
            ..Case::default()
        }
    }

    /// Each step answers at once with so many rows; the second in the first round if told so.
    fn behaviour(version: &str, affected: [u64; 2], alike: u64, rounds: &[&[usize]]) -> Behaviour {
        let settings = Settings::from([("log_bin".to_string(), version.chars().take(1).collect())]);
        let server = ServerInfo { settings, ..ServerInfo::bare(Product::Mysql, Version(vec![9])) };
        let round = |(i, answered): (usize, &&[usize])| Round {
            cause: RoundCause::Sent(i),
            answered: answered.to_vec(),
            waiting: Vec::new(),
        };
        let outcome = |affected| Outcome::bare(Reply::Done { affected, matched: None });
        let trace = Trace {
            rounds: rounds.iter().enumerate().map(round).collect(),
            outcomes: affected.map(outcome).to_vec(),
            ..Trace::empty(server, Level::ReadCommitted)
        };
        let (version, target, status) = (version.into(), version.into(), "as it should be".into());
        Behaviour { version, target, status, runs: 3, alike, trace }
    }

    const IN_TURN: &[&[usize]] = &[&[0], &[1]];

    #[test]
    fn a_change_is_between_two_stable_versions() {
        let behaviours = vec![
            behaviour("1.0", [1, 1], 3, IN_TURN),
            behaviour("1.1", [1, 1], 3, IN_TURN),
            behaviour("1.2", [1, 7], 2, IN_TURN),
            behaviour("2.0", [1, 0], 3, IN_TURN),
            behaviour("2.1", [1, 1], 3, IN_TURN),
        ];
        let at = AtLevel::new(&case(), Level::ReadCommitted, behaviours);
        let changes: Vec<(&str, &str)> =
            at.changes.iter().map(|change| (change.from.as_str(), change.to.as_str())).collect();
        assert_eq!(changes, [("1.1", "2.0"), ("2.0", "2.1")]);
        assert_eq!(
            at.changes[0].differences,
            [Difference {
                at: "step 2, T2: UPDATE t SET a = 1".into(),
                before: "1 row".into(),
                after: "0 rows".into()
            }]
        );
        assert_eq!(at.changes[0].settings, ["log_bin: 1, then 2"]);
        assert!(at.changes[1].settings.is_empty());
        let groups: Vec<usize> = at.groups().iter().map(|group| group.len()).collect();
        assert_eq!(groups, [2, 1, 1, 1]);
    }

    #[test]
    fn a_table_that_is_there_only_once_is_a_difference() {
        let table = |name: &str| (name.to_string(), RowSet::default());
        let (mut old, mut new) = (behaviour("1.0", [1, 1], 3, IN_TURN), behaviour("1.1", [1, 1], 3, IN_TURN));
        old.trace.final_state = Some(vec![table("t"), table("u")]);
        new.trace.final_state = Some(vec![table("t"), table("v")]);
        let at: Vec<(String, bool)> = differences(&case(), &old.trace, &new.trace)
            .into_iter()
            .map(|difference| (difference.at, difference.before == "not there"))
            .collect();
        assert_eq!(at, [("final u".to_string(), false), ("final v".to_string(), true)]);
    }

    #[test]
    fn a_run_that_is_no_evidence_makes_a_version_unstable() {
        let mut one = behaviour("1.0", [1, 1], 3, IN_TURN);
        one.count(&one.trace.clone());
        assert!(one.stable());
        one.count(&Trace { false_decisions: 1, ..one.trace.clone() });
        assert!(!one.stable());
    }

    #[test]
    fn the_same_answers_at_other_moments_are_a_change() {
        let behaviours =
            vec![behaviour("1.0", [1, 1], 3, IN_TURN), behaviour("1.1", [1, 1], 3, &[&[], &[0, 1]])];
        let at = AtLevel::new(&case(), Level::ReadCommitted, behaviours);
        assert_eq!(at.changes[0].differences[0].before, "1, 2");
        assert_eq!(at.changes[0].differences[0].after, ", 1 2");
    }
}
