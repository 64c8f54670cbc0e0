//! `isopod run`.

use expect_test::expect;

use crate::tools::{Folder, isopod, repository, servers};

/// On SQLite the second writer is refused.
pub const GOOD: &str = "\
title  The second writer is refused

setup
  CREATE TABLE t(a INT PRIMARY KEY, b INT);
  INSERT INTO t VALUES (1, 10);

steps
  T1: BEGIN;
  T1: UPDATE t SET b = 11 WHERE a = 1;
      => 1 row
  T2: UPDATE t SET b = 12 WHERE a = 1;
      => error busy
  T1: COMMIT;
      => ok
  T2: SELECT * FROM t;
      => (1, 11)

final
  t => (1, 11)
";

/// The same without any `=>`.
fn without_expectations() -> String {
    let steps = GOOD.split("final").next().unwrap();
    steps.lines().filter(|line| !line.contains("=>")).map(|line| format!("{line}\n")).collect()
}

/// Version numbers and the test's folder differ from run to run.
fn masked(text: &str, folder: &Folder) -> String {
    let version = text.split_whitespace().nth(1).unwrap();
    assert!(version.starts_with("3."), "{text}");
    text.replace(version, "VERSION").replace(folder.path(), "FOLDER")
}

#[test]
fn a_case_is_shown_as_a_timeline() {
    let folder = Folder::new();
    let ran = isopod(&["run", &folder.put("good.iso", GOOD)]).exits(0);
    assert_eq!(ran.err, "");
    expect![[r#"
        sqlite VERSION · SERIALIZABLE · FOLDER/good.iso

             T1                                        T2
         1   BEGIN
         2   UPDATE t SET b = 11 WHERE a = 1   1 row
         3                                             UPDATE t SET b = 12 WHERE a = 1   error busy (5)
         4   COMMIT
         5                                             SELECT * FROM t                   (1, 11)

        final t: (1, 11)

    "#]]
    .assert_eq(&masked(&ran.out, &folder));
}

#[test]
fn an_unmet_expectation_is_marked_and_is_exit_code_1() {
    let folder = Folder::new();
    let bad = GOOD.replace("=> error busy", "=> 1 row").replace("t => (1, 11)", "t => (1, 12)");
    let ran = isopod(&["run", &folder.put("bad.iso", &bad)]).exits(1);
    expect![[r#"
        sqlite VERSION · SERIALIZABLE · FOLDER/bad.iso

             T1                                        T2
         1   BEGIN
         2   UPDATE t SET b = 11 WHERE a = 1   1 row
         3                                             UPDATE t SET b = 12 WHERE a = 1 ✗ error busy (5)
                                                                              expected   1 row
         4   COMMIT
         5                                             SELECT * FROM t                   (1, 11)

        final t: ✗ (1, 11)
        expected   (1, 12)

    "#]]
    .assert_eq(&masked(&ran.out, &folder));
}

#[test]
fn a_file_without_expectations_just_runs() {
    let folder = Folder::new();
    let ran = isopod(&["run", &folder.put("plain.iso", &without_expectations())]).exits(0);
    ran.says(&["error busy", "final t: (1, 11)", "nothing is expected here, and nothing wrong was found"]);
}

#[test]
fn json_has_case_and_trace() {
    let folder = Folder::new();
    let file = folder.put("good.iso", GOOD);
    let json = isopod(&["run", &file, "--json", "--repeat", "2"]).exits(0).json();
    let [ran] = json.as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!(ran["file"], file.as_str());
    assert_eq!(ran["target"], "sqlite");
    assert_eq!((&ran["runs"], &ran["alike"]), (&2.into(), &2.into()));
    assert_eq!(ran["status"], "pass");
    assert_eq!(ran["case"]["steps"].as_array().unwrap().len(), 5);
    assert_eq!(ran["trace"]["outcomes"].as_array().unwrap().len(), 5);
    let bad = folder.put("bad.iso", &GOOD.replace("=> (1, 11)", "=> (1, 9)"));
    assert_eq!(isopod(&["run", &bad, "--json"]).exits(1).json()[0]["status"], "unexpected-failure");
}

#[test]
fn repeated_runs_are_compared() {
    let folder = Folder::new();
    let ran = isopod(&["run", &folder.put("good.iso", GOOD), "--repeat", "3"]).exits(0);
    ran.says(&["3 of 3 runs alike"]);
}

#[test]
fn files_and_folders() {
    let folder = Folder::new();
    let one = folder.put("one.iso", GOOD);
    folder.put("more/two.iso", GOOD);
    folder.put("more/deep/three.iso", GOOD);
    folder.put("more/notes.txt", "not a case");
    let more = folder.0.join("more").display().to_string();
    let ran = isopod(&["run", &one, &more]).exits(0);
    let ran = ran.says(&["/one.iso\n", "/more/two.iso\n", "/more/deep/three.iso\n"]);
    assert_eq!(ran.out.matches("final t:").count(), 3);
}

#[test]
fn levels() {
    let folder = Folder::new();
    let file = folder.put("good.iso", GOOD);
    let ran = isopod(&["run", &file, "--level", "all"]).exits(0);
    assert_eq!(ran.out.matches("SERIALIZABLE").count(), 1);
    isopod(&["run", &file, "--level", "XX"])
        .fails(&["`XX` is not an isolation level", "RU, RC, RR and SER, or all"]);
    let ran = isopod(&["run", &file, "--level", "RR"]).fails(&[]);
    expect![[r#"
        error: sqlite has no level RR
          its levels: SER (or --level all)
    "#]]
    .assert_eq(&ran.err);
}

#[test]
fn a_case_for_another_product_is_refused() {
    let folder = Folder::new();
    let file = folder.put("my.iso", &format!("for mysql, mariadb\n{GOOD}"));
    let ran = isopod(&["run", &file]).fails(&[]);
    expect![[r#"
        error: FOLDER/my.iso is not for sqlite
          it is for: mysql, mariadb
          run it with --target mysql, or change its `for` line
    "#]]
    .assert_eq(&ran.err.replace(folder.path(), "FOLDER"));
}

#[test]
fn a_setup_that_the_server_refuses_names_file_and_statement() {
    let folder = Folder::new();
    let file = folder.put(
        "twice.iso",
        "setup\n  CREATE TABLE t(a INT);\n  CREATE TABLE t(a INT);\n\nsteps\n  T1: SELECT 1;\n",
    );
    let ran = isopod(&["run", &file]).fails(&[]);
    expect![[r#"
        error: the setup of FOLDER/twice.iso failed
          statement: CREATE TABLE t(a INT)
          the server: table t already exists (1)
    "#]]
    .assert_eq(&ran.err.replace(folder.path(), "FOLDER"));
    // The same behind other cases that are fine: they are shown.
    let good = folder.put("a.iso", GOOD);
    let ran = isopod(&["run", &good, &file]).exits(2).says(&["a.iso"]);
    assert!(ran.err.contains("twice.iso"), "{}", ran.err);
}

#[test]
fn a_step_with_a_syntax_error_is_an_outcome() {
    let folder = Folder::new();
    let ran = isopod(&["run", &folder.put("syntax.iso", "steps\n  T1: SELEC 1;\n      => error syntax\n")])
        .exits(0);
    ran.says(&["error syntax"]);
}

#[test]
fn a_table_of_final_that_does_not_exist_was_not_as_expected() {
    let folder = Folder::new();
    // Known from the text: the case file is wrong.
    let text = "setup\n  CREATE TABLE t(a INT);\n\nsteps\n  T1: SELECT 1;\n\nfinal\n  nix => (1)\n";
    isopod(&["run", &folder.put("text.iso", text)]).fails(&["unknown table `nix`", "text.iso:8:3"]);
    // Known from the server only.
    let text = "steps\n  T1: SELECT 1;\n      => (1)\n\nfinal\n  nix => (1)\n";
    isopod(&["run", &folder.put("server.iso", text)])
        .exits(1)
        .says(&["final nix: ✗ no such table\n", " expected   (1)\n"]);
    // The others are read all the same.
    let text = "setup\n  CREATE TABLE t(a INT);\n  CREATE TABLE u(a INT);\n  INSERT INTO u VALUES (7);\n\nsteps\n  T1: DROP TABLE t;\n\nfinal\n  t => (1)\n  u => (7)\n";
    isopod(&["run", &folder.put("dropped.iso", text)])
        .exits(1)
        .says(&["final t: ✗ no such table\n", "final u: (7)\n"]);
}

#[test]
fn a_trace_says_what_its_server_was_started_with() {
    let Some(_alone) = crate::tools::servers(&["mariadb@10.11"]) else { return };
    let file = crate::tools::repository().join("corpus/phenomena/dirty-read.iso").display().to_string();
    let json =
        isopod(&["run", &file, "--target", "mariadb@10.11", "--level", "RC", "--json"]).exits(0).json();
    let flags = json[0]["trace"]["server"]["flags"].as_array().expect("flags").clone();
    assert!(flags.iter().any(|flag| flag == "--innodb-flush-log-at-trx-commit=0"), "{flags:?}");
}

/// The case with which the format is explained is a true one.
#[test]
fn the_example_of_the_documentation_holds() {
    let text = std::fs::read_to_string(repository().join("docs/case-format.md")).unwrap();
    let example = text.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = Folder::new();
    let file = folder.put("example.iso", example);
    isopod(&["fmt", "--check", &file]).exits(0);
    let Some(_alone) = servers(&["mariadb@10.11", "mysql@9.7"]) else { return };
    isopod(&["run", &file, "--target", "mariadb@10.11?innodb_snapshot_isolation=ON", "--level", "all"])
        .exits(0);
    let ran = isopod(&["run", &file, "--target", "mysql@9.7", "--level", "all"]).exits(1);
    // Once where the file says so, and once by the model, which has not read the file.
    assert_eq!(ran.out.matches('✗').count(), 2, "{}", ran.out);
    ran.says(&["✗ (1, 3) (2, 2) (3, 3)", "known: MDEV-32898, MySQL#113228"]);
}

#[test]
fn what_reaches_outside_of_the_database_wants_trust_on_our_own_servers_too() {
    let folder = Folder::new();
    let out = folder.0.join("written");
    let case = |setup: &str| format!("setup\n  CREATE TABLE t (a INT);\nsteps\n  T1: {setup};\n");
    let copy = folder.put("copy.iso", &case(&format!("COPY t TO PROGRAM 'id > {}'", out.display())));
    let attach = folder.put("attach.iso", &case(&format!("ATTACH '{}' AS x", out.display())));
    let vacuum = folder.put("vacuum.iso", &case(&format!("VACUUM INTO '{}'", out.display())));
    let outfile = folder.put("outfile.iso", &case(&format!("SELECT 1 INTO OUTFILE '{}'", out.display())));
    for (file, target) in
        [(&copy, "postgres@18"), (&attach, "sqlite"), (&vacuum, "sqlite"), (&outfile, "mariadb@10.11")]
    {
        isopod(&["run", file, "--target", target]).fails(&["was not run", "step 1", "--trust"]);
    }
    // Even then the process in which SQLite runs opens no other database, and VACUUM by itself does as ever.
    for file in [&attach, &vacuum] {
        let ran = isopod(&["run", file, "--target", "sqlite", "--trust"]).exits(0);
        assert!(ran.out.contains("error"), "{}", ran.out);
    }
    let alone = folder.put("alone.iso", &case("VACUUM"));
    let ran = isopod(&["run", &alone, "--target", "sqlite"]).exits(0);
    assert!(!ran.out.contains("error"), "{}", ran.out);
    if let Some(_alone) = servers(&["mariadb@10.11"]) {
        let ran = isopod(&["run", &outfile, "--target", "mariadb@10.11", "--trust"]).exits(0);
        assert!(ran.out.contains("1290"), "{}", ran.out);
    }
    assert!(!out.exists());
}
