//! Plain SQL for people who type it into a terminal for each session.

use super::{
    client::{comment, ended, greeting, schema},
    order::{Act, acts},
};
use crate::{finding::Finding, steps};

/// The script; none for Isopod's own engine, which has no terminal.
pub fn script(finding: &Finding) -> Option<String> {
    let dialect = dialect::of(finding.product());
    let terminal = dialect.terminal.as_ref()?;
    let client = terminal.name;
    let own = |sql: &str| sql.replace("{schema}", &schema(finding));
    let (make, enter) = (terminal.create_schema.map(own), terminal.enter_schema.map(own));
    let mut out = format!(
        "-- {}\n-- {}\n--\n-- A terminal with {client} for each session. Type the statements one by one, each into the terminal that is\n\
         -- named above it, and wait for its answer before the next one, unless it is said to wait.\n",
        comment(&finding.title()),
        comment(&finding.server_text()),
    );
    out += "\n-- setup, in any terminal\n";
    for sql in make.iter().chain(&enter).chain(&finding.case.setup.statements) {
        out += &format!("{}\n", ended(sql));
    }
    for session in 0..finding.case.sessions.len() {
        let first = enter.iter().cloned().chain(greeting(finding, session));
        out += &format!("\n-- session {}, first\n", comment(finding.session(session)));
        first.for_each(|sql| out += &format!("{}\n", ended(&sql)));
    }
    for act in acts(finding) {
        match act {
            Act::Run(step) => {
                let answer = steps::answer(&finding.case, &finding.trace, step);
                let words =
                    if answer.is_empty() { String::new() } else { format!("=> {}", comment(&answer)) };
                out += &said(finding, step, &words);
            }
            Act::Begin(step, _) => {
                let words = steps::waiting(&finding.case, &finding.trace, step);
                out += &said(finding, step, &format!("=> {}; go on in the next terminal", comment(&words)));
            }
            Act::Back(step) | Act::Ends(step) => {
                let session = finding.session(finding.case.steps[step].session);
                out += &format!(
                    "-- {}: step {} comes back => {}{}\n",
                    comment(session),
                    step + 1,
                    comment(&steps::said(&finding.trace.outcomes[step])),
                    wrong(finding, step)
                );
            }
            Act::RollBack(session) => {
                out +=
                    &format!("\n-- session {}, in the end\nROLLBACK;\n", comment(finding.session(session)));
            }
        }
    }
    if let Some(tables) = &finding.trace.final_state {
        out += "\n-- afterwards, in any terminal\n";
        for (table, rows) in tables {
            out +=
                &format!("SELECT * FROM {};\n-- => {}\n", dialect.quoted(table), comment(&rows.to_string()));
        }
    }
    Some(out)
}

fn said(finding: &Finding, step: usize, words: &str) -> String {
    let session = finding.session(finding.case.steps[step].session);
    let wrong = if finding.trace.waited(step) { String::new() } else { wrong(finding, step) };
    let remark = match words.is_empty() && wrong.is_empty() {
        true => String::new(),
        false => format!("-- {words}{wrong}\n"),
    };
    let sql = ended(&finding.case.steps[step].sql);
    format!("\n-- step {}, session {}\n{sql}\n{remark}", step + 1, comment(session))
}

/// What should have come, where something else did.
fn wrong(finding: &Finding, step: usize) -> String {
    match (finding.violation.step == Some(step), finding.expected()) {
        (true, Some(expected)) => format!("   WRONG, expected {}", comment(&expected)),
        (true, None) => "   WRONG".to_string(),
        (false, _) => String::new(),
    }
}
