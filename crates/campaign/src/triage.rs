//! After the hunt: what looks new is compared with what is known, by running both; and what is known is looked at once more, whether
//! it still comes back.
//!
//! **The same by running** means: on the finding's own target, at every level, and there once more with the setting turned over
//! that changes what the server owes, the oracles say the same of both cases. That is little evidence by itself, so
//!
//! | signature | pattern | the finding is |
//! |---|---|---|
//! | the same | the same, complaint by complaint | known |
//! | another; the same rule is broken | wrong in the same places | new, and behaves like it |
//! | another; both are unreported deadlocks, or waits of who was asked not to wait | | new, and behaves like it |
//! | | another | new |
//!
//! What known deviations explain is known by its signature alone, since its twin has been asked (`oracles/src/mvcc/twins`). An entry of the
//! corpus without a link is in no tracker: what is the same as it stays new, and behaves like it. An entry of the corpus is compared
//! only where its `fails on` says that it fails. Whatever has a `fails on` for the server explains only if it fails there as that says: the answer
//! that is known comes, and nothing is wrong where the file says that the case holds. Otherwise it fails for another reason. In doubt, a
//! finding is new.
//!
//! **Stale** is an entry of the user's folder that can be run on a target of the hunt and did not come back there in
//! [`RUNS`] runs. A finding is run on targets of its product with its settings, at its own level; a plain case where its `fails on` says that
//! it fails or, without one, at every level. The corpus has `isopod corpus test` for that.

mod pattern;

use std::collections::BTreeMap;

use execute::{Options, Placement, Reset};
use model::{
    Case, Finding, FreshReplay, Level, ServerInfo, Signature, Symptom, Target, Version, run::Stale,
    verdict::Cause,
};
use oracles::expectations::{self, CheckStatus};
use serde::{Deserialize, Serialize};

use self::pattern::Pattern;
use crate::{
    HuntError,
    clean_server::{CleanRuns, CleanServer},
    confirm::reset,
    events::{Event, TimedEvent},
    hunt::{Campaign, Hook},
    known::{Entry, Origin},
    matrix::{Cell, Matrix},
    record::Recorded,
};

/// An entry is stale if it does not come back in this many runs.
pub const RUNS: u32 = 3;

/// What comparison of it, as `triage.json` keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triage {
    /// What each finding is, by its id.
    pub findings: BTreeMap<String, Comparison>,
    /// Entries of the user's folder that did not come back.
    pub stale: Vec<Stale>,
    /// How often an entry of the user's folder was looked at, once for each target.
    pub looked: u64,
    /// Was there no time to look at everything?
    #[serde(default)]
    pub cut_short: bool,
    /// What came of findings on a fresh server, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replays: BTreeMap<String, FreshReplay>,
    /// Later versions of the same release line that do not show a finding, by its id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gone_in: BTreeMap<String, Version>,
}

/// What a finding turned out to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Known under this name.
    Known(String),
    /// New, and behaves like this.
    #[serde(alias = "like")]
    Resembles(String),
    New,
}

impl Triage {
    /// What a finding is called, whoever asks: what comparison of the last comparison, for that hunt was told last what is known; of a run
    /// that was never compared, what was known when it was finding.
    pub fn name(&self, finding: &Finding) -> Comparison {
        self.findings.get(&finding.id).cloned().unwrap_or_else(|| before(finding.known.clone(), finding))
    }
}

/// What a finding is called without a comparison.
fn before(known: Option<String>, finding: &Finding) -> Comparison {
    match (known, &finding.resembles) {
        (Some(name), _) => Comparison::Known(name),
        (None, Some(name)) => Comparison::Resembles(name.clone()),
        (None, None) => Comparison::New,
    }
}

/// Compares and looks. Nothing is done, and no server is started, where nothing is to be compared.
pub fn triage(campaign: &Campaign<'_>, found: &[Recorded], hook: &mut Hook<'_>) -> Result<Triage, HuntError> {
    let mut triage = Triage::default();
    let known = &campaign.known;
    for Recorded { finding, .. } in found {
        let name = before(known.name(&finding.signature()), finding);
        triage.findings.insert(finding.id.clone(), name);
    }
    let is_new =
        |one: &&Recorded| !matches!(triage.findings.get(&one.finding.id), Some(Comparison::Known(_)));
    let new: Vec<&Recorded> = found.iter().filter(is_new).collect();
    let plain: Vec<Target> = campaign.settings.targets.iter().map(|hunted| hunted.target.clone()).collect();
    let mut places = plain.clone();
    for recorded in &new {
        let target = recorded.finding.effective_target();
        if !places.contains(&target) {
            places.push(target);
        }
    }
    for target in &places {
        let new: Vec<&Recorded> =
            new.iter().copied().filter(|recorded| recorded.finding.effective_target() == *target).collect();
        let own: Vec<&Entry> = if plain.contains(target) { known.own().collect() } else { Vec::new() };
        let may = |entry: &&Entry| runs_on(entry, target);
        let own: Vec<&Entry> = own.into_iter().filter(may).collect();
        let compared: Vec<&Entry> = known.entries.iter().filter(may).collect();
        if own.is_empty() && (new.is_empty() || compared.is_empty()) {
            continue;
        }
        if (campaign.stop)() {
            triage.cut_short = true;
            break;
        }
        let mut servers = match ComparisonServers::open(campaign, target) {
            Ok(servers) => servers,
            // A target that was given up is said to be; nothing is said about what is known there.
            Err(_) => {
                triage.cut_short = true;
                continue;
            }
        };
        let all = own.len() + if new.is_empty() { 0 } else { new.len() + compared.len() };
        servers.stale(&own, all, &mut triage, hook);
        if !new.is_empty() {
            servers.compare(&new, &compared, (own.len(), all), &mut triage, hook);
        }
    }
    Ok(triage)
}

