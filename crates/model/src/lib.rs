//! The nouns of Isopod: plain data that the rooms hand to each other.
//!
//! A [`Case`] says what to run, a [`Trace`] says what happened, and everything in between is made of
//! values, outcomes, levels and targets. Nothing here does I/O, reads a clock or draws a random number
//! on its own; everything can be written to a file and read back.

pub mod account;
pub mod aftermath;
pub mod case;
pub mod casefile;
pub mod expect;
pub mod finding;
pub mod hash;
pub mod level;
mod named;
pub mod outcome;
pub mod overrides;
pub mod probe;
pub mod procfs;
pub mod regression;
pub mod rows;
pub mod run;
pub mod schema;
pub mod seed;
pub mod shell;
pub mod signature;
pub mod sql;
pub mod sync;
pub mod target;
pub mod trace;
pub mod types;
pub mod url;
pub mod value;
pub mod verdict;

pub use account::Account;
pub use aftermath::{Aftermath, IndexScan};
pub use case::{Case, FinalState, KnownFailure, SessionSpec, Setup, Step};
pub use expect::{Expectation, Expected, Selector};
pub use finding::{Condition, Finding, FindingGroup, Fresh, FreshReplay};
pub use hash::{Hash64, hash64};
pub use level::Level;
pub use outcome::{DbError, Ends, ErrorClass, Open, Outcome, Reply, Warning};
pub use overrides::JudgeOverrides;
pub use probe::{Probe, ProbeResult, TableFixture};
pub use rows::RowSet;
pub use run::{Chance, Ending, Quality, RunSummary, Tally, TargetSummary, Verdicts};
pub use seed::{Rng, Seed};
pub use signature::Signature;
pub use target::{Place, Product, ServerInfo, Target, Version};
pub use trace::{Round, RoundCause, Trace, Wait};
pub use types::SqlType;
pub use url::{Endpoint, Secret, Url};
pub use value::{Kind, Value};
pub use verdict::{DeviationId, Evidence, Fingerprint, Reason, RuleId, ShownBy, Symptom, Verdict, Violation};
