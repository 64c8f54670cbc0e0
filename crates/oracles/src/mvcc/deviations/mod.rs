//! Known deviations: the named ways in which an engine is known to leave its strict rules, one file each.
//!
//! A deviation explains a cause, not a symptom: its file says what must have happened for it to apply, and the model checks that
//! before it uses it. To add one, write its file and name it twice below: as a module and in the registry of its engine. The file holds
//!
//! - who says so (`name`, `status`, `source`) and where it exists (`exists`, `levels`);
//! - what it changes in the model: one or more of the hooks of [`KnownDeviation`];
//! - its twin: the same case without what the deviation needs (`super::twins`).
//!
//! | hook | what it lets happen |
//! |---|---|
//! | `alternatives` | a statement answers as if the model were changed (a [`ModelChange`]): other visible rows, an ignored foreign key |
//! | `instead` | an outcome that the strict rules allow comes with other rows or other effects |
//! | `resumed_scan` | a scan that waited goes on from where it stood (`super::resumed_scan`) |
//! | `conflict_since`, `conflict_with_open` | a statement is refused with a write conflict: one that waited, one beside open changes |
//! | `misses_conflict` | a statement is not refused with a write conflict |
//! | `rollback_to` | going back to a savepoint leaves something else of the transaction |
//! | `unknown_rows` | which rows a statement met cannot be told, so nothing is called wrong |

mod affected_servers;
mod changed_during_wait;
mod conflict_by_inner_read;
mod conflict_in_statement_view;
mod conflict_with_uncommitted;
mod covered_read_without_conflict;
mod duplicate_after_rollback;
mod early_savepoint_ends_all;
mod foreign_key_beside_null;
mod gone_row_by_index;
mod impossible_condition;
mod judges_uncommitted;
mod key_change_keeps_old_row;
pub mod lookup;
mod model_change;
mod moved_across_scan;
mod noop_without_version;
mod semi_consistent_skip;
mod serializable_without_view;
mod skipped_before_wait;
mod unique_search_misses;
mod virtual_read_as_null;

use std::{cmp::Ordering, fmt};

use dialect::contract::{Contract, Engine};
use eval::Fault;
use model::{Level, Reason, ServerInfo, sql::Statement};

use self::affected_servers::AffectedServers;
pub use self::{
    impossible_condition::DEVIATION as IMPOSSIBLE_CONDITION,
    model_change::{Assumed, ContestedRow, ModelChange, RowsMet},
    semi_consistent_skip::DEVIATION as SEMI_CONSISTENT_SKIP,
};
use super::{
    allowed_outcome::AllowedOutcome,
    hypothesis::{Hypothesis, Savepoint, Txn, Waiting},
    replay::Replay,
    statement_context::StatementContext,
    table_footprint::TableFootprint,
    twins::{TwinDraft, Why},
};

/// InnoDB's, in the order in which a fingerprint names them.
const INNODB: &[&KnownDeviation] = &[
    &semi_consistent_skip::DEVIATION,
    &skipped_before_wait::DEVIATION,
    &changed_during_wait::DEVIATION,
    &moved_across_scan::DEVIATION,
    &unique_search_misses::DEVIATION,
    &noop_without_version::DEVIATION,
    &key_change_keeps_old_row::DEVIATION,
    &duplicate_after_rollback::DEVIATION,
    &judges_uncommitted::DEVIATION,
    &conflict_by_inner_read::DEVIATION,
    &foreign_key_beside_null::DEVIATION,
    &virtual_read_as_null::DEVIATION,
    &early_savepoint_ends_all::DEVIATION,
    &impossible_condition::DEVIATION,
    &serializable_without_view::DEVIATION,
    &gone_row_by_index::DEVIATION,
    &covered_read_without_conflict::DEVIATION,
    &conflict_with_uncommitted::DEVIATION,
    &conflict_in_statement_view::DEVIATION,
];

/// Those of the reference engine.
const REFERENCE: &[&KnownDeviation] = &[&semi_consistent_skip::DEVIATION];

const SQLITE: &[&KnownDeviation] = &[];

fn registry(engine: Engine) -> &'static [&'static KnownDeviation] {
    match engine {
        Engine::InnoDb => INNODB,
        Engine::Reference => REFERENCE,
        Engine::Sqlite => SQLITE,
    }
}

/// All of every engine, each once.
pub fn all() -> impl Iterator<Item = &'static KnownDeviation> {
    // The reference engine has no deviation that is not InnoDB's.
    INNODB.iter().chain(SQLITE).copied()
}

/// The deviation of this name.
pub fn find(name: &str) -> Option<&'static KnownDeviation> {
    all().find(|deviation| deviation.name == name)
}

/// Those that exist on a server.
pub fn existing(server: &ServerInfo, contract: &Contract) -> Vec<&'static KnownDeviation> {
    let registry = registry(contract.engine).iter().copied();
    registry.filter(|deviation| deviation.affects.on(server, contract)).collect()
}

