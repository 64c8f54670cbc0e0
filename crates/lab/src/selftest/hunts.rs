//! Hunts of the self-tests: small, into a folder of their own that is gone afterwards.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use campaign::{
    Budget, Campaign, Event, HuntTarget, Known, Panel, RunWriter, Settings, TimedEvent, events::FindingEvent,
    record::Recorded,
};
use dialect::Execution;
use generate::Profile;
use model::{Fingerprint, JudgeOverrides, Level, RunSummary, Seed, Target};

use crate::{Abandoned, Lab};

/// What is hunted, and for how long.
pub struct Hunt<'a> {
    pub target: &'a Target,
    pub levels: &'a [Level],
    /// So many cases at most.
    pub cases: u64,
    /// Is the first finding the end?
    pub until_first: bool,
    pub seed: Seed,
    pub profile: &'a Profile,
    /// Who judges; empty for all.
    pub oracles: &'a [String],
    /// What they are told instead of what is true.
    pub judge_as: JudgeOverrides,
    pub workers: u64,
    /// Does a finding, in this folder, show what is tested? One that would be there anyway does not.
    pub shows: &'a dyn Fn(&FindingEvent, &Path) -> crate::Result<bool>,
}

/// What came of it.
pub struct Done {
    pub summary: RunSummary,
    /// The finding with the lowest number that shows what is tested.
    pub first: Option<FindingEvent>,
    /// So many findings before it would be there anyway.
    pub others: u64,
}

impl Hunt<'_> {
    pub fn run(&self, lab: &Lab<'_>) -> crate::Result<Done> {
        let settings = self.settings(lab);
        let temporary = provision::scratch::temporary()?;
        let enough = AtomicBool::new(false);
        let stop = || enough.load(Ordering::Relaxed) || lab.stopped();
        let campaign = Campaign {
            panel: Panel::new(crate::oracles(&settings.oracles)?, settings.judge_as.clone()),
            folder: RunWriter::create(&temporary.path().join("run"), &settings)?,
            settings,
            profile: self.profile.clone(),
            known: Known::default(),
            servers: lab.servers,
            stop: &stop,
        };
        let (mut first, mut others, mut lost, mut failure) = (None::<FindingEvent>, 0, None, None);
        let summary = campaign::hunt(&campaign, &mut |said: &TimedEvent| match &said.event {
            Event::Finding(found) => {
                // A finding beyond the first one is not looked at, nor is one of a hunt that is over.
                if first.as_ref().is_some_and(|first| first.case < found.case) || failure.is_some() {
                    return;
                }
                let folder = temporary.path().join("run/findings").join(&found.id);
                match (self.shows)(found, &folder) {
                    Ok(true) => {
                        enough.store(self.until_first, Ordering::Relaxed);
                        first = Some((**found).clone());
                    }
                    Ok(false) => others += 1,
                    Err(error) => {
                        enough.store(true, Ordering::Relaxed);
                        failure = Some(error);
                    }
                }
            }
            Event::Lost { reason, .. } => lost = Some(reason.clone()),
            _ => {}
        })?;
        let abandoned = |reason| Abandoned { target: self.target.to_string(), reason }.into();
        match failure.or(lost.map(abandoned)) {
            Some(error) => Err(error),
            None => Ok(Done { summary, first, others }),
        }
    }

    pub fn settings(&self, lab: &Lab<'_>) -> Settings {
        Settings {
            started: String::new(),
            isopod: env!("CARGO_PKG_VERSION").to_string(),
            seed: self.seed,
            targets: vec![HuntTarget { target: self.target.clone(), levels: self.levels.to_vec() }],
            budget: Budget::Cases(self.cases),
            workers: self.workers as usize,
            profile: self.profile.name.clone(),
            profile_text: self.profile.text(),
            profile_hash: self.profile.hash(),
            oracles: self.oracles.to_vec(),
            confirm: 3,
            // Those that would be there anyway are not to hide the others.
            keep: 20,
            reduce: 0,
            strategy: String::new(),
            learned: None,
            renew_cases: 50_000,
            renew_bytes: 512 << 20,
            hung_after: lab.hung_after.as_secs(),
            pin: lab.placement.pin,
            settings_swarm: false,
            keep_traces: false,
            judge_as: self.judge_as.clone(),
        }
    }
}

/// The run that a finding's folder holds.
pub fn filed(folder: &Path) -> crate::Result<Execution> {
    Ok(Recorded::read(folder)?.execution)
}

/// What this oracle, which a finding names, complains about in a run; one that needs a server is spoken for by those who do not.
pub fn complaints(oracle: &str, seen: &Execution) -> Vec<Fingerprint> {
    let mut judges = oracles::without_server();
    if judges.iter().any(|judge| judge.name() == oracle) {
        judges.retain(|judge| judge.name() == oracle);
    }
    let panel = Panel::new(judges, JudgeOverrides::default());
    panel.violations_of_stored(seen).map(|(_, violation)| violation.fingerprint).collect()
}
