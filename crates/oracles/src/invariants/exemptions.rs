//! What each product's manual exempts from the invariants, as data with the manual's sentence.
//!
//! An invariant that is broken where an exemption fits is by design: the verdict holds, and names the exemption, so that it
//! is counted and can be looked at.

use model::{Level, Product};

use crate::story::Kind;

/// Something that a manual allows.
#[derive(Debug, PartialEq, Eq)]
pub struct Exemption {
    /// A short name that can be counted.
    pub name: &'static str,
    /// For whom.
    pub products: &'static [Product],
    /// Where the manual says it.
    pub section: &'static str,
    /// What it says.
    pub sentence: &'static str,
    /// Reports of the same shape, where somebody found it surprising all the same.
    pub reports: &'static [&'static str],
}

impl Exemption {
    /// For people: name, place and sentence.
    pub fn text(&self) -> String {
        let reports = match self.reports {
            [] => String::new(),
            reports => format!("; reported as {}", reports.join(", ")),
        };
        format!("{} ({}: \"{}\"{reports})", self.name, self.section, self.sentence)
    }
}

/// Does an invariant bind here?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// Yes.
    Yes,
    /// No, the manual says so.
    Not(&'static Exemption),
    /// It cannot be told.
    Unclear,
}

/// InnoDB, and the reference engine, which was made after it.
const INNODB: &[Product] = &[Product::Mysql, Product::Mariadb, Product::Reference];

/// InnoDB at READ UNCOMMITTED.
pub static DIRTY_READ: Exemption = Exemption {
    name: "dirty read",
    products: INNODB,
    section: "Transaction Isolation Levels, READ UNCOMMITTED",
    sentence: "such reads are not consistent. This is also called a dirty read",
    reports: &[],
};

/// InnoDB at REPEATABLE READ, after a change of its own.
pub static MIXED_SNAPSHOT: Exemption = Exemption {
    name: "own changes beside an old snapshot",
    products: INNODB,
    section: "Consistent Nonlocking Reads",
    sentence: "a SELECT sees the latest version of the updated rows, but it might also see older versions of any rows",
    reports: &["MDEV-32898", "MySQL#113228"],
};

/// PostgreSQL at REPEATABLE READ, after a change of its own: a key that another transaction freed since the snapshot can be
/// given again, and the row that had it is still seen.
pub static OWN_UPDATES: Exemption = Exemption {
    name: "own changes beside the snapshot",
    products: &[Product::Postgres],
    section: "Transaction Isolation, Repeatable Read Isolation Level",
    sentence: "each query does see the effects of previous updates executed within its own transaction",
    reports: &[],
};

/// All of them.
pub static ALL: &[&Exemption] = &[&DIRTY_READ, &MIXED_SNAPSHOT, &OWN_UPDATES];

/// Does a read owe committed values only?
pub fn committed_values(product: Product, level: Option<Level>, kind: Kind) -> Owed {
    match level {
        None => Owed::Unclear,
        // A locking read waits for what is not committed, at this level too (Locking Reads).
        Some(Level::ReadUncommitted) if kind == Kind::Select && DIRTY_READ.products.contains(&product) => {
            Owed::Not(&DIRTY_READ)
        }
        Some(_) => Owed::Yes,
    }
}

/// Does a read owe rows whose unique values differ? `wrote`: did its transaction change the table before?
pub fn distinct_keys(product: Product, level: Option<Level>, kind: Kind, wrote: bool) -> Owed {
    match committed_values(product, level, kind) {
        Owed::Yes => {}
        other => return other,
    }
    let mixes = kind == Kind::Select && level == Some(Level::RepeatableRead) && wrote;
    let allowed = [&MIXED_SNAPSHOT, &OWN_UPDATES].into_iter().find(|one| one.products.contains(&product));
    allowed.filter(|_| mixes).map_or(Owed::Yes, Owed::Not)
}
