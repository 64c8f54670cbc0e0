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
    schema::Values,
    world::Now,
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
        if self.lenient && from.tables.len() == 1 {
            for (scan, by) in self.resumed(from, condition)? {
                let rows = |scan: &Scan| {
                    let mut rows: Vec<usize> = scan.rows.iter().map(|(numbers, _)| numbers[0]).collect();
                    rows.sort_unstable();
                    rows
                };
                if !all.iter().any(|(known, _)| rows(known) == rows(&scan)) {
                    all.push((scan, Some(by)));
                }
            }
        }
        Ok(all)
    }

    fn resumed(&self, from: &From, condition: &Condition) -> Result<Vec<(Scan, Concession)>, &'static str> {
        let Some(waited) = self.waited else { return Ok(Vec::new()) };
        let table = from.tables[0].table;
        let of = &self.schema.tables[table];
        let rows = self.world.tables[table].len();
        // Each row as the scan met it first, and as it is now.
        let mut first: Vec<(Option<&Values>, Option<&Values>)> = Vec::with_capacity(rows);
        let mut now = Vec::with_capacity(rows);
        for row in 0..rows {
            first.push(match waited.tables[table].get(row).map(|chain| chain.now(self.me)) {
                Some(Now::Settled(values)) => (values, values),
                Some(Now::Contested { committed, newest, .. }) => (committed, newest),
                None => (None, None),
            });
            now.push(match self.world.tables[table][row].now(self.me) {
                Now::Settled(values) => values,
                Now::Contested { .. } => return Ok(Vec::new()),
            });
        }
        let holds = |values: Option<&Values>| match values {
            None => Ok(false),
            Some(values) => self.holds(from, condition, values).map_err(|fault| match fault {
                eval::Fault::Unsure(why) => why,
                eval::Fault::Error(_) => "error-in-resumed-scan",
            }),
        };
        let mut matched_first = Vec::with_capacity(rows);
        let mut matches_now = Vec::with_capacity(rows);
        for row in 0..rows {
            matched_first.push(holds(first[row].0)?);
            matches_now.push(holds(now[row])?);
        }
        let mut orders: Vec<Vec<usize>> = vec![of.clustered.clone().unwrap_or_default()];
        orders.extend(of.indexes.iter().cloned());
        let mut found = Vec::new();
        for order in &orders {
            let place = |row: usize, values: &Values| {
                let mut key: Vec<Datum> = order.iter().map(|&at| values[at].clone()).collect();
                key.push(Datum::Int(row as i64));
                key
            };
            let compare = |left: &[Datum], right: &[Datum]| {
                let columns = order.iter().zip(left).zip(right);
                let by_key = columns.map(|((&at, left), right)| {
                    self.compute.order(&of.columns[at], left, right).unwrap_or(Ordering::Equal)
                });
                by_key.fold(Ordering::Equal, Ordering::then).then_with(|| match (left.last(), right.last()) {
                    (Some(Datum::Int(left)), Some(Datum::Int(right))) => left.cmp(right),
                    _ => Ordering::Equal,
                })
            };
            let before: Vec<Option<Vec<Datum>>> =
                (0..rows).map(|row| first[row].1.or(first[row].0).map(|values| place(row, values))).collect();
            let after: Vec<Option<Vec<Datum>>> =
                (0..rows).map(|row| now[row].map(|values| place(row, values))).collect();
            for cut in before.iter().chain(&after).flatten() {
                for backwards in [false, true] {
                    let behind = |key: &Vec<Datum>| match compare(key, cut) {
                        Ordering::Less => !backwards,
                        Ordering::Greater => backwards,
                        Ordering::Equal => false,
                    };
                    let mut scan = Scan::default();
                    let mut by = Concession::ChangedDuringWait;
                    for row in 0..rows {
                        let (met, meets) = (
                            before[row].as_ref().is_some_and(behind),
                            after[row].as_ref().is_some_and(|key| !behind(key)),
                        );
                        let (was, is) = (met && matched_first[row], meets && matches_now[row]);
                        if (was || is) != matches_now[row] {
                            let contested = first[row].0 != first[row].1;
                            by = match (met, meets) {
                                (false, false) | (true, true) => Concession::MovedAcrossScan,
                                _ if contested && by != Concession::MovedAcrossScan => {
                                    Concession::SkippedBeforeWait
                                }
                                _ => by,
                            };
                        }
                        if let (true, Some(values)) = (was || is, now[row]) {
                            scan.rows.push((vec![row], values.to_vec()));
                        }
                    }
                    found.push((scan, by));
                }
            }
        }
        Ok(found)
    }
}
