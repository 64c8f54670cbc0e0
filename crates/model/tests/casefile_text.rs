//! What a case file says, how it is put in canonical form, and what is reported when it is wrong.

use expect_test::{Expect, expect};
use model::casefile::{format, parse};

const KEY_CHANGE: &str = "\
-- Found by hand.
title   A key change leaves the old row in the snapshot
link    MDEV-32898, MySQL#113228
for     mysql, mariadb  -- absent = every product
session T3 level SER
session T4 level RC, autocommit off

setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 1), (2, 2);

steps
  T1: BEGIN;
  T2: BEGIN;
  T2: SELECT *  -- sent as it stands
      FROM t
        WHERE ';' <> 'it''s';
      => (1, 1) (2, 2)
  T1: UPDATE t SET a = 3 WHERE b = 2;
      => 1 row
      => [SER] waits, then error deadlock
  T1: COMMIT;

  -- Here it happens.
  T2: UPDATE t SET b = 3;
      => 2 rows
      -- Only there.
      => [mariadb innodb_snapshot_isolation=ON, RR] error write-conflict, transaction over
      => [mysql@9.7.. sql_mode='A,B', mysql@..5.6] error 1213, transaction open
  T2: SELECT * FROM t;  -- a trailing comment
      => ordered (1, 'it''s')  -- first
                 -- then
                 (-1.50, NULL) (3e5, x'00ff')
  T2: COMMIT;
  T3: SELECT 1;
      => waits
  T4: COMMIT;
  -- the steps end here

final
  t => (1, 3) (3, 3)
    => [SER] no rows

fails on
  mysql@5.6..9.7, mariadb@10.1..11.4 innodb_snapshot_isolation=OFF, at RR:
    step 7 => (1, 3)
    final t => (1, 3) (3, 3)
  at RU, RC:
    step 6 => 0 rows
-- The end.
";

#[test]
fn however_many_carriage_returns_end_a_line_none_stays() {
    let unix = "steps\n  T1: SELECT 'a\n      b\rc';\n  T1: SELECT 2;\n";
    for ending in ["\r\n", "\r\r\n", "\r\r\r\r\n"] {
        let text = unix.replace('\n', ending);
        let formatted = format(&text).unwrap();
        assert_eq!(formatted, format(unix).unwrap(), "{ending:?}");
        assert_eq!(format(&formatted).unwrap(), formatted);
        assert_eq!(parse(&text).unwrap().case(), parse(unix).unwrap().case());
    }
}

#[test]
fn a_canonical_text_stays_as_it_is_byte_for_byte() {
    let file = parse(KEY_CHANGE).unwrap();
    assert_eq!(file.format(), KEY_CHANGE);
    assert_eq!(file.line_of_step(2), Some(15));
}

