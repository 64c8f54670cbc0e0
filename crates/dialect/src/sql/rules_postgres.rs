//! What PostgreSQL's SQL looks like.
//!
//! The levels are those of the manual's table of operator precedence, which is that of the grammar: `OR`, `AND`, `NOT`, the
//! `IS` tests, comparisons, `BETWEEN` and its kin, all operators without a line of their own, sums, products, powers,
//! `COLLATE`, signs, `::`. The tests, comparisons and `BETWEEN` do not group: `a = b = c` is an error there, and we
//! refuse it. Where the grammar lets more through (`a IS NULL = b`, `a + ~b`) the parser refuses and the printer writes
//! parentheses.

use model::sql::{BinaryOp, LikeOp, NullSpelling, Quote, UnaryOp};

use super::{
    rules::{Binding, Clauses, Infix, PRIMARY, Prefix, Rules, infix, prefix, shape},
    words,
};

/// One that takes none of its own level on either side.
const fn lone(op: BinaryOp, text: &'static str, level: Binding) -> Infix {
    Infix { op, text, level, groups: false }
}

pub(crate) static POSTGRES: Rules = Rules {
    symbols: &["!~*", "<<", ">>", "<=", ">=", "<>", "!=", "||", "::", "~*", "!~", ":="],
    sticky: "",
    operator_runs: true,
    quotes: &[Quote::Double],
    double_quoted_text: false,
    backslash: false,
    escape_strings: true,
    byte_prefixes: "xXbB",
    based_numbers: false,
    hash_comments: false,
    nested_comments: true,
    line_ends: &['\n', '\r'],
    live_comments: &[],
    hint: None,
    tight_calls: false,
    folds_names: true,
    reserved: &[&words::COMMON, &words::POSTGRES],
    reserved_functions: &words::POSTGRES_FUNCTIONS,
    odd_functions: &words::POSTGRES_ODD_FUNCTIONS,
    prefixes: &[
        prefix(UnaryOp::Not, "NOT", 3),
        prefix(UnaryOp::Neg, "-", 12),
        prefix(UnaryOp::Plus, "+", 12),
        // It has the level of all other operators: `~a + b` is `~(a + b)`, and `~a | b` is `(~a) | b`.
        Prefix { op: UnaryOp::BitNot, text: "~", level: 7, operand: 8 },
    ],
    infixes: &[
        infix(BinaryOp::Or, "OR", 1),
        infix(BinaryOp::And, "AND", 2),
        lone(BinaryOp::IsDistinct, "IS DISTINCT FROM", 4),
        lone(BinaryOp::IsNotDistinct, "IS NOT DISTINCT FROM", 4),
        lone(BinaryOp::Eq, "=", 5),
        lone(BinaryOp::Ne, "<>", 5),
        lone(BinaryOp::NeBang, "!=", 5),
        lone(BinaryOp::Lt, "<", 5),
        lone(BinaryOp::Le, "<=", 5),
        lone(BinaryOp::Gt, ">", 5),
        lone(BinaryOp::Ge, ">=", 5),
        infix(BinaryOp::BitOr, "|", 7),
        infix(BinaryOp::BitAnd, "&", 7),
        infix(BinaryOp::BitXor, "#", 7),
        infix(BinaryOp::Shl, "<<", 7),
        infix(BinaryOp::Shr, ">>", 7),
        infix(BinaryOp::Concat, "||", 7),
        infix(BinaryOp::Match, "~", 7),
        infix(BinaryOp::NotMatch, "!~", 7),
        infix(BinaryOp::MatchNoCase, "~*", 7),
        infix(BinaryOp::NotMatchNoCase, "!~*", 7),
        infix(BinaryOp::Add, "+", 8),
        infix(BinaryOp::Sub, "-", 8),
        infix(BinaryOp::Mul, "*", 9),
        infix(BinaryOp::Div, "/", 9),
        infix(BinaryOp::Rem, "%", 9),
        infix(BinaryOp::Power, "^", 10),
    ],
    likes: &[(LikeOp::Like, shape(6, 7, 7)), (LikeOp::Ilike, shape(6, 7, 7))],
    is_bool: shape(4, 5, PRIMARY),
    is_null: shape(4, 5, PRIMARY),
    in_list: shape(6, 7, PRIMARY),
    between: shape(6, 7, 7),
    collate: shape(11, 11, PRIMARY),
    collate_in_between: false,
    cast: shape(13, 13, PRIMARY),
    is_any: false,
    null_words: &[("ISNULL", NullSpelling::OneWord, false), ("NOTNULL", NullSpelling::OneWord, true)],
    clauses: Clauses {
        index_hints: false,
        indexed_by: false,
        sql_no_cache: false,
        straight_join: false,
        full_join: true,
        paren_queries: true,
        locking_reads: true,
        in_share_mode: false,
        for_share: true,
        key_locks: true,
        lock_wait_seconds: false,
        nulls_order: true,
        limit_comma: false,
        mysql_changes: false,
        sqlite_changes: false,
        on_conflict: true,
        replace: false,
        ordered_changes: false,
        update_from: true,
        delete_using: true,
        bare_assignments: true,
        returning: true,
        update_returning: true,
        mysql_ddl: false,
        sqlite_ddl: false,
        postgres_ddl: true,
        index_if_exists: true,
        mysql_control: false,
        sqlite_control: false,
        postgres_control: true,
    },
};
