//! What a product can do at a version, as data. The generator asks here and produces nothing that is not supported.
//!
//! A version that is only a line (`9.7`) counts as its newest release.

use model::{
    Product, SqlType, Version,
    sql::{Literal, LockStrength, TypeName},
};

use crate::sql::Clauses;

/// What a server can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub product: Product,
    pub version: Version,
    /// What its grammar has, whatever the version.
    pub clauses: &'static Clauses,
    /// Widths of whole numbers, in bits.
    pub int_bits: &'static [u8],
    pub unsigned: bool,
    /// Truth values are a type of their own, and types must fit everywhere.
    pub strict_types: bool,
    /// CHECK, and it is enforced.
    pub checks: bool,
    /// Generated columns, in these ways of keeping them.
    pub generated: &'static [&'static str],
    /// A generated column that is not stored may be in an index.
    pub virtual_indexes: bool,
    /// Foreign keys that are enforced.
    pub foreign_keys: bool,
    /// What a session says first so that foreign keys hold for it.
    pub foreign_keys_on: Option<&'static str>,
    /// `DESC` in an index is real.
    pub descending: bool,
    /// `a(10)` in an index, which TEXT and BLOB then need.
    pub prefixes: bool,
    /// `PARTITION BY`, without foreign keys.
    pub partitions: bool,
    /// Each partition is created by a statement of its own.
    pub named_partitions: bool,
    /// How a shared lock is written, if there is one.
    pub share: Option<LockStrength>,
    /// NOWAIT after FOR UPDATE.
    pub nowait: bool,
    /// SKIP LOCKED after FOR UPDATE.
    pub skip_locked: bool,
    /// The two after the shared lock too.
    pub share_waits: bool,
    /// `WITH CONSISTENT SNAPSHOT`.
    pub snapshot: bool,
    pub read_only: bool,
    /// Sessions without autocommit.
    pub autocommit_off: bool,
    /// ORDER BY and LIMIT in UPDATE and DELETE.
    pub ordered_changes: bool,
    /// `UPDATE t JOIN u ... SET ...`, `DELETE FROM t USING t JOIN u`.
    pub multi_tables: bool,
    /// `UPDATE t JOIN u ... SET ... ORDER BY ... LIMIT ...`.
    pub ordered_multi_update: bool,
    /// `DELETE FROM t USING ...`.
    pub delete_using: bool,
    /// A subquery in an UPDATE or DELETE may read the table that is changed.
    pub reads_itself: bool,
    /// After an error nothing but ROLLBACK goes on.
    pub aborts: bool,
}

/// What the product can do at this version.
pub fn capabilities(product: Product, version: &Version) -> Capabilities {
    (crate::of(product).capabilities)(product, version)
}

/// The newest version that these capabilities were written for: what a dialect without a version means.
pub fn newest(product: Product) -> Version {
    Version(crate::of(product).newest.to_vec())
}

impl Capabilities {
    /// What follows from the grammar, and the least that any product can do.
    pub(crate) fn nothing(product: Product, version: &Version) -> Capabilities {
        let dialect = crate::of(product);
        Capabilities {
            product,
            version: version.clone(),
            clauses: &dialect.grammar.clauses,
            int_bits: &[32],
            unsigned: false,
            strict_types: false,
            checks: false,
            generated: &[],
            virtual_indexes: false,
            foreign_keys: false,
            foreign_keys_on: None,
            descending: false,
            prefixes: false,
            partitions: false,
            named_partitions: false,
            share: None,
            nowait: false,
            skip_locked: false,
            share_waits: false,
            snapshot: dialect.begin.snapshot.is_some(),
            read_only: dialect.begin.read_only.is_some(),
            autocommit_off: dialect.autocommit_off.is_some(),
            ordered_changes: false,
            multi_tables: false,
            ordered_multi_update: false,
            delete_using: false,
            reads_itself: false,
            aborts: false,
        }
    }

    /// How a type is spelled in a column's definition.
    pub fn type_name(&self, ty: &SqlType) -> TypeName {
        let words: &[&str] = match ty {
            SqlType::Int { bits: 8, .. } => &["TINYINT"],
            SqlType::Int { bits: 16, .. } => &["SMALLINT"],
            SqlType::Int { bits: 24, .. } => &["MEDIUMINT"],
            // SQLite takes a key of exactly this type for the number of the row.
            SqlType::Int { bits: 64, .. } if self.clauses.indexed_by => &["INTEGER"],
            SqlType::Int { bits: 64, .. } => &["BIGINT"],
            SqlType::Int { .. } => &["INT"],
            SqlType::Decimal { .. } => &["DECIMAL"],
            SqlType::Float if self.strict_types => &["REAL"],
            SqlType::Float => &["FLOAT"],
            SqlType::Double if self.strict_types => &["DOUBLE", "PRECISION"],
            SqlType::Double => &["DOUBLE"],
            SqlType::Char(_) => &["CHAR"],
            SqlType::Varchar(_) => &["VARCHAR"],
            SqlType::Text => &["TEXT"],
            SqlType::Blob if self.strict_types => &["BYTEA"],
            SqlType::Blob => &["BLOB"],
            SqlType::Bool => &["BOOLEAN"],
            SqlType::Date => &["DATE"],
            SqlType::DateTime if self.strict_types => &["TIMESTAMP"],
            SqlType::DateTime => &["DATETIME"],
        };
        let args = match ty {
            SqlType::Decimal { precision, scale } => vec![u64::from(*precision), u64::from(*scale)],
            SqlType::Char(n) | SqlType::Varchar(n) => vec![u64::from(*n)],
            SqlType::Int { .. }
            | SqlType::Float
            | SqlType::Double
            | SqlType::Text
            | SqlType::Blob
            | SqlType::Bool
            | SqlType::Date
            | SqlType::DateTime => Vec::new(),
        };
        let unsigned = matches!(ty, SqlType::Int { unsigned: true, .. });
        TypeName {
            words: words.iter().map(|word| word.to_string()).collect(),
            args: args.into_iter().map(Literal::number).collect(),
            suffix: if unsigned { vec!["UNSIGNED".to_string()] } else { Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_as_its_newest_release() {
        let of = |product, version: &str| capabilities(product, &version.parse().unwrap());
        assert!(of(Product::Mysql, "9.7").checks);
        assert!(of(Product::Mysql, "8.0").checks && !of(Product::Mysql, "8.0.15").checks);
        assert!(!of(Product::Mysql, "5.6").nowait);
        assert!(!of(Product::Mariadb, "10.5").skip_locked && of(Product::Mariadb, "10.11").skip_locked);
        assert_eq!(of(Product::Postgres, "13").generated, ["STORED"]);
    }
}
