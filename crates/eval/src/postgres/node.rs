//! An expression after PostgreSQL's parser: every operand has the type that its operator wants, every conversion stands
//! where it happens. [`super::bind`] makes it, [`super::fold`] computes what is constant, [`super::run`] does the rest.

use super::types::{Ty, TypeModifier};
use crate::Datum;

/// An expression whose types are settled.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Const(Datum),
    /// A column of the row by its number. A CHAR is padded to this length.
    Column(usize, Option<usize>),
    /// A function or an operator that gives NULL for any NULL.
    Call(Call, Vec<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    /// IS NULL, or IS NOT NULL
    IsNull(Box<Node>, bool),
    /// `IS [NOT] TRUE | FALSE | UNKNOWN`: what it is compared with, and whether it is negated.
    IsBool(Box<Node>, Option<bool>, bool),
    /// `IS DISTINCT FROM`, negated or not; the operands and how they are compared.
    Distinct(Box<[Node; 2]>, bool, bool),
    /// `NULLIF`: the first is given, if the two are not equal. Is it computed ahead?
    NullIf {
        args: Box<[Node; 2]>,
        blanks: bool,
        ahead: bool,
    },
    Coalesce(Vec<Node>),
    /// The greatest or the least of those that are not NULL.
    Extreme {
        greatest: bool,
        blanks: bool,
        args: Vec<Node>,
    },
    /// CASE without an operand; that of one with an operand is bound into its conditions.
    Case {
        whens: Vec<(Node, Node)>,
        otherwise: Box<Node>,
    },
    /// `x = ANY (list)`, or `x <> ALL (list)`: no part of the list is left out.
    InArray {
        negated: bool,
        blanks: bool,
        item: Box<Node>,
        list: Vec<Node>,
    },
    /// `concat(...)`, or `concat_ws(separator, ...)`: the arguments are text already. Never computed ahead.
    Concat {
        separated: bool,
        args: Vec<Node>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What is called. Both operands of arithmetic have the type that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Arith(Arith, Ty),
    Neg(Ty),
    Bits(Bits, Ty),
    BitNot(Ty),
    /// Of two operands of one kind. Do blanks at the end not matter?
    Compare(Comparison, bool),
    /// From a type to a type.
    Cast(Ty, Ty),
    /// To the length of an explicit cast.
    Fit(TypeModifier),
    /// LIKE, or ILIKE, which ignores case.
    Like {
        ignores_case: bool,
    },
    /// Makes the default escape of a pattern that has another one.
    LikeEscape,
    /// `||`
    Concat,
    DayPlus,
    DayMinus,
    DaysBetween,
    Function(Function),
}

/// Functions by name. Those of numbers know the type of what they get and give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Abs(Ty),
    Sign(Ty),
    Round(Ty),
    Trunc(Ty),
    Floor(Ty),
    Ceil(Ty),
    /// Characters; those of a CHAR without the blanks at its end.
    Length,
    OctetLength,
    Upper,
    Lower,
    Substr,
    Left,
    Right,
    /// The characters given are cut off: at the start, at the end.
    Trim(bool, bool),
    Replace,
    Reverse,
    Strpos,
    Repeat,
    /// At the left or at the right.
    Pad {
        left: bool,
    },
    Ascii,
}
