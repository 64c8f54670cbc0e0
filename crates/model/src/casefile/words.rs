//! How outcomes and selectors are written. What is shown on the screen is thus what can stand in a file.

use std::fmt;

use crate::{
    expect::{ErrorMatch, Expected, ExpectedReply, Literal, Selector, ServerMatch},
    level::Level,
    value::hex,
};

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::Number(number) => f.write_str(number),
            Literal::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Literal::Bytes(bytes) => hex(f, bytes),
        }
    }
}

/// `(1, 'a', NULL)`
pub(super) fn row(row: &[Literal]) -> String {
    let cells: Vec<String> = row.iter().map(Literal::to_string).collect();
    format!("({})", cells.join(", "))
}

/// Everything of an outcome but its rows: `waits, then ordered `.
pub(super) fn before_rows(expected: &Expected) -> String {
    let waits = match (expected.waits, &expected.answer) {
        (true, Some(_)) => "waits, then ",
        (true, None) => "waits",
        (false, _) => "",
    };
    match &expected.answer {
        Some(ExpectedReply::Rows { ordered: true, .. }) => format!("{waits}ordered "),
        _ => waits.to_string(),
    }
}

impl fmt::Display for Expected {
    /// As the case file writes it, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&before_rows(self))?;
        match &self.answer {
            None => Ok(()),
            Some(ExpectedReply::Ok) => f.write_str("ok"),
            Some(ExpectedReply::RolledBack) => f.write_str("rolled back"),
            Some(ExpectedReply::Affected { count: 1, of: None }) => f.write_str("1 row"),
            Some(ExpectedReply::Affected { count, of: None }) => write!(f, "{count} rows"),
            Some(ExpectedReply::Affected { count, of: Some(1) }) => write!(f, "{count} of 1 row"),
            Some(ExpectedReply::Affected { count, of: Some(of) }) => write!(f, "{count} of {of} rows"),
            Some(ExpectedReply::Rows { rows, .. }) if rows.is_empty() => f.write_str("no rows"),
            Some(ExpectedReply::Rows { rows, .. }) => {
                let rows: Vec<String> = rows.iter().map(|cells| row(cells)).collect();
                f.write_str(&rows.join(" "))
            }
            Some(ExpectedReply::Error { what, over }) => {
                match what {
                    ErrorMatch::Class(class) => write!(f, "error {class}")?,
                    ErrorMatch::Code(code) => write!(f, "error {code}")?,
                    ErrorMatch::State(state) => write!(f, "error {state}")?,
                }
                match over {
                    Some(true) => f.write_str(", transaction over"),
                    Some(false) => f.write_str(", transaction open"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// May a setting's value stand without quotes?
pub(super) fn in_bare_value(char: char) -> bool {
    char.is_alphanumeric() || "_.+-/%".contains(char)
}

impl fmt::Display for ServerMatch {
    /// `mariadb@10.6..11.4 innodb_snapshot_isolation=OFF`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product.name())?;
        match (&self.from, &self.to) {
            (None, None) => {}
            (Some(from), Some(to)) if from == to => write!(f, "@{from}")?,
            (Some(from), Some(to)) => write!(f, "@{from}..{to}")?,
            (Some(from), None) => write!(f, "@{from}..")?,
            (None, Some(to)) => write!(f, "@..{to}")?,
        }
        for (name, value) in &self.settings {
            if !value.is_empty() && value.chars().all(in_bare_value) {
                write!(f, " {name}={value}")?;
            } else {
                write!(f, " {name}='{}'", value.replace('\'', "''"))?;
            }
        }
        Ok(())
    }
}

fn servers_and_levels(selector: &Selector) -> (String, String) {
    let servers: Vec<String> = selector.servers.iter().map(ServerMatch::to_string).collect();
    let levels: Vec<&str> = selector.levels.iter().copied().map(Level::short).collect();
    (servers.join(", "), levels.join(", "))
}

impl fmt::Display for Selector {
    /// What stands in the brackets: `mysql@9.7, RR, SER`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (servers, levels) = servers_and_levels(self);
        let comma = if servers.is_empty() || levels.is_empty() { "" } else { ", " };
        write!(f, "{servers}{comma}{levels}")
    }
}

/// What stands above a group of known failures, without the colon: `mysql@9.7, at RR, SER`.
pub(super) fn group_head(selector: &Selector) -> String {
    let (servers, levels) = servers_and_levels(selector);
    match (servers.is_empty(), levels.is_empty()) {
        (true, true) => "everywhere".to_string(),
        (false, true) => servers,
        (true, false) => format!("at {levels}"),
        (false, false) => format!("{servers}, at {levels}"),
    }
}

/// A table's name; in backticks where it could be taken for something else.
pub(super) fn table(name: &str) -> String {
    if !name.is_empty() && name.chars().all(|char| super::source::in_name(char) || char == '.') {
        name.to_string()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}
