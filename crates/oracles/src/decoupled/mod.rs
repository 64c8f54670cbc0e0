//! Troc's oracle: each statement of a case is run once more by itself, outside its transaction, on tables that hold exactly what
//! the contract lets it see; whatever differs from the answer in the case is wrong.
//!
//! ```text
//! T1: BEGIN
//! T1: SELECT * FROM t          alone on (1, 10) (2, 20): the same rows came
//! T2: UPDATE t SET b = 11 WHERE a = 1      alone on (1, 10) (2, 20): 1 row; it changes row 1
//! T1: SELECT * FROM t          at REPEATABLE READ alone on (1, 10) (2, 20), at READ COMMITTED on (1, 11) (2, 20)
//! ```
//!
//! What the statement did to its rows is read off the tables and put into version chains ([`version_chains`]); from these the next views
//! are made. No expression is evaluated here, so it works for statements that nothing else of ours understands. The statements
//! take effect in the order in which the trace shows them ([`step_order`]).
//!
//! Three kinds of violations, after Troc: `inconsistent-blocking`, only where a wait is certainly wrong (a plain read
//! without locks, a statement that was told not to wait, a wait for nobody); `incorrect-query-result`; and
//! `incorrect-final-state`. Ways in which an engine is known to leave its contract are not looked for: whoever asks decides by step and
//! kind whether one explains it.

mod compare;
mod conversation;
mod determinism;
mod early_savepoint;
mod scratch;
mod step_order;
mod table_roles;
mod version_chains;

use std::sync::{Arc, Mutex};

use dialect::{Execution, ParsedSetup};
use model::{Reason, RowSet, ServerInfo, Verdict, Version, sync::lock};

use crate::{Ask, Conversation, Oracle, OracleInfo};
use conversation::DecoupledConversation;
use scratch::ScratchTables;

/// At most this many setups are cached.
const SETUPS: usize = 8;

/// A setup that was read, and the rows that it makes, once they were seen.
#[derive(Clone, Debug)]
struct CachedSetup {
    setup: Arc<ParsedSetup>,
    version: Version,
    scratch: Arc<Result<ScratchTables, Reason>>,
    rows: Option<Arc<Vec<RowSet>>>,
}

#[derive(Debug, Default)]
pub struct Decoupled {
    setups: Arc<Mutex<Vec<CachedSetup>>>,
}

impl Oracle for Decoupled {
    fn info(&self) -> OracleInfo {
        OracleInfo {
            name: "decoupled",
            needs_contract: true,
            needs_server: true,
            default: false,
            help: "each statement once more, alone, on tables that hold what the contract lets it see",
        }
    }

    fn open<'a>(&self, seen: &'a Execution) -> Box<dyn Conversation + 'a> {
        let known = SetupCache(self.setups.clone()).of(&seen.trace.server, &seen.case.parsed_setup);
        match DecoupledConversation::new(seen, known, SetupCache(self.setups.clone())) {
            Ok(talk) => Box::new(talk),
            Err(reason) => Box::new(UndecidedConversation(reason)),
        }
    }
}

/// Nothing more is to be said than that it cannot be told.
struct UndecidedConversation(Reason);

impl Conversation for UndecidedConversation {
    fn next(&mut self, _: &[Execution]) -> Ask {
        Ask::Done(Verdict::Undecided { reason: self.0 })
    }
}

/// The setups that were read before.
#[derive(Clone)]
struct SetupCache(Arc<Mutex<Vec<CachedSetup>>>);

impl SetupCache {
    fn of(&self, server: &ServerInfo, setup: &Arc<ParsedSetup>) -> CachedSetup {
        let mut all = lock(&self.0);
        let same = |known: &&CachedSetup| {
            known.version == server.version && (Arc::ptr_eq(&known.setup, setup) || known.setup == *setup)
        };
        if let Some(known) = all.iter().find(same) {
            return known.clone();
        }
        let known = CachedSetup {
            setup: setup.clone(),
            version: server.version.clone(),
            scratch: Arc::new(ScratchTables::read(server, setup)),
            rows: None,
        };
        if all.len() >= SETUPS {
            all.remove(0);
        }
        all.push(known.clone());
        known
    }

    /// Remembers the rows that a setup makes.
    fn keep(&self, of: &CachedSetup, rows: &Arc<Vec<RowSet>>) {
        let mut all = lock(&self.0);
        let same = |known: &&mut CachedSetup| Arc::ptr_eq(&known.scratch, &of.scratch);
        if let Some(known) = all.iter_mut().find(same) {
            known.rows = Some(rows.clone());
        }
    }
}
