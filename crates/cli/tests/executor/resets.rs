//! Resets of tables that refer to each other, in place: whichever way they are emptied, the next case begins with the same rows.

use dbms::launch::Settle;
use execute::{Options, Reset, ask};
use model::Level;

use crate::common::{case, left, runner, said};

/// A parent, a child, and a table that refers to itself.
const SETUP: [&str; 6] = [
    "CREATE TABLE p(a INT PRIMARY KEY, b INT)",
    "CREATE TABLE c(a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p(a))",
    "CREATE TABLE s(a INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES s(a))",
    "INSERT INTO p VALUES (1, 1), (2, 2)",
    "INSERT INTO c VALUES (1, 1), (2, 2), (3, 2)",
    "INSERT INTO s VALUES (1, NULL), (2, 1), (3, 2)",
];

const STEPS: &str = "
    T1: BEGIN
    T1: INSERT INTO p VALUES (3, 3)
    T2: INSERT INTO c VALUES (4, 1)
    T1: DELETE FROM c WHERE a = 1
    T1: COMMIT
    T2: INSERT INTO s VALUES (4, 3)
    T2: INSERT INTO c VALUES (5, 9)";

#[test]
fn tables_with_foreign_keys_are_reset_in_place() {
    for target in ["mariadb@10.11", "mysql@9.7", "postgres@18", "sqlite"] {
        let Some(mut runner) = runner(target, Settle::Proc, Options::default()) else { continue };
        let case = case(&SETUP, STEPS);
        let mut first: Option<(Vec<String>, Vec<String>)> = None;
        let resets =
            [Reset::Clean, Reset::Fast, Reset::Fast, Reset::Purged, Reset::Rebuilt, Reset::Truncated];
        for reset in resets.into_iter().chain([Reset::Clean, Reset::Fast, Reset::Truncated, Reset::Rebuilt]) {
            runner.tune(reset, execute::PostCheckInterval::default());
            let run =
                runner.run(&case, Level::Serializable).unwrap_or_else(|error| panic!("{target}: {error}"));
            let rows = ["p", "c", "s"].iter().flat_map(|table| left(&run.trace, table)).collect();
            let now = (said(&run.trace), rows);
            let watched = now.0.iter().any(|answer| answer.contains("error constraint"));
            assert!(watched || target == "sqlite", "{target}: {now:?}");
            assert_eq!(first.get_or_insert_with(|| now.clone()), &now, "{target} {reset:?}");
        }
        // The session that empties tables looks away from foreign keys; those of a case never do.
        let executor = runner.executor().unwrap();
        let mut other = executor.server().connect().unwrap();
        let orphan = ask::ask(other.as_mut(), "INSERT INTO c VALUES (9, 99)", ask::LIMIT).unwrap();
        assert!(
            matches!(orphan.reply, execute::RawReply::Error(_)) || target == "sqlite",
            "{target}: {orphan:?}"
        );
    }
}

/// A setup with foreign keys after one that was reset in place is built under their watch.
#[test]
fn what_is_built_next_is_built_as_the_server_would() {
    let Some(mut runner) = runner("mariadb@10.11", Settle::Proc, Options::default()) else { return };
    let good = case(&SETUP, STEPS);
    for _ in 0..2 {
        runner.run(&good, Level::RepeatableRead).unwrap();
    }
    let bad = case(
        &[
            "CREATE TABLE p(a INT PRIMARY KEY)",
            "CREATE TABLE c(a INT, FOREIGN KEY (a) REFERENCES p(a))",
            "INSERT INTO c VALUES (1)",
        ],
        "T1: SELECT 1",
    );
    let refused = runner.run(&bad, Level::RepeatableRead).err().map(|error| error.to_string());
    assert!(refused.as_ref().is_some_and(|text| text.contains("INSERT INTO c")), "{refused:?}");
    runner.run(&good, Level::RepeatableRead).unwrap();
}

/// Sessions at another level are put aside and taken back, not set anew; each has the level of its case all the same.
#[test]
fn a_level_is_that_of_the_case() {
    for target in ["mariadb@10.11", "postgres@18"] {
        let options = Options { reset: Reset::Fast, ..Options::default() };
        let Some(mut runner) = runner(target, Settle::Proc, options) else { continue };
        let ask = if target.starts_with("postgres") {
            "SHOW transaction_isolation"
        } else {
            "SELECT @@transaction_isolation"
        };
        let ask = if target == "mariadb@10.11" { "SELECT @@tx_isolation" } else { ask };
        let case = case(&["CREATE TABLE t(a INT)"], &format!("T1: {ask}\nT2: {ask}"));
        for level in [Level::ReadCommitted, Level::Serializable, Level::ReadCommitted, Level::RepeatableRead]
        {
            let run = runner.run(&case, level).unwrap();
            let expected = level.sql().replace(' ', "-").to_lowercase();
            for answer in said(&run.trace) {
                let level = answer.to_lowercase().replace(' ', "-");
                assert!(level.contains(&expected), "{target}: {answer} at {expected}");
            }
        }
    }
}
