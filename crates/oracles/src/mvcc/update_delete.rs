//! UPDATE and DELETE.

use std::borrow::Cow;

use dialect::{
    AffectedRows, Assignments,
    contract::{OnStaleWrite, Visibility},
};
use eval::{Datum, Fault};
use model::{
    ErrorClass, Reason,
    sql::{Assignment, Delete, Expr, OrderItem, Resolution, TableFactor, Update, UpdateModifier},
};

use smallvec::SmallVec;

use crate::assignments::in_some_order;

use super::{
    allowed_outcome::{AllowedOutcome, Expected},
    deviations::KnownDeviation,
    from_clause::{FromClause, Named},
    hypothesis::Lock,
    query_analysis::{find_column, limits},
    row_changes::{RowChanges, RowRef},
    schema::Values,
    statement_context::{Condition, LockMode, RowNumbers, Scan, StatementContext},
    subqueries::SubqueryValues,
};

/// How an UPDATE goes about it.
#[derive(Clone, Copy)]
struct How {
    /// Does it go on after errors?
    ignores: bool,
    /// Does it stop after some rows?
    limited: bool,
    /// Does it keep others out of what it selects?
    range: bool,
}

/// An assignment, read.
pub struct Assigned<'e> {
    /// Which of the tables of the statement.
    pub factor: usize,
    pub column: usize,
    /// The value, with queries replaced. What is borrowed is a part of the statement's tree.
    pub value: Cow<'e, Expr>,
}

