//! What a hunt finds: a violation that clean runs showed again, with all that is known about it. Its case and a run that shows it are
//! an [`Execution`](crate::Execution) beside it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{
    Fingerprint, JudgeOverrides, Level, Seed, Signature, Target, Version, Violation, target::Settings,
};

/// A finding, as `verdict.json` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The same for the same seed, target, case and fingerprint.
    #[serde(deserialize_with = "read_id")]
    pub id: String,
    /// The seed of the run.
    pub seed: Seed,
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
    pub violation: Violation,
    /// What makes it one with others, computed after its case was reduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What it looked like before it was put down to something simpler.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "was")]
    pub first_fingerprint: Option<Fingerprint>,
    /// What it behaves like, as far as its case could be turned into that, if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "like")]
    pub resembles: Option<String>,
    /// What the oracles were told instead of what is true.
    #[serde(default, skip_serializing_if = "JudgeOverrides::is_empty")]
    pub judged_as: JudgeOverrides,
    /// Under which condition it comes back.
    pub condition: Condition,
    /// How many clean runs showed it, of how many.
    pub runs: [u32; 2],
    /// How many statements the case has.
    pub statements: usize,
    /// How many it had before it was reduced; none if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_from: Option<usize>,
    /// How its transactions were made to collide.
    pub strategy: String,
    /// Milliseconds of hunting before it was found.
    #[serde(alias = "at")]
    pub found_after_ms: u64,
    /// The name under which it was known when it was filed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Finding {
    /// One of which nothing is known but what is wrong.
    pub fn bare(id: &str, target: Target, violation: Violation) -> Finding {
        Finding {
            id: id.to_string(),
            seed: Seed(0),
            target,
            drawn: Settings::new(),
            case: 0,
            level: violation.fingerprint.level.unwrap_or(Level::RepeatableRead),
            server: String::new(),
            oracle: String::new(),
            violation,
            signature: None,
            first_fingerprint: None,
            resembles: None,
            judged_as: JudgeOverrides::default(),
            condition: Condition::Clean,
            runs: [0, 0],
            statements: 0,
            reduced_from: None,
            strategy: String::new(),
            found_after_ms: 0,
            known: None,
        }
    }

    pub fn id_of(seed: Seed, target: &Target, case: u64, violation: &Violation) -> String {
        let print = &violation.fingerprint;
        let level = print.level.map_or("", Level::short);
        let label =
            format!("finding\0{target}\0{}\0{}\0{}\0{level}", print.symptom, print.cause, print.statement);
        format!("{:08x}", seed.sub(&label, case) >> 32)
    }

    /// Is this what [`Finding::id_of`] makes?
    pub fn is_id(text: &str) -> bool {
        text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// Of one whose case was not reduced, as much as is known.
    pub fn signature(&self) -> Signature {
        self.signature.clone().unwrap_or_else(|| Signature::bare(&self.violation.fingerprint))
    }

    /// What it looked like when it was found.
    pub fn suspected(&self) -> &Fingerprint {
        self.first_fingerprint.as_ref().unwrap_or(&self.violation.fingerprint)
    }

    /// The level of the session that shows it.
    pub fn shown_at(&self) -> Level {
        self.violation.fingerprint.level.unwrap_or(self.level)
    }

    /// The target with the settings that were drawn for it.
    pub fn effective_target(&self) -> Target {
        let mut target = self.target.clone();
        target.settings.extend(self.drawn.clone());
        target
    }
}

/// Reads an id. It becomes part of paths, commands and names of schemas, and whoever wrote the file may be anybody.
pub fn read_id<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let id = String::deserialize(from)?;
    match Finding::is_id(&id) {
        true => Ok(id),
        false => {
            Err(D::Error::custom(format!("{id:?} is no id of a finding, which is eight digits of 0-9a-f")))
        }
    }
}

/// Under which condition a finding comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// From clean resets.
    Clean,
    /// From clean resets without the read view that holds purge back, and with purge awaited.
    Purged,
    /// From clean resets of tables that were emptied by TRUNCATE, and not of tables that were made anew.
    Truncated,
    /// From clean resets of tables that were made anew by the setup, and not of tables that were emptied.
    Rebuilt,
    /// With rows of the case before it inserted and deleted in its setup.
    Leftovers,
}

impl Condition {
    /// For people; empty where there is nothing to say.
    pub fn words(self) -> &'static str {
        match self {
            Condition::Clean => "",
            Condition::Purged => "only while purge is at work (no old read view is held)",
            Condition::Truncated => "only in tables that were emptied by TRUNCATE since they were made",
            Condition::Rebuilt => "only in tables as their setup makes them, not after TRUNCATE",
            Condition::Leftovers => "only with delete-marked rows of an earlier case, which its setup makes",
        }
    }
}

/// What came of a finding on a server on which nothing else had run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshReplay {
    pub on: Fresh,
    /// Did it come back?
    pub shown: bool,
}

/// What was fresh at a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// The server was started for it.
    Server,
    /// Only its sessions: the server is not ours.
    Sessions,
}

impl Fresh {
    /// For people: on what.
    pub fn words(self) -> &'static str {
        match self {
            Fresh::Server => "a fresh server",
            Fresh::Sessions => "fresh sessions (the server is not ours)",
        }
    }
}

/// Findings of one signature that are known under one name, or under none: at whatever level and on whatever target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingGroup {
    /// Of the smallest one, which stands for the others.
    #[serde(deserialize_with = "read_id")]
    pub id: String,
    pub signature: Signature,
    /// The name under which they are known.
    pub known: Option<String>,
    /// What they behave like, if they are new.
    pub resembles: Option<String>,
    pub targets: BTreeSet<Target>,
    /// Product and version of the servers that showed it.
    pub servers: BTreeSet<String>,
    /// Cases that showed it, as far as their level is known.
    pub levels: BTreeMap<Level, u64>,
    /// Milliseconds of hunting before the first one.
    pub found_after_ms: u64,
    /// Cases that showed it.
    pub cases: u64,
    /// Of these, those that clean runs confirmed: their ids, first found first.
    pub findings: Vec<String>,
    pub smallest: Finding,
    /// What came of replaying it; none if there was no time, or no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<FreshReplay>,
    /// A later version of the same release line that does not show it, of those that were at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_in: Option<Version>,
}

impl FindingGroup {
    /// On what it did not come back, if it was replayed and did not.
    pub fn not_reproduced(&self) -> Option<Fresh> {
        self.fresh.filter(|replay| !replay.shown).map(|replay| replay.on)
    }

    /// Is it new, as far as is known? What a fresh server does not show is nothing to fail for.
    pub fn is_new(&self) -> bool {
        self.known.is_none() && self.not_reproduced().is_none()
    }
}
