//! `isopod selftest hostile`: servers of our own on 127.0.0.1 that speak the protocols of MySQL and PostgreSQL, and break them. Isopod runs a case
//! on each, as a process of its own. It must end in time, with little memory, with an exit code that it has, and must
//! neither send the password in clear nor print it.
//!
//! * `scenes`: what such a server does, by name; honest talks that are cut at every byte; and talks that are drawn;
//! * `fake`: a server that does one such thing at one place and is honest otherwise; `mysql`, `postgres`: what it says;
//! * `talk`: one run of Isopod against it.

mod fake;
mod mysql;
mod postgres;
mod scenes;
mod talk;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use model::{Seed, sync::lock};
use serde::Serialize;

use crate::Lab;

/// How many talks there are, and how.
pub struct Plan<'a> {
    /// First the scenes, and then so many talks that are cut or drawn that it is this many in all.
    pub talks: u64,
    /// Draws the talks.
    pub seed: Seed,
    /// Only scenes whose name holds one of these; all if there is none.
    pub only: &'a [String],
    /// How many at a time: most of their time they wait.
    pub workers: u64,
    /// How long one may take.
    pub limit: Duration,
    /// Isopod's own binary.
    pub exe: &'a Path,
    /// A folder for the case, which who made it removes.
    pub folder: &'a Path,
}

/// No talk may take more memory than this.
pub const MEMORY: u64 = 500 << 20;

/// What the talks came to.
#[derive(Default, Serialize)]
pub struct Figures {
    pub talks: u64,
    /// Talks in each protocol.
    pub mysql: u64,
    pub postgres: u64,
    /// How often Isopod ended with which exit code.
    pub codes: BTreeMap<i32, u64>,
    /// The longest one.
    pub seconds: f64,
    pub slowest: String,
    /// The most memory that one had, in bytes.
    pub memory: u64,
    pub largest: String,
    pub failures: Vec<Failure>,
}

/// A talk that did not end as it must.
#[derive(Serialize)]
pub struct Failure {
    pub talk: String,
    /// What is wrong with it, a line each.
    pub what: Vec<String>,
}

pub fn measure(lab: &Lab<'_>, plan: &Plan<'_>) -> crate::Result<Figures> {
    let mut talks = scenes::named();
    talks.retain(|scene| plan.only.is_empty() || plan.only.iter().any(|part| scene.name.contains(part)));
    talks.truncate(plan.talks as usize);
    let drawn = if plan.only.is_empty() { plan.talks as usize - talks.len() } else { 0 };
    // In turn one that is cut at the next byte and one that is drawn.
    let mut cuts = scenes::cuts().into_iter();
    talks.extend((0..drawn as u64).map(|number| {
        let cut = if number % 2 == 0 { cuts.next() } else { None };
        cut.unwrap_or_else(|| scenes::drawn(plan.seed, number))
    }));
    let case = plan.folder.join("case.iso");
    std::fs::write(&case, talk::CASE)?;
    let progress = Mutex::new(lab.job("hostile servers".to_string(), talks.len() as u64));
    let figures = Mutex::new(Figures::default());
    let (next, error) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(scene) = talks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if lab.stopped() || lock(&error).is_some() {
                break;
            }
            match talk::hold(plan, &case, scene) {
                Ok(ran) => lock(&figures).add(scene, &ran, plan.limit),
                Err(failed) => *lock(&error) = Some(failed),
            }
            lock(&progress).step();
        }
    };
    thread::scope(|scope| {
        for _ in 0..plan.workers {
            scope.spawn(work);
        }
    });
    drop(progress);
    match error.into_inner() {
        Ok(Some(error)) => Err(format!("a talk could not be held: {error}").into()),
        _ => Ok(figures.into_inner().unwrap_or_default()),
    }
}

impl Figures {
    fn add(&mut self, scene: &scenes::Scene, ran: &talk::Ran, limit: Duration) {
        self.talks += 1;
        match scene.speaks {
            scenes::Protocol::Mysql => self.mysql += 1,
            scenes::Protocol::Postgres => self.postgres += 1,
        }
        if let Some(code) = ran.code {
            *self.codes.entry(code).or_default() += 1;
        }
        if ran.time.as_secs_f64() > self.seconds {
            (self.seconds, self.slowest) = (ran.time.as_secs_f64(), scene.name.clone());
        }
        if ran.memory > self.memory {
            (self.memory, self.largest) = (ran.memory, scene.name.clone());
        }
        let what = ran.complaints(scene, limit);
        if !what.is_empty() {
            self.failures.push(Failure { talk: scene.name.clone(), what });
        }
    }
}
