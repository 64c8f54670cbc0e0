//! What a hunt was told, resolved: enough to do it again, and saved with the run.

use std::{collections::BTreeSet, time::Duration};

use model::{JudgeOverrides, Level, Seed, Target, shell};
use reduce::strategy::Kind;
use serde::{Deserialize, Serialize};

/// The settings of a run, as `settings.json` keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// When the run began, in UTC; empty in runs of before that was kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub started: String,
    /// The version of Isopod: another one may make other cases of the same seed.
    pub isopod: String,
    /// Where all randomness begins.
    pub seed: Seed,
    #[serde(rename = "quarry")]
    pub targets: Vec<HuntTarget>,
    pub budget: Budget,
    pub workers: usize,
    /// The generator's profile, by name.
    pub profile: String,
    /// Its text, so that the run can be done again when the named one has changed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile_text: String,
    /// The short hash of that text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile_hash: String,
    /// The oracles, by name.
    pub oracles: Vec<String>,
    /// A suspicion is a finding if so many clean runs in a row show it.
    pub confirm: u32,
    /// At most this many cases of one fingerprint are run again and kept; the rest is counted.
    pub keep: u64,
    /// A server is renewed after so many cases.
    pub renew_cases: u64,
    /// A server is renewed when its data or its memory has grown by so many bytes.
    pub renew_bytes: u64,
    /// A statement that neither answers nor waits for so many seconds is hung.
    pub hung_after: u64,
    /// Are worker and server pinned to one CPU?
    pub pin: bool,
    /// Is every start of a server given settings drawn from the seed?
    #[serde(default)]
    pub settings_swarm: bool,
    /// A finding's case is reduced by trying so many candidates at most.
    #[serde(default)]
    pub reduce: u64,
    /// Which of the smaller cases is tried next: the name of a strategy.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub strategy: String,
    /// What that begins with, if it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
    /// Is every case's trace kept?
    #[serde(default)]
    pub keep_traces: bool,
    /// What the oracles are told instead of what is true.
    #[serde(default, skip_serializing_if = "JudgeOverrides::is_empty")]
    pub judge_as: JudgeOverrides,
}

impl Settings {
    /// The command that makes the same cases and has them judged by the same oracles. A password stands in no target.
    pub fn command(&self) -> String {
        let mut words = vec!["isopod".to_string(), "hunt".to_string()];
        words.extend(self.targets.iter().map(|hunted| hunted.target.to_string()));
        let levels: BTreeSet<Level> = self.targets.iter().flat_map(|hunted| hunted.levels.clone()).collect();
        let has =
            |hunted: &HuntTarget| hunted.levels.len() == dialect::of(hunted.target.product).levels.len();
        if !self.targets.iter().all(has) {
            let levels: Vec<&str> = levels.into_iter().map(Level::short).collect();
            words.extend(["--level".to_string(), levels.join(",")]);
        }
        words.extend(["--seed".to_string(), self.seed.to_string()]);
        words.extend(match self.budget {
            Budget::Cases(cases) => ["--cases".to_string(), cases.to_string()],
            Budget::Seconds(seconds) => ["--for".to_string(), format!("{seconds}s")],
        });
        words.extend(["--profile".to_string(), self.profile.clone()]);
        if oracles::default_set()
            .iter()
            .map(|oracle| oracle.name())
            .ne(self.oracles.iter().map(String::as_str))
        {
            words.extend(["--oracle".to_string(), self.oracles.join(",")]);
        }
        words.extend(self.settings_swarm.then(|| "--settings-swarm".to_string()));
        if !self.judge_as.is_empty() {
            words.extend(["--judge-as".to_string(), self.judge_as.to_string()]);
        }
        shell::command(words.iter().map(String::as_str))
    }

    pub fn strategy(&self) -> Kind {
        Kind::named(&self.strategy).unwrap_or(Kind::InOrder)
    }
}

/// What strategies have learned before the hunt. Every reduction begins with it anew, so that it depends neither on what was found
/// before nor on how many workers there are; it is kept whole, so that a resumed run does the same when the file has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// The hash of the file.
    pub hash: String,
    pub counts: reduce::Learned,
}

/// A target of a hunt, by its place among those of the settings.
pub type TargetId = usize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntTarget {
    pub target: Target,
    /// The levels that its cases run at.
    pub levels: Vec<Level>,
}

/// When it is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// After this many seconds, across resumes.
    Seconds(u64),
    /// After this many cases per target.
    Cases(u64),
}

impl Budget {
    /// The time limit, if there is one.
    pub fn time(self) -> Option<Duration> {
        match self {
            Budget::Seconds(seconds) => Some(Duration::from_secs(seconds)),
            Budget::Cases(_) => None,
        }
    }

    /// The number of cases per target, if it is limited.
    pub fn cases(self) -> Option<u64> {
        match self {
            Budget::Cases(cases) => Some(cases),
            Budget::Seconds(_) => None,
        }
    }
}
