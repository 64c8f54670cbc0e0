//! From a statement to the probe that is run for it, and from what was shown to what is said of it.

use dialect::{ReplaceMethod, contract::Visibility, sql::Schema};
use model::{
    ErrorClass, Outcome, Probe, ProbeResult, Reason, Reply, RowSet, RuleId, Symptom, sql::StatementKind,
    verdict::Response, verdict::evidence::Sighting,
};

use super::{
    Conclusion, DecoupledConversation, FirstQuery, MARK, MARKED, PLAIN, PendingStatement, TableRoles,
    TableView, VersionFilter, VisibleRow, WAYS, determinism, views::same_view,
};
use crate::decoupled::compare::{AnswerComparison, compare};

impl DecoupledConversation<'_> {
    /// A statement that reads or changes rows.
    pub(super) fn data(&mut self, step: usize, txn: usize) -> Result<Option<Box<Probe>>, Conclusion> {
        let Some(roles) = self.named(step) else {
            return Err(Conclusion::Undecided(Reason::NoContractAtThisLevel));
        };
        if let Some(accepted) = self.accepted(step, &roles)? {
            if accepted {
                // A query inside may have looked before the statement gave up, and the transaction goes on.
                if self.outcome(step).error().is_some_and(|error| error.class == ErrorClass::LockTimeout) {
                    self.take_snapshot(step, txn, &roles);
                }
                self.close(step, txn)?;
            }
            return Ok(None);
        }
        self.take_snapshot(step, txn, &roles);
        match self.probe(step, txn, roles) {
            Ok(probe) => Ok(Some(probe)),
            Err((reason, changes)) => {
                self.not_judged(reason, changes)?;
                self.close(step, txn)?;
                Ok(None)
            }
        }
    }

    /// Notes that a statement could not be judged; if it changes rows, nothing after it can be either.
    pub(super) fn not_judged(&mut self, reason: Reason, changes: bool) -> Result<(), Conclusion> {
        self.undecided.get_or_insert(reason);
        if changes { Err(Conclusion::Undecided(reason)) } else { Ok(()) }
    }

    /// Answers that are not judged: errors of conflicts, which need another open transaction. None: it is to be judged.
    pub(super) fn accepted(&self, step: usize, roles: &TableRoles) -> Result<Option<bool>, Conclusion> {
        let class = match &self.outcome(step).reply {
            Reply::Rows(_) | Reply::Done { .. } => return Ok(None),
            Reply::Error(error) => error.class,
            Reply::Killed | Reply::RolledBack => return Ok(Some(true)),
            Reply::NotSent | Reply::ConnectionLost | Reply::ServerDied | Reply::Hung => {
                return Ok(Some(false));
            }
        };
        match class {
            ErrorClass::Deadlock | ErrorClass::LockTimeout => {
                if !self.others(step, &roles.tables) {
                    let (symptom, rule) = (Symptom::NeedlessError, RuleId::ConflictNeedsAnother);
                    return Err(self.violated(symptom, rule, step, |evidence| {
                        evidence.expected = Some(Response::AnAnswer { nobody_in_the_way: true });
                        evidence.actual = Some(Response::Error(class));
                        evidence.sighting = Some(Sighting::NobodyElse);
                    }));
                }
                Ok(Some(true))
            }
            ErrorClass::SerializationFailure
            | ErrorClass::WriteConflict
            | ErrorClass::Busy
            | ErrorClass::ReadOnly
            | ErrorClass::TableChanged
            | ErrorClass::Interrupted
            | ErrorClass::GoneAway
            | ErrorClass::Denied
            | ErrorClass::Internal => Ok(Some(true)),
            ErrorClass::DuplicateKey
            | ErrorClass::Constraint
            | ErrorClass::Range
            | ErrorClass::Syntax
            | ErrorClass::Runtime
            | ErrorClass::Other => Ok(None),
        }
    }

    /// What is to be run for a step; the reason why not, and whether the step changes rows.
    pub(super) fn probe(
        &mut self,
        step: usize,
        txn: usize,
        roles: TableRoles,
    ) -> Result<Box<Probe>, (Reason, bool)> {
        let changes = roles.changes;
        let not = |reason: Reason| (reason, changes);
        let step_info = &self.history.steps[step];
        let rows = match &self.outcome(step).reply {
            Reply::Rows(rows) => Some(rows.len()),
            _ => None,
        };
        if let Some(why) = determinism::fickle(step_info, self.text(step), self.schema(), rows) {
            return Err(not(why));
        }
        // A row that an error was ignored for was not written, one that is set to what it is was; nobody says which is which, nor which
        // of several rows got a unique value first.
        let passed = match self.outcome(step).reply {
            Reply::Done { affected, matched } => matched.is_none_or(|matched| affected < matched),
            _ => false,
        };
        if passed && determinism::updates_ignoring(step_info) {
            return Err(not(Reason::IgnoredRows));
        }
        let Some(scratch) = self.scratch() else { return Err(not(Reason::SetupNotRead)) };
        if step_info.is(StatementKind::Insert)
            && roles.tables.iter().any(|(at, _)| scratch.tables[*at].counts)
        {
            return Err(not(Reason::Counter));
        }
        // MySQL replaces such a row or refuses to, by what it has looked up of the foreign key before.
        if determinism::replaces(step_info)
            && roles.tables.iter().any(|(at, _)| scratch.tables[*at].group == 0)
        {
            return Err(not(Reason::ReplaceOfAParent));
        }
        // Without a key of its own a row that is replaced may stay where it is, or be made anew: measured both ways.
        let keyless = |schema: &Schema| {
            dialect::of(schema.product).semantics.replaces == ReplaceMethod::InPlaceByKey
                && roles.tables.iter().any(|(at, _)| !schema.tables[*at].has_solid_key())
        };
        if determinism::replaces(step_info) && self.schema().is_some_and(keyless) {
            return Err(not(Reason::ReplaceWithoutAKey));
        }
        // A row with a mark differs from the same row without one, which REPLACE would leave as it is.
        let number = match () {
            () if !changes || determinism::replaces(step_info) => PLAIN,
            () if scratch.invisible || !determinism::meets_added_column(step_info) => MARKED,
            () if determinism::only_adds(step_info) => PLAIN,
            () => return Err(not(Reason::NoInvisibleColumn)),
        };
        let (mut others, mut open): (Vec<Vec<TableView>>, _) = (vec![Vec::new()], None);
        // Where gaps are not locked, a query inside may have been answered before the wait.
        let before_the_wait =
            self.seen.trace.waited(step) && self.rules(step).is_some_and(|rules| !rules.ranges.is);
        for (at, sees) in &roles.tables {
            let mut different: Vec<Vec<VisibleRow>> = Vec::new();
            if before_the_wait && roles.inside.contains(at) {
                different.push(self.chains[*at].view(txn, VersionFilter::Committed(self.sent[step])));
            }
            for one in sees {
                let (views, why) = self.views(step, txn, *at, *one);
                open = open.or(why);
                for view in views {
                    if !different.iter().any(|other| same_view(other, &view)) {
                        different.push(view);
                    }
                }
            }
            if different.len() > 1 && *sees != [Visibility::Snapshot] {
                open = open.or(Some(Reason::TwoViews));
            }
            let longer = |views: &Vec<TableView>, view: &Vec<VisibleRow>| {
                let mut views = views.clone();
                views.push((*at, view.clone()));
                views
            };
            others =
                different.iter().flat_map(|view| others.iter().map(|views| longer(views, view))).collect();
        }
        // What a statement changes must be known; what it reads may be tried.
        if changes && (others.len() > 1 || open.is_some()) {
            return Err(not(open.unwrap_or(Reason::SnapshotWhen)));
        }
        if others.len() > WAYS {
            return Err(not(open.unwrap_or(Reason::SnapshotWhen)));
        }
        others.reverse();
        let Some(views) = others.pop() else { return Err(not(Reason::NoView)) };
        let tables = views
            .iter()
            .map(|(at, view)| scratch.fixture(*at, view, number))
            .collect::<Result<Vec<_>, _>>()
            .map_err(not)?;
        // Rows that match and do not change are known by the query only.
        let unchanged = matches!(&self.outcome(step).reply,
            Reply::Done { affected, matched: Some(matched) } if matched > affected);
        let product = self.seen.trace.server.product;
        let matching = (unchanged && number == MARKED)
            .then(|| determinism::matching(product, step_info, MARK))
            .flatten();
        let explain = dialect::of(product).explain.map(|explain| format!("{explain} {}", self.text(step)));
        let unsure =
            roles.consistent && !self.txns[txn].sure && self.txns[txn].snapshot.last() == Some(&self.now);
        let (first_query, why) = match (matching, explain) {
            (Some(query), _) => (Some(query), FirstQuery::Matching),
            (None, Some(explain)) if unsure => (Some(explain), FirstQuery::Looks),
            (None, _) => (None, FirstQuery::No),
        };
        let probe = Probe {
            schema: number,
            build: scratch.build[number].clone(),
            prelude: self.prelude.clone(),
            tables,
            first_query,
            sql: Some(self.text(step).to_string()),
            changes,
        };
        self.pending = Some(PendingStatement {
            step,
            roles,
            views,
            schema: number,
            first_query: why,
            others,
            open,
            wrong: None,
            explanations: Vec::new(),
        });
        Ok(Box::new(probe))
    }

    /// The same statement on the next view that it may have had.
    fn another(&mut self, mut pending: PendingStatement) -> Result<Option<Box<Probe>>, Conclusion> {
        let Some(views) = pending.others.pop() else { return Ok(None) };
        self.again(pending, views)
    }

    /// The same query on other views.
    pub(super) fn again(
        &mut self,
        mut pending: PendingStatement,
        views: Vec<TableView>,
    ) -> Result<Option<Box<Probe>>, Conclusion> {
        let undecided = Conclusion::Undecided;
        let Some(scratch) = self.scratch() else { return Ok(None) };
        let tables = views
            .iter()
            .map(|(at, view)| scratch.fixture(*at, view, pending.schema))
            .collect::<Result<Vec<_>, _>>()
            .map_err(undecided)?;
        let probe = Probe {
            schema: pending.schema,
            build: scratch.build[pending.schema].clone(),
            prelude: self.prelude.clone(),
            tables,
            first_query: None,
            sql: Some(self.text(pending.step).to_string()),
            changes: pending.roles.changes,
        };
        pending.views = views;
        pending.first_query = FirstQuery::No;
        self.pending = Some(pending);
        Ok(Some(Box::new(probe)))
    }

    /// A statement was run. Gives what is to be run next, if another view may explain what came.
    pub(super) fn judge_probe(
        &mut self,
        pending: PendingStatement,
        result: ProbeResult,
    ) -> Result<Option<Box<Probe>>, Conclusion> {
        let (step, changes) = (pending.step, pending.roles.changes);
        let Some(txn) = self.history.steps[step].transaction else { return Ok(None) };
        if pending.wrong.is_some() {
            return self.explained(pending, result);
        }
        let (first_query, outcome, tables) = match result {
            ProbeResult::Ran { first_query, outcome: Some(outcome), tables } => {
                (first_query, outcome, tables)
            }
            ProbeResult::Ran { .. } => return Err(Conclusion::Undecided(Reason::NotProbed)),
            ProbeResult::NotRun(reason) => return Err(Conclusion::Undecided(reason)),
            ProbeResult::FixtureRefused { error, .. } => {
                let reason = match error.class {
                    ErrorClass::DuplicateKey => Reason::ViewBreaksKey,
                    ErrorClass::Constraint => Reason::ViewBreaksConstraint,
                    _ => Reason::ViewNotFilled,
                };
                if !pending.others.is_empty() {
                    return self.another(pending);
                }
                self.not_judged(pending.open.unwrap_or(reason), changes)?;
                self.close(step, txn)?;
                return Ok(None);
            }
        };
        if let (FirstQuery::Looks, Some(plan)) = (pending.first_query, &first_query) {
            match looks(plan) {
                Some(true) => self.txns[txn].sure = true,
                Some(false) => {
                    self.txns[txn].snapshot.pop();
                }
                None => {}
            }
        }
        let part =
            determinism::skips_locked(&self.history.steps[step]) && self.others(step, &pending.roles.tables);
        match compare(self.history.steps[step].kind(), self.outcome(step), &outcome, part) {
            // It counts as many rows as it should, and may have met others.
            AnswerComparison::Same if changes && !self.uncommitted(&pending, txn).is_empty() => {
                return Err(Conclusion::Undecided(Reason::JudgesUncommitted));
            }
            AnswerComparison::Same => {
                if let Some(why) = pending.open.filter(|why| !self.uncertain.contains(why)) {
                    self.uncertain.push(why);
                }
            }
            AnswerComparison::Unsure(_) | AnswerComparison::Differ(_) if !pending.others.is_empty() => {
                return self.another(pending);
            }
            AnswerComparison::Unsure(reason) => self.not_judged(pending.open.unwrap_or(reason), changes)?,
            AnswerComparison::Differ(_) if let Some(open) = pending.open => self.not_judged(open, changes)?,
            // Whether the parent of a row is looked for that is then not inserted depends on the path.
            AnswerComparison::Differ(_)
                if determinism::upserts(&self.history.steps[step])
                    && lacks_parent(self.outcome(step), &outcome) =>
            {
                self.not_judged(Reason::UpsertWithoutAParent, changes)?
            }
            AnswerComparison::Differ(what) => {
                let wrong = Box::new(self.wrong(&pending, what, &outcome));
                return self.explain(pending, txn, wrong);
            }
        }
        if changes && self.outcome(step).error().is_none() {
            self.effects(&pending, txn, first_query, &tables)?;
        }
        self.close(step, txn)?;
        Ok(None)
    }
}

/// Did just one of the two fail, by a constraint?
fn lacks_parent(came: &Outcome, should: &Outcome) -> bool {
    let fails =
        |outcome: &Outcome| outcome.error().is_some_and(|error| error.class == ErrorClass::Constraint);
    fails(came) != fails(should)
}

/// Does a query look at its tables, by what the server says of its plan? None if that is not clear.
fn looks(plan: &RowSet) -> Option<bool> {
    let extra = plan.columns().iter().position(|column| column.name.eq_ignore_ascii_case("extra"))?;
    let said = |row| String::from_utf8_lossy(plan.cell(row, extra).unwrap_or_default()).into_owned();
    let nothing = ["Impossible WHERE", "Impossible HAVING", "Zero limit", "No tables used"];
    let idle = |row: usize| nothing.contains(&said(row).as_str());
    match plan.len() {
        0 => None,
        1 => Some(!idle(0)),
        // Of several parts some may be left out.
        rows => (0..rows).all(|row| !idle(row)).then_some(true),
    }
}
