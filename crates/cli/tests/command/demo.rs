//! `isopod demo` and `--target reference`: nothing to install, and what is planted is found.

use reference::Bug;

use crate::tools::{isopod, repository};

#[test]
fn every_bug_is_shown_in_five_lines() {
    for (bug, said) in [
        ("crash", "the server died while it ran T2's step 3"),
        ("hang", "T2's step 3 neither answered nor waited for a lock"),
        ("internal-error", "T2's step 6 got the internal error 1815"),
        ("aborted-read", "which only statements wrote that were undone"),
        ("duplicate-unique", "have the same unique value in t(b)"),
    ] {
        let head = format!("NEW {bug} · reference 1.0");
        let replay = format!("Replay: isopod demo {bug}");
        isopod(&["demo", bug]).exits(0).says(&[&head, "3 of 3 runs", said, "Found by", &replay]);
    }
}

#[test]
fn every_bug_is_told_beside_what_its_case_expects() {
    for &bug in Bug::ALL {
        let head = format!("NEW {} · reference 1.0", bug.name());
        let replay = format!("Replay: isopod demo {}", bug.name());
        let words = [&head, "3 of 3 runs", "Found by", &replay, bug.sentence(), "comes out as expected"];
        isopod(&["demo", bug.name()]).exits(0).says(&words);
    }
    isopod(&["demo", "lost-update"]).exits(0).says(&["\u{2717} (1, 11) (2, 20)", "(1, 16) (2, 20)"]);
    isopod(&["demo", "resumed-scan"]).exits(0).says(&["MySQL#104833, MDEV-34108"]);
}

#[test]
fn without_a_name_the_bugs_are_listed() {
    let names: Vec<String> = Bug::ALL.iter().map(|bug| format!("{} ", bug.name())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    isopod(&["demo"]).exits(0).says(&names).says(&["NEW aborted-read"]);
    isopod(&["demo", "--list"]).exits(0).says(&names).says(&[Bug::LostUpdate.sentence()]);
}

#[test]
fn what_is_wrong_with_a_target_is_said_with_the_list() {
    isopod(&["demo", "crush"]).fails(&["has no bug called `crush`", "crash ", "duplicate-unique "]);
    let file = repository().join("corpus/phenomena/dirty-read.iso").display().to_string();
    let with = |target: &str| isopod(&["run", &file, "--target", target]);
    with("reference?plant=crush").fails(&["has no bug called `crush`"]);
    with("reference?log_bin=ON").fails(&["has no setting `log_bin`", "plant=NAME"]);
    with("reference@2").fails(&["has no versions", "--target reference"]);
}

#[test]
fn the_corpus_holds_on_the_reference_engine() {
    isopod(&["corpus", "test", "--target", "reference"]).exits(0).says(&["0 known to fail, 0 surprises"]);
}
