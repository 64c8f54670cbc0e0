//! The scripts of a finding made by hand: the real order, what waits, and that a word stays a word.

mod built;

use built::{NASTY, edit, finding};
use model::{
    Product, Round, RoundCause, Symptom, Wait,
    verdict::{Response, evidence::Sighting},
};
use report::{BugReport, markdown, scripts};

fn script(bug: &BugReport, ending: &str) -> Option<String> {
    scripts::all(bug).into_iter().find(|file| file.name.ends_with(ending)).map(|file| file.text)
}

/// The lines that hold one of these words, in order.
fn order(text: &str, words: &[&str]) -> Vec<String> {
    text.lines().filter(|line| words.iter().any(|word| line.contains(word))).map(str::to_string).collect()
}

#[test]
fn each_product_has_the_scripts_of_its_own_tools() {
    let names = |product| -> Vec<String> {
        let endings = scripts::all(&finding(product)).into_iter();
        endings.map(|file| file.name.split_once('.').unwrap().1.to_string()).collect()
    };
    assert_eq!(names(Product::Mariadb), ["iso", "md", "sh", "sql", "test"]);
    assert_eq!(names(Product::Mysql), ["iso", "md", "sh", "sql", "test"]);
    assert_eq!(names(Product::Postgres), ["iso", "md", "sh", "sql", "spec"]);
    assert_eq!(names(Product::Sqlite), ["iso", "md", "sql"]);
    assert_eq!(names(Product::Reference), ["iso", "md"]);
}

#[test]
fn the_shell_script_sends_waits_and_checks() {
    let text = script(&finding(Product::Mariadb), ".sh").unwrap();
    let steps = order(
        &text,
        &["\nstep ", "step 1 ", "step 3 ", "step_that_waits 4", "step 5 ", "comes_back 4", "step 6 "],
    );
    assert_eq!(
        steps,
        [
            "step 1 T1 'BEGIN;'",
            "step 3 T1 'UPDATE t SET a = 2;'",
            "step_that_waits 4 T2 1 'SELECT a, b FROM t FOR UPDATE;'",
            "step 5 T1 'COMMIT;'",
            "comes_back 4 T2",
            "step 6 T2 'DELETE FROM nothing;'",
        ]
    );
    assert!(text.contains("if [ \"$(rows_of 4)\" = "), "{text}");
    assert!(text.contains("echo 'the wrong answer came again; expected (2, '\\''x'\\'')'"), "{text}");
}

