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

use dialect::contract::Concession;
use eval::Datum;

use super::{
    scene::{Condition, From, Mode, Scan, Scene},
    schema::{Partitions, Values},
    world::{Now, TxnId},
};

impl Scene<'_> {
    /// What a locking scan may find: first by the strict rules, then as a resumed one.
    pub fn scans(
        &self,
        from: &From,
        condition: &Condition,
        mode: Mode,
    ) -> Result<Vec<(Scan, Option<Concession>)>, &'static str> {
        let strict = self.lock(from, condition, mode)?;
        let mut all: Vec<(Scan, Option<Concession>)> = vec![(strict, None)];
        if self.lenient && self.waited.is_some() && from.tables.len() > 1 {
            return Err("join-that-waited");
        }
        if self.lenient && from.tables.len() == 1 {
            for (scan, by) in self.resumed(from, condition, mode)? {
                let rows = |scan: &Scan| {
                    let mut rows: Vec<usize> = scan.rows.iter().map(|(numbers, _)| numbers[0]).collect();
                    rows.sort_unstable();
                    rows
                };
                if !all.iter().any(|(known, _)| {
                    rows(known) == rows(&scan) && known.due.is_empty() == scan.due.is_empty()
                }) {
                    all.push((scan, Some(by)));
                }
            }
        }
        Ok(all)
    }

    fn resumed(
        &self,
        from: &From,
        condition: &Condition,
        mode: Mode,
    ) -> Result<Vec<(Scan, Concession)>, &'static str> {
        let Some(waited) = self.waited else { return Ok(Vec::new()) };
        let table = from.tables[0].table;
        let of = &self.schema.tables[table];
        let rows = self.world.tables[table].len();
        let holds = |values: Option<&Values>| match values {
            None => Ok(false),
            Some(values) => self.holds(from, condition, values).map_err(|fault| match fault {
                eval::Fault::Unsure(why) => why,
                eval::Fault::Error(_) => "error-in-resumed-scan",
            }),
        };
        let mut all = Vec::with_capacity(rows);
        for row in 0..rows {
            let (contested, old, open) = match waited.tables[table].get(row).map(|chain| chain.now(self.me)) {
                Some(Now::Settled(values)) => (false, values, values),
                Some(Now::Contested { committed, newest, .. }) => (true, committed, newest),
                None => (false, None, None),
            };
            let (now, still) = match self.world.tables[table][row].now(self.me) {
                Now::Settled(values) => (values, None),
                // A row that it may pass by is none to wait for.
                Now::Contested { committed, newest, by } => {
                    let passed = mode == Mode::SemiConsistent && !holds(committed)?;
                    (newest.or(committed), Some(by).filter(|_| !passed))
                }
            };
            let open_now = matches!(self.world.tables[table][row].now(self.me), Now::Contested { .. });
            let (matched, mut matches) = (holds(old)?, holds(now)?);
            matches &= !open_now || still.is_some();
            let matched_open = contested && holds(open)?;
            all.push(Seen { contested, old, open, now, still, matched, matched_open, matches });
        }
        // The entries of an index with equal values stand in the order of the clustered key.
        let key: Vec<(usize, bool)> = of.clustered.iter().flatten().map(|&at| (at, false)).collect();
        let mut orders = vec![key.clone()];
        for index in &of.indexes {
            let columns = index.columns.iter().copied().zip(index.descending.iter().copied());
            orders.push(columns.chain(key.iter().copied()).collect());
        }
        let mut found = Vec::new();
        let number = |values: &Values| match &of.partitions {
            None => Ok(0),
            Some(Partitions::Hash(expr, count)) => match self.compute.value(&of.columns, expr, values) {
                Ok(Datum::Int(n)) => Ok((n % *count as i64).abs()),
                _ => Err("partitioned-scan"),
            },
            Some(Partitions::Unknown) => Err("partitioned-scan"),
        };
        for values in all.iter().flat_map(|seen| [seen.old, seen.open, seen.now]).flatten() {
            number(values)?;
        }
        let by_partition = [false, true].into_iter().take(1 + usize::from(of.partitions.is_some()));
        for (order, apart) in
            orders.iter().flat_map(|order| by_partition.clone().map(move |apart| (order, apart)))
        {
            // One partition after the other, or all at once in the order of the index.
            let place = |row: usize, values: &Values| {
                let mut key = vec![Datum::Int(if apart { number(values).unwrap_or(0) } else { 0 })];
                key.extend(order.iter().map(|&(at, _)| values[at].clone()));
                key.push(Datum::Int(row as i64));
                key
            };
            let compare = |left: &[Datum], right: &[Datum]| {
                let partition = match (left.first(), right.first()) {
                    (Some(Datum::Int(left)), Some(Datum::Int(right))) => left.cmp(right),
                    _ => Ordering::Equal,
                };
                if partition != Ordering::Equal {
                    return partition;
                }
                let columns = order.iter().zip(&left[1..]).zip(&right[1..]);
                let by_key = columns.map(|((&(at, down), left), right)| {
                    let order = self.compute.order(&of.columns[at], left, right).unwrap_or(Ordering::Equal);
                    if down { order.reverse() } else { order }
                });
                by_key.fold(Ordering::Equal, Ordering::then).then_with(|| match (left.last(), right.last()) {
                    (Some(Datum::Int(left)), Some(Datum::Int(right))) => left.cmp(right),
                    _ => Ordering::Equal,
                })
            };
            let mut cuts: Vec<Vec<Datum>> = Vec::new();
            for (row, seen) in all.iter().enumerate() {
                for values in [seen.old, seen.open, seen.now].into_iter().flatten() {
                    let key = place(row, values);
                    if !cuts.contains(&key) {
                        cuts.push(key);
                    }
                }
            }
            // At the row itself, or just behind it.
            let ways = [(false, false), (false, true), (true, false), (true, true)];
            for (cut, (backwards, past)) in cuts.iter().flat_map(|cut| ways.map(|way| (cut, way))) {
                let behind = |row: usize, values: &Values| match compare(&place(row, values), cut) {
                    Ordering::Less => !backwards,
                    Ordering::Greater => backwards,
                    Ordering::Equal => past,
                };
                found.push(cut_at(&all, mode == Mode::SemiConsistent, self.judges_open, behind));
            }
        }
        Ok(found)
    }
}

