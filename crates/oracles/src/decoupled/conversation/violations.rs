//! What is wrong, told with what it rests on.

use dialect::contract::Visibility;
use model::{
    Evidence, Fingerprint, Outcome, RowSet, RuleId, ShownBy, Symptom, Violation, sql::StatementKind,
    verdict::Cause, verdict::Response, verdict::evidence::Sighting, verdict::evidence::Table,
};

use super::{
    Conclusion, DecoupledConversation, NOBODY, PendingStatement, ScratchTables, VersionFilter, VisibleRow,
    determinism,
};
use crate::decoupled::compare::same_table;

impl DecoupledConversation<'_> {
    pub(super) fn final_state(&self) -> Option<Violation> {
        let scratch = self.scratch()?;
        for (name, read) in self.seen.trace.final_state.as_ref()? {
            let Some(at) = scratch.find(name) else { continue };
            let view = self.chains[at].view(NOBODY, VersionFilter::Committed(self.now));
            let rows: Vec<&[Option<Vec<u8>>]> = view.iter().map(|row| scratch.shown(at, &row.data)).collect();
            if same_table(&rows, read) {
                continue;
            }
            let fingerprint = Fingerprint {
                symptom: Symptom::WrongFinalState,
                cause: Cause::Alone { after_wait: self.changed_after_wait(at) },
                statement: ShownBy::FinalState,
                level: Some(self.seen.trace.level),
            };
            let table = |rows| Response::FinalState(Table { table: name.clone(), rows });
            let evidence = Evidence {
                rule: Some(RuleId::CommitLasts),
                expected: Some(table(shown(scratch, at, &view, read))),
                actual: Some(table(read.clone())),
                ..Evidence::default()
            };
            return Some(Violation { fingerprint, step: None, evidence: Box::new(evidence) });
        }
        None
    }

    /// Did a statement that waited change this table? It may have met rows before the wait that others changed during it.
    fn changed_after_wait(&self, table: usize) -> bool {
        let mut waited = (0..self.seen.case.steps.len()).filter(|step| self.seen.trace.waited(*step));
        waited.any(|step| {
            let roles = self.named(step);
            roles.is_some_and(|roles| roles.changes && roles.tables.iter().any(|(at, _)| *at == table))
        })
    }

    /// A step waits: is that certainly wrong?
    pub(super) fn waits(&self, step: usize) -> Option<Conclusion> {
        let roles = self.named(step)?;
        let (rule, nobody) = if roles.consistent {
            (RuleId::PlainReadTakesNoLocks, false)
        } else if determinism::told_not_to_wait(&self.history.steps[step]) && !roles.nested {
            (RuleId::AskedNotToWait, false)
        } else if !self.others(step, &roles.tables) {
            (RuleId::WaitNeedsBlocker, true)
        } else {
            return None;
        };
        Some(self.violated(Symptom::NeedlessWait, rule, step, |evidence| {
            evidence.expected = Some(Response::AnAnswer { nobody_in_the_way: nobody });
            evidence.actual = Some(Response::Wait);
            evidence.sighting = nobody.then_some(Sighting::NobodyElse);
        }))
    }

    /// Is another transaction open that named one of these tables, or was one since the step was sent?
    pub(super) fn others(&self, step: usize, tables: &[(usize, Vec<Visibility>)]) -> bool {
        let own = self.seen.case.steps[step].session;
        // Without autocommit a statement that failed leaves a transaction with its locks, and the server's answer does not say so.
        let sessions = &self.seen.case.sessions;
        if sessions.iter().enumerate().any(|(of, session)| of != own && !session.autocommit) {
            return true;
        }
        self.txns.iter().zip(&self.history.transactions).any(|(txn, of)| {
            (txn.open || txn.ended.is_some_and(|ended| ended >= self.sent[step]))
                && of.session != own
                && (tables.is_empty() || tables.iter().any(|(at, _)| txn.touched.contains(at)))
        })
    }

    fn fingerprint(&self, symptom: Symptom, cause: Cause, step: usize) -> Fingerprint {
        let statement = ShownBy::Statement(self.history.steps[step].kind());
        Fingerprint { symptom, cause, statement, level: Some(self.level(step)) }
    }

    /// What a step shows, with its text.
    fn evidence(&self, step: usize) -> Evidence {
        let session = &self.seen.case.sessions[self.seen.case.steps[step].session].name;
        Evidence { session: session.clone(), sql: self.text(step).to_string(), ..Evidence::default() }
    }

    /// A rule that is broken for certain.
    pub(super) fn violated(
        &self,
        symptom: Symptom,
        rule: RuleId,
        step: usize,
        tell: impl FnOnce(&mut Evidence),
    ) -> Conclusion {
        let mut evidence = Box::new(Evidence { rule: Some(rule), ..self.evidence(step) });
        tell(&mut evidence);
        let fingerprint = self.fingerprint(symptom, Cause::Rule(rule), step);
        Conclusion::Violated(Box::new(Violation { fingerprint, step: Some(step), evidence }))
    }

    pub(super) fn wrong(&self, pending: &PendingStatement, symptom: Symptom, should: &Outcome) -> Violation {
        let step = pending.step;
        let mut evidence = self.evidence(step);
        let constraint = should.error().and_then(|error| RuleId::kept_by(error.class));
        evidence.rule = constraint.or_else(|| {
            let rules = self.rules(step)?;
            let rule = match (pending.roles.changes, pending.roles.consistent) {
                (false, true) if self.single(step) => rules.single_read,
                (false, true) => rules.read,
                (false, false) if self.history.steps[step].is(StatementKind::Select) => rules.read,
                _ => rules.change,
            };
            Some(rule.id)
        });
        if let (Some(scratch), Some(setup)) = (self.scratch(), &self.known.rows) {
            evidence.views.extend(pending.views.iter().map(|(at, view)| Table {
                table: scratch.tables[*at].name.clone(),
                rows: shown(scratch, *at, view, &setup[*at]),
            }));
        }
        evidence.expected = Some(Response::Outcome(Box::new(should.clone())));
        evidence.actual = Some(Response::Outcome(Box::new(self.outcome(step).clone())));
        // A statement that waited may have judged rows before and after the wait.
        evidence.waited = self.seen.trace.waited(step);
        let cause = Cause::Alone { after_wait: evidence.waited };
        let fingerprint = self.fingerprint(symptom, cause, step);
        Violation { fingerprint, step: Some(step), evidence: Box::new(evidence) }
    }
}

/// A view as the server writes rows, in the columns of a table like this one.
fn shown(scratch: &ScratchTables, at: usize, view: &[VisibleRow], like: &RowSet) -> RowSet {
    let columns = view.first().map_or(like.columns().len(), |row| scratch.shown(at, &row.data).len());
    let mut rows = RowSet::new(like.columns().iter().take(columns).cloned().collect());
    for row in view {
        scratch.shown(at, &row.data).iter().for_each(|cell| rows.push(cell.as_deref()));
    }
    rows
}
