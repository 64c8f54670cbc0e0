//! In what the versions differ.

use dialect::Arithmetic;
use model::Version;

use crate::Evaluator;

/// How one version computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub mariadb: bool,
    /// How columns of a fresh schema are compared.
    pub columns: TextComparison,
    /// Do columns have the character set of the connection, so that both collations do not mix?
    pub one_charset: bool,
    /// Does XOR take its operands as whole numbers, so that 0.4 is false?
    pub whole_xor: bool,
    /// Do CASE and IF show the chosen branch as it is, instead of in the common type?
    pub bare_branches: bool,
    /// Is a value that is a condition by itself taken as a whole number in WHERE, so that 0.4 is false?
    pub whole_where: bool,
    /// Do whole numbers with and without a sign have an exact number in common, instead of one of the two?
    pub mixed_signs: bool,
    /// Does BETWEEN take all whole numbers as signed?
    pub signed_between: bool,
    /// Do IN (with columns in its list) and CASE compare whole numbers bit by bit, whatever their sign?
    pub bare_signs: bool,
    /// Is a quotient rounded to the digits that are shown, instead of keeping all that were computed?
    pub short_quotient: bool,
    /// Does ROUND show no more digits than there were?
    pub short_round: bool,
    /// Is GREATEST the last of those that are equal, instead of the first?
    pub last_greatest: bool,
    /// Does IN round binary constants if the left side is a computed whole number?
    pub in_rounds: bool,
    /// Do operators on bits round binary numbers and strings like exact numbers?
    pub round_bits: bool,
    /// Does it not matter that the last argument of REPLACE is NULL if there is nothing to replace?
    pub late_replace: bool,
    /// Does the rest of a negative exact number keep its sign when it is zero?
    pub negative_zero: bool,
    /// Are LEAST and GREATEST of strings another value when they are asked for a number?
    pub split_extremes: bool,
    /// Does a WHEN that is NULL hide those after it?
    pub null_hides: bool,
    /// Do whole numbers of which one is a short unsigned one have an exact number in common, too?
    pub exact_signs: bool,
    /// Does `<=>` with NULL on one side pass for NULL?
    pub null_safe_null: bool,
    /// Is YEAR a number without a sign?
    pub unsigned_year: bool,
    /// Does `<=>` with NULL not compute what cannot be NULL by its type, so that an error in it does not show?
    pub bold_nulls: bool,
    /// Is a constant beside an exact column cut to the column's digits in WHERE, and a negative one that becomes 0 taken for a
    /// positive one?
    pub cut_constants: bool,
    /// Is IN of nothing but constants that are NULL not computed at all?
    pub null_lists: bool,
    /// Is a product that is the smallest number an error, unless a factor is 1?
    pub tight_product: bool,
    /// Is a product that is one below the smallest number the largest one?
    pub wraps_past: bool,
    /// Does a NULL count in WHERE as what it was computed from?
    pub loose_where: bool,
    /// Is `NOT (NOT a)` in WHERE just a, which need not be 0 or 1?
    pub bare_double_not: bool,
    /// Do LEAST and GREATEST of numbers make bytes of a text that they become a part of?
    pub byte_extremes: bool,
    /// Is what does not fit into a column an error?
    pub strict: bool,
}

/// How texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextComparison {
    /// Do blanks at the end count?
    pub no_pad: bool,
    /// Is the order that of the Unicode algorithm, where marks stand before digits?
    pub unicode: bool,
}

/// utf8mb4_general_ci, and latin1_swedish_ci as far as ASCII goes.
pub(super) const GENERAL: TextComparison = TextComparison { no_pad: false, unicode: false };

impl Rules {
    /// Those of a server.
    pub fn of(server: &Evaluator) -> Rules {
        match dialect::of(server.product).arithmetic {
            Arithmetic::Mariadb => Rules::mariadb(server.version),
            Arithmetic::Mysql | Arithmetic::Postgres | Arithmetic::Sqlite => Rules::mysql(server.version),
        }
    }

    fn mysql(version: &Version) -> Rules {
        let eight = version.since(&[8]);
        let columns = if eight { TextComparison { no_pad: true, unicode: true } } else { GENERAL };
        Rules {
            mariadb: false,
            columns,
            one_charset: eight,
            whole_xor: !eight,
            bare_branches: true,
            whole_where: !eight,
            mixed_signs: eight,
            signed_between: !eight,
            bare_signs: true,
            short_quotient: version.since(&[8, 1]),
            short_round: eight,
            last_greatest: eight,
            in_rounds: version.since(&[8, 1]),
            round_bits: false,
            late_replace: !eight,
            negative_zero: !eight,
            split_extremes: !eight,
            null_hides: false,
            exact_signs: !eight,
            null_safe_null: !eight,
            unsigned_year: version.since(&[8, 1]),
            bold_nulls: true,
            cut_constants: version.since(&[8, 0, 14]) && !version.since(&[8, 1]),
            null_lists: eight,
            tight_product: eight,
            wraps_past: !eight,
            loose_where: !eight,
            bare_double_not: !eight,
            byte_extremes: !eight,
            strict: version.since(&[5, 7]),
        }
    }

    fn mariadb(version: &Version) -> Rules {
        // The default became utf8mb4 with uca1400_ai_ci in 11.6.
        let late = version.since(&[11, 6]);
        Rules {
            mariadb: true,
            columns: if late { TextComparison { no_pad: false, unicode: true } } else { GENERAL },
            one_charset: late,
            // Tried: 10.11.5, 11.4.5 and 11.8.6 do, 10.11.19 does not.
            whole_xor: !version.since(&[10, 11, 19]) || version.since(&[11]),
            bare_branches: false,
            whole_where: !version.since(&[11, 8]),
            mixed_signs: true,
            signed_between: false,
            bare_signs: false,
            short_quotient: false,
            short_round: false,
            last_greatest: false,
            in_rounds: false,
            round_bits: true,
            late_replace: !version.since(&[11, 8]),
            negative_zero: true,
            split_extremes: true,
            null_hides: !version.since(&[11, 8]),
            exact_signs: true,
            null_safe_null: false,
            unsigned_year: false,
            bold_nulls: false,
            cut_constants: false,
            null_lists: false,
            tight_product: false,
            wraps_past: false,
            loose_where: false,
            bare_double_not: true,
            byte_extremes: false,
            strict: version.since(&[10, 2]),
        }
    }
}
