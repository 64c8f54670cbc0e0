//! The self-tests of the oracles: mutated traces, planted bugs and lies about levels on Isopod's own engine, and a proxy that lies.

use crate::tools::{Folder, isopod, servers};

#[test]
fn mutants_are_counted_and_the_same_each_time() {
    let args = ["selftest", "mutation", "--target", "reference", "--cases", "40", "--json"];
    let ran = isopod(&args);
    assert!(ran.code.is_some_and(|code| code < 2), "{ran:?}");
    let json = ran.json();
    assert_eq!(json, isopod(&args).json());
    let result = &json[0];
    assert!(result["accepted"].as_u64().unwrap() > 10, "{result}");
    let mut sum = 0;
    for (name, counted) in result["mutations"].as_object().unwrap() {
        let number = |what: &str| counted[what].as_u64().unwrap();
        let through: u64 =
            counted["through"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert!(through >= number("mutants") - number("flagged"), "{name} {counted}");
        sum += number("mutants");
    }
    assert_eq!(result["mutants"].as_u64(), Some(sum));
    assert!(result["flagged"].as_u64().unwrap() * 2 > sum, "{result}");
}

#[test]
fn an_oracle_that_never_complains_lets_all_mutants_through() {
    let args = ["selftest", "mutation", "--target", "sqlite", "--cases", "20", "--oracle", "crash"];
    isopod(&args).exits(1).says(&["20 accepted", "0 flagged: 0.0%", "holds as before", "drop-row"]);
    isopod(&["selftest", "mutation", "--oracle", "tarot"]).fails(&["tarot"]);
}

#[test]
fn a_planted_bug_is_caught_by_whoever_looks_for_it() {
    let bug = ["selftest", "oracles", "--bug", "aborted-read", "--cases", "600", "--json"];
    let json = isopod(&[&bug[..], &["--oracle", "invariants"]].concat()).exits(0).json();
    let planted = &json["bugs"][0];
    assert_eq!((&planted["caught"], &planted["oracle"]), (&true.into(), &"invariants".into()), "{json}");
    assert!(planted["after"].as_u64() <= planted["cases"].as_u64(), "{json}");
    let again = isopod(&[&bug[..], &["--oracle", "invariants"]].concat()).exits(0).json();
    assert_eq!(planted["after"], again["bugs"][0]["after"], "{json} {again}");
    let few = ["selftest", "oracles", "--bug", "aborted-read", "--cases", "100", "--oracle", "crash"];
    isopod(&few).exits(1).says(&["NOT CAUGHT in 100 cases at RC RR", "0 of 1 bug caught"]);
    isopod(&["selftest", "oracles", "--bug", "tarot"]).fails(&["tarot", "aborted-read"]);
}

#[test]
fn without_a_bug_nothing_is_found() {
    let args = ["selftest", "oracles", "--bug", "hang", "--cases", "50", "--clean", "150", "--json"];
    let json = isopod(&args).exits(0).json();
    let clean = json["clean"].as_array().unwrap();
    assert_eq!(clean.len(), 4);
    for level in clean {
        assert_eq!(
            (&level["cases"], level["findings"].as_array().unwrap().len()),
            (&150.into(), 0),
            "{level}"
        );
        assert!(level["verdicts"]["invariants"]["holds"].as_u64().unwrap() > 0, "{level}");
    }
}

#[test]
fn a_lie_about_the_level_is_found_out() {
    let args = ["selftest", "levels", "--target", "reference", "--cases", "200", "--json"];
    let lies = isopod(&args).exits(0).json();
    let told: Vec<String> = lies
        .as_array()
        .unwrap()
        .iter()
        .map(|lie| format!("{} {}", lie["ran_at"][0].as_str().unwrap(), lie["judged_as"].as_str().unwrap()))
        .collect();
    assert_eq!(told, ["RU RC", "RC RR", "RR SER"]);
    // Whoever does not look at levels believes everything.
    let args = ["selftest", "levels", "--target", "reference", "--cases", "20", "--oracle", "crash"];
    isopod(&args).exits(1).says(&["ran at RU, judged as RC", "not found out", "20 cases, 0 violated"]);
}

#[test]
fn a_lying_proxy_is_found_out_and_an_honest_one_is_not_noticed() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let with = ["selftest", "proxy", "--target", "mariadb@10.11", "--level", "RR", "--json"];
    let few = ["--lie", "honest,row-doubled,warning-added", "--often", "always", "--cases", "40"];
    let json = isopod(&[&with[..], &few].concat()).exits(0).json();
    let told: Vec<(&str, &str)> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["lie"].as_str().unwrap(), one["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [("honest", "silent"), ("row-doubled", "found"), ("warning-added", "not-judged")],
        "{json}"
    );
    let [honest, doubled, warned] = [&json[0], &json[1], &json[2]];
    assert_eq!((&honest["lies"], &honest["cases"]), (&0.into(), &40.into()), "{json}");
    assert!(doubled["lies"].as_u64().unwrap() > 40 && warned["lies"].as_u64().unwrap() > 40, "{json}");
    assert!(doubled["first"].as_u64().unwrap() <= 40, "{json}");
    let group = &doubled["new"][0];
    assert!(group["lied_at"].as_str().unwrap().starts_with("SELECT"), "{json}");
    assert_eq!(warned["new"].as_array().unwrap().len(), 0, "{json}");
}

#[test]
fn a_lie_that_nobody_tells_is_no_success() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let rare = ["--lie", "connection-dropped", "--level", "RC", "--often", "1000000", "--cases", "5"];
    isopod(&[&["selftest", "proxy", "--target", "mariadb@10.11"][..], &rare].concat()).exits(1).says(&[
        "connection-dropped",
        "NOT TOLD",
        "0 of 1 as they should be",
    ]);
}

#[test]
fn lies_are_listed_and_wrong_names_refused() {
    isopod(&["selftest", "proxy", "--list"]).exits(0).says(&[
        "honest",
        "one-row-newer",
        "(RR only)",
        "not judged",
    ]);
    isopod(&["selftest", "proxy", "--target", "mariadb@10.11", "--lie", "tarot"]).fails(&["tarot", "--list"]);
    isopod(&["selftest", "proxy", "--target", "sqlite", "--lie", "honest"])
        .fails(&["sqlite", "mariadb@10.11"]);
}

#[test]
fn inputs_of_others_break_nothing() {
    let folder = Folder::new();
    let seeds = folder.0.join("seeds").display().to_string();
    isopod(&["selftest", "fuzz", "--seeds", &seeds]).exits(0);
    let kinds = std::fs::read_dir(&seeds).unwrap().count();
    let json = isopod(&["selftest", "fuzz", "--inputs", "30", "--json"]).exits(0).json();
    assert_eq!(json.as_object().unwrap().len(), kinds);
    assert!(json.as_object().unwrap().values().all(|figures| figures["inputs"] == 30), "{json}");
    isopod(&["selftest", "fuzz", "--inputs", "10", "--only", "sql"]).exits(0).says(&["sql", "0 failures"]);
    // There is a target of cargo-fuzz for each kind.
    let targets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    for kind in json.as_object().unwrap().keys() {
        assert!(targets.join(format!("{kind}.rs")).is_file(), "{kind}");
    }
}
