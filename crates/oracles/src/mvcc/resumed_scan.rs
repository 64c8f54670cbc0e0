//! Scans that waited: what they find if they go on from where they stood.
//!
//! The strict rule is that a statement works on one state: the one in which it got its last lock. The reported deviation is
//! a scan that judged the rows behind a cut before the wait, and those ahead of it after. For each index, each place in it and
//! both directions this works out what such a scan finds:
//!
//! ```text
//! index order      1     4     5 | 7    9          the cut is at 7, where it waited
//! judged           before        | after
//! ```
//!
//! A row that moved from behind the cut to ahead of it is judged twice, one that moved the other way not at all.

use std::cmp::Ordering;

use eval::{Datum, Fault};
use model::Reason;
use smallvec::{SmallVec, smallvec};

use super::{
    deviations::{KnownDeviation, SEMI_CONSISTENT_SKIP, ScanDifference},
    explain_probe::Path,
    from_clause::FromClause,
    hypothesis::{Now, TxnId, Waiting},
    schema::{Index, Partitions, Table, Values},
    statement_context::{Condition, LockMode, Scan, StatementContext},
};

/// What scans find, and what it takes to believe it. Most often only the strict one is asked for.
pub type Scans = SmallVec<[(Scan, Option<&'static KnownDeviation>); 1]>;

impl StatementContext<'_> {
    /// What a locking scan may find: first by the strict rules, then as a resumed one.
    pub fn scans(&self, from: &FromClause, condition: &Condition, mode: LockMode) -> Result<Scans, Reason> {
        let strict = self.lock(from, condition, mode)?;
        let by = strict.skipped.then_some(&SEMI_CONSISTENT_SKIP);
        let mut all: Scans = smallvec![(strict, by)];
        if self.tries_reported && self.waited.is_some() && from.tables.len() > 1 {
            return Err(Reason::JoinThatWaited);
        }
        if self.tries_reported && from.tables.len() == 1 {
            let resumed = self.resumed(from, condition, mode, &all[0].0)?;
            all.extend(resumed);
        }
        Ok(all)
    }

    /// What resumed scans find that neither the strict one finds nor another before.
    fn resumed(
        &self,
        from: &FromClause,
        condition: &Condition,
        mode: LockMode,
        strict: &Scan,
    ) -> Result<Vec<(Scan, Option<&'static KnownDeviation>)>, Reason> {
        let Some(waited) = self.waited else { return Ok(Vec::new()) };
        let table = &self.schema.tables[from.tables[0].table];
        let rows = self.scanned_rows(from, condition, mode, waited)?;
        for values in rows.iter().flat_map(ScannedRow::versions) {
            self.partition(table, values)?;
        }
        let passes_all = self.change(|change| change.passes_by).is_some();
        let passes = mode == LockMode::SemiConsistent;
        let ranged: &[bool] = if passes { &[false] } else { &[false, true] };
        // One partition after the other, or all at once in the order of the index.
        let by_partition: &[bool] = if table.partitions.is_some() { &[false, true] } else { &[false] };
        let mut known = vec![(strict.numbers(), strict.due.is_empty())];
        let mut found = Vec::new();
        let orders = orders(table, self.path);
        let walks = orders.iter().flat_map(|order| by_partition.iter().map(move |by| (order, *by)));
        for (order, by_partition) in walks {
            let walk = IndexWalk { context: self, table, order, by_partition };
            for (sides, stop) in walk.cuts(&rows).iter().flat_map(|cut| STOPS.map(|stop| (&cut.sides, stop)))
            {
                for &ranged in ranged {
                    let cut = CutScan { passes, passes_all, ranged };
                    let (numbers, due, difference) = cut.found(&rows, sides, stop);
                    let new = (numbers, due.is_empty());
                    // What this server does not do must not hide what it does.
                    let by = self.resumed_by(difference).or_else(|| {
                        let unique = difference == ScanDifference::Moved && walk.is_unique_search(&rows);
                        self.resumed_by(ScanDifference::MovedInUniqueSearch).filter(|_| unique)
                    });
                    if by.is_some() && !known.contains(&new) {
                        let values = |&row: &usize| Some((smallvec![row], rows[row].now?.clone()));
                        let rows = new.0.iter().filter_map(values).collect();
                        found.push((Scan { rows, due, ..Scan::default() }, by));
                        known.push(new);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The rows of the first table as a scan met them when it began to wait, and as they are now.
    fn scanned_rows<'r>(
        &'r self,
        from: &FromClause,
        condition: &Condition,
        mode: LockMode,
        waited: &'r Waiting,
    ) -> Result<Vec<ScannedRow<'r>>, Reason> {
        let table = from.tables[0].table;
        let holds = |values: Option<&Values>| match values {
            None => Ok(false),
            Some(values) => self.holds(from, condition, values).map_err(|fault| match fault {
                Fault::Unsure(why) => why,
                Fault::Error(_) => Reason::ErrorInResumedScan,
            }),
        };
        let mut rows = Vec::with_capacity(self.hypothesis.tables[table].len());
        for (row, chain) in self.hypothesis.tables[table].iter().enumerate() {
            let (contested, old, open) = match waited.tables[table].get(row).map(|chain| chain.now(self.me)) {
                Some(Now::Settled(values)) => (false, values, values),
                Some(Now::Contested { committed, newest, .. }) => (true, committed, newest),
                None => (false, None, None),
            };
            let (now, still, passed) = match chain.now(self.me) {
                Now::Settled(values) => (values, None, false),
                // A row that it may pass by is none to wait for.
                Now::Contested { committed, newest, by } => {
                    let passed = mode == LockMode::SemiConsistent && !holds(committed)?;
                    (newest.or(committed), Some(by).filter(|_| !passed), passed)
                }
            };
            let (matched, matches) = (holds(old)?, holds(now)? && !passed);
            let matched_open = contested && holds(open)?;
            rows.push(ScannedRow { contested, old, open, now, still, matched, matched_open, matches });
        }
        Ok(rows)
    }

    /// The deviation by which a resumed scan finds something else.
    fn resumed_by(&self, difference: ScanDifference) -> Option<&'static KnownDeviation> {
        match self.assumed.filter(|assumed| assumed.change.passes_by.is_some()) {
            Some(assumed) => Some(assumed.deviation),
            None => self.deviations.iter().copied().find(|one| one.resumed_scan == Some(difference)),
        }
    }

    /// The partition in which a row is; 0 where there are none.
    fn partition(&self, table: &Table, values: &Values) -> Result<i64, Reason> {
        match &table.partitions {
            None => Ok(0),
            Some(Partitions::Hash(expr, count)) => match self.evaluator.value(&table.columns, expr, values) {
                Ok(Datum::Int(n)) => Ok((n % *count as i64).abs()),
                _ => Err(Reason::PartitionedScan),
            },
            Some(Partitions::Unknown) => Err(Reason::PartitionedScan),
        }
    }
}

/// A table whose rows are come to in the order of an index.
struct IndexWalk<'w, 'a> {
    context: &'w StatementContext<'a>,
    table: &'w Table,
    order: &'w Order,
    by_partition: bool,
}

/// A place at which a walk may have waited: where each row was and is, seen from there.
struct Cut {
    sides: Vec<[Option<Ordering>; 2]>,
}

impl IndexWalk<'_, '_> {
    /// All places at which it may have waited: where one of the rows was or is.
    fn cuts<'r>(&self, rows: &[ScannedRow<'r>]) -> Vec<Cut> {
        let mut cuts: Vec<Place<'_>> = Vec::new();
        for (row, scanned) in rows.iter().enumerate() {
            for values in scanned.versions() {
                let new = self.place(row, values);
                if !cuts.iter().any(|known| known.same(&new, self.order)) {
                    cuts.push(new);
                }
            }
        }
        let place = |(row, scanned): (usize, &ScannedRow<'r>)| {
            [scanned.first(), scanned.now].map(|values| values.map(|values| self.place(row, values)))
        };
        let places: Vec<[Option<Place<'_>>; 2]> = rows.iter().enumerate().map(place).collect();
        let side = |place: &Option<Place<'_>>, cut| place.as_ref().map(|place| self.compare(place, cut));
        let sides = |cut| places.iter().map(|[was, is]| [side(was, cut), side(is, cut)]).collect();
        cuts.iter().map(|cut| Cut { sides: sides(cut) }).collect()
    }

    /// May it be a search for one value of a unique key? Then all that matched, or does now, has that value.
    fn is_unique_search(&self, rows: &[ScannedRow<'_>]) -> bool {
        let ordered = |key: &&Vec<usize>| {
            let columns = self.order.iter().map(|(at, _)| at);
            self.order.len() > key.len() && columns.zip(*key).all(|(at, column)| at == column)
        };
        let met: Vec<&Values> = rows
            .iter()
            .flat_map(|row| [(row.matched, row.old), (row.matched_open, row.open), (row.matches, row.now)])
            .filter_map(|(matches, values)| values.filter(|_| matches))
            .collect();
        let one_value = |key: &Vec<usize>| {
            let same = |pair: &[&Values]| key.iter().all(|&at| pair[0][at] == pair[1][at]);
            met.windows(2).all(same) && met.iter().all(|row| key.iter().all(|&at| !row[at].is_null()))
        };
        !met.is_empty() && self.table.uniques.iter().filter(ordered).any(one_value)
    }

    fn place<'v>(&self, row: usize, values: &'v Values) -> Place<'v> {
        let partition = match self.by_partition {
            true => self.context.partition(self.table, values).unwrap_or(0),
            false => 0,
        };
        Place { partition, values, row }
    }

    /// Which of two places comes first.
    fn compare(&self, left: &Place<'_>, right: &Place<'_>) -> Ordering {
        let mut columns = self.order.iter().map(|&(at, down)| {
            let column = &self.table.columns[at];
            let order = self.context.evaluator.order(column, &left.values[at], &right.values[at]);
            let order = order.unwrap_or(Ordering::Equal);
            if down { order.reverse() } else { order }
        });
        let by_key = || columns.find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        left.partition.cmp(&right.partition).then_with(by_key).then(left.row.cmp(&right.row))
    }
}

/// How a scan stands at its cut.
#[derive(Clone, Copy)]
struct Stop {
    /// Does it go from the end of the index to its beginning?
    backwards: bool,
    /// Has it judged the row at the cut already?
    past: bool,
}

const STOPS: [Stop; 4] = [
    Stop { backwards: false, past: false },
    Stop { backwards: false, past: true },
    Stop { backwards: true, past: false },
    Stop { backwards: true, past: true },
];

impl Stop {
    /// Is a place on this side of the cut behind the scan?
    fn behind(self, side: Ordering) -> bool {
        match side {
            Ordering::Less => !self.backwards,
            Ordering::Greater => self.backwards,
            Ordering::Equal => self.past,
        }
    }
}

/// Columns of an index, and which of them go down.
type Order = Vec<(usize, bool)>;

/// The orders in which a scan may come to the rows of a table: of the clustered key and of each index; only that of the way on
/// which it went, where that is known.
fn orders(of: &Table, path: Option<&Path>) -> Vec<Order> {
    // The entries of an index with equal values stand in the order of the clustered key.
    let key: Order = of.clustered.iter().flatten().map(|&at| (at, false)).collect();
    let by = |index: &Index| -> Order {
        let columns = index.columns.iter().copied().zip(index.descending.iter().copied());
        columns.chain(key.iter().copied()).collect()
    };
    let named = |name: &str| of.indexes.iter().find(|index| index.name.eq_ignore_ascii_case(name));
    match path {
        Some(Path::Table) => return vec![key],
        // One without a name that we know may be any: a foreign key brings an index of its own where there is none.
        Some(Path::Index(name)) => {
            if let Some(index) = named(name) {
                return vec![by(index)];
            }
        }
        None => {}
    }
    let foreign = of.parents.iter().map(|foreign| {
        let columns = foreign.columns.iter().map(|&at| (at, false));
        columns.chain(key.iter().copied()).collect()
    });
    std::iter::once(key.clone()).chain(of.indexes.iter().map(by)).chain(foreign).collect()
}

impl Scan {
    /// The rows of the first table, by number.
    fn numbers(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.rows.iter().map(|(numbers, _)| numbers[0]).collect();
        rows.sort_unstable();
        rows
    }
}

/// Where a row stands in the order of an index.
struct Place<'w> {
    partition: i64,
    values: &'w Values,
    row: usize,
}

