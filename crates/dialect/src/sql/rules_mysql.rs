//! What the SQL of MySQL and MariaDB looks like.
//!
//! The levels are those of the manual's list of operators, refined by the grammar where
//! the list is silent. There, `IN`, `BETWEEN` and `LIKE` take only what binds tighter on their left, the
//! right side of `LIKE` takes not even a sum, and nothing compares the outcome of `IS TRUE`. MariaDB's
//! grammar lets more through; the printer writes parentheses that both understand alike, and the parser
//! refuses what only one of them would take.

use model::sql::{BinaryOp, LikeOp, Quote, UnaryOp};

use super::{
    rules::{ANY, Clauses, Infix, PRIMARY, Prefix, Rules, infix, prefix, shape},
    words,
};

const MYSQL_PREFIXES: &[Prefix] = &[
    prefix(UnaryOp::Not, "NOT", 4),
    prefix(UnaryOp::Neg, "-", 14),
    prefix(UnaryOp::Plus, "+", 14),
    prefix(UnaryOp::BitNot, "~", 14),
    prefix(UnaryOp::Bang, "!", 14),
];

const MYSQL_INFIXES: &[Infix] = &[
    infix(BinaryOp::Or, "OR", 1),
    infix(BinaryOp::OrBars, "||", 1),
    infix(BinaryOp::Xor, "XOR", 2),
    infix(BinaryOp::And, "AND", 3),
    infix(BinaryOp::AndAmps, "&&", 3),
    infix(BinaryOp::Eq, "=", 6),
    infix(BinaryOp::NullSafeEq, "<=>", 6),
    infix(BinaryOp::Ne, "<>", 6),
    infix(BinaryOp::NeBang, "!=", 6),
    infix(BinaryOp::Lt, "<", 6),
    infix(BinaryOp::Le, "<=", 6),
    infix(BinaryOp::Gt, ">", 6),
    infix(BinaryOp::Ge, ">=", 6),
    infix(BinaryOp::BitOr, "|", 8),
    infix(BinaryOp::BitAnd, "&", 9),
    infix(BinaryOp::Shl, "<<", 10),
    infix(BinaryOp::Shr, ">>", 10),
    infix(BinaryOp::Add, "+", 11),
    infix(BinaryOp::Sub, "-", 11),
    infix(BinaryOp::Mul, "*", 12),
    infix(BinaryOp::Div, "/", 12),
    infix(BinaryOp::IntDiv, "DIV", 12),
    infix(BinaryOp::Rem, "%", 12),
    infix(BinaryOp::Mod, "MOD", 12),
    infix(BinaryOp::BitXor, "^", 13),
];

const MYSQL_CLAUSES: Clauses = Clauses {
    index_hints: true,
    indexed_by: false,
    sql_no_cache: true,
    straight_join: true,
    full_join: false,
    paren_queries: true,
    locking_reads: true,
    in_share_mode: true,
    for_share: true,
    key_locks: false,
    lock_wait_seconds: false,
    nulls_order: false,
    limit_comma: true,
    mysql_changes: true,
    sqlite_changes: false,
    on_conflict: false,
    replace: true,
    ordered_changes: true,
    update_from: false,
    delete_using: true,
    bare_assignments: false,
    returning: false,
    update_returning: false,
    mysql_ddl: true,
    sqlite_ddl: false,
    postgres_ddl: false,
    index_if_exists: false,
    mysql_control: true,
    sqlite_control: false,
    postgres_control: false,
};

const MYSQL_RULES: Rules = Rules {
    symbols: &["<=>", "->>", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", ":=", "->"],
    sticky: "!=<>",
    operator_runs: false,
    quotes: &[Quote::Backtick],
    double_quoted_text: true,
    backslash: true,
    escape_strings: false,
    byte_prefixes: "xXbB",
    based_numbers: true,
    hash_comments: true,
    nested_comments: false,
    line_ends: &['\n'],
    live_comments: &["/*!"],
    hint: Some("/*+"),
    tight_calls: true,
    folds_names: false,
    reserved: &[&words::COMMON, &words::MYSQL_FAMILY, &words::MYSQL],
    reserved_functions: &words::MYSQL_FUNCTIONS,
    odd_functions: &words::MYSQL_ODD_FUNCTIONS,
    prefixes: MYSQL_PREFIXES,
    infixes: MYSQL_INFIXES,
    likes: &[
        (LikeOp::Like, shape(7, 8, 14)),
        (LikeOp::Regexp, shape(7, 8, 8)),
        (LikeOp::Rlike, shape(7, 8, 8)),
    ],
    is_bool: shape(5, 6, PRIMARY),
    is_null: shape(6, 6, PRIMARY),
    in_list: shape(7, 8, PRIMARY),
    between: shape(7, 8, 8),
    collate: shape(15, 15, PRIMARY),
    collate_in_between: true,
    cast: shape(ANY, PRIMARY, PRIMARY),
    is_any: false,
    null_words: &[],
    clauses: MYSQL_CLAUSES,
};

pub(crate) static MARIADB: Rules = Rules {
    live_comments: &["/*!", "/*M!"],
    reserved: &[&words::COMMON, &words::MYSQL_FAMILY, &words::MARIADB],
    clauses: Clauses {
        for_share: false,
        lock_wait_seconds: true,
        returning: true,
        index_if_exists: true,
        ..MYSQL_CLAUSES
    },
    ..MYSQL_RULES
};

pub(crate) static MYSQL: Rules = MYSQL_RULES;
