//! What is checked after a case beside its answers: the lines that the server's error log gained, the server's own check
//! of its data, and the tables read through each of their indexes.
//!
//! The log is asked for its length after every case, which is one system call for each file; it is read only where it grew, and
//! kept only where something went wrong or a line in it is alarming. The two other checks cost statements and are made
//! only now and then.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use dialect::{Checks, Dialect};
use model::{Aftermath, Case, ErrorClass, IndexScan, Outcome, RowSet, Trace};

use crate::{
    ask::{LIMIT, ask, must, text},
    seams::{RawReply, Session},
};

/// No more than this is read of what one case leaves in a log: its beginning and its end.
const MOST: u64 = 256 << 10;

/// Each check is made after every this many cases; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostCheckInterval {
    /// Its own check of its data.
    pub integrity: u64,
    /// Its tables, read through each of their indexes.
    pub index_scans: u64,
}

impl PostCheckInterval {
    /// After every case.
    pub const ALWAYS: PostCheckInterval = PostCheckInterval { integrity: 1, index_scans: 1 };
}

/// What is remembered of a server between cases.
#[derive(Debug, Default)]
pub(crate) struct PostChecks {
    /// Its logs, and how far each was read.
    logs: Vec<(PathBuf, u64)>,
    /// Nothing is prepared where we are guests.
    guest: bool,
    cases: u64,
    /// How it checks its data, if it can. Not known before it was asked.
    integrity: Option<Option<String>>,
    /// The indexes of the tables that this setup makes: table, index, columns.
    indexes: Option<(Vec<String>, Vec<Index>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Index {
    table: String,
    name: String,
    columns: Vec<String>,
}

impl PostChecks {
    /// Of a server with these logs. What stands in them already is no case's doing.
    pub fn new(logs: Vec<PathBuf>, guest: bool) -> PostChecks {
        let logs = logs.into_iter().map(|path| (length(&path), path)).map(|(n, path)| (path, n)).collect();
        PostChecks { logs, guest, ..PostChecks::default() }
    }

    /// The lines that the logs gained since the last time, if something is wrong with the server.
    pub fn log(&mut self, checks: &Checks, wrong: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for (path, read) in &mut self.logs {
            let now = length(path);
            if now > *read {
                lines.extend(gained(path, *read, now).lines().map(str::to_string));
            }
            *read = now;
        }
        let alarming = |line: &String| checks.alarms.iter().any(|word| line.contains(word));
        if wrong || lines.iter().any(alarming) { lines } else { Vec::new() }
    }

    /// Runs the checks that are due. `same`: the tables are those that the setup made.
    pub fn run_due(
        &mut self,
        control: &mut dyn Session,
        dialect: &Dialect,
        every: PostCheckInterval,
        (case, tables, same): (&Case, &[(String, RowSet)], bool),
        aftermath: &mut Aftermath,
    ) {
        self.cases += 1;
        let cases = self.cases;
        let due = |every: u64| every > 0 && cases.is_multiple_of(every);
        if due(every.index_scans) {
            aftermath.index_scans = self.index_scans(control, dialect, case, same);
        }
        if due(every.integrity)
            && let Some(check) = self.integrity(control, dialect)
        {
            aftermath.damage = damage(control, dialect, check, tables);
        }
    }

    /// What checks the data, if something there does.
    fn integrity(&mut self, control: &mut dyn Session, dialect: &Dialect) -> Option<&str> {
        let guest = self.guest;
        let check = self.integrity.get_or_insert_with(|| {
            let checks = &dialect.checks;
            let check = checks.integrity?;
            if let Some(prepare) = checks.prepare.filter(|_| !guest) {
                must(control, prepare).ok()?;
            }
            let Some(schema) = checks.integrity_schema else { return Some(check.to_string()) };
            let rows = must(control, schema).ok()?;
            let found = !rows.is_empty() && !rows.columns().is_empty();
            found.then(|| check.replace("{schema}", &dialect.quoted(&text(&rows, 0, 0))))
        });
        check.as_deref()
    }

    fn index_scans(
        &mut self,
        control: &mut dyn Session,
        dialect: &Dialect,
        case: &Case,
        same: bool,
    ) -> Vec<IndexScan> {
        let Some(list) = dialect.checks.indexes else { return Vec::new() };
        let known = self.indexes.take().filter(|(setup, _)| same && *setup == case.setup.statements);
        let indexes = match known {
            Some((_, indexes)) => indexes,
            None => match must(control, list) {
                Ok(rows) => indexes(&rows),
                Err(_) => return Vec::new(),
            },
        };
        let read = scan_indexes(control, dialect, &indexes);
        if same {
            self.indexes = Some((case.setup.statements.clone(), indexes));
        }
        read
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// A part of a file; of a long one its beginning and its end.
fn gained(path: &Path, from: u64, to: u64) -> String {
    let part = |from: u64, to: u64| {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.take(to - from).read_to_end(&mut bytes)
        });
        read.map_or(String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
    };
    if to - from <= MOST {
        return part(from, to);
    }
    format!("{}\n...\n{}", part(from, from + MOST / 2), part(to - MOST / 2, to))
}

/// Did something go wrong for which the log is worth keeping?
pub(crate) fn wrong(trace: &Trace) -> bool {
    let internal =
        |outcome: &Outcome| outcome.error().is_some_and(|error| error.class == ErrorClass::Internal);
    trace.outcomes.iter().any(|outcome| outcome.is_lost() || internal(outcome))
}

/// The frames of a stack in a log: `#3 0x55d0 in f at x.cc:7`, `mysqld(f+0x1d)[0x55d0]`, `0x55d0 f`.
pub(crate) fn stack(log: &[String]) -> Option<String> {
    let frame = |line: &&String| {
        let line = line.trim_start();
        let numbered =
            line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        numbered || line.starts_with("0x") || line.ends_with(']') && line.contains("[0x")
    };
    let frames: Vec<&str> = log.iter().filter(frame).map(String::as_str).collect();
    (!frames.is_empty()).then(|| frames.join("\n"))
}

/// What the server's own check complains about.
fn damage(
    control: &mut dyn Session,
    dialect: &Dialect,
    check: &str,
    tables: &[(String, RowSet)],
) -> Vec<String> {
    let statements: Vec<String> = if check.contains("{table}") {
        tables.iter().map(|(table, _)| check.replace("{table}", &dialect.quoted(table))).collect()
    } else {
        vec![check.to_string()]
    };
    let mut found = Vec::new();
    for statement in statements {
        match ask(control, &statement, LIMIT).map(|answer| answer.reply) {
            Ok(RawReply::Rows(rows)) => found.extend((0..rows.len()).filter_map(|row| complaint(&rows, row))),
            Ok(RawReply::Error(error)) => found.push(format!("{statement}: {}", error.message)),
            Ok(RawReply::Done { .. } | RawReply::RolledBack | RawReply::Unreadable(_) | RawReply::Lost)
            | Err(_) => {}
        }
    }
    found
}

/// A row of a check that does not end with `ok`, and is no mere note.
fn complaint(rows: &RowSet, row: usize) -> Option<String> {
    let cells: Vec<String> = (0..rows.columns().len()).map(|column| text(rows, row, column)).collect();
    let fine = cells.last().is_none_or(|last| last.eq_ignore_ascii_case("ok"));
    let note = cells.iter().any(|cell| cell.eq_ignore_ascii_case("note"));
    (!fine && !note).then(|| cells.join(" "))
}

/// The list of indexes, whose columns come one by one.
fn indexes(rows: &RowSet) -> Vec<Index> {
    let mut all: Vec<Index> = Vec::new();
    for row in 0..rows.len() {
        let (table, name, column) = (text(rows, row, 0), text(rows, row, 1), text(rows, row, 2));
        match all.last_mut().filter(|last| last.table == table && last.name == name) {
            Some(last) => last.columns.push(column),
            None => all.push(Index { table, name, columns: vec![column] }),
        }
    }
    all
}

fn scan_indexes(control: &mut dyn Session, dialect: &Dialect, indexes: &[Index]) -> Vec<IndexScan> {
    let mut read = Vec::new();
    let ready = dialect.checks.before.iter().all(|before| must(control, before).is_ok());
    for index in indexes.iter().filter(|_| ready) {
        let columns: Vec<String> = index.columns.iter().map(|column| dialect.quoted(column)).collect();
        let statement = dialect
            .checks
            .through
            .replace("{table}", &dialect.quoted(&index.table))
            .replace("{index}", &dialect.quoted(&index.name))
            .replace("{columns}", &columns.join(", "));
        // An index that cannot be used in this way says so, and is left out.
        if let Ok(rows) = must(control, &statement) {
            read.push(IndexScan { table: index.table.clone(), index: index.name.clone(), rows });
        }
    }
    for after in dialect.checks.after {
        let _ = must(control, after);
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_a_log() {
        let log: Vec<String> = [
            "14:00:00 UTC - mysqld got signal 6 ;",
            "/x/mysqld(my_print_stacktrace+0x3d) [0x55d0c0ffee]",
            " #2 0x55d0 in ha_commit_trans at handler.cc:7",
            "Trying to get some variables.",
        ]
        .map(str::to_string)
        .to_vec();
        let found = stack(&log).unwrap();
        assert_eq!(found.lines().count(), 2, "{found}");
        assert_eq!(stack(&log[..1]), None);
    }

    #[test]
    fn a_log_is_read_from_where_it_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "before\n").unwrap();
        let mut postchecks = PostChecks::new(vec![path.clone()], false);
        let checks = &dialect::of(model::Product::Mysql).checks;
        assert!(postchecks.log(checks, true).is_empty());
        fs::write(&path, "before\nquiet\n").unwrap();
        assert!(postchecks.log(checks, false).is_empty(), "nothing is wrong");
        fs::write(&path, "before\nquiet\nAssertion failure\n").unwrap();
        assert_eq!(postchecks.log(checks, false), ["Assertion failure"]);
        fs::write(&path, "before\nquiet\nAssertion failure\nquiet again\n").unwrap();
        assert_eq!(postchecks.log(checks, true), ["quiet again"]);
    }
}