impl Place<'_> {
    /// Is it the same place, of the same row?
    fn same(&self, other: &Place<'_>, order: &Order) -> bool {
        (self.partition, self.row) == (other.partition, other.row)
            && order.iter().all(|&(at, _)| self.values[at] == other.values[at])
    }
}

/// A row as a scan met it first, and as it is now.
struct ScannedRow<'w> {
    /// Was another changing it when the scan began to wait?
    contested: bool,
    /// As it was committed then.
    old: Option<&'w Values>,
    /// As the other had it.
    open: Option<&'w Values>,
    /// As it is now.
    now: Option<&'w Values>,
    /// Who is still changing it.
    still: Option<TxnId>,
    /// Did it match then, as committed?
    matched: bool,
    /// And as the other had it?
    matched_open: bool,
    /// Does it now?
    matches: bool,
}

impl<'w> ScannedRow<'w> {
    /// Whatever it was while the scan was under way.
    fn versions(&self) -> impl Iterator<Item = &'w Values> + use<'w> {
        [self.old, self.open, self.now].into_iter().flatten()
    }

    /// As the scan met it first.
    fn first(&self) -> Option<&'w Values> {
        self.old.or(self.open)
    }
}

/// A scan that was cut in two by its wait.
struct CutScan {
    /// May it pass a row by that another is changing?
    passes: bool,
    /// Does it pass all of them by, whatever was committed last?
    passes_all: bool,
    /// Did it go by a range of an index, in which a row was not that did not match then?
    ranged: bool,
}

