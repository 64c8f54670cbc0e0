//! `isopod generate`.

use std::fs;

use crate::tools::{Folder, isopod};

#[test]
fn the_same_seed_gives_the_same_files() {
    let (one, other) = (Folder::new(), Folder::new());
    for folder in [&one, &other] {
        let out = folder.0.join("cases").display().to_string();
        let ran =
            isopod(&["generate", "--dialect", "sqlite", "--cases", "12", "--first", "300", "--out", &out]);
        assert!(ran.exits(0).err.contains("12 cases of 150D-0000-0001, profile wide2 "));
    }
    let read = |folder: &Folder, number: u32| {
        fs::read_to_string(folder.0.join(format!("cases/case-{number:08}.iso"))).unwrap()
    };
    for number in 300..312 {
        let text = read(&one, number);
        assert_eq!(text, read(&other, number));
        assert!(text.contains(&format!("number {number}, profile wide2 ")), "{text}");
    }
    let cases = one.0.join("cases").display().to_string();
    isopod(&["fmt", "--check", &cases]).exits(0);
    // They have no expectations: they just run.
    isopod(&["run", &cases, "--target", "sqlite"]).exits(0);
}

#[test]
fn one_hash_for_all() {
    let hash = |first: &str| {
        isopod(&["generate", "--dialect", "mysql@5.6", "--cases", "30", "--first", first, "--hash"])
            .exits(0)
            .out
    };
    assert_eq!(hash("0"), hash("0"));
    assert_ne!(hash("0"), hash("30"));
    assert_eq!(hash("0").trim().len(), 16);
}

#[test]
fn a_profile_of_ones_own() {
    let folder = Folder::new();
    let none = folder.put("none.toml", "[strategies]\nnone = 1\nfsf = 0\npsf = 0\nctc = 0\nshared-set = 0\n");
    isopod(&["generate", "--dialect", "postgres", "--cases", "2", "--profile", &none])
        .exits(0)
        .says(&["title   Case 1 of 150D-0000-0001", "for     postgres"]);
    let wrong = folder.put("wrong.toml", "[cases]\norder_per_set = 3\n");
    isopod(&["generate", "--dialect", "postgres", "--profile", &wrong])
        .fails(&["wrong.toml:2: unknown key `cases.order_per_set`", "named profiles: wide, core, pages"]);
    isopod(&["generate", "--dialect", "postgres", "--profile", "huge"])
        .fails(&["no profile is called `huge`"]);
    isopod(&["generate", "--dialect", "sqlite", "--level", "RC"]).fails(&["sqlite has no level RC"]);
}
