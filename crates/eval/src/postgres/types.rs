//! PostgreSQL's types as far as expressions need them: which turn into which without being asked, and which one several
//! expressions have in common. The rules are those of the manual's chapter "Type Conversion".

use model::{
    sql::{Literal, TypeName},
    types::SqlType,
};

/// The type of an expression. Lengths belong to columns and casts, not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// A quoted constant or NULL, whose type its surroundings decide.
    Unknown,
    Bool,
    Int2,
    Int4,
    Int8,
    Numeric,
    Float4,
    Float8,
    Bpchar,
    Varchar,
    Text,
    Bytea,
    Date,
    Timestamp,
}

/// Types of one category may meet in a CASE; those of two never do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Category {
    Unknown,
    Bool,
    Number,
    String,
    Bytes,
    Time,
}

/// What is said about a length: `VARCHAR(5)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeModifier {
    /// Blanks are added or characters cut off.
    Char(usize),
    /// Characters are cut off.
    Varchar(usize),
    /// `NUMERIC(precision, scale)`
    Numeric(u8, u8),
}

impl Ty {
    pub fn is_int(self) -> bool {
        matches!(self, Ty::Int2 | Ty::Int4 | Ty::Int8)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Ty::Float4 | Ty::Float8)
    }

    pub fn is_number(self) -> bool {
        self.category() == Category::Number
    }

    pub fn is_string(self) -> bool {
        self.category() == Category::String
    }

    fn category(self) -> Category {
        match self {
            Ty::Unknown => Category::Unknown,
            Ty::Bool => Category::Bool,
            Ty::Int2 | Ty::Int4 | Ty::Int8 | Ty::Numeric | Ty::Float4 | Ty::Float8 => Category::Number,
            Ty::Bpchar | Ty::Varchar | Ty::Text => Category::String,
            Ty::Bytea => Category::Bytes,
            Ty::Date | Ty::Timestamp => Category::Time,
        }
    }

    /// Is it the one that its category prefers? (That of times is `timestamptz`, which we do not have.)
    fn preferred(self) -> bool {
        matches!(self, Ty::Bool | Ty::Float8 | Ty::Text)
    }

    /// Numbers from narrow to wide: each turns into every wider one by itself.
    fn width(self) -> u8 {
        match self {
            Ty::Int2 => 1,
            Ty::Int4 => 2,
            Ty::Int8 => 3,
            Ty::Numeric => 4,
            Ty::Float4 => 5,
            Ty::Float8 => 6,
            _ => 0,
        }
    }

    /// Does it turn into the other without being asked?
    pub fn implicit(self, to: Ty) -> bool {
        match (self.category(), to.category()) {
            (Category::Number, Category::Number) => self.width() <= to.width(),
            // Each of the three turns into both others.
            (Category::String, Category::String) => true,
            (Category::Time, Category::Time) => self == to || self == Ty::Date,
            (Category::Unknown, _) => true,
            _ => self == to,
        }
    }

    /// The wider of two whole numbers.
    pub fn wider(self, other: Ty) -> Ty {
        if self.width() >= other.width() { self } else { other }
    }

    /// That of a column, and the length it pads to.
    pub fn of_column(ty: &SqlType) -> Ty {
        match ty {
            SqlType::Int { bits: 0..=16, .. } => Ty::Int2,
            SqlType::Int { bits: 17..=32, .. } => Ty::Int4,
            SqlType::Int { .. } => Ty::Int8,
            SqlType::Decimal { .. } => Ty::Numeric,
            SqlType::Float => Ty::Float4,
            SqlType::Double => Ty::Float8,
            SqlType::Char(_) => Ty::Bpchar,
            SqlType::Varchar(_) => Ty::Varchar,
            SqlType::Text => Ty::Text,
            SqlType::Blob => Ty::Bytea,
            SqlType::Bool => Ty::Bool,
            SqlType::Date => Ty::Date,
            SqlType::DateTime => Ty::Timestamp,
        }
    }

    /// What a cast names; none if we do not have it.
    pub fn named(name: &TypeName) -> Option<(Ty, Option<TypeModifier>)> {
        let number = |i: usize| match name.args.get(i) {
            Some(Literal::Number(text)) => text.parse::<u16>().ok(),
            _ => None,
        };
        let words: Vec<String> = name.words.iter().map(|word| word.to_ascii_lowercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if !name.suffix.is_empty() || name.args.len() > 2 {
            return None;
        }
        let plain = |ty| name.args.is_empty().then_some((ty, None));
        match words.as_slice() {
            ["boolean" | "bool"] => plain(Ty::Bool),
            ["smallint" | "int2"] => plain(Ty::Int2),
            ["integer" | "int" | "int4"] => plain(Ty::Int4),
            ["bigint" | "int8"] => plain(Ty::Int8),
            ["real" | "float4"] => plain(Ty::Float4),
            ["double", "precision"] | ["float8"] | ["float"] => plain(Ty::Float8),
            ["text"] => plain(Ty::Text),
            ["bytea"] => plain(Ty::Bytea),
            ["date"] => plain(Ty::Date),
            ["timestamp"] | ["timestamp", "without", "time", "zone"] => plain(Ty::Timestamp),
            ["numeric" | "decimal"] => match (name.args.len(), number(0), number(1)) {
                (0, ..) => Some((Ty::Numeric, None)),
                (1, Some(p), _) => Some((Ty::Numeric, Some(TypeModifier::Numeric(u8::try_from(p).ok()?, 0)))),
                (2, Some(p), Some(s)) if s <= p => Some((
                    Ty::Numeric,
                    Some(TypeModifier::Numeric(u8::try_from(p).ok()?, u8::try_from(s).ok()?)),
                )),
                _ => None,
            },
            ["char" | "character"] => match name.args.len() {
                0 => Some((Ty::Bpchar, Some(TypeModifier::Char(1)))),
                1 => Some((Ty::Bpchar, Some(TypeModifier::Char(usize::from(number(0)?))))),
                _ => None,
            },
            ["varchar"] | ["character", "varying"] => match name.args.len() {
                0 => Some((Ty::Varchar, None)),
                1 => Some((Ty::Varchar, Some(TypeModifier::Varchar(usize::from(number(0)?))))),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The type that several expressions have in common; none if they have none.
pub(super) fn common(types: impl IntoIterator<Item = Ty>) -> Option<Ty> {
    let mut types = types.into_iter();
    let mut found = types.next()?;
    for next in types {
        if next == Ty::Unknown || next == found {
            continue;
        }
        if found == Ty::Unknown {
            found = next;
        } else if found.category() != next.category() {
            return None;
        } else if !found.preferred() && found.implicit(next) && !next.implicit(found) {
            found = next;
        }
    }
    Some(if found == Ty::Unknown { Ty::Text } else { found })
}
