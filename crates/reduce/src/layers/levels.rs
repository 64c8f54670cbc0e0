//! Makes sessions alike: the same level for all, autocommit for all.

use crate::view::{Candidate, View};

/// With one level for all sessions, or for one session that of another; with autocommit on.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let sessions = &view.case.sessions;
    let mut levels: Vec<_> = sessions.iter().map(|session| session.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut found = Vec::new();
    if levels.len() > 1 {
        for level in &levels {
            let mut case = view.case.clone();
            case.sessions.iter_mut().for_each(|session| session.level = *level);
            found.push(Candidate { operation: "one level", case });
        }
    }
    if levels.len() > 2 {
        for (at, session) in sessions.iter().enumerate() {
            for level in levels.iter().filter(|level| **level != session.level) {
                let mut case = view.case.clone();
                case.sessions[at].level = *level;
                found.push(Candidate { operation: "one level", case });
            }
        }
    }
    for session in (0..sessions.len()).filter(|at| !sessions[*at].autocommit) {
        let mut case = view.case.clone();
        case.sessions[session].autocommit = true;
        found.push(Candidate { operation: "autocommit", case });
    }
    found
}
