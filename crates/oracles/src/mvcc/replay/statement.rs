//! A statement on rows: what the contract allows it to answer, and whether that is what came.

use dialect::contract::{LevelRules, OnStaleWrite, Visibility};
use eval::Fault;
use model::{
    DbError, ErrorClass, Reason, Reply, RuleId, Symptom,
    sql::{Expr, InList, InsertModifier, Statement, Visit},
    verdict::Response,
};
use smallvec::{SmallVec, smallvec};

use super::{Explained, Hypotheses, Rejection, Replay, waits::no_wait, worse};
use crate::mvcc::{
    allowed_outcome::{AllowedOutcome, Expected},
    deviations::{Alternatives, Answered, KnownDeviation},
    hypothesis::{Hypothesis, Rows, Session, Waiting},
    statement_context::StatementContext,
};

/// MySQL's ER_DIVISION_BY_ZERO.
const DIVISION_BY_ZERO: u32 = 1365;

/// MySQL's ER_TRUNCATED_WRONG_VALUE and ER_TRUNCATED_WRONG_VALUE_FOR_FIELD.
const NO_NUMBER: [u32; 2] = [1292, 1366];

impl Replay<'_> {
    pub(super) fn statement(
        &self,
        mut hypothesis: Hypothesis,
        step: usize,
        tree: &Statement,
        waited: Option<Waiting>,
    ) -> Explained {
        let session = self.seen.case.steps[step].session;
        let reply = &self.seen.trace.outcomes[step].reply;
        // The statement may have been queued while its transaction was ended by another.
        self.start(&mut hypothesis, step, false);
        if let Reply::Error(error) = reply {
            if let Some(allowed) = self.concurrency(&mut hypothesis, step, error, waited.as_ref()) {
                return self.failed_by_others(hypothesis, step, error, allowed);
            }
            // What failed inside the server is the business of `crash`.
            if matches!(
                error.class,
                ErrorClass::Other | ErrorClass::Syntax | ErrorClass::Denied | ErrorClass::Internal
            ) {
                return Err(Rejection::Undecided(Reason::ServerRefuses));
            }
        }
        let outcomes =
            self.allowed_outcomes(&hypothesis, step, tree, waited.as_ref()).map_err(|fault| match fault {
                Fault::Unsure(why) => Rejection::Undecided(why),
                Fault::Error(_) => Rejection::Undecided(Reason::ErrorForetold),
            })?;
        let success = !matches!(reply, Reply::Error(_));
        let waited = waited.as_ref();
        let answered =
            Answered { replay: self, hypothesis: &hypothesis, step, statement: tree, waited, success };
        let (lasting_doubt, doubt) = self.unknown_rows(session, &answered);
        let parents = self.schema.tables.iter().any(|table| !table.parents.is_empty());
        let fits = |allowed: &&AllowedOutcome| {
            let due = success && !allowed.due.is_empty() && allowed.reply != Expected::Anything;
            !due && (allowed.fits(reply) || parents && allowed.fits_either(reply))
        };
        let fitting: SmallVec<[&AllowedOutcome; 4]> = outcomes.iter().filter(fits).collect();
        if fitting.is_empty() {
            let doubt = doubt.or_else(|| self.answered_row_by_row(&hypothesis, step, tree, waited));
            return Err(match doubt {
                Some(why) => Rejection::Undecided(why),
                None => self.no_outcome_fits(&hypothesis, step, tree, &outcomes),
            });
        }
        // What is wrong with an outcome that fits (it changes a locked row) comes before what is unknown.
        self.applied(hypothesis, step, &fitting, lasting_doubt)
    }

    /// A statement failed because of other transactions, or so the server says.
    fn failed_by_others(
        &self,
        mut hypothesis: Hypothesis,
        step: usize,
        error: &DbError,
        allowed: bool,
    ) -> Explained {
        if !allowed {
            return Err(Replay::mismatch(
                step,
                Symptom::NeedlessError,
                RuleId::ConflictNeedsAnother,
                Response::Success,
            ));
        }
        let session = self.seen.case.steps[step].session;
        // What could not even begin has taken no snapshot.
        if let Some(txn) = &mut hypothesis.sessions[session].txn
            && error.class == ErrorClass::Busy
            && txn.view_by == Some(step)
        {
            txn.view = None;
        }
        self.after(&mut hypothesis, step, Some(error), self.seen.trace.outcomes[step].transaction);
        Ok(smallvec![hypothesis])
    }

    /// The hypotheses that follow from one by each outcome that fits; there is at least one of these.
    fn applied(
        &self,
        hypothesis: Hypothesis,
        step: usize,
        fitting: &[&AllowedOutcome],
        lasting_doubt: Option<Reason>,
    ) -> Explained {
        let outcome = &self.seen.trace.outcomes[step];
        let success = outcome.error().is_none();
        let mut hypotheses = Hypotheses::new();
        let mut rejected = None;
        let mut hypothesis = Some(hypothesis);
        for (at, allowed) in fitting.iter().enumerate() {
            // The last one takes the hypothesis itself.
            let next = if at + 1 == fitting.len() { hypothesis.take() } else { hypothesis.clone() };
            let Some(mut next) = next else { break };
            match self.apply(&mut next, step, allowed, success) {
                Ok(()) => {
                    self.after(&mut next, step, outcome.error(), outcome.transaction);
                    next.doubtful = next.doubtful.or(lasting_doubt);
                    if !hypotheses.contains(&next) {
                        hypotheses.push(next);
                    }
                }
                Err(rejection) => rejected = worse(rejected, rejection),
            }
        }
        match rejected {
            Some(rejected) if hypotheses.is_empty() => Err(rejected),
            _ => Ok(hypotheses),
        }
    }

    /// What is wrong with an answer that is none of those allowed.
    fn no_outcome_fits(
        &self,
        hypothesis: &Hypothesis,
        step: usize,
        tree: &Statement,
        outcomes: &[AllowedOutcome],
    ) -> Rejection {
        let session = self.seen.case.steps[step].session;
        let reply = &self.seen.trace.outcomes[step].reply;
        let due = outcomes.iter().find_map(|allowed| allowed.due.first());
        if let (Some(due), false) = (due, matches!(reply, Reply::Error(_))) {
            let is = |state: &Session| state.txn.as_ref().is_some_and(|txn| txn.id == *due);
            let other = hypothesis.sessions.iter().position(is);
            return Replay::missing(step, RuleId::ChangedIsWaitedFor, Response::Wait, other);
        }
        let Some(rules) = self.rules(session) else {
            return Rejection::Undecided(Reason::NoContractAtThisLevel);
        };
        let expected = outcomes.first().map(|allowed| &allowed.reply);
        let symptom = match (reply, expected) {
            (Reply::Error(_), _) => Symptom::NeedlessError,
            (_, Some(Expected::Error(_))) => Symptom::MissingError,
            (Reply::Rows(_), _) => Symptom::WrongRows,
            // It changed as many as it should, and says that it found others: nobody sees that in the rows.
            (Reply::Done { affected, .. }, Some(Expected::Done(counts, _))) if counts.contains(affected) => {
                Symptom::WrongMatch
            }
            _ => Symptom::WrongCount,
        };
        // A conflict that was not seen breaks the rule that it is refused.
        let refused = |expected: &Expected| match (expected, rules.stale.is) {
            (Expected::Error(class), OnStaleWrite::Refused(stale)) => *class == stale,
            _ => false,
        };
        if symptom == Symptom::MissingError && expected.is_some_and(refused) {
            let expected = expected.map_or(Response::Anything, |expected| expected.response(reply));
            return Replay::mismatch(step, symptom, rules.stale.id, expected);
        }
        let expected = expected.map_or(Response::Anything, |expected| expected.response(reply));
        let lasts = hypothesis.sessions[session].txn.as_ref().is_some_and(|txn| txn.lasts);
        Replay::mismatch(step, symptom, seen_by(rules, tree, lasts), expected)
    }

    /// A query behind IN may be answered anew for each row of a scan: before a wait for some rows, and after it for others.
    fn answered_row_by_row(
        &self,
        hypothesis: &Hypothesis,
        step: usize,
        tree: &Statement,
        waited: Option<&Waiting>,
    ) -> Option<Reason> {
        let since = waited?.clock;
        let session = self.seen.case.steps[step].session;
        let free = self.rules(session).is_some_and(|rules| !rules.ranges.is);
        let scans = matches!(tree, Statement::Update(_) | Statement::Delete(_) | Statement::Query(_));
        let inside = self.footprints[step].read_inside;
        let me = hypothesis.sessions[session].txn.as_ref().map_or(u32::MAX, |txn| txn.id);
        let changed = |(table, rows): (usize, &Rows)| {
            inside & (1 << table.min(63)) != 0 && rows.iter().any(|chain| chain.changed_at(me) > since)
        };
        let two_views = free && scans && hypothesis.tables.iter().enumerate().any(changed);
        (two_views && asks_in(tree)).then_some(Reason::TwoViews)
    }

    /// Why deviations leave open which rows a statement met: for good, and at all.
    fn unknown_rows(&self, session: usize, answered: &Answered<'_>) -> (Option<Reason>, Option<Reason>) {
        let hooks = self.tried(session).filter_map(|deviation| deviation.unknown_rows.as_ref());
        hooks.fold((None, None), |(lasting, any), unknown| {
            let why = (unknown.why)(answered);
            (lasting.or(why.filter(|_| unknown.lasts)), any.or(why))
        })
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
        let tree = self.seen.case.tree(step)?;
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
        let footprint = &self.footprints[step];
        let Some(txn) = &hypothesis.sessions[session].txn else { return false };
        let rules = self.rules(session);
        // Where one writes at a time the snapshot is of the whole database, and only a write finds it too old.
        let whole = rules.is_some_and(|rules| rules.change.is == Visibility::Snapshot);
        if whole && matches!(self.seen.case.tree(step), Some(Statement::Query(_))) {
            return false;
        }
        let changed_since = |view: u32| {
            let newer = |(table, rows): (usize, &Rows)| {
                (whole || footprint.tables & (1 << table) != 0)
                    && rows.iter().any(|chain| chain.touched_at(txn.id) > view)
            };
            hypothesis.tables.iter().enumerate().any(newer) || whole && self.wrote_in_vain(hypothesis, step)
        };
        let promised = OnStaleWrite::Refused(ErrorClass::WriteConflict);
        if rules.is_some_and(|rules| rules.stale.is == promised) {
            // A query inside a statement that waited has taken the snapshot.
            let inner = waited.filter(|_| footprint.inner).map(|waited| waited.clock);
            if txn.view.or(inner).is_some_and(changed_since) {
                return true;
            }
        }
        let refuses = |deviation: &&'static KnownDeviation| {
            let since =
                waited.zip(deviation.conflict_since).and_then(|(waited, since)| since(footprint, waited));
            let beside_open = deviation.conflict_with_open.is_some_and(|fails| fails(footprint, txn));
            since.is_some_and(changed_since) || beside_open && self.changed_beside(hypothesis, step)
        };
        let deviation = self.tried(session).find(refuses);
        hypothesis.used.extend(deviation.map(|deviation| (deviation, step)));
        deviation.is_some()
    }

    /// Did another become a deadlock's victim in the round in which a step answered?
    fn beside_victim(&self, step: usize) -> bool {
        let trace = &self.seen.trace;
        let victim = |other: &usize| {
            let error = trace.outcomes[*other].error();
            *other != step && error.is_some_and(|error| error.class == ErrorClass::Deadlock)
        };
        let round = trace.rounds.iter().find(|round| round.answered.contains(&step));
        round.is_some_and(|round| round.answered.iter().any(victim))
    }

    /// Has another an open change in the tables of a step, or waits with one?
    fn changed_beside(&self, hypothesis: &Hypothesis, step: usize) -> bool {
        let session = self.seen.case.steps[step].session;
        let tables = self.footprints[step].tables;
        let changes = |(other, state): (usize, &Session)| {
            let Some(txn) = state.txn.as_ref().filter(|_| other != session) else { return false };
            let waits = state.waiting.as_ref().and_then(|waiting| self.seen.case.tree(waiting.step));
            let half_done = waits.is_some_and(|tree| !matches!(tree, Statement::Query(_)));
            txn.undo.iter().any(|(table, _)| tables & (1 << table) != 0)
                || half_done && txn.touched & tables != 0
        };
        hypothesis.sessions.iter().enumerate().any(changes)
    }

    /// Has another session written what it then undid, what failed, or no row? The database may have been written to all the same: a DELETE
    /// of all rows of an empty table writes to it.
    fn wrote_in_vain(&self, hypothesis: &Hypothesis, step: usize) -> bool {
        let session = self.seen.case.steps[step].session;
        let in_vain = |other: usize| {
            let answered = self.seen.trace.answered_in(other).is_some();
            let outcome = &self.seen.trace.outcomes[other];
            let without_a_row = matches!(outcome.reply, Reply::Done { affected: 0, .. });
            let failed = outcome.error().is_some_and(|error| error.class != ErrorClass::Busy);
            let changes = matches!(
                self.seen.case.tree(other),
                Some(Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_))
            );
            answered && changes && (failed || without_a_row)
        };
        let others = (0..step).filter(|other| self.seen.case.steps[*other].session != session);
        hypothesis.undone != 0 || others.into_iter().any(in_vain)
    }

    /// What the contract and the deviations that are tried allow a statement to answer.
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
        let deviations: SmallVec<[&'static KnownDeviation; 16]> = self.tried(session).collect();
        let context = StatementContext {
            schema: self.schema,
            evaluator: self.evaluator(),
            rules,
            read_inside: self.footprints[step].read_inside,
            beside_victim: self.beside_victim(step),
            busy: self.contract.busy,
            case: &self.seen.case,
            hypothesis,
            session,
            me: txn.map_or(u32::MAX, |txn| txn.id),
            view: txn.and_then(|txn| txn.view),
            lasts: txn.is_some_and(|txn| txn.lasts),
            step,
            tries_reported: self.tries_reported,
            deviations: &deviations,
            assumed: None,
            path: self.path.filter(|(of, _)| *of == step).map(|(_, path)| path),
            waited,
            inner_at: None,
            replace_may_reinsert: self.replace_may_reinsert,
        };
        let mut all = context.outcomes(tree)?;
        // A query inside may have been answered before the wait, or before a commit of others during it: no manual says that a statement is
        // evaluated when it gets its last lock.
        if let Some(waited) = waited.filter(|_| self.footprints[step].inner) {
            for at in waited.clock..hypothesis.clock {
                let Ok(more) = (StatementContext { inner_at: Some(at), ..context }).outcomes(tree) else {
                    continue;
                };
                all.extend(more);
            }
        }
        // The later a deviation was found, the less it explains: where two explain the same, that one gives it its name.
        for &deviation in deviations.iter().rev() {
            if let Some(alternatives) = deviation.alternatives {
                let more = alternatives(&Alternatives {
                    deviation,
                    context: &context,
                    statement: tree,
                    known: &all,
                })?;
                all.extend(more.into_iter().map(|allowed| AllowedOutcome { by: Some(deviation), ..allowed }));
            }
        }
        // What this server does not do, or not at this level, explains nothing.
        all.retain(|allowed| allowed.by.is_none_or(|by| deviations.contains(&by)));
        Ok(all)
    }
}

/// The rule by which a statement sees what it sees; `lasts`: it is in a transaction that goes on after it.
fn seen_by(rules: &LevelRules, tree: &Statement, lasts: bool) -> RuleId {
    match tree {
        Statement::Query(query) if query.locks.is_empty() && lasts => rules.read.id,
        Statement::Query(query) if query.locks.is_empty() => rules.single_read.id,
        _ => rules.change.id,
    }
}

/// Is a query behind IN in it?
fn asks_in(tree: &Statement) -> bool {
    struct Found(bool);
    impl Visit<'_> for Found {
        fn expr(&mut self, expr: &Expr) {
            self.0 |= matches!(expr, Expr::In { list: InList::Query(_), .. });
        }
    }
    let mut found = Found(false);
    tree.visit(&mut found);
    found.0
}

/// Is it to go on after errors?
fn ignores(tree: &Statement) -> bool {
    match tree {
        Statement::Update(update) => update.modifier == Some(InsertModifier::Ignore),
        Statement::Insert(insert) => insert.modifier == Some(InsertModifier::Ignore),
        _ => false,
    }
}
