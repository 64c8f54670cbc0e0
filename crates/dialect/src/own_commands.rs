//! What command-line tools take for commands of their own and do not send: a script that holds such text would run it on the
//! machine of whoever runs the script, and not on the server.
//!
//! The tools read text in their own way, so whatever could be outside of quotes by any reading counts as outside.

/// How the commands of a tool are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnCommands {
    pub tool: &'static str,
    /// Does a backslash outside of quotes begin a command?
    pub backslash: bool,
    /// The words that a statement may begin with, where others are commands of the tool; empty where words are none.
    pub openings: &'static [&'static str],
    /// Words that are commands at the beginning of any line, if the user has set the tool up so.
    pub words: &'static [&'static str],
    /// What begins a line that is a command.
    pub lines: &'static [&'static str],
    /// What quotes text.
    pub quotes: &'static [char],
    /// What makes it uncertain where quotes begin and end behind it: comments, and quotes with a name.
    pub unsure: &'static [&'static str],
}

/// `mysql` and `mariadb`.
pub const fn mysql(tool: &'static str) -> OwnCommands {
    OwnCommands {
        tool,
        backslash: true,
        openings: MYSQL_OPENINGS,
        words: &["delimiter", "edit", "pager", "source", "system", "tee"],
        lines: &[],
        quotes: &['\'', '"', '`'],
        unsure: MYSQL_COMMENTS,
    }
}

pub const PSQL: OwnCommands = OwnCommands {
    tool: "psql",
    backslash: true,
    openings: &[],
    words: &[],
    lines: &[],
    quotes: &['\'', '"'],
    unsure: &["--", "/*", "$"],
};

/// The test tool of MySQL and MariaDB: a command is a line that begins with `--`, or a statement that begins with one of its many words.
pub const MYSQLTEST: OwnCommands = OwnCommands {
    tool: "mysqltest",
    backslash: false,
    openings: MYSQL_OPENINGS,
    words: &[],
    lines: &["--", "#"],
    quotes: &['\'', '"', '`'],
    unsure: MYSQL_COMMENTS,
};

/// A line that begins with a dot.
pub const SQLITE3: OwnCommands = OwnCommands {
    tool: "sqlite3",
    backslash: false,
    openings: &[],
    words: &[],
    lines: &["."],
    quotes: &['\'', '"', '`'],
    unsure: &["--", "/*", "["],
};

const MYSQL_COMMENTS: &[&str] = &["--", "#", "/*"];

/// What SQL statements of MySQL and MariaDB begin with. None of it is a command of `mysql` that does anything but that, or of mysqltest.
const MYSQL_OPENINGS: &[&str] = &[
    "alter",
    "analyze",
    "begin",
    "binlog",
    "cache",
    "call",
    "change",
    "check",
    "checksum",
    "commit",
    "create",
    "deallocate",
    "delete",
    "desc",
    "describe",
    "do",
    "drop",
    "execute",
    "explain",
    "flush",
    "get",
    "grant",
    "handler",
    "insert",
    "install",
    "kill",
    "load",
    "lock",
    "optimize",
    "prepare",
    "purge",
    "release",
    "rename",
    "repair",
    "replace",
    "reset",
    "resignal",
    "revoke",
    "rollback",
    "savepoint",
    "select",
    "set",
    "show",
    "signal",
    "start",
    "stop",
    "table",
    "truncate",
    "uninstall",
    "unlock",
    "update",
    "use",
    "values",
    "with",
    "xa",
];

impl OwnCommands {
    /// What the tool would run by itself in a statement, as much of it as says which command it is.
    pub fn first_in(&self, sql: &str) -> Option<String> {
        let outside = self.outside(sql);
        let at = |byte: u8| sql.bytes().zip(&outside).position(|(is, outside)| is == byte && *outside);
        if self.backslash
            && let Some(at) = at(b'\\')
        {
            return Some(sql[at..].chars().take(2).collect());
        }
        let mut lines = sql.lines().map(str::trim_start);
        if let Some(line) = lines.clone().find(|line| self.lines.iter().any(|by| line.starts_with(by))) {
            return Some(line.split_whitespace().next().unwrap_or(line).to_string());
        }
        if let Some(line) = lines.find(|line| is_one_of(self.words, opening(line))) {
            return Some(opening(line).to_string());
        }
        let mut pieces = pieces(sql, &outside).into_iter().map(str::trim_start);
        let strange = |piece: &&str| {
            !piece.is_empty() && !piece.starts_with('(') && !is_one_of(self.openings, opening(piece))
        };
        let strange = pieces.find(|piece| !self.openings.is_empty() && strange(piece))?;
        Some(strange.split_whitespace().next().unwrap_or(strange).to_string())
    }

