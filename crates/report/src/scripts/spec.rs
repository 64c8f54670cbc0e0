//! PostgreSQL's isolationtester: sessions with named steps, and one permutation of them. It sees by itself which steps wait.

use super::{
    UNBLOCKED,
    client::{comment, ended, greeting},
    order::{Act, acts},
};
use crate::bug_report::BugReport;

/// The specification; none where the format cannot say it.
pub fn script(bug: &BugReport) -> Option<String> {
    let case = &bug.execution.case;
    // A brace would end a block.
    let braces = |sql: &String| sql.contains(['{', '}']);
    if case.setup.statements.iter().any(braces) || case.steps.iter().any(|step| braces(&step.sql)) {
        return None;
    }
    let mut out = format!("# {}\n# {}\n\nsetup\n{{\n", comment(&bug.title()), comment(&bug.server_text()));
    case.setup.statements.iter().for_each(|sql| out += &format!("  {}\n", ended(sql)));
    out += "}\n\nteardown\n{\n";
    let tables = bug.execution.trace.final_state.as_deref().unwrap_or_default();
    for (table, _) in tables {
        out += &format!("  DROP TABLE IF EXISTS {} CASCADE;\n", dialect::of(bug.product()).quoted(table));
    }
    out += "}\n";
    let acts = acts(bug);
    let sent: Vec<usize> = acts
        .iter()
        .filter_map(|act| match act {
            Act::Run(step) | Act::Begin(step, _) => Some(*step),
            Act::Back(_) | Act::RollBack(_) | Act::Unblock(_) | Act::Stall(_) => None,
        })
        .collect();
    for session in 0..case.sessions.len() {
        out += &format!("\nsession \"{}\"\nsetup\n{{\n", name(bug, session));
        greeting(bug, session).iter().for_each(|sql| out += &format!("  {}\n", ended(sql)));
        out += "}\n";
        for &step in sent.iter().filter(|&&step| case.steps[step].session == session) {
            out += &format!("step \"s{}\"\t{{ {} }}\n", step + 1, ended(&case.steps[step].sql));
        }
        if acts.contains(&Act::Unblock(session)) {
            out += &format!("# {UNBLOCKED}\nstep \"r{}\"\t{{ ROLLBACK; }}\n", session + 1);
        }
        if acts.contains(&Act::RollBack(session)) {
            out += "teardown\n{\n  ROLLBACK;\n}\n";
        }
    }
    let order = acts.iter().filter_map(|act| match act {
        Act::Run(step) | Act::Begin(step, _) => Some(format!("\"s{}\"", step + 1)),
        Act::Unblock(session) => Some(format!("\"r{}\"", session + 1)),
        Act::Back(_) | Act::RollBack(_) | Act::Stall(_) => None,
    });
    out += &format!("\npermutation {}\n", order.collect::<Vec<_>>().join(" "));
    Some(out)
}

fn name(bug: &BugReport, session: usize) -> String {
    comment(bug.session(session)).replace('"', "_")
}
