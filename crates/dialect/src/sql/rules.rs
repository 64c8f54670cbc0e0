//! What one dialect's SQL looks like, as data: how it is quoted, which operators it has and how tightly they
//! bind, which clauses exist. The lexer, the parser and the printers are one for all dialects and ask here.
//!
//! Binding is given as levels: a higher number binds tighter. An operator has a level of its own and asks
//! its operands for a level; an operand below that needs parentheses. `a - b - c` groups to the left because
//! `-` (level 11) asks level 11 of its left side and 12 of its right side. The parser reads by these numbers
//! and the printer adds parentheses by them, so the two cannot disagree.
//!
//! The rules themselves stand in `rules_mysql` (MariaDB's too), `rules_postgres` and `rules_sqlite`.

use model::{
    Product,
    sql::{BinaryOp, LikeOp, NullSpelling, Quote, UnaryOp},
};

use super::{rules_mysql::MYSQL, rules_postgres::POSTGRES, rules_sqlite::SQLITE, words::ReservedWords};

/// How tightly something binds; higher is tighter.
pub(crate) type Binding = u8;

/// Below everything: any expression.
pub(super) const ANY: Binding = 0;
/// Above everything: constants, columns, calls, parentheses.
pub(super) const PRIMARY: Binding = 20;

/// How an operator binds: its own level and what it asks of its sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperatorBinding {
    /// Its own level.
    pub own: Binding,
    /// The least level of its left side.
    pub left: Binding,
    /// The least level of its right side (of both bounds of BETWEEN).
    pub right: Binding,
}

pub(super) const fn shape(own: Binding, left: Binding, right: Binding) -> OperatorBinding {
    OperatorBinding { own, left, right }
}

/// One operator between two operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Infix {
    pub op: BinaryOp,
    /// How it is written; in capitals if it is a word.
    pub text: &'static str,
    pub level: Binding,
    /// Does it group to the left? Otherwise it takes none of its own level on either side.
    pub groups: bool,
}

impl Infix {
    /// How it binds.
    pub fn shape(&self) -> OperatorBinding {
        let left = if self.groups { self.level } else { self.level + 1 };
        OperatorBinding { own: self.level, left, right: self.level + 1 }
    }
}

pub(super) const fn infix(op: BinaryOp, text: &'static str, level: Binding) -> Infix {
    Infix { op, text, level, groups: true }
}

/// One operator before its operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix {
    pub op: UnaryOp,
    /// How it is written.
    pub text: &'static str,
    pub level: Binding,
    /// The least level of its operand.
    pub operand: Binding,
}

pub(super) const fn prefix(op: UnaryOp, text: &'static str, level: Binding) -> Prefix {
    Prefix { op, text, level, operand: level }
}

/// What one dialect's SQL looks like.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Operators that the lexer knows, longest first.
    pub symbols: &'static [&'static str],
    /// Marks that a server may read as one when no blank is between them: MySQL takes `!!a` for `!a` and
    /// `a=!b` for `a=b`.
    pub sticky: &'static str,
    /// Are all marks that stand together one operator, as in PostgreSQL? Then `a=-b` is read as `a = -b` but
    /// `a|-b` with an operator `|-`, which we do not know and refuse.
    pub operator_runs: bool,
    /// Quotes around identifiers; the first is what the printer uses.
    pub quotes: &'static [Quote],
    /// Is `"text"` a string?
    pub double_quoted_text: bool,
    /// Do strings have backslash escapes?
    pub backslash: bool,
    /// Is `E'text'` a string with backslash escapes?
    pub escape_strings: bool,
    /// Letters that make bytes of the string after them: `x'32'`.
    pub byte_prefixes: &'static str,
    /// Are there numbers of other bases: `0x32`? Older servers read that as a number and a name.
    pub based_numbers: bool,
    /// Do comments begin with `#`, and need `--` a blank after it?
    pub hash_comments: bool,
    pub nested_comments: bool,
    /// What ends a comment that began with `--` or `#`.
    pub line_ends: &'static [char],
    /// What makes `/*` more than a comment: `/*!` and the like.
    pub live_comments: &'static [&'static str],
    /// How an optimizer hint begins.
    pub hint: Option<&'static str>,
    /// Must `(` follow a function's name without a blank?
    pub tight_calls: bool,
    /// Are names without quotes in lower case to the server?
    pub folds_names: bool,
    /// Words that are no names unless quoted.
    pub(super) reserved: &'static [&'static ReservedWords],
    /// Reserved words that are functions when `(` follows.
    pub(super) reserved_functions: &'static ReservedWords,
    /// Functions with a grammar of their own inside their parentheses, which we do not read.
    pub(super) odd_functions: &'static ReservedWords,
    /// Operators before an operand.
    pub prefixes: &'static [Prefix],
    /// Operators between operands.
    pub infixes: &'static [Infix],
    /// LIKE and its kin.
    pub likes: &'static [(LikeOp, OperatorBinding)],
    pub is_null: OperatorBinding,
    /// IS TRUE.
    pub is_bool: OperatorBinding,
    pub in_list: OperatorBinding,
    pub between: OperatorBinding,
    pub collate: OperatorBinding,
    /// Does the lower bound of BETWEEN take COLLATE without parentheses?
    pub collate_in_between: bool,
    /// `::`
    pub cast: OperatorBinding,
    /// Does IS take any expression on its right side?
    pub is_any: bool,
    /// Other ways to test for NULL after an operand: how they are written, and whether they say NOT.
    pub null_words: &'static [(&'static str, NullSpelling, bool)],
    /// Which clauses exist.
    pub clauses: Clauses,
}