    /// Of each byte: may it be outside of quotes?
    fn outside(&self, sql: &str) -> Vec<bool> {
        let mut outside = vec![true; sql.len()];
        let mut open: Option<(char, bool)> = None;
        for (at, c) in sql.char_indices() {
            match &mut open {
                None if self.unsure.iter().any(|by| sql[at..].starts_with(by)) => return outside,
                None => open = self.quotes.contains(&c).then_some((c, false)),
                // Whether a backslash keeps a quote from closing depends on settings of the session and on the kind of quotes.
                Some((quote, true)) if c == *quote => return outside,
                Some((quote, _)) if c == *quote => open = None,
                Some((_, escaped)) => {
                    *escaped = c == '\\' && !*escaped;
                    outside[at..at + c.len_utf8()].fill(false);
                }
            }
        }
        outside
    }
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// The word at the beginning of a text.
fn opening(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// What a tool takes for statements of their own.
fn pieces<'a>(sql: &'a str, outside: &[bool]) -> Vec<&'a str> {
    let ends = sql.bytes().enumerate().filter(|(at, byte)| *byte == b';' && outside[*at]).map(|(at, _)| at);
    let (mut pieces, mut from) = (Vec::new(), 0);
    for end in ends.chain([sql.len()]) {
        pieces.push(&sql[from..end]);
        from = sql.len().min(end + 1);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of a statement by mysql, mysqltest, psql and sqlite3.
    fn found(sql: &str) -> [Option<String>; 4] {
        [mysql("mysql"), MYSQLTEST, PSQL, SQLITE3].map(|tool| tool.first_in(sql))
    }

    fn by(tool: OwnCommands, sql: &str) -> Option<String> {
        tool.first_in(sql)
    }

    #[test]
    fn ordinary_statements_hold_no_commands() {
        for sql in [
            "SELECT a, b FROM t WHERE a = 1 FOR UPDATE",
            "INSERT INTO t VALUES (1, 'it''s; system id'), (2, 'a\\\\b')",
            "create table t (\n  a INT,\n  status INT,\n  b TEXT DEFAULT ('\\n')\n)",
            "(SELECT 1) UNION (SELECT 2)",
            "UPDATE t SET a = a + 1;",
            "WITH c AS (SELECT 1) SELECT * FROM c",
            "",
        ] {
            assert_eq!(found(sql), [const { None }; 4], "{sql}");
        }
        // Backticks quote names, and dollars hide nothing where there is nothing to hide.
        let names = "SELECT `system` FROM `a\\b` WHERE `exec` = '$x'";
        assert_eq!((by(mysql("mysql"), names), by(MYSQLTEST, names)), (None, None));
        assert_eq!(by(PSQL, "SELECT $$a$$, 'a\\b', \"c\\d\""), Some("\\b".into()));
        assert_eq!(by(PSQL, "SELECT 'a\\b', \"c\\d\", $$a$$"), None);
        assert_eq!(by(PSQL, "system id"), None);
    }

    #[test]
    fn mysql_runs_what_follows_a_backslash_and_what_begins_with_a_word_of_its_own() {
        let found = |sql: &str| by(mysql("mariadb"), sql);
        assert_eq!(found("INSERT INTO t VALUES (0, 1) \\! touch /tmp/x").as_deref(), Some("\\!"));
        assert_eq!(found("\\. /tmp/x").as_deref(), Some("\\."));
        assert_eq!(found("SELECT 1\\g").as_deref(), Some("\\g"));
        assert_eq!(found("system touch /tmp/x").as_deref(), Some("system"));
        assert_eq!(found("  SouRce /tmp/x").as_deref(), Some("SouRce"));
        assert_eq!(found("delimiter //").as_deref(), Some("delimiter"));
        assert_eq!(found("SELECT 1; delimiter //").as_deref(), Some("delimiter"));
        assert_eq!(found("SELECT 1\n, 2,\nsystem touch x").as_deref(), Some("system"));
        assert_eq!(found("/* */ system id").as_deref(), Some("/*"));
        assert_eq!(found("-- \nsystem id").as_deref(), Some("system"));
        // Whether these are inside depends on the sql_mode, and on where a comment ends.
        assert_eq!(found("SELECT 'a\\' \\! touch x -- '").as_deref(), Some("\\!"));
        assert_eq!(found("SELECT '\\'', \"\\! x\"").as_deref(), Some("\\!"));
        assert_eq!(found("SELECT 1 # '\n\\! touch x # '").as_deref(), Some("\\!"));
        assert_eq!(found("SELECT /* ' */ 1 \\! touch x -- '").as_deref(), Some("\\!"));
    }

    #[test]
    fn psql_runs_what_follows_a_backslash_anywhere() {
        let found = |sql: &str| by(PSQL, sql);
        assert_eq!(found("SELECT 1 \\! touch x").as_deref(), Some("\\!"));
        assert_eq!(found("SELECT 1 \\o |touch").as_deref(), Some("\\o"));
        assert_eq!(found("\\set x `touch x`").as_deref(), Some("\\s"));
        assert_eq!(found("SELECT E'\\'' , 'a\\' \\! touch x -- '").as_deref(), Some("\\'"));
        assert_eq!(found("SELECT $a$'$a$ \\! touch x -- '").as_deref(), Some("\\!"));
        assert_eq!(found("SELECT E'a\\nb'"), None);
    }

    #[test]
    fn mysqltest_runs_lines_and_words() {
        let found = |sql: &str| by(MYSQLTEST, sql);
        for word in [
            "exec",
            "system",
            "perl",
            "source",
            "let",
            "eval",
            "remove_file",
            "write_file",
            "while",
            "if",
            "connect",
        ] {
            assert_eq!(found(&format!("{word} touch x")).as_deref(), Some(word));
            assert_eq!(found(&format!("SELECT 1; {word} touch x")).as_deref(), Some(word));
        }
        assert_eq!(found("SELECT 1\n--exec touch x").as_deref(), Some("--exec"));
        assert_eq!(found("--exec touch x").as_deref(), Some("--exec"));
        assert_eq!(found("if($x)").as_deref(), Some("if($x)"));
        assert_eq!(found("}").as_deref(), Some("}"));
    }

    #[test]
    fn sqlite3_runs_lines_that_begin_with_a_dot() {
        let found = |sql: &str| by(SQLITE3, sql);
        assert_eq!(found(".shell touch x").as_deref(), Some(".shell"));
        assert_eq!(found("SELECT 1;\n  .system touch x").as_deref(), Some(".system"));
        assert_eq!(found("SELECT 1 .5, '\\!'"), None);
    }
}
