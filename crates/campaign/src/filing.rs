//! What is kept of a finding: case, trace, verdict, server, and the command that replays it.

use model::{
    Aftermath, Case, Fingerprint, Level, Seed, ServerInfo, Signature, Target, Trace, Violation,
    target::Settings,
};
use serde::{Deserialize, Serialize};

use crate::{HuntError, confirm::Condition, events::Found, folder::Folder, overrides::JudgeOverrides};

/// The version of `verdict.json` that is written.
pub const FORMAT: u32 = 1;

/// A finding, as `verdict.json` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filed {
    /// The version of the file; those without a number are of version 0, which `model::verdict` still reads.
    #[serde(default)]
    pub format: u32,
    /// Its name.
    pub id: String,
    /// The seed of the run.
    pub seed: Seed,
    /// The target.
    pub target: Target,
    /// Settings of its server that were drawn for it, beside those of the target.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub drawn: Settings,
    /// The number of the case.
    pub case: u64,
    /// The level of the run; the case says where a session has another one.
    pub level: Level,
    /// Product and version of the server.
    pub server: String,
    /// The oracle that says so.
    pub oracle: String,
    /// What it says.
    pub violation: Violation,
    /// What makes it one with others, computed after its case was made smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What it looked like before it turned out to be something simpler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Fingerprint>,
    /// What it behaves like, as far as its case could be turned into that, if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// What it was told instead of what is true.
    #[serde(default, skip_serializing_if = "JudgeOverrides::is_empty")]
    pub judged_as: JudgeOverrides,
    /// Under which condition it comes back.
    pub condition: Condition,
    /// How many clean runs showed it, of how many.
    pub runs: [u32; 2],
    /// How many statements the case has.
    pub statements: usize,
    /// How many it had before it was made smaller; none if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_from: Option<usize>,
    /// How its transactions were made to collide.
    pub strategy: String,
    /// Milliseconds of hunting before it was found.
    pub at: u64,
    /// The name under which it was known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Filed {
    /// Its signature; of one that an earlier version filed as much of it as is known.
    pub fn signature(&self) -> Signature {
        let kept = self.signature.clone();
        kept.unwrap_or_else(|| oracles::signature::bare(&self.violation.fingerprint))
    }

    /// What it looked like when it was found.
    pub fn suspected(&self) -> &Fingerprint {
        self.was.as_ref().unwrap_or(&self.violation.fingerprint)
    }

    /// The target with the settings that were drawn for it.
    pub fn effective_target(&self) -> Target {
        let mut target = self.target.clone();
        target.settings.extend(self.drawn.clone());
        target
    }

    /// As the stream tells it.
    pub fn found(&self) -> Found {
        Found {
            id: self.id.clone(),
            target: self.target.clone(),
            case: self.case,
            oracle: self.oracle.clone(),
            violation: self.violation.clone(),
            signature: self.signature.clone(),
            condition: self.condition,
            known: self.known.clone(),
        }
    }

    /// The command that replays it, for a run in this folder.
    pub fn replay(&self, folder: &std::path::Path) -> String {
        let case = folder.join("findings").join(&self.id).join("case.iso").display().to_string();
        // The case says the level of each session; this one is for the reader.
        let level = self.violation.fingerprint.level.unwrap_or(self.level);
        let target = self.effective_target().to_string();
        format!("isopod run {} --target {} --level {level}", quoted(&case), quoted(&target))
    }
}

/// A word of a command as a shell reads it back. One without a way to be written, with a NUL byte, cannot be an argument either.
fn quoted(word: &str) -> std::borrow::Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(word.into())
}

/// The name of a finding: the same for the same seed, target, case and fingerprint.
pub fn name(seed: Seed, target: &Target, case: u64, violation: &Violation) -> String {
    let print = &violation.fingerprint;
    let level = print.level.map_or("", Level::short);
    let label =
        format!("finding\0{target}\0{}\0{}\0{}\0{level}", print.symptom, print.cause, print.statement);
    format!("{:08x}", seed.sub(&label, case) >> 32)
}

/// What a finding rests on.
pub struct Evidence<'a> {
    /// The case as it is replayed.
    pub case: &'a Case,
    /// The case before it was made smaller.
    pub original: Option<&'a Case>,
    /// A run that shows it.
    pub trace: &'a Trace,
    /// What was seen beside it.
    pub aftermath: &'a Aftermath,
    /// The server.
    pub server: &'a ServerInfo,
}

/// Files it.
pub fn file(folder: &Folder, filed: &Filed, evidence: &Evidence<'_>) -> Result<(), HuntError> {
    let json = |value: serde_json::Result<Vec<u8>>| {
        value.map_err(|error| HuntError::at(folder.path(), error)).map(|mut bytes| {
            bytes.push(b'\n');
            bytes
        })
    };
    let mut files = vec![
        ("trace.json", json(serde_json::to_vec_pretty(evidence.trace))?),
        ("verdict.json", json(serde_json::to_vec_pretty(filed))?),
        ("server.json", json(serde_json::to_vec_pretty(evidence.server))?),
        ("replay.txt", format!("{}\n", filed.replay(folder.path())).into_bytes()),
    ];
    match model::casefile::print(evidence.case) {
        Ok(text) => files.push(("case.iso", text.into_bytes())),
        // What the format cannot say is kept as it is; nothing replays it by itself.
        Err(_) => files.push(("case.json", json(serde_json::to_vec_pretty(evidence.case))?)),
    }
    // What was found first replays without anything else, too.
    if let Some(text) = evidence.original.and_then(|case| model::casefile::print(case).ok()) {
        files.push(("original.iso", text.into_bytes()));
    }
    let aftermath = evidence.aftermath;
    if *aftermath != Aftermath::default() {
        files.push(("aftermath.json", json(serde_json::to_vec_pretty(aftermath))?));
    }
    if !aftermath.log.is_empty() {
        files.push(("server.log", (aftermath.log.join("\n") + "\n").into_bytes()));
    }
    if let Some(stack) = &aftermath.stack {
        files.push(("stack.txt", stack.clone().into_bytes()));
    }
    folder.file(&filed.id, &files)
}