impl StatementContext<'_> {
    /// What an UPDATE may answer.
    pub fn update(&self, update: &Update) -> Result<Vec<AllowedOutcome>, Fault> {
        let ignores = match update.modifier {
            None => false,
            Some(UpdateModifier::Or(Resolution::Abort)) => false,
            Some(UpdateModifier::Ignore | UpdateModifier::Or(Resolution::Ignore)) => true,
            Some(UpdateModifier::Or(Resolution::Rollback | Resolution::Fail | Resolution::Replace)) => {
                return Err(Fault::Unsure(Reason::UpdateModifier));
            }
        };
        if !update.returning.is_empty() || !update.from.is_empty() {
            return Err(Fault::Unsure(Reason::UpdateModifier));
        }
        let ordered = dialect::of(self.evaluator.product).semantics.assignments;
        if ordered == Assignments::MostlyInOrder && in_some_order(update) {
            return Err(Fault::Unsure(Reason::AssignedInSomeOrder));
        }
        let from = self.from(&update.tables)?;
        let single = from.tables.len() == 1;
        let sees = if single { self.rules.source_read.is } else { self.rules.inner_read.is };
        let (condition, mut answers) = self.condition(update.filter.as_ref(), sees)?;
        let assigned = self.assigned(&from, &update.assignments, sees, &mut answers)?;
        let semi = single && self.rules.semi_consistent.is;
        let mode = if semi { LockMode::SemiConsistent } else { LockMode::Exclusive };
        let limit = limits(update.limit.as_ref())?;
        let mut all = Vec::new();
        for (scan, by) in self.scans(&from, &condition, mode).map_err(Fault::Unsure)? {
            let scan = self.first(scan, &update.order_by, limit, &from)?;
            all.extend(scan.error.map(AllowedOutcome::error));
            // Which of several rows gets a unique value first is the scan's affair.
            let keyed = |table: usize| !self.schema.tables[table].uniques.is_empty();
            if ignores && scan.rows.len() > 1 && from.tables.iter().any(|named| keyed(named.table)) {
                return Err(Fault::Unsure(Reason::IgnoredInSomeOrder));
            }
            let refused = self.refused(&from, &condition, &scan, limit.is_some(), &mut all);
            let mut rows = self.in_order(&from, &scan);
            let range = self.locks_range(&from, &condition, &scan);
            let before = all.len();
            // Forwards and backwards: what one row leaves may be in the way of the next.
            for backwards in [false, true] {
                if backwards {
                    rows.reverse();
                }
                let how = How { ignores, limited: limit.is_some(), range };
                let (allowed, apart) = self.updated(&from, &rows, &assigned, &answers, (&scan, by), how)?;
                let same =
                    |other: &AllowedOutcome| other.reply == allowed.reply && other.effects == allowed.effects;
                if !all[before..].iter().any(same) {
                    all.push(allowed);
                }
                if apart || rows.len() < 2 {
                    break;
                }
            }
            refused.of(&mut all, before);
        }
        self.inner_trouble(&mut all, &answers);
        let tables: SmallVec<[usize; 2]> = from.tables.iter().map(|named| named.table).collect();
        Ok(self.with_other_outcomes(all, &tables))
    }

    /// What a DELETE may answer.
    pub fn delete(&self, delete: &Delete) -> Result<Vec<AllowedOutcome>, Fault> {
        if delete.ignore || !delete.returning.is_empty() {
            return Err(Fault::Unsure(Reason::DeleteModifier));
        }
        let mut from = match delete.using.is_empty() {
            true => self.one_and(&delete.table, &[])?,
            false => self.from(&delete.using)?,
        };
        let name = match &delete.table {
            TableFactor::Table { name, alias, .. } => {
                alias.as_ref().map_or(&name.name.name, |alias| &alias.name.name)
            }
            TableFactor::Derived { .. } | TableFactor::Paren(_) => {
                return Err(Fault::Unsure(Reason::DeleteTarget));
            }
        };
        let named =
            |from: &FromClause| from.tables.iter().position(|named| named.alias.eq_ignore_ascii_case(name));
        let factor = match named(&from) {
            Some(factor) => factor,
            // Where USING names only the others.
            None => {
                from = self.one_and(&delete.table, &delete.using)?;
                0
            }
        };
        let (condition, answers) = self.condition(delete.filter.as_ref(), self.rules.inner_read.is)?;
        let limit = limits(delete.limit.as_ref())?;
        let table = from.tables[factor].table;
        // What a row's children lose while the join goes on is not promised either way.
        let child = |named: &Named| {
            let parents = &self.schema.tables[named.table].parents;
            named.table != table && parents.iter().any(|foreign| foreign.parent == table)
        };
        if from.tables.iter().any(child) {
            return Err(Fault::Unsure(Reason::JoinWithAChild));
        }
        let mut all = Vec::new();
        for (scan, by) in self.scans(&from, &condition, LockMode::Exclusive).map_err(Fault::Unsure)? {
            let scan = self.first(scan, &delete.order_by, limit, &from)?;
            all.extend(scan.error.map(AllowedOutcome::error));
            let refused = self.refused(&from, &condition, &scan, limit.is_some(), &mut all);
            let before = all.len();
            let mut rows: Vec<usize> = scan.rows.iter().map(|(numbers, _)| numbers[factor]).collect();
            rows.sort_unstable();
            rows.dedup();
            let mut pending = RowChanges::new(self);
            let mut failed = None;
            for &row in &rows {
                match pending.delete(table, RowRef::Old(row)) {
                    Ok(()) => {}
                    Err(Fault::Error(class)) => {
                        failed = Some(class);
                        break;
                    }
                    Err(unsure) => return Err(unsure),
                }
            }
            let range = limit.is_none() && self.locks_range(&from, &condition, &scan);
            let due: Vec<_> = scan.due.iter().chain(&pending.due).chain(&answers.due).copied().collect();
            all.push(match failed {
                Some(class) => AllowedOutcome { due, ..AllowedOutcome::error(class) },
                None => AllowedOutcome {
                    effects: pending.effects,
                    locks: pending.locks,
                    range,
                    by,
                    due,
                    ..AllowedOutcome::only(Expected::Done(vec![rows.len() as u64], None))
                },
            });
            refused.of(&mut all, before);
        }
        self.inner_trouble(&mut all, &answers);
        Ok(all)
    }

    /// Adds what the queries inside have to say.
    pub fn inner_trouble(&self, all: &mut Vec<AllowedOutcome>, answers: &SubqueryValues) {
        for allowed in all.iter_mut() {
            allowed.locks.extend(answers.locks.iter().cloned());
        }
        if let Some(class) = answers.error {
            all.push(AllowedOutcome::error(class));
        }
    }

    /// Does the contract refuse, because a row has changed since the snapshot? Adds the refusal.
    fn refused(
        &self,
        from: &FromClause,
        condition: &Condition,
        scan: &Scan,
        limited: bool,
        all: &mut Vec<AllowedOutcome>,
    ) -> Refusal {
        if let Some(class) = self.one_writer() {
            all.push(AllowedOutcome::error(class));
            return if limited { Refusal::Possible } else { Refusal::Owed };
        }
        let Some(stale) = self.stale(from, condition, scan, None) else { return Refusal::Possible };
        all.push(AllowedOutcome::error(stale.class));
        // In a join an index may hold all that is read of a table: then its row is not met.
        match (stale.owed && !limited && from.tables.len() == 1, stale.missed_by) {
            (false, _) => Refusal::Possible,
            (true, None) => Refusal::Owed,
            (true, Some(by)) => Refusal::MissedBy(by),
        }
    }

    /// Where one writes at a time: may this one not, because another does, or has since the snapshot?
    pub fn one_writer(&self) -> Option<ErrorClass> {
        if self.rules.change.is != Visibility::Snapshot {
            return None;
        }
        let OnStaleWrite::Refused(class) = self.rules.stale.is else { return None };
        let writes = |txn: &super::hypothesis::Txn| !txn.undo.is_empty();
        let other = self.hypothesis.others(self.session, u64::MAX).any(writes);
        let old = self.view.is_some_and(|view| {
            self.hypothesis
                .tables
                .iter()
                .flat_map(|rows| rows.iter())
                .any(|chain| chain.changed_at(self.me) > view)
        });
        self.busy.filter(|_| other).or(old.then_some(class))
    }

    pub fn assigned<'e>(
        &self,
        from: &FromClause,
        assignments: &'e [Assignment],
        sees: Visibility,
        answers: &mut SubqueryValues,
    ) -> Result<Vec<Assigned<'e>>, Fault> {
        let mut read = Vec::new();
        for assignment in assignments {
            let at = find_column(from, &assignment.column).ok_or(Fault::Unsure(Reason::NoSuchColumn))?;
            let mut start = 0;
            let mut factor = 0;
            while at >= start + self.schema.tables[from.tables[factor].table].columns.len() {
                start += self.schema.tables[from.tables[factor].table].columns.len();
                factor += 1;
            }
            let value = self.answered(&assignment.value, sees, answers)?;
            read.push(Assigned { factor, column: at - start, value });
        }
        Ok(read)
    }

    /// The first rows, where a statement takes no more.
    fn first(
        &self,
        mut scan: Scan,
        order_by: &[OrderItem],
        limit: Option<(usize, usize)>,
        from: &FromClause,
    ) -> Result<Scan, Fault> {
        let Some((limit, _)) = limit else { return Ok(scan) };
        if !scan.due.is_empty() || scan.skipped {
            return Err(Fault::Unsure(Reason::LimitBesideLock));
        }
        // The row's number goes along, so that it is found again.
        let numbered: Vec<Vec<Datum>> = scan
            .rows
            .iter()
            .enumerate()
            .map(|(i, (_, values))| values.iter().cloned().chain([Datum::Int(i as i64)]).collect())
            .collect();
        let chosen = self.limited(numbered, order_by, from, limit, 0)?;
        let chosen: Vec<usize> = chosen
            .iter()
            .filter_map(|row| match row.last() {
                Some(Datum::Int(i)) => usize::try_from(*i).ok(),
                _ => None,
            })
            .collect();
        let mut at = 0;
        scan.rows.retain(|_| {
            at += 1;
            chosen.contains(&(at - 1))
        });
        Ok(scan)
    }

    /// The rows in the order of their key.
    fn in_order<'s>(&self, from: &FromClause, scan: &'s Scan) -> Vec<&'s (RowNumbers, Values)> {
        let mut rows: Vec<_> = scan.rows.iter().collect();
        if let ([named], Some(key)) = (
            &from.tables[..],
            from.tables.first().and_then(|named| self.schema.tables[named.table].clustered.as_ref()),
        ) {
            let columns = &self.schema.tables[named.table].columns;
            rows.sort_by(|(_, left), (_, right)| {
                let order = key.iter().map(|&at| {
                    self.evaluator
                        .order(&columns[at], &left[at], &right[at])
                        .unwrap_or(std::cmp::Ordering::Equal)
                });
                order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            });
        }
        rows
    }

    /// What it answers and does if it comes to the rows in this order; and whether each row is by itself, so that another order
    /// would do the same.
    fn updated(
        &self,
        from: &FromClause,
        rows: &[&(RowNumbers, Values)],
        assigned: &[Assigned<'_>],
        answers: &SubqueryValues,
        (scan, by): (&Scan, Option<&'static KnownDeviation>),
        how: How,
    ) -> Result<(AllowedOutcome, bool), Fault> {
        let mut pending = RowChanges::new(self);
        let mut done: Vec<(usize, usize)> = Vec::with_capacity(rows.len());
        let (mut changed, mut ignored) = (0, 0);
        for (numbers, values) in rows {
            for (factor, named) in from.tables.iter().enumerate() {
                if assigned.iter().all(|one| one.factor != factor)
                    || done.contains(&(factor, numbers[factor]))
                {
                    continue;
                }
                done.push((factor, numbers[factor]));
                let new = self.assign(from, factor, values, assigned, answers);
                let updated =
                    new.and_then(|new| pending.update(named.table, RowRef::Old(numbers[factor]), new));
                match updated {
                    Ok(changes) => changed += u64::from(changes),
                    // The row stays as it is, with a warning.
                    Err(Fault::Error(ErrorClass::DuplicateKey)) if how.ignores => ignored += 1,
                    Err(Fault::Error(_)) if how.ignores => return Err(Fault::Unsure(Reason::IgnoredError)),
                    Err(Fault::Error(class)) => {
                        let due = scan.due.iter().chain(&pending.due).copied().collect();
                        return Ok((AllowedOutcome { due, ..AllowedOutcome::error(class) }, false));
                    }
                    Err(unsure) => return Err(unsure),
                }
            }
        }
        let single = from.tables.len() == 1;
        let matched = single.then_some(done.len() as u64);
        let count = match dialect::of(self.evaluator.product).semantics.counts {
            AffectedRows::Matched => done.len() as u64 - ignored,
            AffectedRows::Changed => changed,
        };
        let exclusive = |&(factor, row): &(usize, usize)| Lock {
            table: from.tables[factor].table,
            row,
            columns: None,
            step: self.step,
        };
        let mut locks = pending.locks;
        locks.extend(done.iter().map(exclusive));
        let allowed = AllowedOutcome {
            effects: pending.effects,
            locks,
            range: !how.limited && how.range,
            by,
            due: scan.due.iter().chain(&pending.due).chain(&answers.due).copied().collect(),
            ..AllowedOutcome::only(Expected::Done(vec![count], matched))
        };
        Ok((allowed, single && !pending.looked))
    }

    /// A row with its assignments carried out.
    pub(super) fn assign(
        &self,
        from: &FromClause,
        factor: usize,
        values: &Values,
        assigned: &[Assigned<'_>],
        answers: &SubqueryValues,
    ) -> Result<Values, Fault> {
        let make = || self.assign_anew(from, factor, values, assigned, answers);
        // Joined rows are made anew each time, and so is what stands for queries.
        let steady =
            from.tables.len() == 1 && assigned.iter().all(|one| matches!(one.value, Cow::Borrowed(_)));
        match assigned.first() {
            Some(first) if steady => {
                self.evaluator.known_row(|known| &mut known.assigned, first.value.as_ref(), values, make)
            }
            Some(_) | None => make(),
        }
    }

    /// As [`StatementContext::assign`]: from left to right, each sees what those before it have set.
    fn assign_anew(
        &self,
        from: &FromClause,
        factor: usize,
        values: &[Datum],
        assigned: &[Assigned<'_>],
        answers: &SubqueryValues,
    ) -> Result<Values, Fault> {
        let start: usize =
            from.tables[..factor].iter().map(|named| self.schema.tables[named.table].columns.len()).sum();
        let of = &self.schema.tables[from.tables[factor].table];
        let (columns, extra) = answers.values();
        let columns = match columns.is_empty() {
            true => Cow::Borrowed(&from.columns[..]),
            false => from.columns.iter().chain(columns).cloned().collect(),
        };
        let mut row: Vec<Datum> = values.iter().chain(extra).cloned().collect();
        // Elsewhere all assignments see the row as it was.
        let ordered = dialect::of(self.evaluator.product).semantics.assignments != Assignments::AtOnce;
        let sequential = ordered && from.tables.len() == 1;
        let old = if sequential { Vec::new() } else { row.clone() };
        for one in assigned.iter().filter(|one| one.factor == factor) {
            let at = start + one.column;
            let seen = if sequential { &row } else { &old };
            let value = match one.value.as_ref() {
                Expr::Default => match &of.traits[one.column].default {
                    Some(default) => self.evaluator.value(&[], default, &[])?,
                    None => Datum::Null,
                },
                value => match one.value {
                    Cow::Borrowed(value) => self.evaluator.known_value(&columns, value, seen)?,
                    Cow::Owned(_) => self.evaluator.value(&columns, value, seen)?,
                },
            };
            if value.is_null() && of.traits[one.column].not_null {
                return Err(Fault::Error(ErrorClass::Constraint));
            }
            row[at] = self.evaluator.store(&value, &of.columns[one.column].ty)?;
        }
        of.finish(&self.evaluator, row[start..start + of.columns.len()].to_vec())
    }
}

/// What becomes of the outcomes of a statement that may be refused for a row.
enum Refusal {
    Possible,
    Owed,
    /// Owed, but a deviation may let it through.
    MissedBy(&'static KnownDeviation),
}

impl Refusal {
    /// Applies it to the outcomes from here on. A statement that is refused for one row may have failed for another before it came to that.
    fn of(self, all: &mut Vec<AllowedOutcome>, from: usize) {
        let mut at = 0;
        let fails = |allowed: &AllowedOutcome| matches!(allowed.reply, Expected::Error(_));
        match self {
            Refusal::Possible => {}
            Refusal::Owed => all.retain(|allowed| {
                at += 1;
                at <= from || fails(allowed)
            }),
            Refusal::MissedBy(by) => all[from..]
                .iter_mut()
                .filter(|allowed| !fails(allowed))
                .for_each(|allowed| allowed.by = Some(by)),
        }
    }
}
