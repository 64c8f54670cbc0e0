//! `isopod report --ready`: the checklist, filled in on real servers with the real client.

use std::{fs, path::Path, process::Command};

use provision::{ConfigMode, StartOptions};
use serde_json::Value;

use crate::{
    browser::{Browser, PHONE, WIDE},
    common::{EXE, installed, target, whole},
    folders,
    tested::program,
    tools::{Folder, isopod, isopod_with, servers},
};

fn json(run: &str) -> Value {
    let path = Path::new(run).join("report/findings.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The checklist of a finding.
fn list<'a>(json: &'a Value, id: &str) -> &'a Value {
    let finding = json["findings"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
    &finding["ready"]
}

/// The state and the words of an item.
fn item<'a>(list: &'a Value, name: &str) -> (&'a str, &'a str) {
    let item = list["items"].as_array().unwrap().iter().find(|item| item["item"] == name);
    let item = item.unwrap_or_else(|| panic!("{name} is not in {list}"));
    (item["state"].as_str().unwrap(), item["words"].as_str().unwrap())
}

/// The finding that stands for a name, or for what nobody knows.
fn of(json: &Value, known: Option<&str>) -> String {
    let is = |group: &&Value| group["known"].as_str() == known;
    let group = json["groups"].as_array().unwrap().iter().find(is);
    group.unwrap_or_else(|| panic!("no {known:?} in {}", json["groups"]))["id"].as_str().unwrap().to_string()
}

/// A hunt that finds something known that a switch answers.
#[test]
fn the_checklist_is_filled_in_by_running_it_on_mariadb() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    if program(&["mariadb"], "mariadb-client-core").is_none() {
        return;
    }
    let folder = Folder::new();
    let run = folder.0.join("run").display().to_string();
    let hunt = [
        "hunt",
        "mariadb@10.11",
        "--profile",
        "wide",
        "--seed",
        "5",
        "--cases",
        "600",
        "--keep",
        "1",
        "--workers",
        "1",
    ];
    isopod(&[&hunt[..], &["--level", "RR", "--out", &run]].concat()).exits(1);
    let ran = isopod(&["report", &run, "--ready"]).exits(0);
    let told = json(&run);
    // What is known was not run, and says so.
    let known = of(&told, Some("MDEV-26642"));
    assert_eq!(list(&told, &known)["known"], "MDEV-26642");
    assert_eq!(list(&told, &known)["items"], Value::Array(Vec::new()));
    assert!(ran.out.contains("known MDEV-26642: nothing to file"), "{}", ran.out);
    // By its name it is: all of it passes but the switch and the manual.
    isopod(&["report", &run, &format!("--ready={known}")]).exits(0).says(&["answered by that switch"]);
    let told = json(&run);
    let checked = list(&told, &known);
    assert_eq!((checked["ready"].as_bool(), checked["items"].as_array().unwrap().len()), (Some(false), 7));
    let (state, words) = item(checked, "plain-client");
    assert!(state == "passed" && words.starts_with("20 of 20 runs with mariadb "), "{words}");
    let (state, words) = item(checked, "newest-release");
    assert!(state == "passed" && words.contains("is the newest of 10.11"), "{words}");
    assert!(words.ends_with("maintained until 2028-02-16"), "{words}");
    let (state, words) = item(checked, "build");
    assert!(state == "passed" && words.starts_with("distribution build: Debian bookworm"), "{words}");
    let (state, words) = item(checked, "snapshot-isolation");
    assert!(state == "failed" && words.contains("innodb_snapshot_isolation=ON: right"), "{words}");
    // By the sentence about the snapshot the wrong answer would be right; that a transaction sees its own changes is not in this manual.
    let (state, words) = item(checked, "manual");
    assert!(state == "failed" && words.contains("no sentence of MariaDB's manual is known"), "{words}");
    assert_eq!(item(checked, "visible").0, "passed");
    assert_eq!(item(checked, "level"), ("passed", "it shows at REPEATABLE READ"));
    // The same in the page and the Markdown.
    let report = Path::new(&run).join("report");
    let read = |name: &str| fs::read_to_string(report.join(name)).unwrap();
    let (page, text) = (read(&format!("{known}.html")), read(&format!("{known}.md")));
    assert!(page.contains("<section id=\"ready\">") && page.contains("data-state=\"failed\""));
    assert!(text.contains("## Ready to file") && text.contains("- [x] **Plain client, default settings**"));
    assert!(text.contains("| With the client alone | 20 of 20 runs"), "{text}");
    if let Some(browser) = Browser::new() {
        for look in [WIDE, PHONE] {
            let seen = browser.quiet(&page, look);
            let shown = seen["checks"].as_array().unwrap();
            let items = checked["items"].as_array().unwrap();
            assert_eq!(shown.len(), items.len());
            for (shown, item) in shown.iter().zip(items) {
                assert_eq!(
                    shown["state"].as_str().unwrap().replace(' ', "-"),
                    item["state"].as_str().unwrap()
                );
                assert_eq!(shown["words"], item["words"]);
                assert!(shown["height"].as_f64().unwrap() > 40.0, "{shown}");
            }
        }
    }
}

