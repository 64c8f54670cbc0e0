//! Progress on standard error: a bar on a terminal, a plain line every ten seconds elsewhere.

use std::{
    cell::Cell,
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{for_terminal, tell};

/// Where there is no terminal: when the next line is due. One every ten seconds says that something goes on and fills no log.
pub struct Pace(Cell<Instant>);

impl Pace {
    pub fn new() -> Pace {
        Pace(Cell::new(Instant::now()))
    }

    pub fn due(&self) -> bool {
        self.0.get().elapsed() > Duration::from_secs(10)
    }

    /// A line was printed just now.
    pub fn printed(&self) {
        self.0.set(Instant::now());
    }
}

/// How bars look.
pub fn bars(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("━╸─")
}

/// Shows how far a job has come, once it has taken two seconds.
pub struct Progress {
    bar: Option<ProgressBar>,
    what: String,
    total: u64,
    done: u64,
    begun: Instant,
    pace: Pace,
}

impl Progress {
    /// A job of so many units.
    pub fn new(what: impl Into<String>, total: u64) -> Progress {
        let what = what.into();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = bars("{msg}  {bar:30}  {pos} of {len}  {per_sec}  {eta} left");
            ProgressBar::new(total).with_message(for_terminal(&what)).with_style(style)
        });
        Progress { bar, what, total, done: 0, begun: Instant::now(), pace: Pace::new() }
    }

    pub fn step(&mut self) {
        self.reached(self.done + 1);
    }

    /// Says what the job is busy with now.
    pub fn now(&mut self, what: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(for_terminal(&what));
        }
        self.what = what;
    }

    /// So many units are behind us, done or left out.
    pub fn reached(&mut self, units: u64) {
        self.done = units;
        match &self.bar {
            Some(bar) => bar.set_position(units),
            None if self.pace.due() => {
                self.pace.printed();
                let rate = self.done as f64 / self.begun.elapsed().as_secs_f64();
                let left = rest((self.total.saturating_sub(self.done)) as f64 / rate);
                tell!("{}  {} of {}  {rate:.0}/s  {left}", self.what, self.done, self.total);
            }
            None => {}
        }
    }

    /// Prints something while the bar is out of the way.
    pub fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Puts the bar away.
    pub fn end(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How long it will take, roughly.
fn rest(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s left") } else { format!("{:.0} min left", seconds / 60.0) }
}

/// A line that says what goes on, replaced by the next one on a terminal.
pub struct Line {
    bar: Option<ProgressBar>,
    pace: Pace,
}

impl Line {
    pub fn new() -> Line {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Line { bar, pace: Pace::new() }
    }

    pub fn say(&self, text: String) {
        self.pace.printed();
        match &self.bar {
            Some(bar) => bar.set_message(for_terminal(&text)),
            None => tell!("{text}"),
        }
    }

    /// Says what changes often: in a log only if nothing was said for ten seconds.
    pub fn detail(&self, text: String) {
        if self.bar.is_some() || self.pace.due() {
            self.say(text);
        }
    }

    /// Puts the line away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
