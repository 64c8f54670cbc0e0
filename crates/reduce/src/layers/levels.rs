//! Makes sessions alike: the same level for all, autocommit for all.

use model::{
    Step,
    sql::{Begin, Statement, StatementKind},
};

use crate::{
    edit::without_steps,
    view::{Candidate, View},
};

/// With one level for all sessions, or for one session that of another; with autocommit on, as it is, without what ends its
/// transactions, or with a BEGIN.
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
        let mut on = view.case.clone();
        on.sessions[session].autocommit = true;
        let own = |at: usize| view.case.steps[at].session == session;
        let ends = |at: usize| {
            let kind = view.step(at).map(|tree| tree.kind());
            own(at) && kind.is_some_and(StatementKind::ends_transaction)
        };
        let without = without_steps(&on, ends);
        let mut begun = on.clone();
        if let Some(first) = (0..on.steps.len()).find(|at| own(*at)) {
            let sql = view.print(&Statement::Begin(Begin::plain()));
            begun.steps.insert(first, Step { session, sql, expect: Vec::new() });
        }
        found.extend([on, without, begun].map(|case| Candidate { operation: "autocommit", case }));
    }
    found
}
