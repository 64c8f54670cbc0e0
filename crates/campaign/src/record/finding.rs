//! The folder of a finding: case, trace, verdict, server, and the command that replays it.

use std::path::Path;

use dialect::Execution;
use model::{Aftermath, Case, Condition, Finding, casefile, regression, shell};

use super::{read_case, read_json, to_json};
use crate::HuntError;

/// A finding with everything that it rests on.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub finding: Finding,
    /// A run that shows it.
    pub execution: Execution,
    /// The case before it was reduced.
    pub original: Option<Case>,
}

impl Recorded {
    pub fn read(folder: &Path) -> Result<Recorded, HuntError> {
        let verdict = folder.join("verdict.json");
        let (finding, case): (Finding, Case) = (read_json(&verdict)?, case(folder)?);
        // Whoever looks for a finding by its id finds this folder, and whatever is written for it is named after it.
        if folder.file_name().is_none_or(|name| *name != *finding.id) {
            let reason = format!("it is of finding {}, and its folder has another name", finding.id);
            return Err(HuntError::at(&verdict, reason));
        }
        let aftermath = folder.join("aftermath.json");
        let aftermath = if aftermath.is_file() { read_json(&aftermath)? } else { Aftermath::default() };
        let path = folder.join("trace.json");
        let trace = read_json(&path)?;
        Execution::check(&case, &trace).map_err(|reason| HuntError::at(&path, reason))?;
        let execution = Execution::looked_after(case, trace, aftermath);
        let original = folder.join("original.iso");
        let original = if original.is_file() { Some(read_case(&original)?) } else { None };
        Ok(Recorded { finding, execution, original })
    }

    /// First found first.
    pub fn by_time(&self, other: &Recorded) -> std::cmp::Ordering {
        let key = |one: &'_ Finding| (one.found_after_ms, one.id.clone());
        key(&self.finding).cmp(&key(&other.finding))
    }

    /// Its files, for a run in this folder.
    pub(super) fn files(&self, run: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, HuntError> {
        let Recorded { finding, execution: Execution { case, trace, aftermath }, original } = self;
        let mut files = vec![
            ("trace.json", to_json(run, trace)?),
            ("verdict.json", to_json(run, finding)?),
            ("server.json", to_json(run, &trace.server)?),
            ("replay.txt", format!("{}\n", replay_command(finding, run)).into_bytes()),
        ];
        match regression::case_file(case, trace, finding) {
            Ok(text) => files.push(("case.iso", text.into_bytes())),
            // What the format cannot say is kept as it is; nothing replays it by itself.
            Err(_) => files.push(("case.json", to_json(run, case.case())?)),
        }
        // What was found first replays without anything else, too.
        if let Some(text) = original.as_ref().and_then(|case| casefile::print(case).ok()) {
            files.push(("original.iso", text.into_bytes()));
        }
        if !aftermath.is_empty() {
            files.push(("aftermath.json", to_json(run, aftermath)?));
        }
        if !aftermath.log.is_empty() {
            files.push(("server.log", (aftermath.log.join("\n") + "\n").into_bytes()));
        }
        if let Some(stack) = &aftermath.stack {
            files.push(("stack.txt", stack.clone().into_bytes()));
        }
        Ok(files)
    }
}

/// The case of a finding. What its file expects is for those who run the file: the finding itself says what is wrong.
pub(crate) fn case(folder: &Path) -> Result<Case, HuntError> {
    let text = folder.join("case.iso");
    let case = if text.is_file() { read_case(&text) } else { read_json(&folder.join("case.json")) };
    case.map(|case| regression::without_expectations(&case))
}

/// The command that replays a finding of the run in this folder. Its verdict lies beside its case, and says who judges and how it is reset.
pub fn replay_command(finding: &Finding, run: &Path) -> String {
    replay_of(finding, &run.join("findings").join(&finding.id).join("case.iso").display().to_string())
}

/// The same with the case in a file of its own somewhere.
pub fn replay_elsewhere(finding: &Finding, case: &str) -> String {
    let reset = match finding.condition {
        Condition::Clean | Condition::Leftovers => "",
        Condition::Purged => " --reset purged",
        Condition::Truncated => " --reset truncated",
        Condition::Rebuilt => " --reset rebuilt",
    };
    format!("{} {}{reset}", replay_of(finding, case), shell::command(["--oracle", &finding.oracle]))
}

fn replay_of(finding: &Finding, case: &str) -> String {
    let target = finding.effective_target().to_string();
    // The case says the level of each session; this one is for the reader.
    let level = finding.shown_at().to_string();
    shell::command(["isopod", "run", case, "--target", &target, "--level", &level])
}