/// Who says that an engine deviates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The manual: what it explains holds.
    Documented,
    /// A bug report, open or declined: what it explains is a violation, and known.
    Reported,
    /// Found by us and in no tracker that we know of: what it explains is a violation, and new; its name says which one.
    Found,
    /// Measured, uniform, promised nowhere: listed apart.
    Observed,
}

/// A report in a tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// As people cite it: `MDEV-34106`, `MySQL#114952`.
    pub number: &'static str,
    pub answer: VendorAnswer,
}

/// What the vendor says to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VendorAnswer {
    /// Nothing that we know of.
    Reported,
    /// It is a bug.
    Confirmed,
    /// It was repaired, in this release first.
    FixedIn(&'static str),
    /// It is no bug.
    Rejected,
}

/// A report without an answer that we know of.
const fn reported(number: &'static str) -> Report {
    Report { number, answer: VendorAnswer::Reported }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.answer {
            VendorAnswer::Rejected => write!(f, "{} (rejected by the vendor)", self.number),
            VendorAnswer::Reported | VendorAnswer::Confirmed | VendorAnswer::FixedIn(_) => {
                f.write_str(self.number)
            }
        }
    }
}

type AlternativesHook = fn(&Alternatives<'_, '_>) -> Result<Vec<AllowedOutcome>, Fault>;
type InsteadHook = fn(&StatementContext<'_>, &AllowedOutcome, &[usize]) -> Vec<AllowedOutcome>;
type TwinHook = fn(&mut TwinDraft<'_>, usize) -> Result<(), Why>;

/// A known deviation. Two are the same if they are the same static.
pub struct KnownDeviation {
    /// In kebab-case. It is the deviation's id in findings, so it never changes.
    pub name: &'static str,
    pub status: Status,
    /// The manual's section, the numbers of the reports, or where it was found.
    pub source: &'static str,
    /// What became of each report.
    pub reports: &'static [Report],
    /// The servers that have it.
    pub affects: AffectedServers,
    /// The levels at which a statement may need it.
    pub levels: &'static [Level],
    /// What else it lets a statement answer, beside the outcomes that are known already.
    pub alternatives: Option<AlternativesHook>,
    /// What may come instead of one outcome of a statement on these tables.
    pub instead: Option<InsteadHook>,
    /// How the rows of a scan that went on after a wait differ from those of one state.
    pub resumed_scan: Option<ScanDifference>,
    /// The commit since which a change makes a statement that waited fail with a write conflict.
    pub conflict_since: Option<fn(&TableFootprint, &Waiting) -> Option<u32>>,
    /// Does a change that another has not committed make a statement of this transaction fail with a write conflict?
    pub conflict_with_open: Option<fn(&TableFootprint, &Txn) -> bool>,
    /// The rows newer than the snapshot that a statement comes to without a write conflict.
    pub misses_conflict: Option<MissedConflict>,
    /// What ROLLBACK TO a savepoint leaves of a transaction, where it is not what it should be.
    pub rollback_to: Option<fn(&Savepoint, &Txn) -> Option<Txn>>,
    /// Why it cannot be told which rows a statement met.
    pub unknown_rows: Option<UnknownRows>,
    /// The view that it gives the decoupled run.
    pub decoupled_view: Option<DecoupledView>,
    /// Does a statement meet it with nobody else there? Then the decoupled run meets it, too, and sees nothing wrong.
    pub alone: bool,
    /// Makes the case its twin, in which the statement of a step cannot meet this deviation.
    pub twin: Option<TwinHook>,
}

/// One without any hook, for the rest of another: `..NO_HOOKS`.
const NO_HOOKS: KnownDeviation = KnownDeviation {
    name: "",
    status: Status::Observed,
    source: "",
    reports: &[],
    affects: AffectedServers::ALL,
    levels: &Level::ALL,
    alternatives: None,
    instead: None,
    resumed_scan: None,
    conflict_since: None,
    conflict_with_open: None,
    misses_conflict: None,
    rollback_to: None,
    unknown_rows: None,
    decoupled_view: None,
    alone: false,
    twin: None,
};

/// How what a resumed scan finds differs from one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanDifference {
    /// A row that it passed by before the wait matches after it.
    Skipped,
    /// A row behind it was changed while it waited.
    Changed,
    /// A row moved across the place at which it waited.
    Moved,
    /// The same, where it searched for one value of a unique key.
    MovedInUniqueSearch,
}

/// The rows newer than the snapshot that are not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedConflict {
    /// All of them.
    All,
    /// Those that do not match any more, where the table has a secondary index.
    GoneRow,
    /// Those of which a shared read reads no more than a secondary index holds.
    CoveredRead,
}

/// How the decoupled run makes up the view that a deviation gives. It has version chains of its own, so it knows a deviation only by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoupledView {
    /// A snapshot read does not see own updates that set what was there.
    WithoutNoops,
    /// A snapshot read also sees rows under the keys that others have changed.
    WithOldKeys,
    /// An UPDATE sees what is not committed.
    Uncommitted,
}

