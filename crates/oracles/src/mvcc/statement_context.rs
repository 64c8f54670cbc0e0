//! What one statement is evaluated with: a hypothesis, the rules of its level, and the rows that it finds there.

use std::{
    borrow::{Borrow, Cow},
    cell::OnceCell,
};

use dialect::{
    ParsedCase,
    contract::{LevelRules, Visibility},
};
use eval::{Column, Datum, Fault};
use model::{
    ErrorClass, Reason,
    sql::{Expr, Statement},
};

use smallvec::{SmallVec, smallvec};

use super::{
    allowed_outcome::AllowedOutcome,
    deviations::{Assumed, ContestedRow, KnownDeviation, ModelChange},
    explain_probe::Path,
    from_clause::{FromClause, Named},
    hypothesis::{Hypothesis, Now, Rows, TxnId, Waiting},
    query_analysis::pins,
    row_evaluator::RowEvaluator,
    schema::{Schema, Values},
};

/// What a statement is evaluated with.
#[derive(Clone, Copy)]
pub struct StatementContext<'a> {
    pub schema: &'a Schema,
    pub evaluator: RowEvaluator<'a>,
    /// What holds at its level.
    pub rules: &'a LevelRules,
    /// The tables that its subqueries name, as bits.
    pub read_inside: u64,
    /// The error by which a conflict shows where nothing waits.
    pub busy: Option<ErrorClass>,
    pub case: &'a ParsedCase,
    pub hypothesis: &'a Hypothesis,
    pub session: usize,
    pub me: TxnId,
    /// The snapshot of that, if it has one.
    pub view: Option<u32>,
    /// Does that last?
    pub lasts: bool,
    pub step: usize,
    /// Are deviations tried that are no part of the contract?
    pub tries_reported: bool,
    /// Those that are tried, and exist at its level.
    pub deviations: &'a [&'static KnownDeviation],
    /// The one whose effect on the model is being worked out.
    pub assumed: Option<Assumed>,
    /// Its access path, where that is known.
    pub path: Option<&'a Path>,
    /// Did another become a deadlock's victim while it ran? What that one had changed was there when it began.
    pub beside_victim: bool,
    /// If it has waited: what it met first.
    pub waited: Option<&'a Waiting>,
    /// If it has waited and its subqueries were answered before that was over: after so many commits.
    pub inner_at: Option<u32>,
    /// May REPLACE make a new row where it could write over the old one?
    pub replace_may_reinsert: bool,
}

impl StatementContext<'_> {
    pub fn enforces_foreign_keys(&self) -> bool {
        self.hypothesis.sessions[self.session].foreign_keys
    }
}

/// A condition with what it may name beside the columns of its tables.
#[derive(Clone, Debug, Default)]
pub struct Condition<'e> {
    /// The condition; none is always true. What is borrowed is a part of the statement's tree.
    pub expr: Option<Cow<'e, Expr>>,
    /// Values that stand in for its subqueries.
    pub columns: Vec<Column>,
    pub values: Vec<Datum>,
    /// What was found out with the first row: all columns that it may name, and what it is for every row.
    pub first: OnceCell<(Vec<Column>, Result<(), Fault>)>,
}

/// How a scan treats rows that others are changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// It wants a shared lock, and reads these columns.
    Shared(u64),
    /// It wants an exclusive lock.
    Exclusive,
    /// As exclusive, but a row whose last committed version does not match may be passed by.
    SemiConsistent,
    /// It passes by what is locked; if it wants a shared lock, it reads these columns.
    SkipLocked(Option<u64>),
}

/// The rows of a table that somebody sees, with their numbers.
pub type VisibleRows<'w> = Vec<(usize, &'w Values)>;

/// The number of a row in each table; most scans are of one or two.
pub type RowNumbers = SmallVec<[usize; 2]>;

#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// For each match the row of each table, and their values one after the other.
    pub rows: Vec<(RowNumbers, Values)>,
    /// Others that it should have waited for.
    pub due: Vec<TxnId>,
    /// Did it pass a row by that its last committed version did not make match?
    pub skipped: bool,
    /// An error that a row raises, if the scan comes to it.
    pub error: Option<ErrorClass>,
}