#[test]
fn a_word_stays_a_word() {
    let mut nasty = finding(Product::Mariadb);
    edit(&mut nasty, |case| case.steps[3].sql = format!("SELECT {NASTY}"));
    edit(&mut nasty, |case| case.sessions[1].name = NASTY.into());
    nasty.finding.violation.evidence.expected = Some(Response::Words(format!("{NASTY}\nrm -rf /")));
    edit(&mut nasty, |case| case.setup.statements.push(format!("SELECT '\nEND_1\n{NASTY}'")));
    let text = script(&nasty, ".sh").unwrap();
    assert!(!text.lines().any(|line| line.starts_with("rm -rf")), "{text}");
    assert!(text.contains("<<'END_2'"), "its own end would have come too early:\n{text}");
    // bash itself says whether the quotes close.
    let mut bash = std::process::Command::new("bash");
    let mut child = bash.arg("-n").stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// What a client would run by itself is in no script of its, and the page says why there is none.
#[test]
fn no_script_holds_what_its_client_would_run() {
    let endings = |bug: &BugReport| -> Vec<String> {
        let files = scripts::all(bug).into_iter();
        let endings = files.map(|file| file.name.split_once('.').unwrap().1.to_string());
        endings.filter(|ending| ending != "iso").collect()
    };
    let shell = "INSERT INTO t VALUES (0, 1) \\! touch /tmp/x";
    for (product, sql, left) in [
        (Product::Mariadb, shell, vec!["md", "test"]),
        (Product::Mysql, shell, vec!["md", "test"]),
        (Product::Postgres, shell, vec!["md", "spec"]),
        (Product::Sqlite, shell, vec!["md", "sql"]),
        (Product::Mariadb, "exec touch /tmp/x", vec!["md"]),
        (Product::Mysql, "SELECT 1; delimiter //", vec!["md"]),
        (Product::Mariadb, "SELECT 1\n--exec touch /tmp/x", vec!["md", "sh", "sql"]),
        (Product::Sqlite, "SELECT 1;\n.shell touch /tmp/x", vec!["md"]),
        (Product::Mariadb, "SELECT `exec` FROM `a\\b`", vec!["md", "sh", "sql", "test"]),
    ] {
        for in_setup in [true, false] {
            let mut bug = finding(product);
            edit(&mut bug, |case| match in_setup {
                true => case.setup.statements.push(sql.into()),
                false => case.steps[1].sql = sql.into(),
            });
            assert_eq!(endings(&bug), left, "{product}: {sql}");
            let withheld = scripts::withheld(&bug);
            assert_eq!(withheld.is_empty(), endings(&bug) == endings(&finding(product)), "{withheld:?}");
            let page = report::html::finding(&bug, &scripts::all(&bug));
            for one in &withheld {
                let words = format!("There is no script for {}: ", one.tool);
                assert!(page.contains(&words), "{words} is not in the page");
            }
            assert_eq!(page.contains("There is no script"), !withheld.is_empty());
        }
    }
    let mut bug = finding(Product::Postgres);
    edit(&mut bug, |case| case.steps[1].sql = shell.into());
    assert_eq!(
        scripts::withheld(&bug)[0].to_string(),
        "step 2 holds `\\!`, which psql would not send to the server but might run on your machine"
    );
    // The name of a schema is nothing but letters, whatever the finding is called.
    let mut named = finding(Product::Mariadb);
    named.finding.id = "x$(touch /tmp/x)".into();
    let text = script(&named, ".sh").unwrap();
    assert!(!text.contains("test_x$("), "{text}");
}

#[test]
fn mysqltest_sends_and_reaps() {
    let text = script(&finding(Product::Mysql), ".test").unwrap();
    let steps = order(&text, &["send ", "reap", "connection T", "--error", "COMMIT"]);
    assert_eq!(
        steps,
        [
            "connection T1;",
            "connection T2;",
            "connection T1;",
            "connection T2;",
            "send SELECT a, b FROM t FOR UPDATE;",
            "connection T1;",
            "COMMIT;",
            "connection T2;",
            "reap;",
            "connection T2;",
            "--error 1146",
        ]
    );
    assert!(text.contains("# WRONG: expected (2, 'x'); it answers no rows"), "{text}");
}

#[test]
fn the_specification_names_its_steps_in_the_real_order() {
    let mut bug = finding(Product::Postgres);
    let text = script(&bug, ".spec").unwrap();
    assert!(text.contains("permutation \"s1\" \"s2\" \"s3\" \"s4\" \"s5\" \"s6\"\n"), "{text}");
    assert!(text.contains("session \"T2\"\nsetup\n{\n  SET SESSION CHARACTERISTICS"), "{text}");
    assert!(text.contains("step \"s4\"\t{ SELECT a, b FROM t FOR UPDATE; }"), "{text}");
    // A brace would end a block: then there is no such file.
    edit(&mut bug, |case| case.steps[1].sql = "SELECT '}'".into());
    assert_eq!(script(&bug, ".spec"), None);
}

#[test]
fn the_terminals_say_who_types_what() {
    let text = script(&finding(Product::Postgres), ".sql").unwrap();
    let mut at = 0;
    for words in [
        "-- setup, in any terminal\nCREATE SCHEMA test_9b1f0a2c;\nSET search_path = test_9b1f0a2c;\nCREATE TABLE t",
        "-- session T2, first\nSET search_path = test_9b1f0a2c;\nSET SESSION CHARACTERISTICS",
        "-- step 1, session T1\nBEGIN;",
        "-- step 4, session T2\nSELECT a, b FROM t FOR UPDATE;\n-- => waits for T1; go on in the next terminal",
        "-- step 5, session T1\nCOMMIT;",
        "-- T2: step 4 comes back => no rows   WRONG, expected (2, 'x')",
        "-- afterwards, in any terminal\nSELECT * FROM \"t\";\n-- => ('2', 'x')",
    ] {
        let found = text[at..].find(words).unwrap_or_else(|| panic!("`{words}` is not in order in\n{text}"));
        at += found + words.len();
    }
}

#[test]
fn the_test_names_its_engine_and_asks_mysql_test_run_for_it() {
    let text = |product| {
        let file = scripts::all(&finding(product)).into_iter().find(|file| file.name.ends_with(".test"));
        file.expect("a .test file").text
    };
    let mariadb = text(Product::Mariadb);
    assert!(mariadb.contains("if ($MYSQL_TEST_DIR)\n{\n--source include/have_innodb.inc\n}\n"), "{mariadb}");
    assert!(mariadb.contains("CREATE TABLE t (a INT, b TEXT) ENGINE=InnoDB;\n"), "{mariadb}");
    let mysql = text(Product::Mysql);
    assert!(!mysql.contains("--source") && mysql.contains("ENGINE=InnoDB"), "{mysql}");
}

/// T1 does not commit: T2 waits until Isopod ends it like this.
fn stalled(product: Product, end: RoundCause) -> BugReport {
    let mut bug = finding(product);
    edit(&mut bug, |case| case.steps.truncate(4));
    let trace = &mut bug.execution.trace;
    trace.rounds.truncate(4);
    trace.rounds.push(Round { cause: end, answered: vec![3], waiting: Vec::new() });
    trace.outcomes.truncate(4);
    trace.stalled = true;
    bug
}

/// T1 waits, too, and the two wait for each other.
fn deadlock(product: Product) -> BugReport {
    let mut bug = stalled(product, RoundCause::RolledBack(1));
    bug.execution.trace.rounds[2] = Round {
        cause: RoundCause::Sent(2),
        answered: Vec::new(),
        waiting: vec![Wait { step: 2, blockers: vec![1] }],
    };
    bug.execution.trace.rounds[4].answered = vec![2, 3];
    let violation = &mut bug.finding.violation;
    violation.fingerprint.symptom = Symptom::UnreportedDeadlock;
    violation.fingerprint.cause = model::verdict::Cause::Invariant;
    // As version 1 of the file had it.
    (violation.evidence.rule, violation.evidence.expected) = (None, None);
    violation.evidence.sighting = Some(Sighting::Circle { steps: vec![3, 2] });
    bug
}

#[test]
fn what_comes_only_after_our_rollback_is_shown_by_the_same_rollback_and_said_to_be() {
    let words = "not in the case: nothing moves any more, and what is wrong comes only after this";
    let bug = |product| stalled(product, RoundCause::RolledBack(0));
    let text = script(&bug(Product::Mariadb), ".sh").unwrap();
    let steps = order(&text, &["step_that_waits 4", "# not in", "step r1", "comes_back 4", "rows_of 4"]);
    assert_eq!(
        steps[..4],
        [
            "step_that_waits 4 T2 1 'SELECT a, b FROM t FOR UPDATE;'",
            &format!("# {words}"),
            "step r1 T1 'ROLLBACK;'",
            "comes_back 4 T2",
        ]
    );
    assert!(text.contains("the wrong answer came again"), "{text}");
    let text = script(&bug(Product::Mysql), ".test").unwrap();
    assert!(text.contains(&format!("# {words}\nconnection T1;\nROLLBACK;\n\n# step 4 comes back")), "{text}");
    let text = script(&bug(Product::Mysql), ".sql").unwrap();
    assert!(text.contains(&format!("-- session T1; {words}\nROLLBACK;\n-- T2: step 4 comes back")), "{text}");
    let text = script(&bug(Product::Postgres), ".spec").unwrap();
    assert!(text.contains("step \"r1\"\t{ ROLLBACK; }\n"), "{text}");
    assert!(text.contains("permutation \"s1\" \"s2\" \"s3\" \"s4\" \"r1\"\n"), "{text}");
    let text = markdown::markdown(&bug(Product::Mariadb));
    assert!(text.contains(&format!("/*    T1 */ ROLLBACK;   -- {words}\n")), "{text}");
    // Whoever runs the file does not see that answer.
    let text = script(&bug(Product::Mariadb), ".iso").unwrap();
    assert!(!text.contains("fails on") && !text.contains("=>"), "{text}");
}

#[test]
fn what_comes_only_after_our_kill_is_never_asked_for() {
    let bug = stalled(Product::Mariadb, RoundCause::Killed(1));
    let text = script(&bug, ".sh").unwrap();
    assert!(!text.contains("comes_back 4") && !text.contains("rows_of 4"), "{text}");
    assert!(text.contains("# nothing moves any more: step 4 waits until a timeout\n"), "{text}");
    assert!(text.ends_with("exit 3\n") && !text.contains("echo 'the wrong answer came again"), "{text}");
    assert!(!script(&bug, ".iso").unwrap().contains("fails on"));
}

#[test]
fn where_the_wait_is_wrong_only_the_wait_is_asked_for() {
    for end in [RoundCause::RolledBack(0), RoundCause::Killed(1)] {
        let mut bug = stalled(Product::Mysql, end);
        bug.finding.violation.fingerprint.symptom = Symptom::NeedlessWait;
        bug.finding.violation.evidence.expected = Some(Response::AnAnswer { nobody_in_the_way: false });
        let text = script(&bug, ".sh").unwrap();
        assert!(text.contains("if [ -e \"$work/waits-4\" ]; then\n"), "{text}");
        assert!(!text.contains("comes_back 4") && !text.contains("'ROLLBACK;'"), "{text}");
        let text = script(&bug, ".iso").unwrap();
        assert!(text.ends_with("step 4 => waits\n"), "{text}");
    }
}

#[test]
fn of_an_unreported_deadlock_the_stall_is_asked_for() {
    let bug = deadlock(Product::Mariadb);
    let text = script(&bug, ".sh").unwrap();
    let steps = order(&text, &["step_that_waits 3", "step_that_waits 4", "still_wait 10", "comes_back 4"]);
    assert_eq!(
        steps,
        [
            "step_that_waits 3 T1 1 'UPDATE t SET a = 2;'",
            "step_that_waits 4 T2 2 'SELECT a, b FROM t FOR UPDATE;'",
            "still_wait 10 T2 4 T1 3",
        ]
    );
    assert!(text.contains("expected error deadlock (1213) for one of steps 3 and 4'\n    exit 0"), "{text}");
    let text = script(&deadlock(Product::Mysql), ".test").unwrap();
    assert!(text.contains("let $id_T1 = `SELECT CONNECTION_ID()`;\n"), "{text}");
    assert!(text.contains("if ($waiting < 2)\n") && text.contains("eval KILL QUERY $id_T2;\n"), "{text}");
    let text = script(&bug, ".iso").unwrap();
    assert!(text.ends_with("    step 3 => waits\n    step 4 => waits\n"), "{text}");
    let text = script(&bug, ".sql").unwrap();
    assert!(text.ends_with("<-- wrong, expected error deadlock (1213) for one of steps 3 and 4\n"), "{text}");
}

/// A sentence, what should come, and who says so: also where the server has ended another circle before.
#[test]
fn the_page_of_an_unreported_deadlock_says_what_is_wrong() {
    for (product, quote) in [
        (Product::Mysql, "InnoDB automatically detects transaction deadlocks and rolls back a transaction"),
        (Product::Mariadb, "By default, the InnoDB deadlock detector is enabled."),
    ] {
        let text = markdown::markdown(&deadlock(product));
        let why = &text[text.find("## Why this is wrong").unwrap()..];
        assert!(why.contains("that is a deadlock, and the server ends one of them with an error"), "{why}");
        assert!(why.contains("whoever still waits for each other after that is in a deadlock, too"), "{why}");
        assert!(why.contains(quote) && !why.contains("No sentence of"), "{why}");
        assert!(text.contains("\nerror deadlock (1213) for one of steps 3 and 4\n"), "{text}");
        assert!(text.contains("\nsteps 3 and 4 wait for each other\n"), "{text}");
        assert!(!text.contains("something else") && !text.contains("comes back"), "{text}");
        let page = report::html::finding(&deadlock(product), &[]);
        assert!(page.contains("error deadlock (1213) for one of steps 3 and 4"), "{page}");
    }
}
