//! How a server is looked at after a case, as data: which lines of its error log are alarming, how it checks its own data, and
//! how a table is read through one of its indexes.

/// How a server is looked at.
pub struct Checks {
    /// Words of the error log that mean trouble with the server itself, never with a statement.
    pub alarms: &'static [&'static str],
    /// Before the first integrity check of a server of our own; if it fails, the server has no such check.
    pub prepare: Option<&'static str>,
    /// Asks for the schema that the check is in, at `{schema}`; if it answers no row, the check is not there, or not for us.
    pub integrity_schema: Option<&'static str>,
    /// Checks a table, at `{table}`, or everything at once. Every row ends with `ok` where all is well; an error is a
    /// complaint too.
    pub integrity: Option<&'static str>,
    /// Lists the indexes of our own schema: table, index, column, in order; none if there are none to choose.
    pub indexes: Option<&'static str>,
    /// Before tables are read through their indexes.
    pub before: &'static [&'static str],
    /// Reads a table through an index: `{table}`, `{index}` and `{columns}` are filled in.
    pub through: &'static str,
    pub after: &'static [&'static str],
}
