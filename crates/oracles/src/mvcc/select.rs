//! SELECT: the statement itself; queries inside others are in `subqueries`, what becomes of rows in `projection`.

use std::borrow::Cow;

use dialect::contract::Visibility;
use eval::Fault;
use model::{
    ErrorClass, Reason,
    sql::{Expr, LockStrength, LockWait, Query, Select},
};

use smallvec::{SmallVec, smallvec};

use super::{
    allowed_outcome::{AllowedOutcome, Expected},
    deviations::{IMPOSSIBLE_CONDITION, KnownDeviation, RowsMet},
    from_clause::{FromClause, Named},
    hypothesis::Lock,
    query_analysis::{columns_read, limit_of, plain, reads_one_end},
    schema::Values,
    statement_context::{Condition, LockMode, Scan, StatementContext, VisibleRows},
};

struct LockingRead<'r, 'f, 'c> {
    query: &'r Query,
    select: &'r Select,
    from: &'r FromClause<'f>,
    condition: &'r Condition<'c>,
    mode: LockMode,
    /// What it says about waiting.
    wait: Option<&'r LockWait>,
    tables: SmallVec<[usize; 2]>,
    /// May others hold locks there?
    others: bool,
}

impl<'a> StatementContext<'a> {
    /// What a SELECT may answer.
    pub fn query(&self, query: &Query) -> Result<Vec<AllowedOutcome>, Fault> {
        let select = plain(query)?;
        if select.from.is_empty() {
            let rows = self.constants(select)?;
            return Ok(vec![AllowedOutcome::only(Expected::Rows(rows))]);
        }
        let from = self.from(&select.from)?;
        let wait = query.locks.first().and_then(|lock| lock.wait.as_ref());
        let shared = query.locks.first().map(|lock| match lock.strength {
            LockStrength::Update | LockStrength::NoKeyUpdate => false,
            LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode => true,
        });
        let sees = match shared {
            Some(_) => self.rules.change.is,
            None if self.lasts => self.rules.read.is,
            None => self.rules.single_read.is,
        };
        let role = if self.lasts { self.rules.read.is } else { self.rules.single_read.is };
        let locking = sees == Visibility::Committed || shared.is_some();
        if limit_of(query)?.is_some_and(|(limit, _)| limit == 0) {
            return Ok(vec![AllowedOutcome::only(Expected::Rows(Vec::new()))]);
        }
        // A subquery of a locking read is a plain read: it takes the snapshot, or reads, before or after a wait, or between two.
        let nested = locking && select.filter.as_ref().is_some_and(Expr::has_query);
        let takes = nested && role == Visibility::Snapshot && self.view.is_none();
        let looks = nested && role == Visibility::Fresh && self.waited.is_some();
        let mut moments: SmallVec<[_; 1]> = smallvec![None];
        if takes || looks {
            let now = self.hypothesis.clock;
            moments = smallvec![Some(now)];
            if let Some(waited) = self.waited.filter(|waited| waited.clock != now) {
                moments.push(Some(waited.clock));
                moments.extend((waited.clock + 1..now).map(Some));
            }
        }
        let mut all = Vec::new();
        for begun in moments {
            let reader = StatementContext { view: begun.or(self.view), ..*self };
            let role = if looks { Visibility::Snapshot } else { role };
            let (condition, answers) = reader.condition(select.filter.as_ref(), role)?;
            let mut some = match locking {
                false => self.plain_read(query, select, &from, &condition, sees)?,
                true => {
                    let find = || columns_read(&from, select, &condition, query);
                    let read = match nested {
                        true => find(),
                        false => self.evaluator.known_of(|known| &mut known.reads, select, find),
                    };
                    let mode = match (shared, wait) {
                        (Some(false), Some(LockWait::SkipLocked)) => LockMode::SkipLocked(None),
                        (_, Some(LockWait::SkipLocked)) => LockMode::SkipLocked(Some(read)),
                        (Some(false), _) => LockMode::Exclusive,
                        (Some(true) | None, _) => LockMode::Shared(read),
                    };
                    self.locking_read(query, select, &from, &condition, mode, wait)?
                }
            };
            // Unless the server saw beforehand that it need not run.
            if begun.is_some() && takes {
                let opened: Vec<AllowedOutcome> = some
                    .iter()
                    .map(|allowed| AllowedOutcome { opens_view: begun, ..allowed.clone() })
                    .collect();
                some.splice(0..0, opened);
            }
            for allowed in &mut some {
                allowed.due.extend(&answers.due);
                allowed.locks.extend(answers.locks.iter().cloned());
            }
            some.extend(answers.error.map(AllowedOutcome::error));
            // There is more than one moment only around a wait.
            match all.is_empty() {
                true => all = some,
                false => all.extend(some),
            }
        }
        Ok(all)
    }