/// MDEV-32898 goes away with snapshot isolation; and where there is no client its item is not checked, which is never ready.
#[test]
fn a_switch_that_answers_it_is_said_and_so_is_a_client_that_is_missing() {
    const NAME: &str = "MDEV-32898, MySQL#113228";
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let folder = Folder::new();
    let run = folder.0.join("run").display().to_string();
    let hunt = [
        "hunt",
        "mariadb@10.11",
        "--profile",
        "wide",
        "--seed",
        "9",
        "--cases",
        "280",
        "--keep",
        "1",
        "--workers",
        "1",
    ];
    isopod(&[&hunt[..], &["--out", &run]].concat()).exits(1);
    isopod(&["report", &run]).exits(0);
    let id = of(&json(&run), Some(NAME));
    let empty = folder.0.join("bin");
    fs::create_dir_all(&empty).unwrap();
    isopod_with(&[("PATH", &empty)], &["report", &run, &format!("--ready={id}")]).exits(0).says(&[
        "? Plain client",
        "install Debian's mariadb-client-core",
        "answered by that switch",
    ]);
    let told = json(&run);
    let checked = list(&told, &id);
    assert_eq!(item(checked, "plain-client").0, "not-checked");
    let (state, words) = item(checked, "snapshot-isolation");
    assert!(state == "failed" && words.contains("innodb_snapshot_isolation=ON: right"), "{words}");
    assert_eq!(item(checked, "manual").0, "failed");
    assert_eq!(item(checked, "level"), ("passed", "it shows at REPEATABLE READ"));
    assert_eq!(checked["ready"], false);
}

/// What a process may run on, as the kernel says it.
fn cpus(pid: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap().to_string()
}

/// Durability is the vendor's again, and nothing is pinned.
#[test]
fn a_server_with_its_vendors_settings_is_told_nothing_else() {
    let names = ["mariadb@10.11", "mysql@5.6", "postgres@15"];
    let Some(_alone) = servers(&names) else { return };
    for name in names {
        let Some(server) = installed(name) else { return };
        let options = StartOptions { config: ConfigMode::Vendor, ..StartOptions::default() };
        let started = server.start(Path::new(EXE), &target(name), &options);
        let started = started.unwrap_or_else(|error| panic!("{name}: {}", whole(&error)));
        assert_eq!(cpus(&started.pid().to_string()), cpus("self"), "{name}");
        let socket = started.socket().display().to_string();
        let folder = started.socket().parent().unwrap().display().to_string();
        let (client, args, expected) = match name {
            "postgres@15" => (
                program(&["psql"], "postgresql-client"),
                vec!["-X", "-A", "-t", "-h", &folder, "-U", started.superuser(), "-d", "postgres", "-c"],
                "on",
            ),
            _ => (
                program(&["mariadb"], "mariadb-client-core"),
                vec!["--no-defaults", "-S", &socket, "-u", "root", "-N", "-B", "-e"],
                "1\t1\t134217728",
            ),
        };
        let sql = match name {
            "postgres@15" => "SHOW fsync",
            _ => "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite, @@innodb_buffer_pool_size",
        };
        let Some(client) = client else { return };
        let said = Command::new(client).args(&args).arg(sql).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), expected, "{name}: {said:?}");
    }
}

/// The engine of our own has neither a client nor a vendor: every item says so.
#[test]
fn what_has_no_server_is_not_checked_there() {
    let folder = Folder::new();
    let run = folders::run(&folder);
    let ran = isopod(&["report", &run, "--ready"]).exits(0);
    assert!(ran.out.contains("not ready"), "{}", ran.out);
    let told = json(&run);
    for finding in told["findings"].as_array().unwrap() {
        let list = &finding["ready"];
        assert_eq!(list["ready"], false, "{list}");
        let (state, words) = item(list, "plain-client");
        assert!(state == "not-checked" && words.contains("no server"), "{words}");
    }
    isopod(&["report", &run, "--ready=nobody"]).fails(&["this run has no finding nobody"]);
    // Without it there is no checklist.
    isopod(&["report", &run]).exits(0);
    assert!(json(&run)["findings"][0]["ready"].is_null());
}

/// A case of somebody else with a command for the client: nothing is run, and the item has failed.
#[test]
fn a_case_that_its_client_would_run_fails_its_item() {
    let folder = Folder::new();
    let run = folders::run(&folder);
    let finding = fs::read_dir(Path::new(&run).join("findings")).unwrap().flatten().next().unwrap().path();
    let id = finding.file_name().unwrap().to_string_lossy().into_owned();
    let edit = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::from_str(&fs::read_to_string(finding.join(name)).unwrap()).unwrap();
        change(&mut value);
        fs::write(finding.join(name), value.to_string()).unwrap();
    };
    edit("verdict.json", &|verdict| verdict["target"] = "mariadb@10.11".into());
    edit("trace.json", &|trace| {
        trace["server"]["product"] = "mariadb".into();
        trace["server"]["version"] = "10.11.19".into();
    });
    let touched = folder.0.join("touched");
    let case = fs::read_to_string(finding.join("case.iso")).unwrap();
    let case = case.replacen("for     reference\n", "for     mariadb, sqlite\n", 1);
    let first = format!("setup\n  SELECT 1 \\! touch {};\n", touched.display());
    fs::write(finding.join("case.iso"), case.replacen("setup\n", &first, 1)).unwrap();
    // Nothing is installed, and nothing can be fetched.
    let empty = folder.0.join("empty");
    fs::create_dir_all(&empty).unwrap();
    let variables = [("PATH", empty.as_path()), ("ISOPOD_CACHE", empty.as_path())];
    let words = "there is no script: statement 1 of the setup holds `\\!`, which mariadb would not send";
    isopod_with(&variables, &["report", &run, &format!("--ready={id}")]).exits(0).says(&[words]);
    let told = json(&run);
    let (state, said) = item(list(&told, &id), "plain-client");
    assert!(state == "failed" && said.contains(words), "{said}");
    let report = Path::new(&run).join("report");
    assert!(!report.join(format!("{id}.sh")).exists() && !report.join(format!("{id}.sql")).exists());
    let page = fs::read_to_string(report.join(format!("{id}.html"))).unwrap();
    assert!(page.contains("There is no script for mariadb: "), "{page}");
    assert!(!touched.exists());
}