/// A reason for which the rows that a statement met are not known.
pub struct UnknownRows {
    pub why: fn(&Answered<'_>) -> Option<Reason>,
    /// Is what follows from an outcome that fits in doubt, too?
    pub lasts: bool,
}

/// A statement that has answered.
pub struct Answered<'r> {
    pub replay: &'r Replay<'r>,
    pub hypothesis: &'r Hypothesis,
    pub step: usize,
    pub statement: &'r Statement,
    pub waited: Option<&'r Waiting>,
    /// Without an error?
    pub success: bool,
}

/// A statement for which a deviation is asked what else it may answer.
pub struct Alternatives<'s, 'a> {
    pub deviation: &'static KnownDeviation,
    pub context: &'s StatementContext<'a>,
    pub statement: &'s Statement,
    /// The outcomes that are known so far.
    pub known: &'s [AllowedOutcome],
}

impl Alternatives<'_, '_> {
    /// What the statement may answer with the model changed.
    pub fn with(&self, change: &'static ModelChange) -> Result<Vec<AllowedOutcome>, Fault> {
        let assumed = Some(Assumed { deviation: self.deviation, change });
        StatementContext { assumed, ..*self.context }.outcomes(self.statement)
    }

    /// As [`Alternatives::with`], without the outcomes that are known already.
    pub fn new_with(&self, change: &'static ModelChange) -> Result<Vec<AllowedOutcome>, Fault> {
        let mut all = self.with(change)?;
        all.retain(|one| {
            let same = |known: &AllowedOutcome| {
                (&known.effects, &known.reply, &known.due) == (&one.effects, &one.reply, &one.due)
            };
            !self.known.iter().any(same)
        });
        Ok(all)
    }

    /// Is the statement a SELECT?
    pub fn reads(&self) -> bool {
        matches!(self.statement, Statement::Query(_))
    }
}

impl KnownDeviation {
    /// Is it part of what the model expects from the first, and not tried only where the strict rules fail?
    pub fn always_tried(&self) -> bool {
        matches!(self.status, Status::Documented | Status::Observed)
    }

    /// Does it leave open which rows a statement has met?
    pub fn leaves_rows_open(&self) -> bool {
        self.resumed_scan.is_some() || self.unknown_rows.is_some()
    }

    fn rank(&self) -> usize {
        all().position(|other| other == self).unwrap_or(usize::MAX)
    }
}

impl PartialEq for KnownDeviation {
    fn eq(&self, other: &KnownDeviation) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for KnownDeviation {}

/// In the order of the registry.
impl Ord for KnownDeviation {
    fn cmp(&self, other: &KnownDeviation) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for KnownDeviation {
    fn partial_cmp(&self, other: &KnownDeviation) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for KnownDeviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dialect::contract::contract;

    use super::*;

    /// The names of those that exist on a server.
    pub fn names_on(target: &str) -> Vec<&'static str> {
        let server = notation::server(target);
        let contract = contract(&server).unwrap();
        existing(&server, &contract).iter().map(|deviation| deviation.name).collect()
    }

    #[test]
    fn names_are_ids() {
        let names: BTreeSet<&str> = all().map(|deviation| deviation.name).collect();
        assert_eq!(names.len(), all().count(), "two have the same name");
        for deviation in all() {
            let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(deviation.name.chars().all(kebab) && !deviation.name.is_empty());
            assert_eq!(find(deviation.name), Some(deviation));
            assert!(!deviation.source.is_empty() && !deviation.levels.is_empty(), "{deviation:?}");
        }
        let everywhere = [INNODB, REFERENCE, SQLITE].concat();
        assert!(everywhere.iter().all(|deviation| find(deviation.name).is_some()));
    }

    #[test]
    fn what_is_reported_has_its_reports() {
        for deviation in all() {
            let numbers: Vec<&str> = deviation.reports.iter().map(|report| report.number).collect();
            assert_eq!(deviation.status == Status::Reported, !numbers.is_empty(), "{deviation:?}");
            assert!(numbers.is_empty() || numbers.join(", ") == deviation.source, "{deviation:?}");
        }
    }

    #[test]
    fn what_is_a_bug_has_a_twin() {
        for deviation in all().filter(|deviation| deviation.status != Status::Observed) {
            assert!(deviation.twin.is_some(), "{deviation:?}");
        }
    }

    #[test]
    fn snapshot_isolation_takes_some_away_and_brings_others() {
        let off = names_on("mariadb@10.11.19");
        let on = names_on("mariadb@10.11.19?innodb_snapshot_isolation=ON");
        for name in ["noop-without-version", "key-change-keeps-old-row", "skipped-before-wait"] {
            assert!(off.contains(&name) && !on.contains(&name), "{name}");
        }
        for name in ["judges-uncommitted", "conflict-by-inner-read"] {
            assert!(!off.contains(&name) && on.contains(&name), "{name}");
        }
        // The default since 11.6.2.
        assert_eq!(on, names_on("mariadb@11.8.6"));
    }
}
