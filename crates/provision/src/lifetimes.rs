//! Until when the vendors maintain each series: after that nobody takes a report about it. To know another one, add a row.
//!
//! The dates are the vendors': Oracle's Lifetime Support Policy for MySQL (the end of extended support), the maintenance policy
//! of the MariaDB Foundation, the versioning policy of PostgreSQL; taken from endoflife.date, which collects them from these
//! pages. A series whose date was not found has no row.

use model::{Product, Version};

/// A series and its end.
#[derive(Debug)]
pub struct Lifetime {
    product: Product,
    series: &'static [u32],
    /// The last day, as `2028-02-16`.
    pub until: &'static str,
    /// Where the vendor says so.
    pub source: &'static str,
}

impl Lifetime {
    /// Is it over on this day, given as `2026-11-17`?
    pub fn over(&self, day: &str) -> bool {
        self.until < day
    }
}

const fn mysql(series: &'static [u32], until: &'static str) -> Lifetime {
    let source = "https://www.oracle.com/us/support/library/lifetime-support-technology-069183.pdf";
    Lifetime { product: Product::Mysql, series, until, source }
}

const fn mariadb(series: &'static [u32], until: &'static str) -> Lifetime {
    let source = "https://mariadb.org/about/#maintenance-policy";
    Lifetime { product: Product::Mariadb, series, until, source }
}

const fn postgres(series: &'static [u32], until: &'static str) -> Lifetime {
    let source = "https://www.postgresql.org/support/versioning/";
    Lifetime { product: Product::Postgres, series, until, source }
}

const ROWS: &[Lifetime] = &[
    mysql(&[5, 6], "2021-02-28"),
    mysql(&[5, 7], "2023-10-31"),
    mysql(&[8, 0], "2026-04-30"),
    mysql(&[8, 4], "2032-04-30"),
    mariadb(&[10, 1], "2020-10-17"),
    mariadb(&[10, 2], "2022-05-23"),
    mariadb(&[10, 3], "2023-05-25"),
    mariadb(&[10, 4], "2024-06-18"),
    mariadb(&[10, 5], "2025-06-24"),
    mariadb(&[10, 6], "2026-07-06"),
    mariadb(&[10, 11], "2028-02-16"),
    mariadb(&[11, 4], "2029-05-29"),
    postgres(&[12], "2024-11-14"),
    postgres(&[13], "2025-11-13"),
    postgres(&[14], "2026-11-12"),
    postgres(&[15], "2027-11-11"),
    postgres(&[16], "2028-11-09"),
];

/// Until when the series of this version is maintained; none if that is not known.
pub fn lifetime(product: Product, version: &Version) -> Option<&'static Lifetime> {
    let of = dialect::of(product).series(version);
    ROWS.iter().find(|row| row.product == product && row.series == of.0.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_ends_on_its_day() {
        let over = |product, version: &str, day| {
            lifetime(product, &version.parse().unwrap()).map(|lifetime| lifetime.over(day))
        };
        assert_eq!(over(Product::Mysql, "5.6.24", "2026-11-17"), Some(true));
        assert_eq!(over(Product::Mysql, "8.0.33", "2026-04-30"), Some(false));
        assert_eq!(over(Product::Mysql, "8.0.33", "2026-05-01"), Some(true));
        assert_eq!(over(Product::Mariadb, "10.11.19", "2026-11-17"), Some(false));
        assert_eq!(over(Product::Postgres, "13.23", "2026-11-17"), Some(true));
        assert_eq!(over(Product::Mysql, "9.7.4", "2026-11-17"), None);
    }

    #[test]
    fn every_day_is_written_the_same_way() {
        for row in ROWS {
            let parts: Vec<usize> = row.until.split('-').map(str::len).collect();
            assert_eq!(parts, [4, 2, 2], "{}", row.until);
        }
    }
}
