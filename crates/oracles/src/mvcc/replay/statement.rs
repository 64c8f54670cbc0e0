//! A statement on rows: what the contract allows it to answer, and whether that is what came.

use dialect::contract::{Concession, Visibility, manual::always};
use eval::Fault;
use model::{
    DbError, ErrorClass, Reason, Reply,
    sql::{InsertModifier, InsertSource, Statement},
};
use smallvec::{SmallVec, smallvec};

use super::{Explained, HALF_JUDGED, Hypotheses, Rejection, Replay, waits::no_wait, worse};
use crate::mvcc::{
    allowed_outcome::{AllowedOutcome, Expected},
    hypothesis::{Hypothesis, Rows, Session, Waiting},
    statement_context::{Moved, StatementContext},
};

/// MySQL's ER_DIVISION_BY_ZERO.
const DIVISION_BY_ZERO: u32 = 1365;

/// MySQL's ER_TRUNCATED_WRONG_VALUE and ER_TRUNCATED_WRONG_VALUE_FOR_FIELD.
const NO_NUMBER: [u32; 2] = [1292, 1366];

impl Replay<'_> {
    /// A statement on rows.
    pub(super) fn statement(
        &self,
        mut hypothesis: Hypothesis,
        step: usize,
        tree: &Statement,
        waited: Option<Waiting>,
    ) -> Explained {
        let session = self.seen.case.steps[step].session;
        let outcome = &self.seen.trace.outcomes[step];
        let reply = &outcome.reply;
        // The statement may have been queued while its transaction was ended by another.
        self.start(&mut hypothesis, step, false);
        let lasts = hypothesis.sessions[session].txn.as_ref().is_some_and(|txn| txn.lasts);
        if let Reply::Error(error) = reply
            && let Some(allowed) = self.concurrency(&mut hypothesis, step, error, waited.as_ref())
        {
            if !allowed {
                return Err(self.broken(
                    step,
                    "needless-error",
                    "an error of concurrency needs another transaction",
                    "an answer".into(),
                ));
            }
            // What could not even begin has taken no snapshot.
            if let Some(txn) = &mut hypothesis.sessions[session].txn
                && error.class == ErrorClass::Busy
                && txn.view_by == Some(step)
            {
                txn.view = None;
            }
            self.after(&mut hypothesis, step, Some(error), outcome.transaction);
            return Ok(smallvec![hypothesis]);
        }
        if let Reply::Error(error) = reply
            // What failed inside the server is the business of `crash`.
            && matches!(
                error.class,
                ErrorClass::Other | ErrorClass::Syntax | ErrorClass::Denied | ErrorClass::Internal
            )
        {
            return Err(Rejection::Undecided(Reason::ServerRefuses));
        }
        let all =
            self.allowed_outcomes(&hypothesis, step, tree, waited.as_ref()).map_err(|fault| match fault {
                Fault::Unsure(why) => Rejection::Undecided(why),
                Fault::Error(_) => Rejection::Undecided(Reason::ErrorForetold),
            })?;
        let success = !matches!(reply, Reply::Error(_));
        let mut hypotheses = Hypotheses::new();
        let mut rejected = None;
        let parents = self.schema.tables.iter().any(|table| !table.parents.is_empty());
        let fits = |allowed: &&AllowedOutcome| {
            let due = success && !allowed.due.is_empty() && allowed.reply != Expected::Anything;
            !due && (allowed.fits(reply) || parents && allowed.fits_either(reply))
        };
        let fitting: SmallVec<[&AllowedOutcome; 4]> = all.iter().filter(fits).collect();
        let half_judged = success && self.judges_half_done(&hypothesis, step, tree, waited.as_ref());
        let mut hypothesis = Some(hypothesis);
        for (at, allowed) in fitting.iter().enumerate() {
            // The last one takes the hypothesis itself.
            let next = if at + 1 == fitting.len() { hypothesis.take() } else { hypothesis.clone() };
            let Some(mut next) = next else { break };
            match self.apply(&mut next, step, allowed, success) {
                Ok(()) => {
                    let error = outcome.error();
                    self.after(&mut next, step, error, outcome.transaction);
                    next.doubtful |= self.lenient && half_judged;
                    if !hypotheses.contains(&next) {
                        hypotheses.push(next);
                    }
                }
                Err(rejection) => rejected = worse(rejected, rejection),
            }
        }
        if !hypotheses.is_empty() {
            return Ok(hypotheses);
        }
        if let Some(rejected) = rejected {
            return Err(rejected);
        }
        if let Some(why) = waited.as_ref().filter(|_| self.lenient).and_then(|of| self.untold(step, of)) {
            return Err(Rejection::Undecided(why));
        }
        if self.lenient && half_judged {
            return Err(Rejection::Undecided(HALF_JUDGED));
        }
        let due = all.iter().find_map(|allowed| allowed.due.first());
        if let (Some(due), true) = (due, success) {
            let is = |state: &Session| state.txn.as_ref().is_some_and(|txn| txn.id == *due);
            return Err(self.missing(
                step,
                always::CHANGED_IS_WAITED_FOR,
                "a wait".into(),
                hypothesis.and_then(|hypothesis| hypothesis.sessions.iter().position(is)),
            ));
        }
        let expected = all.first().map_or_else(String::new, |allowed| allowed.reply.to_string());
        let kind = match (reply, all.first().map(|allowed| &allowed.reply)) {
            (Reply::Error(_), _) => "needless-error",
            (_, Some(Expected::Error(_))) => "missing-error",
            (Reply::Rows(_), _) => "wrong-rows",
            // It changed as many as it should, and says that it found others: nobody sees that in the rows.
            (Reply::Done { affected, .. }, Some(Expected::Done(counts, _))) if counts.contains(affected) => {
                "wrong-match"
            }
            _ => "wrong-count",
        };
        Err(self.broken(step, kind, self.seen_by(session, tree, lasts), expected))
    }

    /// Where an UPDATE judges what others have not committed: may that have been a change that was half done?
    /// Who had half done it may have become the victim of a deadlock since.
    fn judges_half_done(
        &self,
        hypothesis: &Hypothesis,
        step: usize,
        tree: &Statement,
        waited: Option<&Waiting>,
    ) -> bool {
        let session = self.seen.case.steps[step].session;
        let changes = |(other, state): (usize, &Session)| {
            let waits = state.waiting.as_ref().and_then(|waiting| self.trees[waiting.step].as_deref());
            other != session && waits.is_some_and(|tree| !matches!(tree, Statement::Query(_)))
        };
        matches!(tree, Statement::Update(_))
            && self.concedes(Concession::JudgesUncommitted, session)
            && (waited.is_some_and(|waited| waited.beside & self.footprints[step].tables != 0)
                || hypothesis.sessions.iter().enumerate().any(changes))
    }

    /// Why it cannot be told what a scan that waited has met: only one cut is tried, in the order of one index. What does not
    /// scan, and what no scan explains at this level, is told all the same.
    fn untold(&self, step: usize, waited: &Waiting) -> Option<Reason> {
        let session = self.seen.case.steps[step].session;
        let scans = !matches!(
            self.trees[step].as_deref(),
            Some(Statement::Insert(insert)) if matches!(insert.source, InsertSource::Values { .. })
        );
        if !scans || !self.concedes(Concession::MovedAcrossScan, session) {
            return None;
        }
        let parted =
            self.footprints[step].target.is_some_and(|table| self.schema.tables[table].partitions.is_some());
        match (waited.ends > 1, parted) {
            (true, _) => Some(Reason::WaitedMoreThanOnce),
            (false, true) => Some(Reason::PartitionedScan),
            (false, false) => None,
        }
    }

    /// The rule by which a statement sees what it sees; `lasts`: it is in a transaction that goes on after it.
    fn seen_by(&self, session: usize, tree: &Statement, lasts: bool) -> &'static str {
        let Some(rules) = self.rules(session) else { return "" };
        match tree {
            Statement::Query(query) if query.locks.is_empty() && lasts => rules.read.source,
            Statement::Query(query) if query.locks.is_empty() => rules.single_read.source,
            _ => rules.change.source,
        }
    }

    /// If it is an error of concurrency: is it allowed here?
    pub(super) fn concurrency(
        &self,
        hypothesis: &mut Hypothesis,
        step: usize,
        error: &DbError,
        waited: Option<&Waiting>,
    ) -> Option<bool> {
        let session = self.seen.case.steps[step].session;
        let tree = self.trees[step].as_deref()?;
        let others = hypothesis.others(session, u64::MAX).next().is_some();
        match error.class {
            // A circle has at least one other who waits.
            ErrorClass::Deadlock => {
                let waits = |(of, state): (usize, &Session)| of != session && state.waiting.is_some();
                let may = self.seen.trace.waited(step) || hypothesis.sessions.iter().enumerate().any(waits);
                // Of several in one round the later circle need not be there any more.
                let victims = self.seen.trace.answered_in(step).map_or(0, |round| {
                    let victim = |step: &&usize| {
                        let error = self.seen.trace.outcomes[**step].error();
                        error.is_some_and(|error| error.class == ErrorClass::Deadlock)
                    };
                    round.answered.iter().filter(victim).count()
                });
                Some(others && may && (victims > 1 || self.circle(hypothesis, session, step)))
            }
            ErrorClass::LockTimeout => match tree {
                Statement::Query(query) if no_wait(query) => None,
                _ => Some(others && self.seen.trace.waited(step)),
            },
            ErrorClass::Busy => Some(others || hypothesis.clock > 0),
            ErrorClass::Interrupted => Some(true),
            // In strict mode a division by zero is an error of a statement that changes rows, if the scan comes to it.
            // So is text that is no number where one is wanted.
            ErrorClass::Runtime | ErrorClass::Range
                if error.code == DIVISION_BY_ZERO || NO_NUMBER.contains(&error.code) =>
            {
                (!matches!(tree, Statement::Query(_))).then_some(true)
            }
            // Not every version ignores the errors of foreign keys.
            ErrorClass::Constraint
                if ignores(tree) && !self.schema.tables.iter().all(|t| t.parents.is_empty()) =>
            {
                Some(true)
            }
            ErrorClass::ReadOnly => {
                let txn = hypothesis.sessions[session].txn.as_ref();
                Some(txn.is_some_and(|txn| txn.read_only))
            }
            ErrorClass::WriteConflict => Some(self.stale(hypothesis, step, waited)),
            ErrorClass::SerializationFailure
            | ErrorClass::DuplicateKey
            | ErrorClass::Constraint
            | ErrorClass::Range
            | ErrorClass::Syntax
            | ErrorClass::Runtime
            | ErrorClass::TableChanged
            | ErrorClass::GoneAway
            | ErrorClass::Denied
            | ErrorClass::Internal
            | ErrorClass::Other => None,
        }
    }

    /// May a statement be refused because something has changed since the snapshot?
    pub(super) fn stale(&self, hypothesis: &mut Hypothesis, step: usize, waited: Option<&Waiting>) -> bool {
        let session = self.seen.case.steps[step].session;
        let reach = &self.footprints[step];
        let Some(txn) = &hypothesis.sessions[session].txn else { return false };
        let refused = self.rules(session).is_some_and(|rules| {
            rules.stale.is == dialect::contract::OnStaleWrite::Refused(ErrorClass::WriteConflict)
        });
        let view = match (refused, waited) {
            // A query inside a statement that waited has taken the snapshot.
            (true, Some(waited)) if reach.inner => txn.view.or(Some(waited.clock)),
            (true, _) => txn.view,
            // As found: a query inside takes a snapshot of its own, below the levels for which this is promised.
            (false, Some(waited)) if self.lenient && reach.inner => {
                let by = Concession::ConflictByInnerRead;
                self.concedes(by, session).then_some(waited.clock)
            }
            (false, _) => None,
        };
        let Some(view) = view else { return false };
        let newer = |(table, rows): (usize, &Rows)| {
            reach.tables & (1 << table) != 0 && rows.iter().any(|chain| chain.touched_at(txn.id) > view)
        };
        let stale = hypothesis.tables.iter().enumerate().any(newer);
        if stale && !refused {
            hypothesis.used.push((Concession::ConflictByInnerRead, step));
        }
        stale
    }

    pub(super) fn allowed_outcomes(
        &self,
        hypothesis: &Hypothesis,
        step: usize,
        tree: &Statement,
        waited: Option<&Waiting>,
    ) -> Result<Vec<AllowedOutcome>, Fault> {
        let session = self.seen.case.steps[step].session;
        let rules = self.rules(session).ok_or(Fault::Unsure(Reason::NoContractAtThisLevel))?;
        let txn = hypothesis.sessions[session].txn.as_ref();
        let tried = self.concessions.iter().copied().filter(|_| self.lenient);
        let conceded: SmallVec<[Concession; Concession::ALL.len()]> =
            tried.filter(|by| self.concedes(*by, session)).collect();
        let context = StatementContext {
            schema: self.schema,
            compute: self.compute(),
            rules,
            trees: self.trees,
            hypothesis,
            session,
            me: txn.map_or(u32::MAX, |txn| txn.id),
            view: txn.and_then(|txn| txn.view),
            lasts: txn.is_some_and(|txn| txn.lasts),
            step,
            lenient: self.lenient,
            conceded: &conceded,
            path: self.path.filter(|(of, _)| *of == step).map(|(_, path)| path),
            waited,
            inner: &hypothesis.tables,
            moved: Moved::New,
            judges_open: false,
            overlooks: false,
            blanks: false,
            anew: self.anew,
        };
        let once = |context: &StatementContext<'_>| match tree {
            Statement::Query(query) => context.query(query),
            Statement::Insert(insert) => context.insert(insert),
            Statement::Update(update) => context.update(update),
            Statement::Delete(delete) => context.delete(delete),
            _ => Err(Fault::Unsure(Reason::StatementNotModelled)),
        };
        let mut all = once(&context)?;
        // A query inside may have been answered before the wait.
        if let Some(waited) = waited
            && self.footprints[step].inner
            && matches!(rules.source_read.is, Visibility::Fresh | Visibility::Newest)
            && let Ok(more) = once(&context.reading(&waited.tables))
        {
            all.extend(more);
        }
        let reads = matches!(tree, Statement::Query(_));
        let tried = [
            (Concession::JudgesUncommitted, true, StatementContext { judges_open: true, ..context }),
            (Concession::ForeignKeyBesideNull, !reads, StatementContext { overlooks: true, ..context }),
            (Concession::VirtualReadAsNull, reads, StatementContext { blanks: true, ..context }),
        ];
        for (by, may, context) in tried {
            if may && conceded.contains(&by) {
                let new = |one: &AllowedOutcome| {
                    all.iter().all(|known| {
                        (&known.effects, &known.reply, &known.due) != (&one.effects, &one.reply, &one.due)
                    })
                };
                let more: Vec<AllowedOutcome> = once(&context)?.into_iter().filter(new).collect();
                all.extend(more.into_iter().map(|allowed| AllowedOutcome { by: Some(by), ..allowed }));
            }
        }
        if self.lenient && (0..self.schema.tables.len()).any(|table| !context.left_behind(table).is_empty()) {
            let by = Some(Concession::KeyChangeKeepsOldRow);
            for moved in [Moved::Both, Moved::Old] {
                let more = once(&StatementContext { moved, ..context })?;
                all.extend(more.into_iter().map(|allowed| AllowedOutcome { by, ..allowed }));
            }
        }
        // What this server does not do, or not at this level, explains nothing.
        all.retain(|allowed| allowed.by.is_none_or(|by| self.concedes(by, session)));
        Ok(all)
    }
}

/// Is it to go on after errors?
fn ignores(tree: &Statement) -> bool {
    match tree {
        Statement::Update(update) => update.modifier == Some(InsertModifier::Ignore),
        Statement::Insert(insert) => insert.modifier == Some(InsertModifier::Ignore),
        _ => false,
    }
}