impl Scan {
    /// The rows that it came to, each with its table.
    pub fn met(&self, tables: &[usize]) -> impl Iterator<Item = (usize, usize)> {
        self.rows.iter().flat_map(|(numbers, _)| tables.iter().copied().zip(numbers.iter().copied()))
    }
}

impl<'a> StatementContext<'a> {
    /// What a statement may answer.
    pub fn outcomes(&self, statement: &Statement) -> Result<Vec<AllowedOutcome>, Fault> {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            _ => Err(Fault::Unsure(Reason::StatementNotModelled)),
        }
    }

    /// What deviations let come instead of an outcome of a statement on these tables.
    pub(super) fn instead_of(&self, outcome: &AllowedOutcome, tables: &[usize]) -> Vec<AllowedOutcome> {
        let hooks = self.deviations.iter().filter_map(|deviation| deviation.instead);
        hooks.flat_map(|instead| instead(self, outcome, tables)).collect()
    }

    /// The outcomes of a statement, each followed by what deviations let come instead.
    pub fn with_other_outcomes(&self, all: Vec<AllowedOutcome>, tables: &[usize]) -> Vec<AllowedOutcome> {
        if self.deviations.iter().all(|deviation| deviation.instead.is_none()) {
            return all;
        }
        let mut more = Vec::with_capacity(all.len());
        for outcome in all {
            let others = self.instead_of(&outcome, tables);
            more.push(outcome);
            more.extend(others);
        }
        more
    }

    /// What the deviation that is assumed changes at one place of the model.
    pub fn change<T>(&self, place: impl FnOnce(&ModelChange) -> Option<T>) -> Option<T> {
        self.assumed.and_then(|assumed| place(assumed.change))
    }

    /// The rows of the tables of FROM as a read without locks sees them.
    pub fn seen(
        &self,
        from: &FromClause,
        sees: Visibility,
        tables: &'a [Rows],
    ) -> SmallVec<[VisibleRows<'a>; 2]> {
        from.tables.iter().map(|named| self.visible(named.table, sees, tables)).collect()
    }

    fn visible(&self, table: usize, sees: Visibility, tables: &'a [Rows]) -> VisibleRows<'a> {
        let mut seen = Vec::with_capacity(tables[table].len());
        let rows = tables[table].iter().enumerate();
        let at = match sees {
            Visibility::Newest => {
                seen.extend(rows.filter_map(|(row, chain)| Some((row, chain.newest()?))));
                return seen;
            }
            Visibility::Fresh | Visibility::Committed => u32::MAX,
            Visibility::Snapshot => self.view.unwrap_or(u32::MAX),
        };
        seen.extend(rows.filter_map(|(row, chain)| Some((row, chain.seen(self.me, at)?))));
        if at != u32::MAX {
            self.shadow(table, &tables[table], &mut seen);
            if let Some(change) = self.change(|change| change.visible_rows) {
                change(self, table, &mut seen);
            }
        }
        seen
    }

    /// What a transaction has written stands before what its snapshot holds under the same key: another may have deleted a
    /// row and made it anew.
    fn shadow(&self, table: usize, rows: &Rows, seen: &mut VisibleRows) {
        let of = &self.schema.tables[table];
        let Some(key) = &of.clustered else { return };
        let keys = self.written(rows);
        if keys.is_empty() {
            return;
        }
        seen.retain(|(row, values)| {
            rows[*row].mine(self.me)
                || !keys
                    .iter()
                    .any(|mine| self.evaluator.same_key(&of.columns, key, mine, values).unwrap_or(false))
        });
    }

    /// What this transaction has written, and what it has written over: the keys of both are its own.
    pub fn written<'w>(&self, rows: &'w Rows) -> Vec<&'w Values> {
        let mut keys = Vec::new();
        for chain in rows.iter() {
            for (i, version) in chain.versions.iter().enumerate() {
                if version.writer == self.me && version.at.is_none() {
                    keys.extend(&version.data);
                    keys.extend(i.checked_sub(1).and_then(|below| chain.versions[below].data.as_ref()));
                }
            }
        }
        keys
    }

    /// Is the condition true for these values?
    pub fn holds(&self, from: &FromClause, condition: &Condition, values: &Values) -> Result<bool, Fault> {
        let Some(expr) = &condition.expr else { return Ok(true) };
        let truth = match (expr, condition.columns.is_empty()) {
            (Cow::Borrowed(expr), true) if from.tables.len() == 1 => {
                self.evaluator.known_truth(&from.columns, expr, values)?
            }
            // Joined rows are made anew each time.
            (Cow::Borrowed(expr), true) => self.evaluator.known_join(&from.columns, expr, values)?,
            (Cow::Owned(_), true) | (_, false) => {
                let (columns, foreseen) = condition.first.get_or_init(|| {
                    let columns: Vec<Column> =
                        from.columns.iter().chain(&condition.columns).cloned().collect();
                    let foreseen = self.evaluator.foreseen(&columns, expr);
                    (columns, foreseen)
                });
                foreseen.clone()?;
                let row: Vec<Datum> = values.iter().chain(&condition.values).cloned().collect();
                self.evaluator.truth_foreseen(columns, expr, &row)?
            }
        };
        Ok(truth == Some(true))
    }

    /// As [`StatementContext::holds`] with the conditions of joins.
    fn joins(&self, from: &FromClause, condition: &Condition, values: &Values) -> Result<bool, Fault> {
        for on in &from.on {
            if self.evaluator.known_join(&from.columns, on, values)? != Some(true) {
                return Ok(false);
            }
        }
        self.holds(from, condition, values)
    }

    /// The matches of a condition among rows that are there without any doubt.
    pub fn select(
        &self,
        from: &FromClause,
        condition: &Condition,
        rows: &[Vec<(usize, impl Borrow<Values>)>],
    ) -> Result<Scan, Reason> {
        let mut scan = Scan::default();
        // Most read one table: then nothing is copied.
        if let [only] = rows {
            scan.rows.reserve(only.len());
            for (number, row) in only {
                if noted(self.joins(from, condition, row.borrow()), &mut scan.error)? {
                    scan.rows.push((smallvec![*number], row.borrow().clone()));
                }
            }
            return Ok(scan);
        }
        // Or two: then only what matches is copied.
        let steady = condition.columns.is_empty() && !matches!(condition.expr, Some(Cow::Owned(_)));
        if let ([left, right], true) = (rows, steady) {
            let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
            for ((one, left), (two, right)) in pairs {
                let (left, right): (&Values, &Values) = (left.borrow(), right.borrow());
                let joined = || left.iter().chain(right.iter()).cloned().collect::<Values>();
                let find = || self.joins(from, condition, &joined());
                if noted(self.evaluator.known_pair(from.place, [left, right], find), &mut scan.error)? {
                    scan.rows.push((smallvec![*one, *two], joined()));
                }
            }
            return Ok(scan);
        }
        let mut stack: Vec<(RowNumbers, Vec<Datum>)> = vec![Default::default()];
        for of in rows {
            let mut next = Vec::with_capacity(stack.len() * of.len());
            for (numbers, values) in &stack {
                for (number, row) in of {
                    let mut numbers = numbers.clone();
                    numbers.push(*number);
                    next.push((numbers, values.iter().chain(row.borrow().iter()).cloned().collect()));
                }
            }
            stack = next;
        }
        for (numbers, values) in stack {
            let values = Values::from(values);
            if noted(self.joins(from, condition, &values), &mut scan.error)? {
                scan.rows.push((numbers, values));
            }
        }
        Ok(scan)
    }

    /// The matches of a condition among the newest rows, with locks.
    pub fn lock(&self, from: &FromClause, condition: &Condition, mode: LockMode) -> Result<Scan, Reason> {
        if self.rules.change.is == Visibility::Snapshot {
            return self.select(
                from,
                condition,
                &self.seen(from, Visibility::Snapshot, &self.hypothesis.tables),
            );
        }
        let mut contested = Vec::new();
        let mut settled: SmallVec<[VisibleRows; 2]> = SmallVec::new();
        for named in &from.tables {
            let mut rows = Vec::with_capacity(self.hypothesis.tables[named.table].len());
            for (row, chain) in self.hypothesis.tables[named.table].iter().enumerate() {
                match chain.now(self.me) {
                    Now::Settled(Some(values)) => rows.push((row, values)),
                    Now::Settled(None) => {}
                    Now::Contested { committed, newest, by } => contested.push((row, committed, newest, by)),
                }
            }
            settled.push(rows);
        }
        let mut scan = self.select(from, condition, &settled)?;
        if from.tables.len() > 1 && !contested.is_empty() {
            return Err(Reason::JoinBesideLock);
        }
        let key = from.tables.first().and_then(|named| self.schema.tables[named.table].clustered.as_ref());
        let passes_by = self.change(|change| change.passes_by);
        for (row, committed, newest, by) in contested {
            let mut held = |values: Option<&Values>| {
                values.map_or(Ok(false), |values| noted(self.joins(from, condition, values), &mut scan.error))
            };
            let (before, after) = (held(committed)?, held(newest)?);
            if !before && !after || committed.is_none() && self.came_behind(from.tables[0].table, row) {
                continue;
            }
            match mode {
                // Through an index that holds all that is read, a change of the rest is not even met.
                LockMode::SkipLocked(Some(columns)) => match (committed, newest) {
                    (Some(old), Some(new)) if before && after && alike(old, new, columns) => {
                        scan.rows.push((smallvec![row], new.clone()));
                    }
                    _ => {}
                },
                LockMode::SkipLocked(None) => {}
                LockMode::SemiConsistent if !before => scan.skipped = true,
                LockMode::SemiConsistent
                    if passes_by.is_some_and(|passes_by| {
                        passes_by(&ContestedRow { committed, newest, newest_matches: after, key })
                    }) =>
                {
                    scan.skipped = true;
                }
                LockMode::Shared(columns) => match (committed, newest) {
                    (Some(old), Some(new)) if before && after && alike(old, new, columns) => {
                        scan.rows.push((smallvec![row], new.clone()));
                    }
                    _ => scan.due.push(by),
                },
                LockMode::SemiConsistent | LockMode::Exclusive => scan.due.push(by),
            }
        }
        Ok(scan)
    }

    /// Did a row come to be after the statement began to wait, where nothing keeps others from inserting into what it has scanned? Then it
    /// may stand behind the scan, and no wait for it is owed.
    fn came_behind(&self, table: usize, row: usize) -> bool {
        let new =
            |waited: &Waiting| waited.tables[table].get(row).is_none_or(|chain| chain.newest().is_none());
        !self.rules.ranges.is && self.waited.is_some_and(new)
    }
}

