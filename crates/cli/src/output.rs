//! Standard output. Whoever reads it may leave early (`isopod corpus list | head`): then Isopod ends as after Ctrl-C,
//! without a word. Where it cannot be written for another reason (a full disk), that is said, once.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    fmt,
    io::{ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use model::Level;
pub use report::findings::plural;

use crate::interrupt;

/// As `println!`, without a panic when nobody reads any more.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

static FAILED: AtomicBool = AtomicBool::new(false);

/// Writes a line; colours only where they can be shown.
pub fn line(text: fmt::Arguments<'_>) {
    let Err(error) = writeln!(anstream::stdout(), "{text}") else { return };
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
pub fn show<T: serde::Serialize>(json: bool, value: &T, show: impl FnOnce(&T)) -> anyhow::Result<()> {
    match json {
        true => line(format_args!("{}", serde_json::to_string_pretty(value)?)),
        false => show(value),
    }
    Ok(())
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
