//! The version chains of the rows: who wrote what, when it was committed or undone, and what the wrong statement should see of it.

use model::{
    Account,
    account::{RowVersion, TableChains, View, Writer},
};

use super::timeline::step_of_round;
use crate::bug_report::BugReport;

/// At most so many rows of a table are drawn; rows that nobody changed come last.
const ROWS: usize = 24;

pub struct Section<'a> {
    /// The sentence above the tables and the tables, or why there are none.
    pub told: Result<(String, Vec<Table<'a>>), &'a str>,
}

pub struct Table<'a> {
    pub name: &'a str,
    pub columns: String,
    /// The number of each row, and its versions.
    pub rows: Vec<(usize, Vec<Version>)>,
    pub hidden: usize,
}

pub struct Version {
    pub class: String,
    pub values: String,
    /// Who wrote it, and what became of it.
    pub by: String,
    pub tag: Option<String>,
}

impl<'a> Section<'a> {
    pub fn new(bug: &'a BugReport) -> Section<'a> {
        let told = bug.account.as_ref().map_err(String::as_str);
        Section {
            told: told.map(|account| {
                let tables = account.tables.iter().map(|table| self::table(bug, table)).collect();
                (lead(bug, account), tables)
            }),
        }
    }
}

fn lead(bug: &BugReport, account: &Account) -> String {
    let by = match account.by.as_slice() {
        [] => "by its rules".to_string(),
        names => format!("by its rules and {}", names.join(", ")),
    };
    let until = match (account.whole, bug.finding.violation.step) {
        (true, _) => String::new(),
        (false, Some(step)) if !told_beyond(bug, account, step) => {
            format!(" They are told up to step {}, which its rules do not explain.", step + 1)
        }
        (false, Some(_)) => " The rest of the run is not told: nothing explains it.".to_string(),
        (false, None) => " No account of the run reaches its final state.".to_string(),
    };
    let reader = reader(bug, account);
    format!("How each row changed, as the model of the engine tells it {by}.{until}{reader}")
}

/// Does the account go on behind a step?
fn told_beyond(bug: &BugReport, account: &Account, step: usize) -> bool {
    let answered = bug.execution.trace.rounds.iter().position(|round| round.answered.contains(&step));
    answered.is_some_and(|round| round < account.rounds)
}

/// What the wrong statement reads by.
fn reader(bug: &BugReport, account: &Account) -> String {
    let read =
        bug.finding.violation.step.and_then(|step| account.reads.iter().find(|read| read.step == step));
    let Some(read) = read else { return String::new() };
    let from = match read.view {
        View::Snapshot => match step_of_round(bug, read.taken) {
            Some(step) if step != read.step => format!(", taken by step {}", step + 1),
            Some(_) | None => ", taken by itself".to_string(),
        },
        View::Newest | View::Committed | View::Fresh => String::new(),
    };
    format!(
        " Step {} reads {}{from}; what that shows of each row has a strong frame.",
        read.step + 1,
        read.view.words()
    )
}

fn table<'a>(bug: &BugReport, table: &'a TableChains) -> Table<'a> {
    let mut rows: Vec<(usize, &Vec<RowVersion>)> = table.rows.iter().enumerate().collect();
    rows.retain(|(_, versions)| !versions.is_empty());
    rows.sort_by_key(|(row, versions)| (versions.len() == 1, *row));
    let hidden = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let drawn = |versions: &[RowVersion]| versions.iter().map(|one| version(bug, one)).collect();
    Table {
        name: &table.table,
        columns: table.columns.join(", "),
        rows: rows.into_iter().map(|(row, versions)| (row, drawn(versions))).collect(),
        hidden,
    }
}

fn version(bug: &BugReport, version: &RowVersion) -> Version {
    let step_name = |round| step_of_round(bug, round).map(|step| format!("step {}", step + 1));
    let writer = match version.by {
        Writer::Setup => "setup".to_string(),
        Writer::Step(step) => {
            let session = bug.session(bug.execution.case.steps[step].session);
            format!("{}, step {}", session, step + 1)
        }
        Writer::Unknown => "one of several".to_string(),
    };
    let own = match version.by {
        Writer::Step(step) => {
            bug.execution.trace.rounds.iter().position(|round| round.answered.contains(&step))
        }
        Writer::Setup | Writer::Unknown => None,
    };
    let fate = match (version.undone, version.committed) {
        (Some(round), _) => match step_name(round) {
            Some(step) => format!(" · undone by {step}"),
            None => " · undone in the end".to_string(),
        },
        (None, Some(round)) if Some(round) == own => " · committed at once".to_string(),
        (None, Some(round)) => match step_name(round) {
            Some(step) => format!(" · committed by {step}"),
            None => " · committed".to_string(),
        },
        (None, None) if version.by == Writer::Setup => String::new(),
        (None, None) => " · not committed".to_string(),
    };
    let values = match &version.values {
        Some(values) => format!("({})", values.join(", ")),
        None => "deleted".to_string(),
    };
    let wrong = bug.finding.violation.step;
    let seen = wrong.is_some_and(|step| version.seen.contains(&step));
    let mut class = vec!["version"];
    class.extend(version.undone.map(|_| "undone"));
    class.extend(version.values.is_none().then_some("deleted"));
    class.extend(seen.then_some("seen"));
    let same = if version.same { " · sets what was there" } else { "" };
    let tag = wrong.filter(|_| seen).map(|step| match version.values {
        Some(_) => format!("step {} should see this", step + 1),
        None => format!("step {} should not see it", step + 1),
    });
    Version { class: class.join(" "), values, by: format!("{writer}{fate}{same}"), tag }
}
