//! Hunts of the self-tests: small, into a folder of their own that is gone afterwards.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use campaign::{
    Budget, Campaign, Event, Folder, Guise, Known, Quarry, Said, Settings, Summary, events::Found,
};
use execute::{Options, Placement};
use generate::Profile;
use model::{Level, Seed, Target};

use crate::{
    arguments::How,
    commands::hunt::{judges, launch},
    interrupt,
};

/// What is hunted, and for how long.
pub struct Hunt<'a> {
    /// Where.
    pub target: &'a Target,
    /// At which levels.
    pub levels: &'a [Level],
    /// So many cases at most.
    pub cases: u64,
    /// Is the first finding the end?
    pub until_first: bool,
    /// Where the cases come from.
    pub seed: Seed,
    /// What is drawn how often.
    pub profile: &'a Profile,
    /// Who judges; empty for all.
    pub oracles: &'a [String],
    /// What they are told instead of what is true.
    pub judge_as: Guise,
    /// How many workers.
    pub workers: u64,
    /// How cases run.
    pub how: &'a How,
}

/// What came of it.
pub struct Done {
    /// The whole of it.
    pub summary: Summary,
    /// The finding with the lowest number.
    pub first: Option<Found>,
    /// Why the target could not be gone on with.
    pub lost: Option<String>,
}

/// A folder that is gone afterwards.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Hunt<'_> {
    /// Hunts.
    pub fn run(&self) -> anyhow::Result<Done> {
        let settings = self.settings();
        let path = std::env::temp_dir().join(format!("isopod-selftest-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let temporary = Temporary(path);
        let how = self.how.clone();
        let launch = move |target: &Target, options: Options, placement: Placement| {
            launch(target, &how, options, placement)
        };
        let enough = AtomicBool::new(false);
        let stop = || enough.load(Ordering::Relaxed) || interrupt::asked();
        let campaign = Campaign {
            oracles: judges::named(&settings.oracles)?,
            folder: Folder::create(&temporary.0, &settings)?,
            settings,
            profile: self.profile.clone(),
            known: Known::default(),
            launch: &launch,
            stop: &stop,
        };
        let (mut first, mut lost) = (None::<Found>, None);
        let summary = campaign::hunt(&campaign, &mut |said: &Said| match &said.event {
            Event::Finding(found) => {
                enough.store(self.until_first, Ordering::Relaxed);
                if first.as_ref().is_none_or(|first| found.case < first.case) {
                    first = Some((**found).clone());
                }
            }
            Event::Lost { reason, .. } => lost = Some(reason.clone()),
            Event::Begun { .. }
            | Event::Up { .. }
            | Event::Progress { .. }
            | Event::Again { .. }
            | Event::Flaky { .. }
            | Event::Reduced { .. }
            | Event::Refused { .. }
            | Event::Ended { .. } => {}
        })?;
        Ok(Done { summary, first, lost })
    }

    fn settings(&self) -> Settings {
        Settings {
            isopod: env!("CARGO_PKG_VERSION").to_string(),
            seed: self.seed,
            quarry: vec![Quarry { target: self.target.clone(), levels: self.levels.to_vec() }],
            budget: Budget::Cases(self.cases),
            workers: self.workers as usize,
            profile: self.profile.name.clone(),
            profile_text: self.profile.text(),
            profile_hash: self.profile.hash(),
            oracles: self.oracles.to_vec(),
            confirm: 3,
            keep: 1,
            reduce: 0,
            renew_cases: 50_000,
            renew_bytes: 512 << 20,
            hung_after: self.how.hung_after,
            pin: !self.how.no_pin,
            settings_swarm: false,
            keep_traces: false,
            judge_as: self.judge_as.clone(),
        }
    }
}