/// A row as a scan met it first, and as it is now.
struct Seen<'w> {
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

/// What a scan finds that judged what was behind the cut before its wait, and how that differs from one state.
fn cut_at(
    all: &[Seen<'_>],
    passes: bool,
    judges_open: bool,
    behind: impl Fn(usize, &Values) -> bool,
) -> (Scan, Concession) {
    let mut scan = Scan::default();
    let mut by = Concession::ChangedDuringWait;
    for (row, seen) in all.iter().enumerate() {
        let met = seen.old.or(seen.open).is_some_and(|values| behind(row, values));
        let meets = seen.now.is_some_and(|values| !behind(row, values));
        // One that another was changing was waited for and judged after that, unless it could be passed by.
        let was = met
            && match seen.contested {
                true => seen.matches && (seen.matched || !passes) && !(passes && judges_open),
                false => seen.matched,
            };
        let is = meets && seen.matches;
        if let (true, Some(other)) = (is, seen.still) {
            scan.due.push(other);
        } else if let (true, Some(values)) = (was || is, seen.now) {
            scan.rows.push((vec![row], values.to_vec()));
        }
        if (was || is) != seen.matches && seen.still.is_none() {
            by = match (seen.matched_open, met == meets && seen.old.or(seen.open).is_some()) {
                (_, true) => Concession::MovedAcrossScan,
                (true, false) if by != Concession::MovedAcrossScan => Concession::SkippedBeforeWait,
                _ => by,
            };
        }
    }
    (scan, by)
}
