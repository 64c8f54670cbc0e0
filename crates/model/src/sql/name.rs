//! Identifiers as written, and names made of them.

/// How an identifier was quoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quote {
    /// Not at all. A printer still quotes it where it must (a reserved word, a blank inside).
    #[default]
    Bare,
    /// `` `name` ``
    Backtick,
    /// `"name"`
    Double,
    /// `[name]`
    Bracket,
}

/// An identifier: its name without the quotes, and the quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The name, quotes removed and doubled quotes made single.
    pub name: String,
    /// How it was quoted.
    pub quote: Quote,
}

impl Ident {
    /// An identifier that is quoted only where it must be.
    pub fn new(name: impl Into<String>) -> Ident {
        Ident { name: name.into(), quote: Quote::Bare }
    }
}

impl From<&str> for Ident {
    fn from(name: &str) -> Ident {
        Ident::new(name)
    }
}

/// The name of a table or an index: `t` or `db.t`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// The database before the dot.
    pub schema: Option<Ident>,
    /// The name itself.
    pub name: Ident,
}

impl From<&str> for ObjectName {
    fn from(name: &str) -> ObjectName {
        ObjectName { schema: None, name: name.into() }
    }
}

/// A column where a value is expected: `a`, `t.a` or `db.t.a`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    /// The table, if named.
    pub table: Option<ObjectName>,
    /// The column.
    pub name: Ident,
}

impl From<&str> for ColumnRef {
    fn from(name: &str) -> ColumnRef {
        ColumnRef { table: None, name: name.into() }
    }
}

/// Another name for a table or a column of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Was `AS` written?
    pub as_word: bool,
    pub name: Ident,
}
