//! What happens in a hunt, as one stream: it feeds the log, the progress lines, JUnit and the summary.

use model::{
    Condition, Ending, Finding, Fingerprint, FreshReplay, Seed, Signature, Tally, Target, Violation,
    finding::read_id,
};
use serde::{Deserialize, Serialize};

/// An event and when it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedEvent {
    /// Milliseconds of hunting before it, across resumes.
    pub at: u64,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A hunt begins, or is resumed.
    Begun {
        /// The format of the lines from here on.
        #[serde(default)]
        format: u32,
        seed: Seed,
        workers: usize,
        /// Cases that were done before, over all targets.
        before: u64,
    },
    /// A server is up.
    Up {
        /// Who works on it.
        worker: usize,
        target: Target,
        version: String,
        /// The CPU that both are pinned to.
        cpu: Option<usize>,
        why: Why,
    },
    /// How far a target has come. TimedEvent from time to time.
    Progress {
        target: Target,
        /// What was counted so far, across resumes.
        tally: Tally,
    },
    /// A suspicion that clean runs confirmed; it is filed.
    Finding(Box<FindingEvent>),
    /// A suspicion like enough others that are filed already: counted, not run again.
    Again { target: Target, case: u64, fingerprint: Fingerprint },
    /// A suspicion that did not come back.
    Flaky {
        target: Target,
        case: u64,
        #[serde(flatten)]
        violation: Violation,
    },
    /// The case of a suspicion that clean runs confirmed was reduced.
    Reduced {
        target: Target,
        case: u64,
        /// How many statements it had.
        from: usize,
        /// How many are left.
        to: usize,
        /// How many candidates were run.
        tried: u64,
    },
    /// A case that could not be run.
    Refused { target: Target, case: u64, reason: String },
    /// After the hunt: findings are compared with what is known, and that is looked at again. Told, not logged.
    Comparing {
        target: Target,
        /// How many cases were looked at.
        done: u64,
        all: u64,
    },
    /// After that: groups of findings are replayed on fresh servers. Told, not logged.
    Replaying {
        target: Target,
        /// How many groups were replayed.
        done: u64,
        all: u64,
    },
    /// What came of replaying one finding.
    Replayed {
        #[serde(deserialize_with = "read_id")]
        id: String,
        target: Target,
        #[serde(flatten)]
        replay: FreshReplay,
    },
    /// A target is abandoned.
    Lost { target: Target, reason: String },
    /// The hunt is over, until it is resumed.
    Ended {
        why: Ending,
        /// Cases done, over all targets, across resumes.
        cases: u64,
    },
}

/// A finding, as the stream tells it. The rest is in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingEvent {
    /// Its name: the same for the same seed, target, case and fingerprint.
    #[serde(deserialize_with = "read_id")]
    pub id: String,
    pub target: Target,
    pub case: u64,
    /// The oracle that says so.
    pub oracle: String,
    #[serde(flatten)]
    pub violation: Violation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    pub condition: Condition,
    /// The name under which it is known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl From<&Finding> for FindingEvent {
    fn from(finding: &Finding) -> FindingEvent {
        FindingEvent {
            id: finding.id.clone(),
            target: finding.target.clone(),
            case: finding.case,
            oracle: finding.oracle.clone(),
            violation: finding.violation.clone(),
            signature: finding.signature.clone(),
            condition: finding.condition,
            known: finding.known.clone(),
        }
    }
}

/// Why a server was brought up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    First,
    /// The one before had run many cases or had grown.
    Renewed,
    Died,
}
