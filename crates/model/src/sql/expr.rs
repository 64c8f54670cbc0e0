//! Expressions.

use super::{ColumnRef, Ident, Query, TypeName, keyword::keywords};

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Literal(Literal),
    Column(ColumnRef),
    /// `@x`, `@@name`, `@@session.name`: with its at-signs, as written.
    Variable(String),
    /// `DEFAULT` where a value may stand.
    Default,
    /// A function that is called without parentheses: `CURRENT_TIMESTAMP`.
    BareFunction(Ident),
    /// `- x`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// What it is applied to.
        expr: Box<Expr>,
    },
    /// `x + y`
    Binary {
        /// The left side.
        left: Box<Expr>,
        /// The operator.
        op: BinaryOp,
        /// The right side.
        right: Box<Expr>,
    },
    /// `x IS NOT NULL`
    IsNull {
        /// What is tested.
        expr: Box<Expr>,
        /// IS NOT NULL?
        negated: bool,
        /// How it was written.
        spelling: NullSpelling,
    },
    /// `x IS NOT TRUE`
    IsBool {
        /// What is tested.
        expr: Box<Expr>,
        /// IS NOT?
        negated: bool,
        test: BoolTest,
    },
    /// `x IN (...)`
    In {
        /// What is looked for.
        expr: Box<Expr>,
        /// NOT IN?
        negated: bool,
        /// Where it is looked for.
        list: InList,
    },
    /// `x BETWEEN low AND high`
    Between {
        /// What is tested.
        expr: Box<Expr>,
        /// NOT BETWEEN?
        negated: bool,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
    },
    /// `x LIKE pattern ESCAPE e`
    Like {
        /// What is tested.
        expr: Box<Expr>,
        /// NOT LIKE?
        negated: bool,
        /// LIKE or one of its kin.
        op: LikeOp,
        pattern: Box<Expr>,
        /// After ESCAPE.
        escape: Option<Box<Expr>>,
    },
    /// `x COLLATE name`
    Collate {
        /// What is collated.
        expr: Box<Expr>,
        collation: Ident,
    },
    /// `CASE [x] WHEN ... THEN ... ELSE ... END`
    Case {
        /// Between CASE and WHEN.
        operand: Option<Box<Expr>>,
        /// The branches; at least one.
        whens: Vec<When>,
        /// After ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(x AS type)`, `x::type`
    Cast {
        /// What is cast.
        expr: Box<Expr>,
        ty: TypeName,
        /// How it was written.
        spelling: CastSpelling,
    },
    /// `name(args)`
    Function {
        /// The name as written.
        name: Ident,
        /// DISTINCT or ALL before the arguments.
        quantifier: Option<Quantifier>,
        /// The arguments.
        args: FunctionArgs,
    },
    /// `(a, b)`: two or more.
    Row(Vec<Expr>),
    /// `(SELECT ...)`
    Subquery(Box<Query>),
    /// `EXISTS (SELECT ...)`
    Exists(Box<Query>),
    /// `(x)` as written. The printer makes its own where it must: see the module's notes.
    Paren(Box<Expr>),
}

/// A constant, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    Null,
    /// `TRUE` or `FALSE`
    Bool(bool),
    /// A number without a sign, as written: `1`, `0.5e3`, `0x32`. A negative one is a negation of it.
    Number(String),
    /// A string with its quotes and escapes, as written: `'it''s'`.
    Text(String),
    /// `x'32'` or `b'01'`, as written.
    Bytes(String),
}

impl Literal {
    /// A whole number. A negative one gets its sign from [`UnaryOp::Neg`]: see [`Expr::int`].
    pub fn number(n: u64) -> Literal {
        Literal::Number(n.to_string())
    }
}

impl Expr {
    /// A whole number, with a negation around it if it is below zero.
    pub fn int(n: i64) -> Expr {
        let size = Expr::Literal(Literal::number(n.unsigned_abs()));
        if n < 0 { Expr::Unary { op: UnaryOp::Neg, expr: Box::new(size) } } else { size }
    }

    /// `expr IS [NOT] NULL`
    pub fn is_null(expr: Expr, negated: bool) -> Expr {
        Expr::IsNull { expr: Box::new(expr), negated, spelling: NullSpelling::Is }
    }

    /// A column by its bare name.
    pub fn column(name: &str) -> Expr {
        Expr::Column(name.into())
    }

    /// Is it a query, in however many parentheses?
    pub fn is_query(&self) -> bool {
        match self {
            Expr::Subquery(_) => true,
            Expr::Paren(inner) => inner.is_query(),
            _ => false,
        }
    }

