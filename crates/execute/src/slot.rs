//! One session of a case while it runs: its connection, what it has outstanding, and what is queued behind that.

use std::collections::VecDeque;

use model::{Level, Open};

use crate::seams::{Session, SessionId};

/// What a session has been asked and has not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outstanding {
    /// A step of the case.
    Step(usize),
    /// Our own ROLLBACK at the end.
    Rollback,
}

/// A session of the case at hand.
pub struct Slot {
    /// The connection; none after it was lost.
    pub session: Option<Box<dyn Session>>,
    /// The server's number of it.
    pub id: SessionId,
    /// What it has not answered.
    pub outstanding: Option<Outstanding>,
    /// Was the outstanding statement proven to wait?
    pub waits: bool,
    /// Steps that wait for the session itself, in submitted order.
    pub queue: VecDeque<usize>,
    /// Does it have an open transaction?
    pub open: Open,
    /// The level it was last set to and that was read back.
    pub level: Option<Level>,
    pub autocommit: bool,
    /// Did a step change session state that no case after it may see?
    pub dirty: bool,
}

impl Slot {
    /// A fresh connection.
    pub fn new(session: Box<dyn Session>) -> Slot {
        Slot {
            id: session.id(),
            session: Some(session),
            outstanding: None,
            waits: false,
            queue: VecDeque::new(),
            open: Open::No,
            level: None,
            autocommit: true,
            dirty: false,
        }
    }

    /// Forgets what a step changed in the session. A reset, where it can be trusted, keeps the connection and its thread; where
    /// that cannot be had, a new one is opened for the next case.
    pub fn clean(&mut self, resets: bool) {
        if !self.dirty {
            return;
        }
        if resets && self.session.as_mut().is_some_and(|session| session.reset()) {
            (self.dirty, self.level, self.autocommit) = (false, None, true);
        } else {
            self.session = None;
        }
    }

    /// Free to take a statement?
    pub fn idle(&self) -> bool {
        self.session.is_some() && self.outstanding.is_none()
    }
}
