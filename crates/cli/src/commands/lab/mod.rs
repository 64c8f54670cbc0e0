//! The commands of the laboratory, `bench` and `selftest`: their arguments, their text and their exit codes.

pub mod bench;
pub mod selftest;

use std::{sync::Mutex, time::Duration};

use generate::Profile;
use lab::{Event, Lab};
use model::{Seed, Target, sync::lock};
use serde::Serialize;

use crate::{
    arguments::{How, Levels, Where, count},
    interrupt, output, profiles,
    progress::Progress,
    targets::{self, LocalServers},
};

/// How many cases, and which.
#[derive(clap::Args)]
pub struct Cases<const CASES: u64, const SEED: u64 = 0x150D_0000_0001> {
    /// How many cases
    #[arg(long, default_value_t = CASES, value_parser = count)]
    cases: u64,
    /// Where the cases come from: the same seed gives the same cases
    #[arg(long, default_value_t = Seed(SEED))]
    seed: Seed,
}

/// Cases of the generator.
#[derive(clap::Args)]
pub struct Generated<const CASES: u64> {
    #[command(flatten)]
    of: Cases<CASES>,
    #[command(flatten)]
    profile: ProfileName,
}

/// What the generator draws.
#[derive(clap::Args)]
pub struct ProfileName {
    /// What is drawn how often: wide2, wide, core, pages, or a TOML file that names what it changes
    #[arg(long, default_value = generate::profile::DEFAULT, value_name = "NAME|FILE")]
    profile: String,
}

/// In which form the figures come.
#[derive(clap::Args)]
pub struct Form {
    /// The figures, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Works with a laboratory whose progress is shown.
pub fn with<T>(how: &How, work: impl FnOnce(&Lab<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    interrupt::listen();
    let shown: Mutex<Option<Progress>> = Mutex::new(None);
    let hook = |event: Event| {
        let mut shown = lock(&shown);
        match event {
            Event::Begun { what, units } => *shown = Some(Progress::new(what, units)),
            Event::Now(what) => shown.iter_mut().for_each(|progress| progress.now(what.clone())),
            Event::Note(note) => targets::say_once(&note),
            Event::Reached(units) => shown.iter_mut().for_each(|progress| progress.reached(units)),
            Event::Ended => shown.take().into_iter().for_each(Progress::end),
        }
    };
    work(&Lab {
        servers: &LocalServers(how),
        placement: how.placement(),
        hung_after: Duration::from_secs(how.hung_after),
        stop: &interrupt::asked,
        hook: &hook,
    })
}

impl ProfileName {
    pub fn load(&self) -> anyhow::Result<Profile> {
        profiles::load(&self.profile)
    }
}

impl Form {
    /// Measures on each of the targets that were chosen.
    pub fn on_each<F: Serialize>(
        &self,
        on: &Where,
        level: Option<Levels>,
        show: impl Fn(&F),
        mut measure: impl FnMut(&Lab<'_>, &Target) -> anyhow::Result<Option<F>>,
    ) -> anyhow::Result<Vec<F>> {
        let targets = on.targets(level)?;
        with(&on.how, |lab| self.each(&targets, |target| measure(lab, target), show))
    }

    /// Shows the figures of each item as they come, or those of all together as JSON. Nothing more comes once the user has asked to stop.
    pub fn each<I, F: Serialize>(
        &self,
        items: impl IntoIterator<Item = I>,
        mut measure: impl FnMut(I) -> anyhow::Result<Option<F>>,
        show: impl Fn(&F),
    ) -> anyhow::Result<Vec<F>> {
        let mut all = Vec::new();
        for item in items {
            if interrupt::asked() {
                break;
            }
            let Some(figures) = measure(item)? else { break };
            if !self.json {
                show(&figures);
            }
            all.push(figures);
        }
        if self.json {
            output::json(&all)?;
        }
        Ok(all)
    }
}

pub fn code(failed: bool) -> u8 {
    if interrupt::asked() { 2 } else { u8::from(failed) }
}
