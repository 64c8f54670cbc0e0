//! `isopod fmt`.

use std::fs;

use crate::{
    run::GOOD,
    tools::{Folder, isopod, repository},
};

#[test]
fn exit_codes_and_what_is_said() {
    let folder = Folder::new();
    let messy = folder.put("messy.iso", &GOOD.replace("  T1: BEGIN", "T1:   BEGIN"));
    let changed = isopod(&["fmt", "--check", &messy]).exits(1);
    assert_eq!(changed.out, format!("would change: {messy}\n"));
    let done = isopod(&["fmt", &messy]).exits(0);
    assert_eq!(done.out, format!("formatted: {messy}\n"));
    let again = isopod(&["fmt", "--check", &messy]).exits(0);
    assert_eq!((again.out.as_str(), again.err.as_str()), ("", ""));
    let broken = folder.put("broken.iso", "steps\n  T1: BEGIN\n");
    isopod(&["fmt", &broken]).fails(&["broken.iso:2:12", "`;` is missing"]);
    isopod(&["fmt", "--check", &broken]).fails(&["broken.iso:2:12"]);
    assert_eq!(fs::read_to_string(&broken).unwrap(), "steps\n  T1: BEGIN\n");
    isopod(&["fmt", &folder.0.join("none.iso").display().to_string()]).fails(&["none.iso cannot be read"]);
}

#[test]
fn the_corpus_is_formatted() {
    let corpus = repository().join("corpus").display().to_string();
    let ran = isopod(&["fmt", "--check", &corpus]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    ran.exits(0);
}
