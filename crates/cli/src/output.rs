//! Standard output. Whoever reads it may leave early (`isopod corpus list | head`): then Isopod ends as after Ctrl-C,
//! without a word. Where it cannot be written for another reason (a full disk), that is said, once.

use std::{
    fmt,
    io::{ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering},
};

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

/// `1 case`, `2 cases`
pub fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