impl StatementContext<'_> {
    /// Does a statement keep others from bringing rows into what its condition selects?
    pub fn locks_range(&self, from: &FromClause, condition: &Condition, scan: &Scan) -> bool {
        let one = |named: &Named| pins(from, &self.schema.tables[named.table].uniques, condition);
        let [named] = &from.tables[..] else { return false };
        self.rules.ranges.is && (scan.rows.is_empty() || !one(named))
    }

    /// These tables, and those that foreign keys lead to.
    pub fn related(&self, tables: &[usize]) -> Vec<usize> {
        let mut related = tables.to_vec();
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for (child, table) in self.schema.tables.iter().enumerate() {
                for foreign in &table.parents {
                    for (one, other) in [(child, foreign.parent), (foreign.parent, child)] {
                        if related.contains(&one) && !related.contains(&other) {
                            related.push(other);
                            grown = true;
                        }
                    }
                }
            }
        }
        related
    }
}

/// Whether a row matches; its error is noted instead of raised.
fn noted(said: Result<bool, Fault>, error: &mut Option<ErrorClass>) -> Result<bool, Reason> {
    match said {
        Ok(matches) => Ok(matches),
        Err(Fault::Error(class)) => {
            *error = Some(class);
            Ok(false)
        }
        Err(Fault::Unsure(why)) => Err(why),
    }
}

/// Are two versions the same in these columns?
pub fn alike(old: &[Datum], new: &[Datum], columns: u64) -> bool {
    old.iter().zip(new).enumerate().all(|(at, (old, new))| columns & (1 << at) == 0 || old == new)
}
