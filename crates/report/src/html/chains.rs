//! The version chains of the rows: who wrote what, when it was committed or undone, and what the wrong statement should see of it.

use model::{
    Account,
    account::{RowVersion, TableChains, View, Writer},
};

use super::escape::escape;
use crate::finding::Finding;

/// Of a table that many rows are drawn; rows that nobody changed come last.
const ROWS: usize = 24;

/// The section; empty words where there is nothing to draw.
pub fn section(finding: &Finding) -> String {
    let body = match &finding.account {
        Ok(account) => told(finding, account),
        Err(why) => format!(
            "<p class=\"soft\">The model cannot follow this run ({}), so it tells no versions.</p>",
            escape(why)
        ),
    };
    format!("<section id=\"versions\">\n<h2>Versions of the rows</h2>\n{body}</section>\n")
}

fn told(finding: &Finding, account: &Account) -> String {
    let mut out = String::new();
    let by = match account.by.as_slice() {
        [] => "by its rules".to_string(),
        names => format!("by its rules and {}", escape(&names.join(", "))),
    };
    let until = match (account.whole, finding.violation.step) {
        (true, _) => String::new(),
        (false, Some(step)) if !told_beyond(finding, account, step) => {
            format!(" They are told up to step {}, which its rules do not explain.", step + 1)
        }
        (false, Some(_)) => " The rest of the run is not told: nothing explains it.".to_string(),
        (false, None) => " No account of the run reaches its final state.".to_string(),
    };
    out += &format!(
        "<p class=\"lead\">How each row changed, as the model of the engine tells it {by}.{until}{}</p>\n",
        reader(finding, account)
    );
    for table in &account.tables {
        out += &chains(finding, table);
    }
    out
}

/// Does the account go on behind a step?
fn told_beyond(finding: &Finding, account: &Account, step: usize) -> bool {
    let answered = finding.trace.rounds.iter().position(|round| round.answered.contains(&step));
    answered.is_some_and(|round| round < account.rounds)
}

/// What the wrong statement reads by.
fn reader(finding: &Finding, account: &Account) -> String {
    let read = finding.violation.step.and_then(|step| account.reads.iter().find(|read| read.step == step));
    let Some(read) = read else { return String::new() };
    let from = match read.view {
        View::Snapshot => match crate::html::timeline::step_of_round(finding, read.taken) {
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

fn chains(finding: &Finding, table: &TableChains) -> String {
    let mut rows: Vec<(usize, &Vec<RowVersion>)> = table.rows.iter().enumerate().collect();
    rows.retain(|(_, versions)| !versions.is_empty());
    rows.sort_by_key(|(row, versions)| (versions.len() == 1, *row));
    let hidden = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let columns = table.columns.join(", ");
    let mut out = format!(
        "<h3><code>{}</code> <span class=\"soft mono\">({})</span></h3>\n",
        escape(&table.table),
        escape(&columns)
    );
    if rows.is_empty() {
        out += "<p class=\"soft small\">It never has a row.</p>\n";
    }
    for (row, versions) in rows {
        let items: String = versions.iter().map(|version| item(finding, version)).collect();
        out += &format!(
            "<ol class=\"chain\" data-table=\"{}\" data-row=\"{row}\">{items}</ol>\n",
            escape(&table.table)
        );
    }
    if hidden > 0 {
        out += &format!("<p class=\"soft small\">{hidden} more rows are not drawn.</p>\n");
    }
    out
}

fn item(finding: &Finding, version: &RowVersion) -> String {
    let step_name = |round: usize| {
        crate::html::timeline::step_of_round(finding, round).map(|step| format!("step {}", step + 1))
    };
    let writer = match version.by {
        Writer::Setup => "setup".to_string(),
        Writer::Step(step) => {
            let session = finding.session(finding.case.steps[step].session);
            format!("{}, step {}", escape(session), step + 1)
        }
        Writer::Unknown => "one of several".to_string(),
    };
    let own = match version.by {
        Writer::Step(step) => finding.trace.rounds.iter().position(|round| round.answered.contains(&step)),
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
    let wrong = finding.violation.step;
    let seen = wrong.is_some_and(|step| version.seen.contains(&step));
    let mut class = vec!["version"];
    class.extend(version.undone.map(|_| "undone"));
    class.extend(version.values.is_none().then_some("deleted"));
    class.extend(seen.then_some("seen"));
    let same = if version.same { " · sets what was there" } else { "" };
    let tag = match (seen, wrong) {
        (true, Some(step)) if version.values.is_none() => {
            format!("<span class=\"tag\">step {} should not see it</span>", step + 1)
        }
        (true, Some(step)) => format!("<span class=\"tag\">step {} should see this</span>", step + 1),
        _ => String::new(),
    };
    format!(
        "<li class=\"{}\"><span class=\"values\">{}</span><span class=\"by\">{writer}{fate}{same}</span>{tag}</li>",
        class.join(" "),
        escape(&values)
    )
}
