//! Standard output and standard error: the one place that writes to them, so that nothing that servers, files and names say reaches a
//! terminal as a command.
//!
//! Whoever reads standard output may leave early (`isopod corpus list | head`): then Isopod ends as after Ctrl-C, without a word. Where
//! it cannot be written for another reason (a full disk), that is said, once.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    fmt,
    io::{ErrorKind, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use model::Level;
pub use report::findings::plural;
pub use report::text::for_terminal;
use report::text::obeyed;

use crate::interrupt;

/// As `println!`, without a panic when nobody reads any more.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// As `eprintln!`, for what is no result: notes, errors, progress.
macro_rules! tell {
    ($($text:tt)*) => { $crate::output::note(format_args!($($text)*)) };
}
pub(crate) use tell;

static FAILED: AtomicBool = AtomicBool::new(false);

/// Writes a line; colours only where they can be shown.
pub fn line(text: fmt::Arguments<'_>) {
    written(writeln!(anstream::stdout(), "{}", for_terminal(&text.to_string())));
}

/// Writes a line to standard error.
pub fn note(text: fmt::Arguments<'_>) {
    // There is nobody left to tell that it cannot be written.
    let _ = writeln!(anstream::stderr(), "{}", for_terminal(&text.to_string()));
}

/// Writes a text that is read back from a file, such as a case: as it is, unless a terminal would obey it.
pub fn data(text: &str) {
    match std::io::stdout().is_terminal() {
        true => line(format_args!("{text}")),
        false => written(writeln!(std::io::stdout(), "{text}")),
    }
}

/// Writes JSON. Characters that a terminal obeys can only be in its strings, where they have another way to be written.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    let escaped = |c: char| match c {
        '\n' => c.to_string(),
        c if obeyed(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    written(writeln!(std::io::stdout(), "{}", text.chars().map(escaped).collect::<String>()));
    Ok(())
}

fn written(result: std::io::Result<()>) {
    let Err(error) = result else { return };
    interrupt::ask();
    if error.kind() != ErrorKind::BrokenPipe && !FAILED.swap(true, Ordering::Relaxed) {
        crate::errors::show(&anyhow::anyhow!("standard output cannot be written: {error}"));
    }
}

/// Did something get lost on the way out?
pub fn failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// As JSON, or as `show` writes it.
pub fn show<T: serde::Serialize>(as_json: bool, value: &T, show: impl FnOnce(&T)) -> anyhow::Result<()> {
    match as_json {
        true => json(value),
        false => {
            show(value);
            Ok(())
        }
    }
}

/// The most frequent first.
pub fn by_count<K: Ord>(counts: &BTreeMap<K, u64>) -> Vec<(&K, u64)> {
    let mut sorted: Vec<(&K, u64)> = counts.iter().map(|(name, count)| (name, *count)).collect();
    sorted.sort_by_key(|(name, count)| (Reverse(*count), *name));
    sorted
}

/// With a digit behind the point.
pub fn percent(part: u64, whole: u64) -> String {
    match (part * 1000).checked_div(whole) {
        Some(thousandths) => format!("{}.{}%", thousandths / 10, thousandths % 10),
        None => "-".to_string(),
    }
}

/// `RC RR`
pub fn short(levels: &[Level], between: &str) -> String {
    levels.iter().map(|level| level.short()).collect::<Vec<_>>().join(between)
}
