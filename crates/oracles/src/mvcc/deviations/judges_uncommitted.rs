//! An UPDATE at READ UNCOMMITTED judges what another has not committed, and passes the row by.

use eval::Fault;
use model::{Level::ReadUncommitted, Reason, sql::Statement};

use super::{
    super::{
        allowed_outcome::AllowedOutcome,
        hypothesis::{Session, Waiting},
        twins::reorder,
    },
    AffectedServers, Alternatives, Answered, ContestedRow, DecoupledView, KnownDeviation, ModelChange,
    NO_HOOKS, Report, Status, UnknownRows, VendorAnswer,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "judges-uncommitted",
    status: Status::Reported,
    source: "MDEV-39874",
    reports: &[Report { number: "MDEV-39874", answer: VendorAnswer::Confirmed }],
    affects: AffectedServers { refuses_stale_writes: Some(true), ..AffectedServers::ALL },
    levels: &[ReadUncommitted],
    alternatives: Some(alternatives),
    unknown_rows: Some(UnknownRows { why: may_judge_half_done_work, lasts: true }),
    decoupled_view: Some(DecoupledView::Uncommitted),
    twin: Some(reorder::behind_the_others),
    ..NO_HOOKS
};

static JUDGES_NEWEST: ModelChange = ModelChange { passes_by: Some(passes_by), ..ModelChange::NONE };

fn alternatives(statement: &Alternatives<'_, '_>) -> Result<Vec<AllowedOutcome>, Fault> {
    statement.new_with(&JUDGES_NEWEST)
}

/// The other's open version does not match, or stands elsewhere.
fn passes_by(row: &ContestedRow<'_>) -> bool {
    let moved = match (row.committed, row.newest, row.key) {
        (Some(old), Some(new), Some(key)) => key.iter().any(|&at| old[at] != new[at]),
        _ => false,
    };
    !row.newest_matches || moved
}

/// May what it judged have been a change that was half done? Who had half done it may have become the victim of a deadlock since.
fn may_judge_half_done_work(answered: &Answered<'_>) -> Option<Reason> {
    let replay = answered.replay;
    let session = replay.seen.case.steps[answered.step].session;
    let beside = |waited: &Waiting| waited.beside & replay.footprints[answered.step].tables != 0;
    let waits_with_a_change = |(other, state): (usize, &Session)| {
        let waits = state.waiting.as_ref().and_then(|waiting| replay.seen.case.tree(waiting.step));
        other != session && waits.is_some_and(|tree| !matches!(tree, Statement::Query(_)))
    };
    let mut sessions = answered.hypothesis.sessions.iter().enumerate();
    let half_done = answered.success
        && matches!(answered.statement, Statement::Update(_))
        && (answered.waited.is_some_and(beside) || sessions.any(waits_with_a_change));
    half_done.then_some(Reason::JudgesHalfDoneWork)
}
