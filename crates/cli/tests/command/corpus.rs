//! `isopod corpus`.

use std::fs;

use expect_test::expect;

use crate::tools::{Folder, isopod, repository, servers};

#[test]
fn list() {
    let all = isopod(&["corpus", "list"]).exits(0).says(&["phenomena/write-skew ", "seeds/mdev-32898 "]);
    let files = walk(&repository().join("corpus"));
    assert_eq!(all.out.lines().count(), files, "one line per file");
    let some = isopod(&["corpus", "list", "mdev"]).exits(0);
    assert!(some.out.lines().all(|line| line.to_lowercase().contains("mdev")), "{}", some.out);
    let shown = isopod(&["corpus", "list", "write-skew-predicate", "--show"]).exits(0);
    let folder = Folder::new();
    isopod(&["run", &folder.put("shown.iso", &shown.out), "--target", "sqlite"]).exits(0);
}

fn walk(folder: &std::path::Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries
        .map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                usize::from(path.extension().is_some_and(|e| e == "iso"))
            }
        })
        .sum()
}

#[test]
fn test_one_case() {
    let ran = isopod(&["corpus", "test", "write-skew"]).exits(0);
    let version = ran.out.split_whitespace().nth(1).unwrap().to_string();
    expect![[r#"
        sqlite VERSION · journal_mode=delete
                                          SER
          phenomena/write-skew-predicate  ok
          phenomena/write-skew            ok

        sqlite VERSION · journal_mode=wal
                                          SER
          phenomena/write-skew-predicate  ok
          phenomena/write-skew            ok

        4 checks (case, target, level): 4 as they should be, 0 known to fail, 0 surprises
    "#]]
    .assert_eq(&ran.out.replace(&version, "VERSION"));
    isopod(&["corpus", "test", "write-skew", "--show", "--as-is"]).exits(0).says(&["SERIALIZABLE", "T1"]);
}

#[test]
fn a_word_that_no_case_has() {
    let ran = isopod(&["corpus", "test", "nix"]).fails(&[]);
    expect![[r#"
        error: no case of the corpus has a name or link with `nix` in it
          all of them: isopod corpus list
    "#]]
    .assert_eq(&ran.err);
    isopod(&["corpus", "list", "write-skew", "nix"]).fails(&["`nix`"]);
}

#[test]
fn a_case_for_other_products_only() {
    isopod(&["corpus", "test", "mysql-104833"]).exits(0).says(&["nothing was run"]);
}

#[test]
fn json() {
    let json = isopod(&["corpus", "test", "--json", "--repeat", "2"]).exits(0).json();
    let checks = json.as_array().unwrap();
    assert!(checks.len() > 20, "{}", checks.len());
    for check in checks {
        assert_eq!((&check["runs"], &check["alike"]), (&2.into(), &2.into()), "{check}");
        assert_eq!(check["surprise"], false, "{check}");
        assert!(check["target"].as_str().unwrap().starts_with("sqlite"), "{check}");
    }
}

#[test]
fn a_case_of_the_corpus_with_a_wrong_expectation_is_exit_code_1() {
    let text = fs::read_to_string(repository().join("corpus/phenomena/own-writes-visible.iso")).unwrap();
    let folder = Folder::new();
    isopod(&["run", &folder.put("right.iso", &text)]).exits(0);
    let (before, rows) = text.split_once("final").unwrap();
    let wrong = format!("{before}final{}", rows.replacen('(', "(9", 1));
    assert_ne!(wrong, text);
    isopod(&["run", &folder.put("wrong.iso", &wrong)]).exits(1).says(&["✗", "expected"]);
}

const TARGETS: [&str; 6] = ["--target", "mariadb@10.11", "--target", "mysql@9.7", "--target", "sqlite"];

#[test]
fn all_targets_twice() {
    let Some(_alone) = servers(&["mariadb@10.11", "mysql@9.7"]) else { return };
    let ran = isopod(&[&["corpus", "test", "--repeat", "2"][..], &TARGETS].concat()).exits(0);
    ran.says(&["known", ", 2 times each: ", " 0 surprises\n", "mariadb 10.11", "mysql 9.7", "sqlite 3."]);
}

#[test]
fn all_targets_twice_on_the_portable_path() {
    let Some(_alone) = servers(&["mariadb@10.11", "mysql@9.7"]) else { return };
    let args = ["corpus", "test", "--repeat", "2", "--settle", "sql", "--no-pin", "--json"];
    let ran = isopod(&[&args[..], &TARGETS].concat());
    let json = ran.json();
    assert!(json.as_array().unwrap().len() > 500);
    let odd: Vec<_> = json.as_array().unwrap().iter().filter(|check| check["surprise"] == true).collect();
    // Seen on a busy machine, without pinning and real-time priority: MySQL rolls back the other one of two
    // transactions in a deadlock (phenomena/write-skew at SERIALIZABLE). Why is not known; nothing else may differ.
    for check in &odd {
        let file = repository().join(format!("corpus/{}.iso", check["case"].as_str().unwrap()));
        let deadlock = fs::read_to_string(file).unwrap().contains("error deadlock");
        assert!(deadlock && check["target"].as_str().unwrap().starts_with("mysql"), "{check:#}");
        println!("another victim: {check}");
    }
    assert!(odd.len() <= 3, "{odd:#?}");
    ran.exits(i32::from(!odd.is_empty()));
}