/// Can the entry be run on this target?
fn runs_on(entry: &Entry, target: &Target) -> bool {
    match &entry.finding {
        // With other settings it may not show, and that says nothing.
        Some(finding) => {
            finding.target.product == target.product && finding.effective_target().settings == target.settings
        }
        None => expectations::applies(&entry.case, target.product),
    }
}

/// A server at which cases are compared, and the same with its setting turned over.
struct ComparisonServers<'a> {
    campaign: &'a Campaign<'a>,
    target: &'a Target,
    info: ServerInfo,
    levels: Vec<Level>,
    servers: Vec<CleanServer>,
}

impl<'a> ComparisonServers<'a> {
    fn open(
        campaign: &'a Campaign<'a>,
        target: &'a Target,
    ) -> Result<ComparisonServers<'a>, execute::LaunchError> {
        let mut server = start(campaign, target)?;
        let info = server.info()?;
        let levels = dialect::of(info.product).levels.to_vec();
        Ok(ComparisonServers { campaign, target, info, levels, servers: vec![server] })
    }

    /// Looks at the entries of the user.
    fn stale(&mut self, own: &[&Entry], all: usize, triage: &mut Triage, hook: &mut Hook<'_>) {
        for (at, entry) in own.iter().enumerate() {
            if self.stopped(at, all, triage, hook) {
                return;
            }
            match self.comes_back(entry) {
                Some(true) => triage.looked += 1,
                Some(false) => {
                    triage.looked += 1;
                    let (name, target) = (entry.name.clone(), self.target.clone());
                    triage.stale.push(Stale { name, target, runs: RUNS });
                }
                None => {}
            }
        }
    }

    /// Does it? Nothing where it is not said to fail here.
    fn comes_back(&mut self, entry: &Entry) -> Option<bool> {
        match &entry.finding {
            Some(finding) => {
                let wanted = finding.signature();
                Some(self.shows(&entry.case, finding.level, reset(finding.condition), &wanted))
            }
            None => {
                let fits = |level: &Level| entry.case.fails.is_empty() || self.fails_at(&entry.case, *level);
                let levels: Vec<Level> = self.levels.iter().copied().filter(fits).collect();
                if levels.is_empty() {
                    return None;
                }
                Some(levels.into_iter().any(|level| self.fails(&entry.case, level)))
            }
        }
    }

    /// Does the file say that the case fails here?
    fn fails_at(&self, case: &Case, level: Level) -> bool {
        case.fails.iter().any(|group| group.at.weight(&self.info, level).is_some())
    }

    /// Does one of some runs show this signature?
    fn shows(&mut self, case: &Case, level: Level, reset: Reset, wanted: &Signature) -> bool {
        let product = self.info.product;
        (0..RUNS).any(|_| {
            let server = &mut self.servers[0];
            let Some(seen) = server.rerun(case, level, reset) else { return false };
            let mut cell = Cell::default();
            cell.add(&self.campaign.panel, &seen, server, false);
            let same = |signature: Signature| match (&signature, wanted) {
                (Signature::Explained(_), Signature::Explained(_)) => signature == *wanted,
                // A case that a user has edited may need other statements.
                (
                    Signature::Unexplained { symptom, cause, .. },
                    Signature::Unexplained { symptom: symptom_of, cause: cause_of, .. },
                ) => (symptom, cause) == (symptom_of, cause_of),
                (Signature::Explained(_), Signature::Unexplained { .. })
                | (Signature::Unexplained { .. }, Signature::Explained(_)) => false,
            };
            cell.violations
                .iter()
                .any(|violation| same(oracles::signature::signature(product, case, violation)))
        })
    }

    /// Does one of some runs come out wrong, by the file or by an oracle?
    fn fails(&mut self, case: &Case, level: Level) -> bool {
        (0..RUNS).any(|_| {
            let server = &mut self.servers[0];
            let Some(seen) = server.rerun(case, level, Reset::Clean) else { return false };
            let report = expectations::check(case, &seen.trace);
            report.status == CheckStatus::KnownFailure
                || !report.should.holds()
                || self.campaign.panel.first_violation(&seen, server).is_some()
        })
    }

    /// Compares what looks new with what is known.
    fn compare(
        &mut self,
        new: &[&Recorded],
        entries: &[&Entry],
        (done, all): (usize, usize),
        triage: &mut Triage,
        hook: &mut Hook<'_>,
    ) {
        let dialect = dialect::of(self.target.product);
        if let Some(other) = dialect.with_flipped_switch(self.target, &self.info.version) {
            // Without it there is less to compare, and less is the same.
            if let Ok(server) = start(self.campaign, &other) {
                self.servers.push(server);
            }
        }
        let mut patterns: Vec<(&Entry, Pattern)> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if self.stopped(done + at, all, triage, hook) {
                return;
            }
            // Where a case of the corpus is not known to fail it may fail for another reason.
            let known_here = self.levels.iter().any(|level| self.fails_at(&entry.case, *level));
            if matches!(entry.origin, Origin::Corpus) && !known_here {
                continue;
            }
            let reset = entry.finding.as_ref().map_or(Reset::Clean, |finding| reset(finding.condition));
            let pattern =
                self.pattern(&entry.case, reset, entry.finding.as_ref().map(|finding| finding.level));
            if pattern.is_wrong() && (!known_here || pattern.fails_as_written()) {
                patterns.push((entry, pattern));
            }
        }
        for (at, recorded) in new.iter().enumerate() {
            if self.stopped(done + entries.len() + at, all, triage, hook) {
                return;
            }
            if let Some(comparison) = self.same(recorded, &patterns) {
                triage.findings.insert(recorded.finding.id.clone(), comparison);
            }
        }
    }

    fn same(&mut self, recorded: &Recorded, patterns: &[(&Entry, Pattern)]) -> Option<Comparison> {
        let (signature, fingerprint) =
            (recorded.finding.signature(), &recorded.finding.violation.fingerprint);
        let mine = self.pattern(
            &recorded.execution.case,
            reset(recorded.finding.condition),
            Some(recorded.finding.level),
        );
        let with = |pattern: &Pattern| pattern.signatures.contains(&signature);
        let known = patterns.iter().find(|(entry, pattern)| {
            let explained = matches!(signature, Signature::Explained(_));
            entry.settles() && with(pattern) && (explained || mine.same(pattern))
        });
        if let Some((entry, _)) = known {
            return Some(Comparison::Known(entry.name.clone()));
        }
        let of = (fingerprint.symptom, &fingerprint.cause);
        // Of a statement that is wrong by itself the rule says nothing: it must be made of what the other is made of.
        let by_itself = fingerprint.symptom == Symptom::Logic;
        // Who waits for whom differs from case to case, and with it where it shows. That nobody is ended is one and the same.
        // Nor is there more than one way to wait although one was asked not to.
        let asked_not_to =
            fingerprint.symptom == Symptom::NeedlessWait && fingerprint.cause == Cause::Invariant;
        let says_itself = fingerprint.symptom == Symptom::UnreportedDeadlock || asked_not_to;
        let is_like = |pattern: &Pattern| {
            // The same as something that is in no tracker, or wrong in the same places by the same rule.
            with(pattern) && mine.same(pattern)
                || says_itself && pattern.complaints().contains(&of)
                || by_itself && mine.made_alike(pattern, &signature)
                || !by_itself && pattern.complaints().contains(&of) && mine.alike(pattern)
        };
        let like = patterns.iter().filter(|(_, pattern)| is_like(pattern));
        let mut like: Vec<&&Entry> = like.map(|(entry, _)| entry).collect();
        like.sort_by_key(|entry| match entry.origin {
            Origin::Own => 0,
            Origin::Corpus => 1,
        });
        like.first().map(|entry| Comparison::Resembles(entry.name.clone()))
    }

    fn pattern(&mut self, case: &Case, reset: Reset, found_at: Option<Level>) -> Pattern {
        let mut pattern = Pattern::default();
        let matrix = Matrix { panel: &self.campaign.panel, times: 1, reset, found_at, first_only: false };
        for (place, server) in self.servers.iter_mut().enumerate() {
            for (column, cell) in matrix.run(case, server, &self.levels) {
                pattern.add(self.info.product, case, (place, column), cell.ok());
            }
        }
        pattern
    }

    /// Did the user ask to stop? If not, those who look on hear how far it is.
    fn stopped(&self, done: usize, all: usize, triage: &mut Triage, hook: &mut Hook<'_>) -> bool {
        if (self.campaign.stop)() {
            triage.cut_short = true;
            return true;
        }
        let (target, done, all) = (self.target.clone(), done as u64, all as u64);
        hook(&TimedEvent { at: 0, event: Event::Comparing { target, done, all } });
        false
    }
}

pub(crate) fn start(campaign: &Campaign<'_>, target: &Target) -> Result<CleanServer, execute::LaunchError> {
    let options = Options {
        reset: Reset::Clean,
        hung_after: std::time::Duration::from_secs(campaign.settings.hung_after),
        ..Options::default()
    };
    let placement =
        Placement { pin: campaign.settings.pin, realtime: false, cpu: execute::os::cpus().first().copied() };
    Ok(CleanServer::new(campaign.servers.open(target, options, placement)?, target))
}
