//! Giving up in the middle of an installation: the user pressed Ctrl-C.
//!
//! An installation takes minutes and is in other programs' hands for most of them. Whoever waits there looks at one flag
//! again and again; when it is up, what was started is ended, everything half-done is removed on the way out, and the
//! error says that it was the user's wish.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::error::{ErrorKind, Result, ServerError};

/// How long nobody looks at the flag, at most.
pub const LOOK: Duration = Duration::from_millis(100);

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag: whoever puts it up, such as a signal handler, makes every installation of this process give up.
pub fn give_up_flag() -> Arc<AtomicBool> {
    ASKED.clone()
}

/// Shall we give up?
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// An error if we shall.
pub fn check() -> Result<()> {
    if asked() { Err(interrupted()) } else { Ok(()) }
}

/// Waits so long, unless we shall give up.
pub fn pause(time: Duration) -> Result<()> {
    let begin = Instant::now();
    loop {
        check()?;
        let left = time.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(LOOK));
    }
}

/// What is said then.
pub fn interrupted() -> ServerError {
    ServerError::new(ErrorKind::Interrupted, "interrupted").help("nothing half-done was left behind")
}
