//! Whether a known deviation would explain what is wrong. The statement is run once more on the view that it would give; if that is
//! what came, the violation is named by it. Scans that went on after a wait are not tried: there are too many ways.

use dialect::contract::Visibility;
use model::{
    Probe, ProbeResult, Reason, Violation,
    sql::StatementKind,
    verdict::{Cause, Deviations},
};

use super::{
    Conclusion, DecoupledConversation, PendingStatement, TableView, Time, VersionFilter, VisibleRow,
    views::same_view,
};
use crate::{
    decoupled::compare::{AnswerComparison, compare},
    mvcc::deviations::{DecoupledView, KnownDeviation},
};

impl DecoupledConversation<'_> {
    /// Something is wrong: is there something to try?
    pub(super) fn explain(
        &mut self,
        mut pending: PendingStatement,
        txn: usize,
        wrong: Box<Violation>,
    ) -> Result<Option<Box<Probe>>, Conclusion> {
        // Such an UPDATE may have judged half of what a waiting statement does.
        if self.judges_uncommitted(pending.step).is_some()
            && pending.views.iter().any(|(at, _)| self.half_done(*at, pending.step))
        {
            return Err(Conclusion::Undecided(Reason::HalfDoneStatement));
        }
        pending.explanations = self.explanations(&pending, txn);
        pending.wrong = Some(wrong);
        self.next_explanation(pending)
    }

    /// What came of trying.
    pub(super) fn explained(
        &mut self,
        mut pending: PendingStatement,
        result: ProbeResult,
    ) -> Result<Option<Box<Probe>>, Conclusion> {
        let same = match &result {
            ProbeResult::Ran { outcome: Some(outcome), .. } => {
                let (kind, came) = (self.history.steps[pending.step].kind(), self.outcome(pending.step));
                compare(kind, came, outcome, false) == AnswerComparison::Same
            }
            ProbeResult::Ran { .. } | ProbeResult::FixtureRefused { .. } | ProbeResult::NotRun(_) => false,
        };
        let tried = pending.explanations.remove(0).0;
        match (same, pending.wrong.take()) {
            (true, Some(mut wrong)) => {
                wrong.fingerprint.cause = Cause::Deviations(tried);
                Err(Conclusion::Violated(wrong))
            }
            (_, wrong) => {
                pending.wrong = wrong;
                self.next_explanation(pending)
            }
        }
    }

    fn next_explanation(&mut self, mut pending: PendingStatement) -> Result<Option<Box<Probe>>, Conclusion> {
        match (pending.explanations.first().cloned(), pending.wrong.take()) {
            (Some((_, views)), wrong) => {
                pending.wrong = wrong;
                self.again(pending, views)
            }
            (None, Some(wrong)) => Err(Conclusion::Violated(wrong)),
            (None, None) => Ok(None),
        }
    }

    /// The views that a known deviation would give, where they differ from the right ones.
    fn explanations(&self, pending: &PendingStatement, txn: usize) -> Vec<(Deviations, Vec<TableView>)> {
        if pending.roles.changes {
            return self.uncommitted(pending, txn);
        }
        let reads = pending.roles.tables.iter().all(|(_, sees)| *sees == [Visibility::Snapshot]);
        let (true, Some(scratch)) = (reads, self.scratch()) else {
            return Vec::new();
        };
        let view = |taken: Time, at: usize, noop: bool, key: bool| -> Vec<VisibleRow> {
            let chain = &self.chains[at];
            let until = VersionFilter::Committed(taken);
            let seen = if noop { chain.view_of_changes(txn, until) } else { chain.view(txn, until) };
            let mut seen = self.shadowed(txn, at, seen, !noop);
            if key {
                seen.extend(chain.left_behind(txn, taken, |data| scratch.key(at, data)));
            }
            seen
        };
        let noop = self.deviation(DecoupledView::WithoutNoops);
        let key = self.deviation(DecoupledView::WithOldKeys);
        let mut all: Vec<(Deviations, Vec<TableView>)> = Vec::new();
        let ways = [(vec![noop], true, false), (vec![key], false, true), (vec![noop, key], true, true)];
        let moments = &self.txns[txn].snapshot;
        for (taken, (by, without, old)) in
            moments.iter().flat_map(|taken| ways.iter().map(move |way| (taken, way)))
        {
            let by: Option<Vec<&str>> = by.iter().map(|one| Some((*one)?.name)).collect();
            let Some(by) = by else { continue };
            let views: Vec<TableView> =
                pending.views.iter().map(|(at, _)| (*at, view(*taken, *at, *without, *old))).collect();
            let new = |other: &[TableView]| !views.iter().zip(other).all(|((_, a), (_, b))| same_view(a, b));
            if new(&pending.views) && all.iter().all(|(_, other)| new(other)) {
                all.push((by.iter().map(|name| (*name).into()).collect(), views));
            }
        }
        all
    }

    /// Did an UPDATE that should have waited judge what others have not committed?
    pub(super) fn uncommitted(
        &self,
        pending: &PendingStatement,
        txn: usize,
    ) -> Vec<(Deviations, Vec<TableView>)> {
        let Some(deviation) = self.judges_uncommitted(pending.step) else { return Vec::new() };
        let newest = |at: usize| self.chains[at].view(txn, VersionFilter::Newest);
        let views: Vec<TableView> = pending.views.iter().map(|(at, _)| (*at, newest(*at))).collect();
        let new = !views.iter().zip(&pending.views).all(|((_, a), (_, b))| same_view(a, b));
        if new { vec![([deviation.name.into()].into(), views)] } else { Vec::new() }
    }

    /// The deviation of this server that gives such a view.
    fn deviation(&self, view: DecoupledView) -> Option<&'static KnownDeviation> {
        self.deviations.iter().copied().find(|deviation| deviation.decoupled_view == Some(view))
    }

    fn judges_uncommitted(&self, step: usize) -> Option<&'static KnownDeviation> {
        let deviation = self.deviation(DecoupledView::Uncommitted)?;
        let may = self.history.steps[step].is(StatementKind::Update)
            && deviation.levels.contains(&self.level(step));
        may.then_some(deviation)
    }
}