/// Which clauses and statements exist.
#[derive(Debug, PartialEq, Eq)]
pub struct Clauses {
    /// `USE | FORCE | IGNORE INDEX (i)`
    pub index_hints: bool,
    /// `INDEXED BY i`
    pub indexed_by: bool,
    /// `SELECT SQL_NO_CACHE`
    pub sql_no_cache: bool,
    /// `STRAIGHT_JOIN`
    pub straight_join: bool,
    pub full_join: bool,
    /// `(SELECT ...) UNION ...`
    pub paren_queries: bool,
    /// `FOR UPDATE`
    pub locking_reads: bool,
    /// `LOCK IN SHARE MODE`
    pub in_share_mode: bool,
    /// `FOR SHARE`, and `OF t`
    pub for_share: bool,
    /// `FOR NO KEY UPDATE`, `FOR KEY SHARE`
    pub key_locks: bool,
    /// `WAIT n`, and waiting words after `LOCK IN SHARE MODE`
    pub lock_wait_seconds: bool,
    /// `NULLS FIRST`
    pub nulls_order: bool,
    /// `LIMIT n, m`
    pub limit_comma: bool,
    /// `INSERT IGNORE`, `INSERT ... SET`, `ON DUPLICATE KEY UPDATE`, multi-table UPDATE, `VALUE`
    pub mysql_changes: bool,
    /// `INSERT OR IGNORE`, and no alias without AS in UPDATE and DELETE
    pub sqlite_changes: bool,
    /// `ON CONFLICT`, `DEFAULT VALUES`
    pub on_conflict: bool,
    pub replace: bool,
    /// `ORDER BY` and `LIMIT` in UPDATE and DELETE
    pub ordered_changes: bool,
    /// `UPDATE ... FROM`
    pub update_from: bool,
    /// `DELETE FROM t USING ...`. MySQL names the table again among those that are joined, PostgreSQL must not.
    pub delete_using: bool,
    /// No table before an assigned column
    pub bare_assignments: bool,
    /// `INSERT ... RETURNING` and `DELETE ... RETURNING`
    pub returning: bool,
    /// `UPDATE ... RETURNING`
    pub update_returning: bool,
    /// `KEY i (a)` in CREATE TABLE, AUTO_INCREMENT, table options with values, TRUNCATE, prefix lengths
    pub mysql_ddl: bool,
    /// Types of any words or none, AUTOINCREMENT, WITHOUT ROWID
    pub sqlite_ddl: bool,
    /// Identity columns, `CREATE INDEX ... USING`, `WHERE`, `CASCADE`, TRUNCATE of several tables
    pub postgres_ddl: bool,
    /// `CREATE INDEX IF NOT EXISTS`, `DROP INDEX IF EXISTS`
    pub index_if_exists: bool,
    /// `START TRANSACTION`, `SET` of several things at once, `BEGIN WORK`, variables
    pub mysql_control: bool,
    /// `BEGIN IMMEDIATE`, `END`, `COMMIT TRANSACTION`, PRAGMA
    pub sqlite_control: bool,
    /// `BEGIN READ ONLY`, `END WORK`, `ABORT`, `SET x TO y`, `LOCK TABLE`
    pub postgres_control: bool,
}

impl Rules {
    /// Those of a product.
    pub fn of(product: Product) -> &'static Rules {
        crate::of(product).grammar
    }

    /// Is this word no name unless quoted?
    pub fn is_reserved(&self, word: &str) -> bool {
        self.reserved.iter().any(|list| list.has(word))
    }

    /// The operator between operands, if the dialect has it.
    pub fn infix(&self, op: BinaryOp) -> Option<&'static Infix> {
        self.infixes.iter().find(|i| i.op == op)
    }

    /// The operator before an operand, if the dialect has it.
    pub fn prefix(&self, op: UnaryOp) -> Option<&'static Prefix> {
        self.prefixes.iter().find(|p| p.op == op)
    }

    /// LIKE or one of its kin, if the dialect has it.
    pub fn like(&self, op: LikeOp) -> Option<OperatorBinding> {
        self.likes.iter().find(|(known, _)| *known == op).map(|(_, shape)| *shape)
    }
}

/// How an operator is written: as the dialect does, or as any other does if this one does not have it.
pub(super) fn spelling(rules: &Rules, op: BinaryOp) -> &'static str {
    let found = [rules, &MYSQL, &SQLITE, &POSTGRES].into_iter().find_map(|rules| rules.infix(op));
    found.map_or("", |i| i.text)
}
