//! Plain SQL for people who type it into a terminal for each session.

use super::{
    UNBLOCKED,
    client::{comment, ended, greeting, schema},
    harmless::{self, Withheld},
    order::{Act, acts},
    stalled,
};
use crate::{bug_report::BugReport, steps};

/// The script; none for Isopod's own engine, which has no terminal.
pub fn script(bug: &BugReport) -> Result<Option<String>, Withheld> {
    let dialect = dialect::of(bug.product());
    let Some(terminal) = &dialect.terminal else { return Ok(None) };
    harmless::check(bug, &terminal.commands)?;
    let client = terminal.name;
    let own = |sql: &str| sql.replace("{schema}", &schema(bug));
    let (make, enter) = (terminal.create_schema.map(own), terminal.enter_schema.map(own));
    let mut out = format!(
        "-- {}\n-- {}\n--\n-- A terminal with {client} for each session. Type the statements one by one, each into the terminal that is\n\
         -- named above it, and wait for its answer before the next one, unless it is said to wait.\n",
        comment(&bug.title()),
        comment(&bug.server_text()),
    );
    out += "\n-- setup, in any terminal\n";
    for sql in make.iter().chain(&enter).chain(&bug.execution.case.setup.statements) {
        out += &format!("{}\n", ended(sql));
    }
    for session in 0..bug.execution.case.sessions.len() {
        let first: Vec<String> = enter.iter().cloned().chain(greeting(bug, session)).collect();
        if first.is_empty() {
            continue;
        }
        out += &format!("\n-- session {}, first\n", comment(bug.session(session)));
        first.iter().for_each(|sql| out += &format!("{}\n", ended(sql)));
    }
    for act in acts(bug) {
        match act {
            Act::Run(step) => {
                let answer = steps::answer(&bug.execution.case, &bug.execution.trace, step);
                let words =
                    if answer.is_empty() { String::new() } else { format!("=> {}", comment(&answer)) };
                out += &said(bug, step, &words);
            }
            Act::Begin(step, _) => {
                let words = steps::waiting(&bug.execution.case, &bug.execution.trace, step);
                out += &said(bug, step, &format!("=> {}; go on in the next terminal", comment(&words)));
            }
            Act::Back(step) => {
                let session = bug.session(bug.execution.case.steps[step].session);
                out += &format!(
                    "-- {}: step {} comes back => {}{}\n",
                    comment(session),
                    step + 1,
                    comment(&steps::said(&bug.execution.trace.outcomes[step])),
                    wrong(bug, step)
                );
            }
            Act::RollBack(session) => {
                out += &format!("\n-- session {}, in the end\nROLLBACK;\n", comment(bug.session(session)));
            }
            Act::Unblock(session) => {
                out += &format!("\n-- session {}; {UNBLOCKED}\nROLLBACK;\n", comment(bug.session(session)));
            }
            Act::Stall(steps) => {
                let expected = bug.expected().filter(|_| !bug.finding.violation.circle().is_empty());
                let expected =
                    expected.map_or(String::new(), |told| format!(", expected {}", comment(&told)));
                return Ok(Some(format!("{out}\n-- {}{expected}\n", comment(&stalled(bug, &steps)))));
            }
        }
    }
    if let Some(tables) = &bug.execution.trace.final_state {
        out += "\n-- afterwards, in any terminal\n";
        for (table, rows) in tables {
            out +=
                &format!("SELECT * FROM {};\n-- => {}\n", dialect.quoted(table), comment(&rows.to_string()));
        }
    }
    Ok(Some(out))
}

fn said(bug: &BugReport, step: usize, words: &str) -> String {
    let session = bug.session(bug.execution.case.steps[step].session);
    let wrong = if bug.execution.trace.waited(step) { String::new() } else { wrong(bug, step) };
    let remark = match words.is_empty() && wrong.is_empty() {
        true => String::new(),
        false => format!("-- {words}{wrong}\n"),
    };
    let sql = ended(&bug.execution.case.steps[step].sql);
    format!("\n-- step {}, session {}\n{sql}\n{remark}", step + 1, comment(session))
}

/// What should have come, where something else did.
fn wrong(bug: &BugReport, step: usize) -> String {
    match (bug.finding.violation.step == Some(step), bug.expected()) {
        (true, Some(expected)) => format!("   WRONG, expected {}", comment(&expected)),
        (true, None) => "   WRONG".to_string(),
        (false, _) => String::new(),
    }
}
