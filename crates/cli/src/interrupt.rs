//! Ctrl-C: the first ends after the case at hand, with everything that was found, or gives up an installation and
//! removes what it has made so far; the second ends at once.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Begins to listen. Whoever runs many cases calls this once and then looks at [`asked`].
pub fn listen() {
    let asked = ASKED.get_or_init(provision::give_up_flag);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The order matters: the first line ends the process if the flag is up already, the second puts it up.
        let ends = signal_hook::flag::register_conditional_shutdown(signal, 130, asked.clone());
        let notes = signal_hook::flag::register(signal, asked.clone());
        debug_assert!(ends.is_ok() && notes.is_ok());
    }
}

/// Stops as if the user had asked for it.
pub fn ask() {
    ASKED.get_or_init(provision::give_up_flag).store(true, Ordering::Relaxed);
}

/// Did the user ask to stop?
pub fn asked() -> bool {
    ASKED.get().is_some_and(|asked| asked.load(Ordering::Relaxed))
}
