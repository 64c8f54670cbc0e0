//! `isopod selftest proxy`: a proxy of our own between a hunt and a real server, which passes everything on and lies in one way. The hunt must
//! find out, and must not take the lie for a bug that is known.
//!
//! * [`lies`]: the lies by name; `rewrite` changes what is sent, `tamper` what is answered;
//! * `relay`: the sockets; `session`: one connection that is followed; `answer`: what comes over it, as data;
//! * `book`: what all connections share, with the log of what was lied about;
//! * `servers`: how the hunt gets there; `attribution`: which findings are the lie's doing.

mod answer;
mod attribution;
mod book;
pub mod lies;
mod relay;
mod rewrite;
mod servers;
mod session;
mod tamper;

use std::{path::Path, time::Duration};

use campaign::{Campaign, Event, Known, Panel, RunReader, RunWriter, Settings, TimedEvent};
use generate::Profile;
use model::{
    Endpoint, JudgeOverrides, Level, Place, Product, RunSummary, Seed, Target, Url, target::Settings as Of,
};
use provision::{Installed, Instance, StartOptions};
use serde::Serialize;

use self::{
    attribution::Attribution,
    book::Book,
    lies::{Lie, Often, Trick},
    relay::Relay,
    servers::Attaching,
};
use super::hunts::Hunt;
use crate::{Abandoned, Lab, Result};

/// How the lies are hunted.
pub struct Plan<'a> {
    /// At most so many for each lie; fewer are enough where a part of them finds it beyond doubt.
    pub cases: u64,
    pub seed: Seed,
    pub profile: &'a Profile,
    /// What is known: the hunt compares what looks new with it.
    pub known: &'a Known,
    /// Reduce so many candidates of each finding, as a hunt does; 0 for not at all.
    pub reduce: u64,
    /// Isopod's own binary.
    pub exe: &'a Path,
}

/// What came of a lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As something new, and at least as often as under the name of something known.
    Found,
    /// More often as something that is known, or only so.
    Hidden,
    /// Not at all.
    Missed,
    /// It is none of the oracles' business.
    NotJudged,
    /// No statement fitted.
    NotTold,
    /// The honest proxy: nothing new that the server itself does not show.
    Silent,
    /// The honest proxy: something new all the same.
    Noisy,
    /// The user asked to stop before it was known.
    Stopped,
}

impl Outcome {
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Found => "found",
            Outcome::Hidden => "HIDDEN",
            Outcome::Missed => "MISSED",
            Outcome::NotJudged => "not judged",
            Outcome::NotTold => "NOT TOLD",
            Outcome::Silent => "silent",
            Outcome::Noisy => "NOISY",
            Outcome::Stopped => "stopped",
        }
    }

    /// Is that as it should be?
    pub fn is_right(self) -> bool {
        match self {
            Outcome::Found | Outcome::NotJudged | Outcome::Silent => true,
            Outcome::Hidden | Outcome::Missed | Outcome::NotTold | Outcome::Noisy | Outcome::Stopped => false,
        }
    }
}

/// Findings that are one to the hunt, and the lie's doing.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The name under which they are known; none if they are new.
    pub known: Option<String>,
    pub signature: String,
    /// The first case, from 1.
    pub first: u64,
    /// Cases that showed it by the lie's doing.
    pub cases: u64,
    /// A statement that was lied about in the run that shows it.
    pub lied_at: Option<String>,
}

/// A lie, and what came of it.
#[derive(Serialize)]
pub struct Figures {
    pub lie: &'static str,
    pub target: String,
    pub server: String,
    pub level: Level,
    pub often: Often,
    pub cases: u64,
    /// Lies that were told in the hunt, in repeated runs too.
    pub lies: u64,
    /// The first case with a finding that is the lie's doing, from 1.
    pub first: Option<u64>,
    pub new: Vec<Group>,
    pub hidden: Vec<Group>,
    /// Groups of findings that are not the lie's doing.
    pub others: u64,
    /// Cases in which an oracle could not tell.
    pub undecided: u64,
    /// Suspicions that clean runs did not show.
    pub flaky: u64,
    /// Milliseconds of hunting, without what was run again afterwards.
    pub millis: u64,
    pub outcome: Outcome,
}

