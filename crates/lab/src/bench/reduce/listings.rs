//! The papers' own cases of the known families: what a case of a hunt must get down to.
//!
//! Counted as they are printed: each statement of a listing is one, those that make and fill the table included, and BEGIN, COMMIT
//! and a SELECT that only shows the damage, too; a row is one that the listing inserts before its transactions begin. Levels are
//! said beside a listing, not in it. Ours are counted the same way, and a session without autocommit needs one more to say so.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The reports of the family.
    pub reports: &'static [&'static str],
    pub statements: usize,
    pub rows: usize,
    /// Where it is printed.
    pub source: &'static str,
}

/// All of them. Troc: Dou et al., ICSE 2023; Fucci: VLDB 2025. Moroianu's thesis (2024) prints MDEV-26642 once more, in Figure 4.4,
/// with 11 statements and three rows; the smaller listing counts.
pub const ALL: [Listing; 5] = [
    // The figure draws the table; making and filling it takes two statements beside the six of its transactions.
    // Fucci's Code Snippet 3, MDEV-34108, is of the same family, with 10 statements and two rows.
    Listing {
        reports: &["MySQL#104833", "MDEV-26643", "MDEV-34108"],
        statements: 8,
        rows: 3,
        source: "Troc, Figure 1",
    },
    Listing { reports: &["MDEV-26642"], statements: 11, rows: 2, source: "Troc, Listing 2" },
    Listing { reports: &["MDEV-27992"], statements: 10, rows: 1, source: "Troc, Listing 3" },
    Listing {
        reports: &["MDEV-32898", "MySQL#113228"],
        statements: 11,
        rows: 2,
        source: "Fucci, Code Snippet 1",
    },
    Listing { reports: &["MDEV-33802"], statements: 8, rows: 1, source: "Fucci, Code Snippet 2" },
];

/// The listing of a family that is named by its reports; none where two families explain a case together.
pub fn of(family: &str) -> Option<&'static Listing> {
    ALL.iter().find(|listing| family.split(", ").all(|report| listing.reports.contains(&report)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_the_listing_of_its_reports() {
        assert_eq!(of("MDEV-32898, MySQL#113228").map(|listing| listing.statements), Some(11));
        assert_eq!(of("MDEV-27992, MDEV-34108"), None);
        assert_eq!(of("wrong-rows select"), None);
    }

    #[test]
    fn every_one_is_of_a_family_that_is_known() {
        let known: Vec<_> = oracles::mvcc::deviations::all().filter_map(|one| of(one.source)).collect();
        for listing in &ALL {
            assert!(known.contains(&listing), "{}", listing.source);
        }
    }
}
