//! The record of a run: the folder that it leaves behind, with all that is needed to go on with it. [`RunWriter`] is the only one
//! who writes it, [`RunReader`] the only one who reads it.
//!
//! ```text
//! settings.json        what was asked for, resolved
//! mark                 a code of that file under a key of the user who began the run
//! servers/0.json       what target 0 turned out to be
//! events.jsonl         what happened, a line each
//! progress/0           target 0: a line of counts per schema, written over in place
//! progress/clock       milliseconds of hunting so far
//! quality/0.json       target 0: what its cases were like
//! findings/1f09.../    a finding each, whole or not there
//! triage.json          what the findings are, compared with what is known; what is known and did not come back
//! learned.json         what the strategies that reduce cases have learned, if they learn
//! traces/              every case's trace, if that was asked for
//! ```
//!
//! Every file says in which format it is written, by one number for all of them; only `learned.json`, which is handed from run to run,
//! has none. A file without a number is of format 0: another name for some fields ([`Finding`](model::Finding) lists them), verdicts as
//! English words (`model::verdict` reads them), no heads in the files of progress and traces. What is of a later format is refused.

mod finding;
mod reader;
pub mod traces;
mod writer;

use std::{fs, path::Path};

use model::Case;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::HuntError;

pub(crate) use finding::case as case_of_finding;
pub use finding::{Recorded, replay_command, replay_elsewhere};
pub use reader::RunReader;
pub use writer::RunWriter;

/// The format that is written.
pub const FORMAT: u32 = 1;

/// The first word of a file that is not JSON.
const WORD: &str = "format";

#[derive(Serialize)]
struct Numbered<'a, T> {
    format: u32,
    #[serde(flatten)]
    value: &'a T,
}

#[derive(Deserialize)]
struct Number {
    #[serde(default)]
    format: u32,
}

/// As a JSON file with the number of its format.
fn to_json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, HuntError> {
    let numbered = Numbered { format: FORMAT, value };
    let mut bytes = serde_json::to_vec_pretty(&numbered).map_err(|error| HuntError::at(path, error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a JSON file of any format that there has been.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, HuntError> {
    let bytes = fs::read(path).map_err(|error| HuntError::at(path, error))?;
    let parsed = |error| HuntError::at(path, error);
    let Number { format } = serde_json::from_slice(&bytes).map_err(parsed)?;
    check_format(path, format)?;
    serde_json::from_slice(&bytes).map_err(parsed)
}

/// Refuses what a later version wrote.
fn check_format(path: &Path, format: u32) -> Result<(), HuntError> {
    if format <= FORMAT {
        return Ok(());
    }
    let (path, known) = (path.display(), FORMAT);
    Err(HuntError::Unfit(format!(
        "{path} is of format {format}, and this Isopod reads formats up to {known}: use the newer Isopod that wrote it"
    )))
}

pub fn read_case(path: &Path) -> Result<Case, HuntError> {
    let text = fs::read_to_string(path).map_err(|error| HuntError::at(path, error))?;
    notation::read(&path.to_string_lossy(), &text).map_err(|problems| {
        let first = problems.first().map(|problem| format!("line {}: {}", problem.line, problem.message));
        HuntError::at(path, first.unwrap_or_else(|| "this is no case file".into()))
    })
}