    fn plain_read(
        &self,
        query: &Query,
        select: &Select,
        from: &FromClause,
        condition: &Condition,
        sees: Visibility,
    ) -> Result<Vec<AllowedOutcome>, Fault> {
        let opens_view =
            (sees == Visibility::Snapshot && self.view.is_none()).then_some(self.hypothesis.clock);
        let half_done = |named: &Named| self.half_done(named.table);
        let rows_met = self.change(|change| change.rows_met);
        if sees == Visibility::Newest && rows_met.is_none() && from.tables.iter().any(half_done) {
            return self.dirty_read(query, select, from, condition);
        }
        let tables = self.seen(from, sees, &self.hypothesis.tables);
        if let Some(rows_met) = rows_met {
            let rows = self.met_otherwise((query, select), from, condition, &tables, rows_met)?;
            let outcome = |rows| AllowedOutcome { opens_view, ..AllowedOutcome::only(Expected::Among(rows)) };
            return Ok(rows.map(outcome).into_iter().collect());
        }
        let scan = self.select(from, condition, &tables).map_err(Fault::Unsure)?;
        let (empty, error) = (scan.rows.is_empty(), scan.error);
        let rows = self.project(query, select, from, scan)?;
        // A condition that is found to be impossible beforehand takes no snapshot.
        let impossible =
            opens_view.is_some() && empty && select.filter.is_some() && self.impossible(from, condition);
        let impossible = impossible.then(|| AllowedOutcome {
            by: Some(&IMPOSSIBLE_CONDITION),
            ..AllowedOutcome::only(Expected::Rows(rows.clone()))
        });
        let mut all = vec![AllowedOutcome { opens_view, ..AllowedOutcome::only(Expected::Rows(rows)) }];
        all.extend(error.map(|class| AllowedOutcome { opens_view, ..AllowedOutcome::error(class) }));
        all.extend(impossible);
        Ok(all)
    }

    /// The rows that a read may show if a deviation lets it meet the rows of its table in other ways.
    fn met_otherwise(
        &self,
        (query, select): (&Query, &Select),
        from: &FromClause,
        condition: &Condition,
        tables: &[VisibleRows],
        rows_met: RowsMet,
    ) -> Result<Option<Vec<Values>>, Fault> {
        let ([named], [rows]) = (&from.tables[..], tables) else { return Ok(None) };
        let Some(rows) = rows_met(self, (query, select), named.table, rows) else { return Ok(None) };
        let scan = self.select(from, condition, &[rows]).map_err(Fault::Unsure)?;
        // Each of these rows may be missing, so a LIMIT cuts somewhere else.
        let whole = Query { limit: None, ..query.clone() };
        self.project(&whole, select, from, scan).map(Some)
    }

    fn locking_read(
        &self,
        query: &Query,
        select: &Select,
        from: &FromClause,
        condition: &Condition,
        mode: LockMode,
        wait: Option<&LockWait>,
    ) -> Result<Vec<AllowedOutcome>, Fault> {
        let scans = self.scans(from, condition, mode).map_err(Fault::Unsure)?;
        let tables: SmallVec<[usize; 2]> = from.tables.iter().map(|named| named.table).collect();
        // Where plain reads lock, those inside are asked not to wait, too.
        let inside = self.rules.read.is == Visibility::Committed
            && select.filter.as_ref().is_some_and(Expr::has_query);
        let bits = if inside { u64::MAX } else { tables.iter().fold(0, |bits, table| bits | 1 << table) };
        let others = self.hypothesis.others(self.session, bits).next().is_some();
        let read = LockingRead { query, select, from, condition, mode, wait, tables, others };
        let mut all = Vec::new();
        for (scan, by) in scans {
            self.locked(&read, scan, by, &mut all)?;
        }
        Ok(all)
    }

