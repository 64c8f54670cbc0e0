//! Deals the cases of a target to its workers, in whole schemas: cases that share their tables run on one server, one after
//! the other, so that only the first of them builds tables.

use model::Tally;

/// A run of consecutive cases with one schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which schema; also the line of the progress file.
    pub schema: u64,
    /// What was counted in it before.
    pub before: Tally,
    /// The first case that is not done.
    pub from: u64,
    /// The case after its last one.
    pub until: u64,
}

/// What is left to deal of one target.
#[derive(Debug)]
pub struct Deal {
    per_schema: u64,
    /// The case after the last one, if they are limited.
    end: Option<u64>,
    /// Schemas that were begun before a resume and not finished, the first one last.
    open: Vec<(u64, Tally)>,
    /// The first schema that nobody has begun.
    next: u64,
}

impl Deal {
    /// Goes on after what was done: a tally for each schema that was begun.
    pub fn new(per_schema: u64, end: Option<u64>, done: &[Tally]) -> Deal {
        let unfinished = done.iter().enumerate().filter(|(_, tally)| tally.cases < per_schema);
        let mut open: Vec<(u64, Tally)> = unfinished.map(|(i, tally)| (i as u64, *tally)).collect();
        open.reverse();
        Deal { per_schema, end, open, next: done.len() as u64 }
    }

    /// The next piece of work; none if all is dealt.
    pub fn take(&mut self) -> Option<Piece> {
        loop {
            let (schema, before) = self.open.pop().unwrap_or_else(|| {
                self.next += 1;
                (self.next - 1, Tally::default())
            });
            let first = schema * self.per_schema;
            if self.end.is_some_and(|end| first >= end) {
                // Schemas come in order, but a larger budget before a resume may have left some behind the end.
                if self.open.is_empty() {
                    return None;
                }
                continue;
            }
            let until = self.end.unwrap_or(u64::MAX).min(first + self.per_schema);
            let from = first + before.cases;
            if from < until {
                return Some(Piece { schema, before, from, until });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(cases: u64) -> Tally {
        Tally { cases, ..Tally::default() }
    }

    fn all(mut deal: Deal) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| deal.take()).map(|piece| (piece.from, piece.until)).collect()
    }

    #[test]
    fn the_last_schema_is_cut_where_the_cases_end() {
        assert_eq!(all(Deal::new(10, Some(25), &[])), [(0, 10), (10, 20), (20, 25)]);
        assert_eq!(all(Deal::new(10, Some(20), &[])), [(0, 10), (10, 20)]);
    }

    #[test]
    fn what_was_begun_is_finished_first() {
        assert_eq!(all(Deal::new(10, Some(25), &[done(10), done(4)])), [(14, 20), (20, 25)]);
        assert_eq!(all(Deal::new(10, Some(20), &[done(3), done(10)])), [(3, 10)]);
        assert_eq!(all(Deal::new(10, Some(20), &[done(10), done(10)])), []);
        // A schema that a killed worker had taken and never begun has a line of zeros, or none at all.
        assert_eq!(all(Deal::new(10, Some(30), &[done(0), done(10)])), [(0, 10), (20, 30)]);
    }

    #[test]
    fn without_an_end_it_never_ends() {
        let mut deal = Deal::new(10, None, &[]);
        assert_eq!(deal.take().map(|piece| piece.from), Some(0));
        assert_eq!(deal.take().map(|piece| piece.from), Some(10));
    }
}
