//! How wide and how colourful the text is.

use anstyle::{AnsiColor, Effects, Style as Ansi};
use model::{Outcome, Reply};

/// How text is laid out and painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// The width to fit into, in characters.
    pub width: usize,
    /// With colours, as ANSI escapes?
    pub colour: bool,
    /// So many rows of a result are shown; of more only their number.
    pub rows: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, colour: false, rows: 12 }
    }
}

/// What a piece of text means to the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// As it should be and of no interest.
    Quiet,
    /// Names of sessions.
    Head,
    Waits,
    Woke,
    Error,
    /// Not what was expected.
    Wrong,
}

impl Tone {
    pub(crate) fn of(outcome: &Outcome) -> Tone {
        match outcome.reply {
            Reply::Rows(_) => Tone::Plain,
            Reply::Done { .. } => Tone::Quiet,
            Reply::NotSent => Tone::Waits,
            _ => Tone::Error,
        }
    }
}

impl Style {
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let ansi = match tone {
            Tone::Plain => return text.to_string(),
            Tone::Quiet => Ansi::new().effects(Effects::DIMMED),
            Tone::Head => Ansi::new().bold(),
            Tone::Waits => AnsiColor::Yellow.on_default(),
            Tone::Woke => AnsiColor::Cyan.on_default(),
            Tone::Error => AnsiColor::Red.on_default(),
            Tone::Wrong => AnsiColor::Red.on_default().bold(),
        };
        if self.colour && !text.is_empty() {
            format!("{}{text}{}", ansi.render(), ansi.render_reset())
        } else {
            text.to_string()
        }
    }
}
