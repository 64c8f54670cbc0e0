//! The hunt while it lasts: a bar for each target on a terminal, plain lines elsewhere.

use std::{collections::BTreeSet, io::IsTerminal};

use campaign::{Budget, Event, Settings, TimedEvent};
use indicatif::{MultiProgress, ProgressBar};
use model::{Fingerprint, Tally, Target};
use report::findings::{clock, share, thousands};

use crate::{
    judged,
    output::{for_terminal, tell},
    progress::{self, Pace},
};

/// What is shown while the hunt lasts.
pub struct HuntProgress {
    bars: Option<(MultiProgress, Vec<ProgressBar>)>,
    targets: Vec<Target>,
    goal: Budget,
    wide: usize,
    pace: Pace,
    /// At the first look: what was done before a resume, so that the rate is that of this one.
    first: Vec<Option<(u64, u64)>>,
    seen: BTreeSet<(Target, Fingerprint)>,
    refused: bool,
}

impl HuntProgress {
    pub fn new(settings: &Settings, quiet: bool) -> HuntProgress {
        let goal = settings.budget;
        let targets: Vec<Target> = settings.targets.iter().map(|hunted| hunted.target.clone()).collect();
        let wide = targets.iter().map(|target| target.to_string().chars().count()).max().unwrap_or(0);
        let bars = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let all = MultiProgress::new();
            let length = match goal {
                Budget::Seconds(seconds) => seconds * 1000,
                Budget::Cases(cases) => cases,
            };
            let style = progress::bars("{prefix}  {bar:22}  {msg}");
            let bar = |target: &Target| {
                let bar = all.add(ProgressBar::new(length).with_style(style.clone()));
                bar.set_prefix(for_terminal(&format!("{:wide$}", target.to_string())));
                bar
            };
            let bars = targets.iter().map(bar).collect();
            (all, bars)
        });
        let first = vec![None; targets.len()];
        let (pace, seen) = (Pace::new(), BTreeSet::new());
        HuntProgress { bars, targets, goal, wide, pace, first, seen, refused: false }
    }

    pub fn show(&mut self, said: &TimedEvent) {
        match &said.event {
            Event::Progress { target, tally } => self.progress(target, tally, said.at),
            Event::Finding(found)
                if self.seen.insert((found.target.clone(), found.violation.fingerprint.clone())) =>
            {
                // Until it has come back on a fresh server, at the end of the hunt.
                let known = found.known.as_ref().map_or(String::new(), |name| format!(" {name}"));
                let word = format!("suspected{known}");
                let (at, id, target) = (clock(said.at), &found.id, &found.target);
                let story = judged::words(&found.violation, target.product).story();
                self.line(&format!("{at}  {word} {id}  {target}  {story}"));
            }
            Event::Refused { target, case, reason } if !std::mem::replace(&mut self.refused, true) => {
                self.line(&format!("note: {target}: case {case} could not be run: {reason}"));
            }
            Event::Lost { target, reason } => {
                let line = format!("{}  {target} is given up: {reason}", clock(said.at));
                self.line(&line);
            }
            Event::Comparing { target, done, all } => {
                self.after(target, format!("comparing with what is known, {done} of {all}"));
            }
            Event::Replaying { target, done, all } => {
                self.after(target, format!("replaying what was found, {done} of {all}"));
            }
            _ => {}
        }
    }

    fn progress(&mut self, target: &Target, tally: &Tally, at: u64) {
        let Some(i) = self.targets.iter().position(|one| one == target) else { return };
        let (cases, since) = *self.first[i].get_or_insert((tally.cases, at));
        let millis = at.saturating_sub(since).max(1);
        let rate = (tally.cases - cases) * 1000 / millis;
        let cases = thousands(tally.cases);
        let done = match self.goal {
            Budget::Seconds(all) => {
                format!("{} / {}  {cases:>9} cases", clock(at.min(all * 1000)), clock(all * 1000))
            }
            Budget::Cases(all) => format!("{cases:>9} of {} cases", thousands(all)),
        };
        let words = format!(
            "{done}  {:>6}/s  {} conflict  {} undecided",
            thousands(rate),
            share(tally.conflicts, tally.cases),
            share(tally.undecided, tally.cases)
        );
        if let Some((_, bars)) = &self.bars {
            bars[i].set_position(match self.goal {
                Budget::Seconds(all) => at.min(all * 1000),
                Budget::Cases(_) => tally.cases,
            });
        }
        self.message(i, target, words, i + 1 == self.targets.len());
    }

    /// At a bar, or where a line is due; `last` of those that are due together.
    fn message(&self, bar: usize, target: &Target, words: String, last: bool) {
        match &self.bars {
            Some((_, bars)) => bars[bar].set_message(for_terminal(&words)),
            None if self.pace.due() => {
                tell!("{:w$}  {words}", target.to_string(), w = self.wide);
                if last {
                    self.pace.printed();
                }
            }
            None => {}
        }
    }

    /// After the hunt.
    fn after(&mut self, target: &Target, words: String) {
        // With settings that were drawn it is none of the bars.
        let at = self.targets.iter().position(|one| one == target).unwrap_or(0);
        self.message(at, target, words, true);
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        let text = dbms::attach::secrets::hide(text);
        match &self.bars {
            Some((all, _)) => {
                let _ = all.println(for_terminal(&text));
            }
            None => tell!("{text}"),
        }
    }

    /// Puts the bars away.
    pub fn end(&mut self) {
        if let Some((_, bars)) = &self.bars {
            bars.iter().for_each(ProgressBar::finish_and_clear);
        }
    }
}
