//! `isopod selftest` and `isopod bench`: small ones, to see that they run and count.

use crate::tools::{isopod, servers};

const BOTH: [&str; 4] = ["--target", "sqlite", "--target", "mariadb@10.11"];

#[test]
fn determinism() {
    isopod(&["selftest", "determinism", "--cases", "5"])
        .exits(0)
        .says(&["sqlite", "0 of 5 cases gave another trace"]);
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let json = isopod(&[&["selftest", "determinism", "--cases", "30", "--json"][..], &BOTH].concat())
        .exits(0)
        .json();
    let [sqlite, mariadb] = json.as_array().unwrap().as_slice() else { panic!("{json}") };
    for result in [sqlite, mariadb] {
        assert_eq!((&result["cases"], &result["begun"]), (&30.into(), &30.into()), "{result}");
        assert_eq!(result["unexplained"].as_array().unwrap().len(), 0, "{result}");
        assert!(result["statements"].as_u64().unwrap() > 100, "{result}");
    }
    assert_eq!((&sqlite["level"], &sqlite["waits"]), (&"SER".into(), &0.into()));
    assert!(mariadb["level"] == "RR" && mariadb["waits"].as_u64().unwrap() > 0, "{mariadb}");
}

#[test]
fn recovery() {
    let ran = isopod(&["selftest", "recovery", "--times", "2"]).exits(0);
    ran.says(&["killed 2 times", "2 traces say that the server died", "2 of the next cases ran whole"]);
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let json =
        isopod(&[&["selftest", "recovery", "--times", "2", "--json"][..], &BOTH].concat()).exits(0).json();
    assert_eq!(json.as_array().unwrap().len(), 2);
    for result in json.as_array().unwrap() {
        for count in ["killed", "seen", "recovered"] {
            assert_eq!(result[count], 2, "{result}");
        }
    }
}

#[test]
fn expressions() {
    let compared = |target: &str| {
        let args = ["selftest", "expressions", "--cases", "3000", "--json", "--target", target];
        let json = isopod(&args).exits(0).json();
        let result = &json[0];
        assert_eq!((&result["cases"], &result["different"]), (&3000.into(), &0.into()), "{result}");
        // At most three in a hundred are left open, and what is an error here is an error there.
        assert!(result["decided"].as_u64().unwrap() >= 2910, "{result}");
        assert!(result["pairs"].as_object().unwrap().len() > 40, "{result}");
    };
    compared("sqlite");
    let Some(_alone) = servers(&["postgres@18"]) else { return };
    compared("postgres@18");
}

#[test]
fn bench() {
    isopod(&["bench", "execute", "--turns", "1"]).exits(0).says(&[
        "statements/s",
        "nothing waits here",
        "us fast",
    ]);
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let json = isopod(&[&["bench", "execute", "--turns", "2", "--json"][..], &BOTH].concat()).exits(0).json();
    assert_eq!(json.as_array().unwrap().len(), 2);
    for result in json.as_array().unwrap() {
        for figure in ["bare_per_second", "executor_per_second", "ratio", "reset_clean_us", "reset_fast_us"] {
            assert!(result[figure].as_f64().unwrap() > 0.0, "{figure}: {result}");
        }
    }
    assert_eq!(json[0]["waits"].as_array().unwrap().len(), 0, "nothing waits on SQLite");
    let ways = json[1]["waits"].as_array().unwrap();
    assert_eq!(ways.iter().map(|way| way["settle"].as_str().unwrap()).collect::<Vec<_>>(), ["proc", "sql"]);
    assert!(ways.iter().all(|way| way["known_median_us"].as_f64().unwrap() > 0.0), "{ways:?}");
}

#[test]
fn bench_of_the_hunt() {
    isopod(&["bench", "hunt", "--cases", "20"]).exits(0).says(&["cases/s", "of bare", "by one"]);
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let json =
        isopod(&["bench", "hunt", "--target", "mariadb@10.11", "--cases", "60", "--json"]).exits(0).json();
    let result = &json[0];
    assert_eq!(result["cases"], 60, "{result}");
    for figure in ["bare_per_second", "hunt_per_second", "ratio", "two_workers_per_second", "waits_us"] {
        assert!(result[figure].as_f64().unwrap() > 0.0, "{figure}: {result}");
    }
    let ratio = |name: &str| result[name].as_f64().unwrap();
    assert!(ratio("ratio_without_waits") >= ratio("ratio"), "{result}");
}

#[test]
fn quality_of_generated_cases() {
    let small = ["--cases", "40", "--sample", "20"];
    let ran = isopod(&[&["generate", "--stats", "--target", "sqlite"][..], &small].concat()).exits(0);
    ran.says(&[
        "40 cases of seed",
        "of a sample of 20 truly conflicted",
        "run by their session alone",
        "dirty-read",
    ]);
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let flags = ["generate", "--stats", "--target", "mariadb@10.11", "--level", "RC", "--json"];
    let json = isopod(&[&flags[..], &small].concat()).exits(0).json();
    let stats = &json[0];
    assert_eq!((&stats["quality"]["cases"], &stats["sample"]["cases"]), (&40.into(), &20.into()), "{stats}");
    assert_eq!(stats["sample"]["failed_alone"]["syntax"], serde_json::Value::Null, "{stats}");
    assert!(stats["sample"]["conflicting"].as_u64().unwrap() >= 10, "{stats}");
    let levels: Vec<&serde_json::Value> =
        stats["chances"].as_array().unwrap().iter().filter(|c| c["name"] == "mdev-27992").collect();
    assert_eq!(levels.len(), 2, "{stats}");
}

#[test]
fn strategies_against_none() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let flags =
        ["bench", "strategies", "--target", "mariadb@10.11", "--seeds", "2", "--cases", "4", "--json"];
    let json = isopod(&flags).exits(0).json();
    let lines = json[0]["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 15, "{json}");
    for line in lines {
        let (median, worst) = (&line["conflicting"]["median"], &line["conflicting"]["worst"]);
        assert!(worst.as_u64() <= median.as_u64() && median.as_u64() <= Some(4), "{line}");
        assert_eq!(line["families"].as_array().unwrap().len(), 6, "{line}");
    }
}

#[test]
fn expressions_of_mysql() {
    let asked = ["selftest", "expressions", "--cases", "600", "--json"];
    let check = |json: serde_json::Value| {
        for result in json.as_array().unwrap() {
            assert_eq!(result["cases"], 600, "{result}");
            assert_eq!(result["different"], 0, "{}", result["differences"]);
            assert!(result["decided"].as_u64().unwrap() > 560, "{result}");
            assert!(result["as_where"].as_u64().unwrap() > 50, "{result}");
        }
    };
    let Some(_alone) = servers(&["mysql@9.7", "mariadb@10.11"]) else { return };
    for target in ["mysql@9.7", "mariadb@10.11"] {
        check(isopod(&[&asked[..], &["--target", target]].concat()).exits(0).json());
    }
}