impl CutScan {
    /// The rows that a scan finds that judged what was behind the cut before its wait, whom it should have waited for, and how
    /// that differs from one state. `sides` says where each row was and is.
    fn found(
        &self,
        all: &[ScannedRow<'_>],
        sides: &[[Option<Ordering>; 2]],
        stop: Stop,
    ) -> (Vec<usize>, Vec<TxnId>, ScanDifference) {
        let (mut rows, mut due) = (Vec::with_capacity(all.len()), Vec::new());
        let mut difference = ScanDifference::Changed;
        for (row, (seen, [was, is])) in all.iter().zip(sides).enumerate() {
            let met = was.is_some_and(|side| stop.behind(side));
            let meets = is.is_some_and(|side| !stop.behind(side));
            // One that another was changing was waited for and judged after that, unless it could be passed by.
            let was = met
                && match seen.contested {
                    true => {
                        let reached = !self.ranged || seen.matched || seen.matched_open;
                        let judged = !self.passes || seen.matched && !self.passes_all;
                        seen.matches && reached && judged
                    }
                    false => seen.matched,
                };
            let is = meets && seen.matches;
            if let (true, Some(other)) = (is, seen.still) {
                due.push(other);
            } else if (was || is) && seen.now.is_some() {
                rows.push(row);
            }
            let moved = met == meets && seen.first().is_some();
            if (was || is) != seen.matches && (seen.still.is_none() || moved) {
                // It was passed by on its last committed version.
                let passed_by = self.passes && seen.contested && !seen.matched;
                difference = match (seen.matched_open || passed_by, moved) {
                    (_, true) => ScanDifference::Moved,
                    (true, false) if difference != ScanDifference::Moved => ScanDifference::Skipped,
                    _ => difference,
                };
            }
        }
        (rows, due, difference)
    }
}
