//! The findings of a run as JSON, for other programs. The keys are stable: more may come, none goes or changes its meaning
//! without another `format`. `docs/report.md` lists them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    compare::{self, Side},
    finding::Finding,
    ready::Checklist,
    run::Run,
    scripts::Script,
};

/// The number of the format.
pub const FORMAT: u32 = 2;

/// The file. Each finding comes with the names of the files beside its page.
pub fn json(run: &Run, findings: &[(&Finding, &[Script])]) -> String {
    let file = json!({
        "format": FORMAT,
        "isopod": run.isopod,
        "run": run.name,
        "seed": run.seed,
        "elapsed_ms": run.elapsed,
        "cases": run.cases(),
        "targets": run.targets.iter().map(|hunted| json!({
            "target": hunted.target,
            "version": hunted.version,
            "cases": hunted.cases,
            "conflicts": hunted.conflicts,
            "undecided": hunted.undecided,
        })).collect::<Vec<_>>(),
        "groups": run.groups.iter().map(|group| json!({
            "id": group.id,
            "signature": group.signature,
            "known": group.known,
            "like": group.like,
            "title": group.title,
            "rule": group.rule,
            "first_at_ms": group.first_at,
            "cases": group.cases,
            "levels": group.levels.keys().collect::<Vec<_>>(),
            "servers": group.servers,
            "findings": group.findings,
        })).collect::<Vec<_>>(),
        "findings": findings.iter().map(|(finding, files)| one(finding, files)).collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

fn one(finding: &Finding, files: &[Script]) -> Value {
    let compared = compare::of(finding);
    let print = &finding.violation.fingerprint;
    json!({
        "id": finding.id,
        "known": finding.known,
        "title": finding.title(),
        "target": finding.target,
        "server": { "product": finding.server.product, "version": finding.server.version, "text": finding.server.version_text },
        "level": finding.level,
        "oracle": finding.oracle,
        "kind": print.symptom,
        "rule": print.label(),
        "statement": print.statement,
        "step": finding.violation.step.map(|step| step + 1),
        "story": finding.words().story(),
        "expected": compared.expected.as_ref().map(side),
        "actual": side(&compared.actual),
        "evidence": finding.words().lines(),
        "condition": finding.condition,
        "runs": { "showed": finding.runs[0], "of": finding.runs[1] },
        "statements": finding.case.steps.len(),
        "reduced_from": finding.reduced_from,
        "found_at_ms": finding.at,
        "seed": finding.origin.0,
        "case": finding.origin.1,
        "replay": finding.replay,
        "ready": finding.ready.as_ref().map(checklist),
        "versions": finding.account.as_ref().map(value).unwrap_or(Value::Null),
        "files": files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
    })
}

fn checklist(list: &Checklist) -> Value {
    json!({
        "ready": list.ready(),
        "known": list.known,
        "checked": list.checked,
        "items": list.items,
    })
}

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or(Value::Null)
}

fn side(side: &Side) -> Value {
    match side {
        Side::Words(words) => json!({ "words": words }),
        Side::Rows(rows) => json!({ "rows": rows.iter().map(|row| &row.cells).collect::<Vec<_>>() }),
    }
}