    /// `left op right`
    pub fn binary(left: Expr, op: BinaryOp, right: Expr) -> Expr {
        Expr::Binary { left: Box::new(left), op, right: Box::new(right) }
    }
}

/// An operator between two operands. Two spellings of one meaning are two operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Or,
    /// `||` where it means OR
    OrBars,
    Xor,
    And,
    /// `&&`
    AndAmps,
    /// `=`
    Eq,
    /// `==`
    EqEq,
    /// `<=>`
    NullSafeEq,
    /// `<>`
    Ne,
    /// `!=`
    NeBang,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `IS` between any two operands
    Is,
    /// `IS NOT` between any two operands
    IsNot,
    /// `IS DISTINCT FROM`
    IsDistinct,
    /// `IS NOT DISTINCT FROM`
    IsNotDistinct,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    IntDiv,
    /// `%`
    Rem,
    Mod,
    /// `^` where it is a matter of bits; `#` in PostgreSQL
    BitXor,
    /// `^` where it raises to a power
    Power,
    /// `~`: a regular expression fits
    Match,
    /// `!~`
    NotMatch,
    /// `~*`: without regard to case
    MatchNoCase,
    /// `!~*`
    NotMatchNoCase,
    /// `||` where it joins strings
    Concat,
}

/// What an operator between two operands is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperatorClass {
    Or,
    Xor,
    And,
    /// A comparison that is NULL where an operand is.
    Comparison,
    /// A comparison that is true or false of NULL, too.
    NullSafeComparison,
    Bits,
    Arithmetic,
    /// A regular expression.
    Pattern,
    Concatenation,
}

impl BinaryOp {
    pub fn class(self) -> OperatorClass {
        match self {
            BinaryOp::Or | BinaryOp::OrBars => OperatorClass::Or,
            BinaryOp::Xor => OperatorClass::Xor,
            BinaryOp::And | BinaryOp::AndAmps => OperatorClass::And,
            BinaryOp::Eq
            | BinaryOp::EqEq
            | BinaryOp::Ne
            | BinaryOp::NeBang
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => OperatorClass::Comparison,
            BinaryOp::NullSafeEq
            | BinaryOp::Is
            | BinaryOp::IsNot
            | BinaryOp::IsDistinct
            | BinaryOp::IsNotDistinct => OperatorClass::NullSafeComparison,
            BinaryOp::BitOr | BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr => {
                OperatorClass::Bits
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::IntDiv
            | BinaryOp::Rem
            | BinaryOp::Mod
            | BinaryOp::Power => OperatorClass::Arithmetic,
            BinaryOp::Match | BinaryOp::NotMatch | BinaryOp::MatchNoCase | BinaryOp::NotMatchNoCase => {
                OperatorClass::Pattern
            }
            BinaryOp::Concat => OperatorClass::Concatenation,
        }
    }
}

/// How a cast was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CastSpelling {
    /// `CAST(x AS type)`
    #[default]
    Call,
    /// `x::type`
    Colons,
}

/// How a test for NULL was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NullSpelling {
    /// `IS NULL`, `IS NOT NULL`
    #[default]
    Is,
    /// `ISNULL`, `NOTNULL`
    OneWord,
    /// `NOT NULL`; only negated
    NotNull,
}

/// What IN looks into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InList {
    /// `(1, 2)`
    Exprs(Vec<Expr>),
    /// `(SELECT ...)`
    Query(Box<Query>),
}

/// A branch of CASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// After WHEN.
    pub when: Expr,
    /// After THEN.
    pub then: Expr,
}

/// The arguments of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionArgs {
    /// `(*)`
    Star,
    /// `(a, b)`
    List(Vec<Expr>),
}

keywords! {
    /// An operator before its operand.
    pub enum UnaryOp {
        Not = "NOT",
        Bang = "!",
        Neg = "-",
        Plus = "+",
        BitNot = "~",
    }

    /// What IS tests for.
    pub enum BoolTest {
        True = "TRUE",
        False = "FALSE",
        Unknown = "UNKNOWN",
    }

    /// LIKE and its kin.
    pub enum LikeOp {
        Like = "LIKE",
        Glob = "GLOB",
        Regexp = "REGEXP",
        Rlike = "RLIKE",
        Ilike = "ILIKE",
    }

    /// DISTINCT or ALL.
    pub enum Quantifier {
        Distinct = "DISTINCT",
        All = "ALL",
    }
}