#[test]
fn the_case_is_what_the_text_says() {
    let file = parse(KEY_CHANGE).unwrap();
    let case = file.case();
    let names: Vec<&str> = case.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["T3", "T4", "T1", "T2"]);
    assert_eq!(case.steps[2].sql, "SELECT *  -- sent as it stands\nFROM t\n  WHERE ';' <> 'it''s'");
    assert_eq!(case.steps[5].expect.len(), 3);
    assert_eq!(case.fails[0].steps[0].0, 6);
    expect![[r#"
        {
          "when": {
            "levels": [
              "RR"
            ],
            "servers": [
              {
                "product": "mariadb",
                "from": null,
                "to": null,
                "settings": {
                  "innodb_snapshot_isolation": "ON"
                }
              }
            ]
          },
          "then": {
            "waits": false,
            "answer": {
              "error": {
                "what": {
                  "class": "write-conflict"
                },
                "over": true
              }
            }
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&case.steps[5].expect[1]).unwrap());
    assert_eq!(serde_json::from_str::<model::Case>(&serde_json::to_string(case).unwrap()).unwrap(), *case);
}

#[test]
fn formatting_puts_things_in_their_place_and_keeps_comments() {
    let text = "\n\n-- top\ntitle x\nsetup\n\n\tCREATE TABLE t(a INT); INSERT INTO t\n\t\tVALUES (1); -- two\n\n\n\
                \t-- end of setup\nsteps\r\n T1 : SELECT a\r\n    FROM t; => [RR , mysql] ( 1 ),(2), -- c\n\n\n  (3)\n\
                T1: SELECT 1 -- last\n;\n  -- tail\n\n\n";
    let formatted = format(text).unwrap();
    expect![[r#"
        -- top
        title   x

        setup
          CREATE TABLE t(a INT);
          INSERT INTO t
          VALUES (1);  -- two

          -- end of setup

        steps
          T1: SELECT a
              FROM t;
              => [mysql, RR] (1) (2)  -- c
                             (3)
          T1: SELECT 1 -- last
              ;
          -- tail
    "#]]
    .assert_eq(&formatted);
    assert_eq!(format(&formatted).unwrap(), formatted);
}

/// Shows every problem of a text as `line:column+length message | label | help`.
fn problems(text: &str, expected: Expect) {
    let shown: String = parse(text)
        .expect_err("the text is wrong")
        .into_iter()
        .map(|p| {
            let help = p.help.map(|help| format!("\n    {help}")).unwrap_or_default();
            format!("{}:{}+{} {} | {}{help}\n", p.line, p.column, p.length, p.message, p.label)
        })
        .collect();
    expected.assert_eq(&shown);
}

#[test]
fn a_commit_without_a_begin() {
    problems(
        "steps\n  T1: BEGIN;\n  T2: START TRANSACTION;\n  T3: COMMIT;\n  T1: ROLLBACK TO s;\n  T1: COMMIT;\n  T1: ROLLBACK;\n",
        expect![[r#"
            4:3+2 a COMMIT without a BEGIN | T3 has no open transaction here; T1 and T2 do
            7:3+2 a ROLLBACK without a BEGIN | T1 has no open transaction here; T2 does
        "#]],
    );
    parse("session T1 autocommit off\nsteps\n  T1: COMMIT;\n  T2: SET autocommit = 0;\n  T2: COMMIT;")
        .unwrap();
}

#[test]
fn misspelt_and_misplaced_names() {
    problems(
        "titel  x\ntitle  y\ntitle  z\nfor  mysq\nsession T1 level XX\nsesion T2\nsetpu\n  CREATE TABLE t(a INT);\nStesp:\n  T1: SELECT 1;\nlink  z\nfails-on\n  mysql:\n    step 1 => ok\nfinal\n  t => no rows\n",
        expect![[r#"
            1:1+5 unknown key `titel` | not known here
                did you mean `title`?
            3:1+5 a second title | there is a title above already
            4:6+4 unknown product `mysq` | not a product
                did you mean `mysql`?
            5:9+11 a session that cannot be read | `XX` is not an isolation level; the levels are RU, RC, RR and SER
                write `session T3 level SER`, `session T3 autocommit off` or both, with a comma
            6:1+6 unknown key `sesion` | not known here
                did you mean `session`?
            7:1+5 unknown section `setpu` | not a section
                did you mean `setup`?
            9:1+6 unknown section `Stesp:` | not a section
                did you mean `steps`?
            11:1+4 `link` is out of place | it stands above the sections
            12:1+8 unknown section `fails-on` | not a section
                did you mean `fails on`?
            15:1+5 `final` is out of place | it stands before `fails on`
                the sections are, in this order: setup, steps, final, fails on
        "#]],
    );
}

#[test]
fn dollar_quotes_hold_semicolons() {
    let text = "steps\n  T1: SELECT $$a;b$$, a$b, $1, $x$;$$'$x$, 1;\n  T2: SELECT 2;\n";
    let case = parse(text).expect("a case").into_case();
    let sql: Vec<&str> = case.steps.iter().map(|step| step.sql.as_str()).collect();
    assert_eq!(sql, ["SELECT $$a;b$$, a$b, $1, $x$;$$'$x$, 1", "SELECT 2"]);
    assert!(parse("steps\n  T1: SELECT $$a;\n").is_err());
}

/// Triggers, functions and procedures are one statement each, with all that their bodies hold.
#[test]
fn bodies_of_programs_hold_semicolons() {
    let programs = [
        "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW\n  SET NEW.b = IF(NEW.a > 1, 2, REPEAT('x', 3))",
        "CREATE TRIGGER y AFTER UPDATE ON t FOR EACH ROW\nBEGIN\n  IF NEW.a IS NULL THEN\n    INSERT INTO u VALUES (1);\n  \
         ELSEIF NEW.a = 1 THEN SET @x = CASE WHEN 1 THEN 2 END;\n  END IF;\n  SAVEPOINT s; -- END;\nEND",
        "CREATE DEFINER=`a`@`b` PROCEDURE p(n INT) outer_one: BEGIN\n  again: LOOP\n    SET n = n - 1;\n    IF n < 0 THEN LEAVE again; \
         END IF;\n  END LOOP;\n  REPEAT DELETE FROM t; UNTIL 1 END REPEAT;\n  CASE n WHEN 1 THEN SELECT 1; ELSE BEGIN END; END CASE;\nEND",
        "create trigger z before delete on t for each row if old.a = 1 then delete from u; delete from v; end if",
        "CREATE FUNCTION f() RETURNS trigger AS $$\nBEGIN\n  RETURN NEW;\nEND $$ LANGUAGE plpgsql",
        "CREATE FUNCTION g() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END",
    ];
    for program in programs {
        let text = format!(
            "setup\n{program};\n  CREATE TABLE w(a INT);\n\nsteps\n  T1: {program};\n  T2: SELECT 2;\n"
        );
        let case = parse(&text).unwrap_or_else(|_| panic!("a case: {text}")).into_case();
        assert_eq!(case.setup.statements, [program, "CREATE TABLE w(a INT)"]);
        let sent: Vec<String> = case.steps.iter().map(|step| step.sql.split_whitespace().collect()).collect();
        let whole: String = program.split_whitespace().collect();
        assert_eq!(sent, [&*whole, "SELECT2"]);
        let canonical = format(&text).expect("a canonical text");
        assert_eq!(parse(&canonical).expect("a case").into_case(), case);
    }
    assert!(
        parse("steps\n  T1: CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1;\n").is_err()
    );
}

#[test]
fn missing_semicolons_and_sessions() {
    problems(
        "setup\n  CREATE TABLE t(a INT)\n  INSERT INTO t VALUES (1)\nsteps\n  => ok\n  T1: BEGIN -- é\n  T2: SELECT 'é'\n      => (1)\n  SELECT 2;\n  T1:\n  T1: ;\n  T1: SELECT 1",
        expect![[r#"
            2:24+0 `;` is missing | the statement has no end
                every statement ends with `;`, also the last one
            3:27+0 `;` is missing | the statement has no end
                every statement ends with `;`, also the last one
            5:3+2 an expectation before any step | no step stands above it
                `=>` says what should come of the step above it
            6:12+0 `;` is missing | the statement has no end
                every statement ends with `;`, also the last one
            7:17+0 `;` is missing | the statement has no end
                every statement ends with `;`, also the last one
            9:3+6 a step without its session | expected `SELECT:` or a session before it
                a step begins with its session: `T1: BEGIN;`
            10:3+3 a step without a statement | nothing stands behind it
            11:7+1 an empty statement | nothing stands before it
            12:15+0 `;` is missing | the statement has no end
                every statement ends with `;`, also the last one
        "#]],
    );
    problems(
        "T1: BEGIN;",
        expect![[r#"
        1:1+3 a step above the steps | no section has begun
            the steps begin with a line that says `steps`
    "#]],
    );
    problems(
        "setup\n  T1: BEGIN;\nsteps\n  T1: SELECT 'its;\n",
        expect![[r#"
            2:3+3 a step in the setup | not in the setup
                the steps begin with a line that says `steps`
            4:14+1 a quote is not closed | it begins here
        "#]],
    );
    problems(
        "title nothing",
        expect![[r#"
        1:14+0 a case without steps | there is nothing to run
            a line that says `steps`, and below it lines such as `T1: SELECT 1;`
    "#]],
    );
}

#[test]
fn outcomes_that_cannot_be_read() {
    let mut text = String::from("steps\n  T1: SELECT 1;\n");
    for outcome in [
        "",
        "okay",
        "(1, 2",
        "(1, 2))",
        "(1 2)",
        "(1, (2)",
        "()",
        "(1) (1, 2)",
        "(abc, 1)",
        "(true)",
        "(x'0')",
        "('open)', 2)",
        "3",
        "3 lines",
        "error dedlock",
        "error foo",
        "error deadlock, over",
        "deadlock",
        "waits then ok",
        "waits, ok",
        "1 row;",
        "[mysql RR] ok",
        "[msyql] ok",
        "[log_bin=ON] ok",
        "[mysql@9.x] ok",
        "[mysql@9.7..5.6] ok",
        "[mysql log_bin=ON log-bin=OFF] ok",
        "[RR ok",
        "[] ok",
    ] {
        text.push_str(&format!("=> {outcome}\n"));
    }
    problems(
        &text,
        expect![[r#"
            3:3+0 an outcome is missing | expected an outcome here
                an outcome is `ok`, `2 rows`, `1 of 2 rows`, `no rows`, `(1, 'a') (2, NULL)`, `ordered (..)`, `rolled back`, `error CLASS` or `waits`
            4:4+4 an outcome that cannot be read | not an outcome
                an outcome is `ok`, `2 rows`, `1 of 2 rows`, `no rows`, `(1, 'a') (2, NULL)`, `ordered (..)`, `rolled back`, `error CLASS` or `waits`
            5:4+1 a row is not closed | this `(` has no `)`
                a row stands on one line: `(1, 'a', NULL)`
            6:10+1 a `)` without a `(` | nothing is open here
            7:7+1 a row that cannot be read | expected `,` or `)` here
            8:4+1 a row is not closed | this `(` has no `)`
                a row stands on one line: `(1, 'a', NULL)`
            9:4+2 a row without values | nothing in it
                an empty result is written `no rows`
            10:8+6 rows of different length | 2 values here, 1 in the first row
            11:5+3 a value that cannot be read | not a value of the file
                text stands in single quotes: 'abc'
            12:5+4 a value that cannot be read | not a value of the file
                write it as the server prints it: 1, or 't' on PostgreSQL
            13:5+4 bytes that cannot be read | expected two hex digits for each byte
            15:5+0 an outcome that cannot be read | expected `row` or `rows` here
                `3 rows` is a count, `(3)` is a row
            16:6+5 an outcome that cannot be read | expected `row` or `rows` here
                `3 rows` is a count, `(3)` is a row
            17:10+7 `dedlock` is not a class of errors | neither a class nor a number nor a SQLSTATE
                did you mean `deadlock`? the classes are deadlock, lock-timeout, serialization-failure, write-conflict, busy, duplicate-key, constraint, range, syntax, runtime, read-only, table-changed, interrupted, gone-away, denied, internal, other
            18:10+3 `foo` is not a class of errors | neither a class nor a number nor a SQLSTATE
                the classes are deadlock, lock-timeout, serialization-failure, write-conflict, busy, duplicate-key, constraint, range, syntax, runtime, read-only, table-changed, interrupted, gone-away, denied, internal, other
            19:24+0 an outcome that cannot be read | expected `transaction over` or `transaction open` here
            20:4+8 an outcome that cannot be read | not an outcome
                write `error deadlock`
            21:10+7 more text behind an outcome | expected the end of the line here
                one outcome stands behind a `=>`; a comment begins with `-- `
            22:11+2 an outcome that cannot be read | expected `then` and an outcome here
                write `waits, then 1 row`, or `waits` alone
            23:9+1 an expectation ends with its line | no `;` here
            24:11+2 a selector that cannot be read | expected `,` or `]` here
                items are separated by commas, a server's settings by blanks: `mysql@9.7 log_bin=ON, RR`
            25:5+5 `msyql` is neither a level nor a server | not known in a selector
                did you mean `mysql`?
            26:5+7 a setting without its server | settings stand behind a server
                for example `mariadb log_bin=ON`
            27:11+3 a version that cannot be read | expected digits and dots
                write `@9.7`, `@10.1..11.4`, `@..10.6` or `@8.0..`
            28:5+14 an empty range of versions | it ends before it begins
            29:22+11 a setting is named twice | `log_bin` has a value already
            30:8+2 a selector that cannot be read | expected `,` or `]` here
                items are separated by commas, a server's settings by blanks: `mysql@9.7 log_bin=ON, RR`
            31:5+1 a selector that cannot be read | expected a level or a server here
                for example `[RR]`, `[mysql@9.7]` or `[mariadb innodb_snapshot_isolation=ON, RR]`
        "#]],
    );
}

#[test]
fn selectors_that_tie() {
    let steps = |lines: &[&str]| {
        let lines: Vec<String> = lines.iter().map(|line| format!("      => {line}\n")).collect();
        format!("steps\n  T1: SELECT 1;\n{}", lines.concat())
    };
    problems(
        &steps(&["1 row", "2 rows"]),
        expect![[r#"
        4:7+9 two expectations contradict each other | `=> 1 row` above fits equally well somewhere
            narrow one of them, or add one for where both fit; the narrowest wins
    "#]],
    );
    problems(
        &steps(&["1 row", "[RR] 2 rows", "[mysql] 3 rows"]),
        expect![[r#"
        5:7+17 two expectations contradict each other | `=> [RR]` above fits equally well somewhere
            narrow one of them, or add one for where both fit; the narrowest wins
    "#]],
    );
    problems(
        &steps(&["[mysql@5.6..9.7] 2 rows", "[mysql log_bin=ON] 3 rows"]),
        expect![[r#"
        4:7+28 two expectations contradict each other | `=> [mysql@5.6..9.7]` above fits equally well somewhere
            narrow one of them, or add one for where both fit; the narrowest wins
    "#]],
    );
    for fine in [
        &["1 row", "[RR] 2 rows", "[mysql] 3 rows", "[mysql, RR] 4 rows"][..],
        &["[mysql@5.6..8.0] 2 rows", "[mysql@8.1..] 3 rows"],
        &["[mysql log_bin=ON] 2 rows", "[mysql log_bin=OFF] 3 rows"],
        &["[RR] 2 rows", "[RC, SER] 3 rows"],
        &["[RR] 2 rows", "[mysql] 2 rows"],
        &["[mysql] 2 rows", "[mariadb] 3 rows"],
    ] {
        assert!(parse(&steps(fine)).is_ok(), "{fine:?}");
    }
}

#[test]
fn known_failures_that_cannot_be() {
    problems(
        "setup\n  CREATE TABLE `tab`(a INT);\nsteps\n  T1: SELECT 1;\nfinal\n  tba => (1)\n  tab => ok\nfails on\n    step 1 => ok\n  mysql, at RR:\n  mysql@9.7:\n    step 2 => ok\n    step 1 => 1 row\n    step 1 => 1 row\n    final x => (1)\n  at RC, SER:\n    step 1 => 2 rows\n  everywhere:\n    step 0 => ok\n    steps 1 => ok\n  mysql at mariadb:\n  mysql\n",
        expect![[r#"
            9:5+12 a known failure without its group | where?
                first say where it fails: `mysql@9.7, at RR:`
            19:10+1 a line that cannot be read | expected a step's number here
                write `step 7 => 0 rows`; steps count from 1
            20:5+5 a line that cannot be read | expected `step N` or `final TABLE` here
                write `step 7 => 0 rows` or `final t => (1, 2)`
            21:9+2 a selector that cannot be read | expected `,` or `:` here
                items are separated by commas, a server's settings by blanks: `mysql@9.7 log_bin=ON, RR`
            22:8+0 `:` is missing | expected `,` or `:` here
                a group of known failures is headed `mysql@9.7, at RR:`
        "#]],
    );
    problems(
        "setup\n  CREATE TABLE IF NOT EXISTS `tab` (a INT);\nsteps\n  T1: SELECT 1;\nfinal\n  tba => (1)\n  tab => ok\nfails on\n  mysql, at RR:\n  mysql@9.7:\n    step 2 => ok\n    step 1 => 1 row\n    step 1 => 1 row\n    final x => (1)\n  at RC, SER:\n    step 1 => 2 rows\n",
        expect![[r#"
            6:3+3 unknown table `tba` | the case creates tab
                did you mean `tab`?
            7:3+3 a table holds rows | `ok` is what a statement comes to
                write `t => (1, 2) (3, 4)` or `t => no rows`
            9:3+12 a group of known failures without any | nothing is said to come instead
                below it stands `step 7 => 0 rows` or `final t => (1, 2)`
            11:10+1 there is no step 2 | the case has one step
            13:10+1 a step is named twice | step 1 stands in this group already
            14:11+1 unknown table `x` | the case creates tab
            16:10+1 two groups contradict each other | `mysql@9.7:` can fit as well and says something else
        "#]],
    );
}

#[test]
fn a_section_behind_a_statement() {
    problems(
        "setup\n  CREATE TABLE t (a INT);steps\nsteps\n  T1: SELECT 1;\n",
        expect![[r#"
            2:26+5 a section behind a statement | not in the setup
                a section begins on a line of its own
        "#]],
    );
}