/// Which lies can be told to whom: the levels that the product has and that the lie fits.
pub fn planned<'a>(
    lies: &'a [&'static Lie],
    levels: &'a [Level],
    often: &'a [Often],
) -> impl Iterator<Item = (&'static Lie, Level, Often)> + 'a {
    lies.iter().flat_map(move |lie| {
        let levels = levels.iter().filter(|level| lie.fits(**level));
        levels.flat_map(move |level| {
            // The honest proxy has nothing to say more or less often.
            let often = if lie.is_honest() { &[Often::Always][..] } else { often };
            often.iter().map(move |often| (*lie, *level, *often))
        })
    })
}

/// What part of the cases is tried before all of them are.
const PARTS: [u64; 2] = [16, 4];

/// A lie is found beyond doubt if so many cases show it as something new, and fewer than half as many are taken for something known.
const BEYOND_DOUBT: u64 = 20;

/// Tells a lie, hunts, and looks which findings are its doing.
pub fn tell(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    installed: &Installed,
    target: &Target,
    told: (&'static Lie, Level, Often),
) -> Result<Figures> {
    // The honest proxy is to be silent for as long as it is asked to.
    if !told.0.is_honest() {
        for cases in PARTS.map(|part| plan.cases / part).into_iter().filter(|cases| *cases >= BEYOND_DOUBT) {
            let plan = Plan { cases, ..*plan };
            let figures = tell_in(lab, &plan, installed, target, told)?;
            if figures.is_beyond_doubt() || figures.outcome == Outcome::Stopped {
                return Ok(figures);
            }
        }
    }
    tell_in(lab, plan, installed, target, told)
}

/// As [`tell`], in so many cases.
fn tell_in(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    installed: &Installed,
    target: &Target,
    (lie, level, often): (&'static Lie, Level, Often),
) -> Result<Figures> {
    let (slowed, fewer);
    let (lab, plan) = match lie.trick {
        Trick::Hang => {
            slowed = Lab { hung_after: lab.hung_after.min(HUNG_AFTER), ..*lab };
            fewer = Plan { cases: plan.cases.div_ceil(FEWER), ..*plan };
            (&slowed, &fewer)
        }
        _ => (lab, plan),
    };
    let instance = start(plan, installed, target)?;
    let (product, version) = (target.product, installed.version().clone());
    let at = (instance.socket().to_path_buf(), instance.superuser().to_string());
    let relay = Relay::open(Book::new((product, version.clone()), at, lie, often))?;
    let lied_to = attached(product, relay.socket(), &instance);
    let proxied = Attaching { exe: plan.exe.to_path_buf(), book: Some(relay.book().clone()) };
    let what = format!("{} {level} {often}", lie.name);
    let folder = provision::scratch::temporary()?;
    let told = || relay.book().told();
    let before = told();
    let mut profile = varied(plan.profile);
    (lie.cases)(&mut profile);
    let plan = &Plan { profile: &profile, ..*plan };
    let summary = hunt(lab, plan, &proxied, &lied_to, (level, &folder.path().join("run"), what))?;
    let lies = told() - before;
    let hunted = &summary.targets[0];
    if let Some(reason) = &hunted.lost {
        return Err(Abandoned { target: format!("{target} ({})", lie.name), reason: reason.clone() }.into());
    }
    let mut figures = Figures {
        lie: lie.name,
        target: target.to_string(),
        server: format!("{product} {version}"),
        level,
        often,
        cases: hunted.tally.cases,
        lies,
        first: None,
        new: Vec::new(),
        hidden: Vec::new(),
        others: 0,
        undecided: hunted.tally.undecided,
        flaky: hunted.tally.flaky,
        millis: summary.elapsed_ms,
        outcome: Outcome::Missed,
    };
    let found = RunReader::read(&folder.path().join("run"))?.findings;
    let direct = attached(product, instance.socket(), &instance);
    let mut attribution = Attribution::new(lab, plan, (&proxied, &lied_to), &direct, relay.book());
    for group in &summary.findings {
        match attribution.of(group, &found)? {
            None => figures.others += 1,
            Some(group) if group.known.is_none() => figures.new.push(group),
            Some(group) => figures.hidden.push(group),
        }
    }
    figures.first = figures.new.iter().chain(&figures.hidden).map(|group| group.first).min();
    figures.outcome = if lab.stopped() { Outcome::Stopped } else { outcome(lie, &figures) };
    Ok(figures)
}

impl Figures {
    /// In how many cases it was new, and in how many it had the name of something known.
    fn shown(&self) -> (u64, u64) {
        let cases = |groups: &[Group]| groups.iter().map(|group| group.cases).sum();
        (cases(&self.new), cases(&self.hidden))
    }

    fn is_beyond_doubt(&self) -> bool {
        let (new, hidden) = self.shown();
        self.outcome == Outcome::Found && new >= BEYOND_DOUBT && 2 * hidden < new
    }
}

fn outcome(lie: &Lie, figures: &Figures) -> Outcome {
    let (new, hidden) = figures.shown();
    match () {
        () if lie.is_honest() && new == 0 => Outcome::Silent,
        () if lie.is_honest() => Outcome::Noisy,
        () if lie.not_judged.is_some() => Outcome::NotJudged,
        () if figures.lies == 0 => Outcome::NotTold,
        () if new + hidden == 0 => Outcome::Missed,
        () if hidden > new => Outcome::Hidden,
        () => Outcome::Found,
    }
}

/// A throw-away server behind the proxy.
fn start(plan: &Plan<'_>, installed: &Installed, target: &Target) -> Result<Instance> {
    installed
        .start(plan.exe, target, &StartOptions::default())
        .map_err(|error| execute::LaunchError::NotStarted { message: error.title, advice: error.help }.into())
}

/// The target that a server that runs already is, by its socket.
fn attached(product: Product, socket: &Path, instance: &Instance) -> Target {
    let url = Url {
        user: Some(instance.superuser().to_string()),
        // None is asked for, and none is looked for in the user's own files.
        password: Some(model::Secret::new("")),
        endpoint: Endpoint::Socket(socket.to_path_buf()),
        database: None,
    };
    Target { product, version: None, settings: Of::new(), place: Place::Attached(url) }
}

/// Whether a lie fits, and where, depends on the statements: many of them in few orders each.
fn varied(profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    profile.cases.orders_per_set = profile.cases.orders_per_set.min(2);
    profile.cases.sets_per_schema = profile.cases.sets_per_schema.min(10);
    profile
}

/// A hunt as `isopod hunt` does it, with what is known, by one worker.
fn hunt(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    servers: &Attaching,
    target: &Target,
    (level, folder, what): (Level, &Path, String),
) -> Result<RunSummary> {
    let profile = plan.profile;
    let base = Hunt {
        target,
        levels: &[level],
        cases: plan.cases,
        until_first: false,
        seed: plan.seed,
        profile,
        oracles: &[],
        judge_as: JudgeOverrides::default(),
        workers: 1,
        shows: &|_, _| Ok(false),
    };
    let panel = Panel::new(oracles::default_set(), JudgeOverrides::default());
    let oracles = panel.judges().map(|judge| judge.oracle.name().to_string()).collect();
    let settings = Settings { oracles, keep: KEPT, reduce: plan.reduce, ..base.settings(lab) };
    let campaign = Campaign {
        panel,
        folder: RunWriter::create(folder, &settings)?,
        settings,
        profile: profile.clone(),
        known: plan.known.clone(),
        servers,
        stop: lab.stop,
    };
    let mut progress = lab.job(what, plan.cases);
    let summary = campaign::hunt(&campaign, &mut |said: &TimedEvent| {
        if let Event::Progress { tally, .. } = &said.event {
            progress.reached(tally.cases);
        }
    });
    Ok(summary?)
}

/// A statement that is never answered takes twice as long as this, so less of it is done.
const HUNG_AFTER: Duration = Duration::from_secs(1);
const FEWER: u64 = 10;

/// So many cases of each kind of finding are kept, as in a hunt.
const KEPT: u64 = 5;
