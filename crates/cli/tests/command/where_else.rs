//! `isopod where`: a case at all levels, on several servers.

use crate::tools::{isopod, servers};

const CASE: &str = "../../corpus/seeds/mdev-32898.iso";

#[test]
fn a_planted_bug_is_wrong_at_its_level_and_the_clean_engine_nowhere() {
    let planted = "reference?plant=key-change-leaves-old-row";
    let out = isopod(&["where", CASE, "--target", planted, "--target", "reference", "--runs", "2"]);
    assert_eq!(out.code, Some(1), "{}", out.err);
    let line =
        |name: &str| out.out.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_string();
    let words = |name: &str| {
        line(name)[name.len()..]
            .split("  ")
            .map(str::trim)
            .filter(|w| !w.is_empty())
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(planted), ["right", "right", "2 of 2 wrong", "right"], "{}", out.out);
    assert_eq!(words("reference "), ["right"; 4], "{}", out.out);
    assert!(out.out.contains("wrong as: wrong-rows, select"), "{}", out.out);
}

#[test]
fn a_real_server_is_wrong_where_the_setting_does_not_answer_it() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let on = "mariadb@10.11?innodb_snapshot_isolation=ON";
    let out = isopod(&["where", CASE, "--target", "mariadb@10.11", "--target", on, "--json"]);
    assert_eq!(out.code, Some(1), "{}", out.err);
    let rows: serde_json::Value = serde_json::from_str(&out.out).unwrap();
    assert_eq!(rows[0]["levels"]["RR"]["wrong"], 3, "{rows}");
    assert_eq!(rows[0]["levels"]["SER"]["wrong"], 0, "{rows}");
    assert_eq!(rows[1]["levels"]["RR"]["wrong"], 0, "{rows}");
}

#[test]
fn a_broken_file_is_named() {
    let out = isopod(&["where", "nowhere.iso"]);
    assert_eq!(out.code, Some(2));
    assert!(out.err.contains("nowhere.iso"), "{}", out.err);
}