    /// Adds what a locking read may answer if its scan finds this.
    fn locked(
        &self,
        read: &LockingRead<'_, '_, '_>,
        scan: Scan,
        by: Option<&'static KnownDeviation>,
        all: &mut Vec<AllowedOutcome>,
    ) -> Result<(), Fault> {
        let LockingRead { query, select, from, condition, mode, ref tables, others, .. } = *read;
        let limited = query.limit.is_some();
        if !scan.due.is_empty() && limited {
            return Err(Fault::Unsure(Reason::LimitBesideLock));
        }
        let skips = matches!(mode, LockMode::SkipLocked(_));
        let nowait = read.wait == Some(&LockWait::Nowait);
        let mut locks = self.row_locks(read, &scan);
        let ends = reads_one_end(select);
        let shared = match mode {
            LockMode::Shared(read) => Some(read),
            LockMode::Exclusive | LockMode::SemiConsistent | LockMode::SkipLocked(_) => None,
        };
        let mut by = by;
        if let Some(stale) = self.stale(from, condition, &scan, shared) {
            all.push(AllowedOutcome::error(stale.class));
            // In a join an index may hold all that is read of a table.
            let sure = !limited && !ends && !skips && (tables.len() == 1 || mode == LockMode::Exclusive);
            if stale.owed && sure {
                // Another row may be locked, and it was asked not to wait for that.
                all.extend((nowait && others).then(|| AllowedOutcome::error(ErrorClass::LockTimeout)));
                if stale.missed_by.is_none() {
                    return Ok(());
                }
                by = stale.missed_by;
            }
        }
        all.extend(scan.error.map(AllowedOutcome::error));
        let mut due = scan.due.clone();
        if ends {
            // One end of an index may answer it: then that is all that is locked. What another is changing beside that is as it was.
            if !due.is_empty() && !skips {
                let tables = self.seen(from, Visibility::Fresh, &self.hypothesis.tables);
                let committed = self.select(from, condition, &tables).map_err(Fault::Unsure)?;
                let rows = self.project(query, select, from, committed)?;
                all.push(AllowedOutcome { by, ..AllowedOutcome::only(Expected::Rows(rows)) });
            }
            locks.clear();
            due.clear();
        }
        // One that waited (in a subquery) may have passed rows by before that. What is passed by makes room for others: any of all
        // rows may be among the first.
        let passes = skips && (others || self.waited.is_some());
        let unlimited = match passes {
            true => Cow::Owned(Query { limit: None, ..query.clone() }),
            false => Cow::Borrowed(query),
        };
        let range = self.locks_range(from, condition, &scan) && !limited && !ends && !skips;
        let rows = self.project(&unlimited, select, from, scan)?;
        let mut outcome =
            AllowedOutcome { locks, range, by, due, ..AllowedOutcome::only(Expected::Rows(rows)) };
        all.extend(self.instead_of(&outcome, tables));
        if let (true, Expected::Rows(rows)) = (passes, &mut outcome.reply) {
            outcome.reply = Expected::Among(std::mem::take(rows));
        }
        let must_wait = !outcome.due.is_empty();
        all.extend((!nowait || !must_wait).then_some(outcome));
        all.extend((nowait && (must_wait || others)).then(|| AllowedOutcome::error(ErrorClass::LockTimeout)));
        Ok(())
    }

    /// The rows that a locking read keeps others from changing. With LIMIT it is not known which were reached.
    fn row_locks(&self, read: &LockingRead<'_, '_, '_>, scan: &Scan) -> Vec<Lock> {
        let columns = match read.mode {
            LockMode::SkipLocked(_) => return Vec::new(),
            LockMode::Shared(columns) => Some(columns),
            LockMode::Exclusive | LockMode::SemiConsistent => None,
        };
        if read.query.limit.is_some() || read.tables.len() != 1 {
            return Vec::new();
        }
        let mut locks = Vec::with_capacity(scan.rows.len());
        locks.extend(scan.met(&read.tables).map(|(table, row)| Lock {
            table,
            row,
            columns,
            step: self.step,
        }));
        locks
    }
}
