//! mysqltest, the test format of MySQL and MariaDB. What waits is sent with `send` and fetched with `reap`.
//!
//! What it needs of mysql-test-run's own files it asks for only there, so that mysqltest runs it by itself, too.

use dialect::own_commands::MYSQLTEST;
use model::Reply;

use super::{
    STILL, UNBLOCKED,
    client::{comment, ended, greeting, name, one_line, schema},
    harmless::{self, Withheld},
    order::{Act, acts},
    stalled,
};
use crate::{bug_report::BugReport, steps};

/// The test, with the files of mysql-test-run that it needs; none where the format cannot say it.
pub fn script(bug: &BugReport, includes: &[&str]) -> Result<Option<String>, Withheld> {
    let case = &bug.execution.case;
    let Some(client) = &dialect::of(bug.product()).client else { return Ok(None) };
    harmless::check(bug, &MYSQLTEST)?;
    let waiting = client.waiting;
    let own = schema(bug);
    let mut out = format!(
        "# {}\n# {}\n\n{}CREATE DATABASE {own};\nUSE {own};\n",
        comment(&bug.title()),
        comment(&bug.server_text()),
        sourced(includes)
    );
    case.setup.statements.iter().for_each(|sql| out += &format!("{}\n", ended(&with_engine(sql))));
    let acts = acts(bug);
    let ends_in_stall = matches!(acts.last(), Some(Act::Stall(_)));
    for session in 0..case.sessions.len() {
        let name = name(bug, session);
        out += &format!("\nconnect ({name},localhost,root,,{own});\n");
        greeting(bug, session).iter().for_each(|sql| out += &format!("{}\n", ended(sql)));
        if ends_in_stall {
            out += &format!("let $id_{name} = `SELECT CONNECTION_ID()`;\n");
        }
    }
    for act in acts {
        match act {
            Act::Run(step) => {
                out += &at(bug, step);
                out += &before(bug, step);
                out += &format!("{}\n", ended(&one_line(&case.steps[step].sql)));
            }
            Act::Begin(step, count) => {
                out += &at(bug, step);
                out += &format!("send {}\n{}", ended(&one_line(&case.steps[step].sql)), wait(waiting, count));
            }
            Act::Back(step) => {
                let name = name(bug, case.steps[step].session);
                out += &format!("\n# step {} comes back\nconnection {name};\n", step + 1);
                out += &before(bug, step);
                out += "reap;\n";
            }
            Act::RollBack(session) => {
                out += &format!("\nconnection {};\nROLLBACK;\n", name(bug, session));
            }
            Act::Unblock(session) => {
                out += &format!("\n# {UNBLOCKED}\nconnection {};\nROLLBACK;\n", name(bug, session));
            }
            Act::Stall(steps) => out += &stall(bug, waiting, &steps),
        }
    }
    out += "\nconnection default;\n";
    for (table, _) in bug.execution.trace.final_state.as_deref().unwrap_or_default() {
        out += &format!("--sorted_result\nSELECT * FROM {};\n", dialect::of(bug.product()).quoted(table));
    }
    for session in 0..case.sessions.len() {
        out += &format!("disconnect {};\n", name(bug, session));
    }
    out += &format!("DROP DATABASE {own};\n");
    Ok(Some(out))
}

/// Nobody ends these waits: it is seen that they last, and then they are killed, so that the test can end. What the KILL comes to is not looked at.
fn stall(bug: &BugReport, waiting: &str, steps: &[usize]) -> String {
    let count = steps.len();
    let mut out = format!(
        "\n# {}\nconnection default;\n--disable_query_log\n--disable_result_log\nsleep {STILL};\nlet $waiting = `{waiting}`;\n\
         if ($waiting < {count})\n{{\n  die one of them was ended;\n}}\n",
        comment(&stalled(bug, steps))
    );
    let session = |step: usize| name(bug, bug.execution.case.steps[step].session);
    steps.iter().for_each(|&step| out += &format!("eval KILL QUERY $id_{};\n", session(step)));
    for &step in steps {
        out += &format!("connection {};\n--error 0,1205,1213,1317\nreap;\nROLLBACK;\n", session(step));
    }
    out + "--enable_result_log\n--enable_query_log\n"
}

/// mysql-test-run looks for these lines at their beginning, and says by a variable that it is there.
fn sourced(includes: &[&str]) -> String {
    if includes.is_empty() {
        return String::new();
    }
    let lines: String = includes.iter().map(|file| format!("--source {file}\n")).collect();
    format!("if ($MYSQL_TEST_DIR)\n{{\n{lines}}}\n\n")
}

/// CREATE TABLE with its engine: mysql-test-run of MariaDB has another default.
fn with_engine(sql: &str) -> String {
    let lower = sql.trim_start().to_ascii_lowercase();
    if !lower.starts_with("create table") || lower.contains("engine") {
        return sql.to_string();
    }
    match end_of_columns(sql) {
        Some(end) => format!("{} ENGINE=InnoDB{}", &sql[..end], &sql[end..]),
        None => sql.to_string(),
    }
}

/// Behind the parenthesis that closes the list of columns.
fn end_of_columns(sql: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    for (at, c) in sql.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 1 => return Some(at + 1),
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}

/// Until so many statements wait: asked by the first connection.
fn wait(waiting: &str, count: usize) -> String {
    format!(
        "connection default;\n--disable_query_log\n--disable_result_log\nlet $left = 100;\nwhile ($left)\n{{\n  \
         let $waiting = `{waiting}`;\n  dec $left;\n  if ($waiting >= {count})\n  {{\n    let $left = 0;\n  }}\n  \
         if ($left)\n  {{\n    sleep 0.1;\n  }}\n}}\n--enable_result_log\n--enable_query_log\n"
    )
}

fn at(bug: &BugReport, step: usize) -> String {
    let session = bug.execution.case.steps[step].session;
    let wrong = match (bug.finding.violation.step == Some(step), bug.expected()) {
        (true, Some(expected)) => {
            let actual = steps::said(&bug.execution.trace.outcomes[step]);
            format!("\n# WRONG: expected {}; it answers {}", comment(&expected), comment(&actual))
        }
        (true, None) => "\n# WRONG".to_string(),
        (false, _) => String::new(),
    };
    format!("\n# step {}{wrong}\nconnection {};\n", step + 1, name(bug, session))
}

/// What the answer needs before it is asked for: an error that is expected, rows whose order does not count.
fn before(bug: &BugReport, step: usize) -> String {
    match &bug.execution.trace.outcomes[step].reply {
        Reply::Error(error) => format!("--error {}\n", error.code),
        Reply::Rows(_) => "--sorted_result\n".to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_engine_before_its_partitions() {
        assert_eq!(
            with_engine("CREATE TABLE t (a INT DEFAULT (1), b TEXT DEFAULT ')') PARTITION BY HASH (a)"),
            "CREATE TABLE t (a INT DEFAULT (1), b TEXT DEFAULT ')') ENGINE=InnoDB PARTITION BY HASH (a)"
        );
        for same in
            ["CREATE TABLE t (a INT) ENGINE=MyISAM", "CREATE INDEX i ON t (a)", "CREATE TABLE t LIKE u"]
        {
            assert_eq!(with_engine(same), same);
        }
    }
}
