//! One trace: what each oracle says of it.

use std::path::Path;

use campaign::record::read_json;
use dialect::Execution;
use model::{Aftermath, Verdict, Violation, shell, verdict::Justification};
use report::findings::{self, What};
use serde::Serialize;

use super::Stored;
use crate::{
    errors::{Advised, style},
    judged, loading,
    output::{self, say},
};

#[derive(Serialize)]
struct Judged {
    oracle: &'static str,
    verdict: Verdict,
}

pub fn run(case: &Path, trace: &Path, stored: &Stored, json: bool) -> anyhow::Result<u8> {
    let shown = stored.shown(load(case, trace)?);
    let judged = stored.panel.judges();
    let judged: Vec<Judged> = judged
        .map(|judge| Judged { oracle: judge.oracle.name(), verdict: judge.verdict_of_stored(&shown) })
        .collect();
    output::show(json, &judged, |judged| {
        let server = &shown.trace.server;
        let name = case.display();
        say!(
            "{} {} · {} · {name}\n",
            server.product,
            server.version,
            report::steps::level(&shown.case, shown.trace.level)
        );
        judged.iter().for_each(|one| show(one, &shown, (case, trace)));
    })?;
    Ok(u8::from(judged.iter().any(|one| matches!(one.verdict, Verdict::Violated(_)))))
}

fn load(case: &Path, trace: &Path) -> anyhow::Result<Execution> {
    let beside = trace.with_file_name("aftermath.json");
    let aftermath: Aftermath = if beside.is_file() { read_json(&beside)? } else { Aftermath::default() };
    let (parsed, read) = (loading::load(case)?, read_json(trace)?);
    Execution::check(&parsed, &read).map_err(|reason| {
        Advised::new(format!("{} is no trace of {}", trace.display(), case.display()), [reason])
    })?;
    Ok(Execution::looked_after(parsed, read, aftermath))
}

fn show(one: &Judged, shown: &Execution, files: (&Path, &Path)) {
    match &one.verdict {
        Verdict::Holds { by } if by.is_empty() => say!("{}: holds", one.oracle),
        Verdict::Holds { by } => {
            let (undocumented, design): (Vec<&Justification>, Vec<&Justification>) =
                by.iter().partition(|by| by.undocumented());
            let words = |by: &[&Justification]| -> Vec<String> {
                by.iter().map(|by| judged::justification(by)).collect()
            };
            let mut said = Vec::new();
            if !design.is_empty() {
                said.push(format!("by design: {}", words(&design).join("; ")));
            }
            said.extend(words(&undocumented));
            say!("{}: holds, {}", one.oracle, said.join("; "));
        }
        Verdict::Undecided { reason } => say!("{}: undecided: {reason}", one.oracle),
        Verdict::Violated(violation) => {
            let story = story(one.oracle, violation, shown, files);
            say!("{}: violated\n{}", one.oracle, findings::story(&story, &style()).trim_end());
        }
    }
}

fn story(
    oracle: &str,
    violation: &Violation,
    shown: &Execution,
    (case, trace): (&Path, &Path),
) -> findings::Story {
    let server = &shown.trace.server;
    findings::Story {
        known: oracles::mvcc::known(&violation.fingerprint),
        id: violation.fingerprint.label(),
        server: format!("{} {}", server.product, server.version),
        level: violation.fingerprint.level.unwrap_or(shown.trace.level).sql(),
        runs: [1, 1],
        what: What::of(&judged::words(violation, server.product)),
        oracle: oracle.to_string(),
        condition: String::new(),
        statements: shown.case.steps.len(),
        reduced_from: None,
        replay: shell::command([
            "isopod",
            "judge",
            &case.display().to_string(),
            &trace.display().to_string(),
        ]),
    }
}
