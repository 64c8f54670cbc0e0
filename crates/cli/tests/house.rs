//! The house rules that a machine can check: the arrows between crates, the first line of every file, and who may
//! read a clock, start a process or be unsafe.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("crates"), &mut found);
    found.sort();
    let name = |path: &Path| path.strip_prefix(root().join("crates")).unwrap().display().to_string();
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn crates_depend_only_along_the_arrows() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("isopod-model", [].as_slice()),
        ("isopod-notation", &["isopod-model"]),
        ("isopod-dialect", &["isopod-model"]),
        ("isopod-eval", &["isopod-model", "isopod-dialect"]),
        ("isopod-generate", &["isopod-model", "isopod-dialect", "isopod-eval"]),
        ("isopod-execute", &["isopod-model", "isopod-dialect"]),
        ("isopod-provision", &["isopod-model", "isopod-dialect"]),
        ("isopod-dbms", &["isopod-model", "isopod-dialect", "isopod-execute", "isopod-provision"]),
        ("isopod-reference", &["isopod-model", "isopod-dialect", "isopod-eval", "isopod-execute"]),
        ("isopod-history", &["isopod-model", "isopod-dialect"]),
        ("isopod-oracles", &["isopod-model", "isopod-dialect", "isopod-eval", "isopod-history"]),
        ("isopod-reduce", &["isopod-model", "isopod-dialect"]),
        ("isopod-report", &["isopod-model", "isopod-dialect"]),
        (
            "isopod-campaign",
            &[
                "isopod-model",
                "isopod-notation",
                "isopod-dialect",
                "isopod-generate",
                "isopod-history",
                "isopod-execute",
                "isopod-oracles",
                "isopod-reduce",
            ],
        ),
        (
            "isopod-lab",
            &[
                "isopod-model",
                "isopod-notation",
                "isopod-dialect",
                "isopod-eval",
                "isopod-generate",
                "isopod-execute",
                "isopod-oracles",
                "isopod-reduce",
                "isopod-reference",
                "isopod-campaign",
                "isopod-provision",
                "isopod-dbms",
                "isopod-report",
            ],
        ),
    ]);
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > allowed.len());
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some(may) = allowed.get(name) else {
            assert_eq!(name, "isopod", "a crate without a rule: add it here and to ARCHITECTURE.md");
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            if used.starts_with("isopod") && dependency["kind"].is_null() {
                assert!(may.contains(&used), "{name} must not use {used}");
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> =
        sources().into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "these do not open with `//! `: {silent:?}");
}

#[test]
fn pure_crates_stay_pure() {
    let forbidden = [
        "std::time",
        "Instant::now",
        "SystemTime",
        "std::fs",
        "std::process",
        "std::net",
        "thread::",
        "HashMap",
        "HashSet",
        "unsafe ",
    ];
    for (name, text) in sources() {
        let pure = [
            "model/src",
            "dialect/src",
            "oracles/src",
            "report/src",
            "generate/src",
            "history/src",
            "eval/src",
            "reduce/src",
        ];
        if !pure.iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        for word in forbidden {
            // There it has a hasher without a seed, and a name that says that it is only looked into.
            let known = word == "HashMap" && name == "oracles/src/mvcc/evaluation_cache.rs";
            assert!(known || !text.contains(word), "{name} must not use {word}");
        }
    }
}

/// What products differ in is data of `dialect`: whoever asks it need not change when another engine comes.
#[test]
fn products_are_named_where_they_are_described_and_nowhere_else() {
    let may = ["model/src/target.rs", "dialect/", "dbms/", "provision/", "reference/src/server.rs"];
    let mut named = Vec::new();
    for (name, text) in sources() {
        let tests = name.contains("/tests/") || name.ends_with("/tests.rs");
        if tests || may.iter().any(|place| name.starts_with(place)) {
            continue;
        }
        let tested =
            |at: &(usize, &str)| text[at.0..].lines().nth(1).is_some_and(|line| line.contains("mod "));
        let end = text.match_indices("#[cfg(test)]").find(tested).map_or(text.len(), |(at, _)| at);
        let code = &text[..end];
        // Not its constants and functions: `Product::ALL`, `Product::databases`.
        let variant = |rest: &str| {
            let mut letters = rest.chars();
            let (first, second) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
            first == '{' || first == '*' || first.is_ascii_uppercase() && second.is_ascii_lowercase()
        };
        named.extend(code.split("Product::").skip(1).filter(|rest| variant(rest)).map(|_| name.clone()));
    }
    assert!(named.is_empty(), "these name products; ask `dialect::of` instead: {named:?}");
}

/// What is known of a history by its reads and writes alone must not know how a statement is written, or on which product.
#[test]
fn the_graph_of_a_history_knows_neither_statements_nor_products() {
    for (name, text) in sources().iter().filter(|(name, _)| name.starts_with("history/src/graph")) {
        for word in ["dialect", "sql::", "Product"] {
            assert!(!text.contains(word), "{name} must not use {word}");
        }
    }
}

/// What is not a test, without comments: a line each, trimmed.
fn code(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect()
}

/// Whatever reaches a terminal goes through one place, which writes out what the terminal would obey. Bars write by themselves.
#[test]
fn only_one_file_prints() {
    for (name, text) in sources() {
        if !name.contains("/src/") || name == "cli/src/output.rs" {
            continue;
        }
        for line in code(&text) {
            let prints =
                ["println!", "eprintln!", "eprint!(", "print!("].iter().any(|word| line.starts_with(word));
            assert!(!prints && !line.contains("anstream::"), "{name} prints: {line}");
            let bar = [".set_message(", ".set_prefix(", ".with_message(", ".println("];
            let bar = bar.iter().any(|word| line.contains(word))
                && name.starts_with("cli/")
                && !name.ends_with("junit.rs");
            assert!(!bar || line.contains("for_terminal("), "{name} shows what others wrote: {line}");
        }
    }
}

/// In a place that all users share, a name that somebody could guess may be his.
#[test]
fn folders_in_shared_places_are_made_in_one_way() {
    let may = ["provision/src/scratch.rs", "provision/src/view.rs", "provision/src/instance.rs"];
    let mut met = 0;
    for (name, text) in sources().iter().filter(|(name, _)| name.contains("/src/")) {
        for line in code(text) {
            let shared =
                ["temp_dir()", "tempdir()", "\"/tmp", "\"/var/tmp", "\"/dev/shm", "Builder::new().prefix("];
            if shared.iter().any(|word| line.contains(word)) {
                met += 1;
                assert!(may.contains(&name.as_str()), "{name}: {line}\nuse provision::scratch");
            }
        }
    }
    assert!(met >= may.len(), "this test looks at nothing");
}

/// Whatever is put into a command for people is quoted, so no text with a hole begins with the command.
#[test]
fn commands_for_people_are_made_of_quoted_words() {
    for (name, text) in sources().iter().filter(|(name, _)| name.contains("/src/")) {
        for line in code(text) {
            let holes = line.match_indices("isopod ").filter(|(at, found)| {
                let rest = line[at + found.len()..].split('"').next().unwrap_or_default();
                let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()) && behind.contains('{')
            });
            // Not a command: a sentence about one.
            let sentence =
                ["could not be started", "ended with", "Made by `"].iter().any(|words| line.contains(words));
            assert!(holes.count() == 0 || sentence, "{name}: {line}\nuse model::shell::command");
        }
    }
}

#[test]
fn unsafe_code_is_in_the_files_for_the_operating_system() {
    for (name, text) in sources() {
        if text.contains("allow(unsafe_code)") && name != "cli/tests/house.rs" {
            assert!(name.ends_with("/os.rs"), "{name} allows unsafe code");
        }
    }
}

#[test]
fn nothing_sleeps_for_a_fixed_time_in_the_executor_and_the_clients() {
    for (name, text) in sources() {
        let clients = ["execute/src", "dbms/src/mysql", "dbms/src/postgres", "dbms/src/sqlite"];
        if clients.iter().any(|folder| name.starts_with(folder)) {
            assert!(!text.contains("thread::sleep"), "{name} sleeps");
        }
    }
}

/// A server may answer with fewer rows, columns, bytes or digits than it should. What it sent is taken apart by patterns,
/// `get`, `first` and `ask::record`, which have an answer for that; `rows[0]` has none.
#[test]
fn what_a_server_sent_is_not_indexed() {
    let mut looked = 0;
    for (name, text) in sources() {
        let clients = name.starts_with("dbms/src/") && !name.starts_with("dbms/src/sqlite/");
        if !clients && !name.starts_with("execute/src/") {
            continue;
        }
        looked += 1;
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let line = line.split("//").next().unwrap_or_default();
            // The place of an element, given as a number: `x[0]`, `f()[1]`, `version.0[0]`. Not an array of one number.
            let fixed = line.match_indices('[').any(|(at, _)| {
                let taken = line[..at].ends_with(|c: char| c.is_alphanumeric() || "_)]?".contains(c));
                let place = line[at + 1..].split(']').next().unwrap_or_default();
                taken && !place.is_empty() && place.chars().all(|c| c.is_ascii_digit())
            });
            // These two panic where there is no such row; `cell` says that there is none.
            let panics = [".value(", "rows.row(", "found.row("].iter().any(|call| line.contains(call));
            assert!(!fixed && !panics, "{name}:{} takes for granted what a server sends: {line}", number + 1);
        }
    }
    assert!(looked > 30, "this test looks at nothing");
}

#[test]
fn no_template_goes_round_the_escaper() {
    for entry in fs::read_dir(root().join("crates/report/templates")).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        let tags = text.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap());
        for tag in tags {
            assert!(!tag.contains('|'), "{} has a filter: {tag}", entry.path().display());
        }
    }
}

/// The variants of an enum, read off its source.
fn variants(sources: &[(String, String)], file: &str, name: &str) -> Vec<String> {
    let (_, text) = sources.iter().find(|(path, _)| path == file).unwrap();
    let (_, body) = text.split_once(&format!("pub enum {name} {{\n")).unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let word = |line: &str| line.trim().chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
    body.lines().map(word).filter(|word| word.starts_with(char::is_uppercase)).collect()
}

/// How many of the variants of an enum a text names.
fn named(text: &str, name: &str, variants: &[String]) -> usize {
    let names = |variant: &&String| {
        text.match_indices(&format!("{name}::{variant}")).any(|(at, found)| {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !text[..at].ends_with(word) && !text[at + found.len()..].starts_with(word)
        })
    };
    variants.iter().filter(names).count()
}

#[test]
fn a_new_statement_is_placed_in_model_and_dialect_and_nearly_nowhere_else() {
    let sources = sources();
    let lists = [
        ("Statement", variants(&sources, "model/src/sql/mod.rs", "Statement")),
        ("StatementKind", variants(&sources, "model/src/sql/kind.rs", "StatementKind")),
    ];
    assert!(lists.iter().all(|(_, variants)| variants.len() > 10), "{lists:?}");
    let outside = sources.iter().filter(|(path, _)| {
        path.contains("/src/") && !path.starts_with("model/") && !path.starts_with("dialect/")
    });
    // Three of four are a list of all that somebody keeps by hand; others go by class, kind or footprint.
    let long = outside.filter(|(_, text)| {
        let renamed =
            |name: &str| ["as ", "*;", "{"].iter().any(|by| text.contains(&format!("{name}::{by}")));
        lists.iter().any(|(name, all)| renamed(name) || named(text, name, all) * 4 >= all.len() * 3)
    });
    let long: Vec<&str> = long.map(|(path, _)| path.as_str()).collect();
    assert!(long.len() <= 3, "{long:#?}");
}

#[test]
fn a_verdict_holds_no_sentence() {
    // Names of the case, its SQL, lines of a log, places in code; `words` and `Words` are what version 0 wrote.
    let allowed = [
        "pub session: String",
        "pub sql: String",
        "pub log: Vec<String>",
        "pub words: Vec<String>",
        "Words(String)",
        "pub table: String",
        "Value { table: String, column: String, row: RowSet, at: usize }",
        "Twice { table: String, columns: Vec<String>, rows: RowSet }",
        "Type { table: String, column: String, described: String, shown: String }",
        "Index { table: String, index: String, rows: RowSet, plain: RowSet }",
        "RunOn { steps: Vec<String>, then: Option<Box<Damage>> }",
        "Index(String)",
        "pub transactions: Vec<String>",
        "pub kind: String",
        "pub struct DeviationId(pub String);",
        "CrashSite(String)",
        "LogWords(String)",
        "ErrorCode(String)",
    ];
    let mut found = Vec::new();
    for (name, text) in sources() {
        if !name.starts_with("model/src/verdict/") || name.ends_with("/old.rs") {
            continue;
        }
        let fields = text.lines().map(str::trim).filter(|line| {
            let code = ["//", "#[", "fn ", "pub fn ", "pub(crate) fn ", "type ", "let ", "use "]
                .iter()
                .any(|word| line.starts_with(word));
            line.contains("String") && !code && !line.contains("::")
        });
        found.extend(fields.map(|line| line.trim_end_matches(',').to_string()));
    }
    assert!(found.len() >= allowed.len(), "this test looks at nothing: {found:?}");
    found.retain(|line| !allowed.contains(&line.as_str()));
    assert!(found.is_empty(), "text in a verdict that is not in the list: {found:?}");
}

#[test]
fn nobody_reads_the_words_of_a_verdict_back() {
    let openings = [
        "rule: ",
        "expected: ",
        "actual: ",
        "statement: ",
        "twin: ",
        "path: ",
        "unpromised, ",
        "assertion ",
        "-after-wait",
    ];
    for (name, text) in sources() {
        if !name.contains("/src/") || name == "model/src/verdict/old.rs" {
            continue;
        }
        for (call, opening) in ["strip_prefix", "strip_suffix", "starts_with", "ends_with", "split_once"]
            .iter()
            .flat_map(|call| openings.iter().map(move |opening| (call, opening)))
        {
            assert!(!text.contains(&format!("{call}(\"{opening}")), "{name} reads \"{opening}\" back");
        }
    }
}

#[test]
fn the_types_of_the_glossary_are_types_of_ours() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let (_, tables) = glossary.split_once("\n## ").unwrap();
    let is_type =
        |word: &&str| word.starts_with(char::is_uppercase) && word.chars().all(|c| c.is_ascii_alphanumeric());
    let words: Vec<&str> = tables.split('`').skip(1).step_by(2).filter(is_type).collect();
    assert!(words.len() > 40, "{words:?}");
    let sources = sources();
    let made = |word: &str, (_, text): &(String, String)| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        let kinds = ["pub struct", "pub enum", "pub trait"];
        kinds.iter().any(|kind| text.split(&format!("{kind} {word}")).skip(1).any(ends))
    };
    let missing = words.iter().filter(|word| !sources.iter().any(|source| made(word, source)));
    let missing: Vec<&&str> = missing.collect();
    assert!(missing.is_empty(), "in docs/glossary.md and nowhere else: {missing:?}");
}

/// One noun for one thing: a second type for a finding, a run, a hunt or a transaction is a copy of the first.
#[test]
fn findings_runs_and_transactions_have_one_type_each() {
    let allowed = [
        ("Finding", "model/src/finding.rs"),
        ("FindingGroup", "model/src/finding.rs"),
        ("FindingEvent", "campaign/src/events.rs"),
        ("Execution", "dialect/src/parsed/execution.rs"),
        ("RunSummary", "model/src/run/mod.rs"),
        ("RunReader", "campaign/src/record/reader.rs"),
        ("RunWriter", "campaign/src/record/writer.rs"),
        ("Transaction", "history/src/transaction.rs"),
    ];
    let (mut met, mut others) = (Vec::new(), Vec::new());
    // The syntax tree has SQL's words, and the engine that the oracles are tested on shares nothing with them.
    let sources = sources().into_iter().filter(|(path, _)| {
        path.contains("/src/") && !path.starts_with("model/src/sql/") && !path.starts_with("reference/")
    });
    for (path, text) in sources {
        for name in types(&text) {
            let words = words(&name);
            let (first, last) = (words[0].as_str(), words[words.len() - 1].as_str());
            let ours = words.iter().any(|word| word == "Finding" || word == "Findings")
                || ["Run", "Execution", "Transaction"].iter().any(|noun| first == *noun || last == *noun);
            if allowed.contains(&(name.as_str(), path.as_str())) {
                met.push(name);
            } else if ours {
                others.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(others.is_empty(), "these have the words of others (docs/glossary.md): {others:#?}");
    assert_eq!(met.len(), allowed.len(), "{met:?}");
}

/// The types that a file defines.
fn types(text: &str) -> Vec<String> {
    let defined = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub(super) ")).unwrap_or(line);
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| line.strip_prefix(kind))?;
        Some(rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
    };
    text.lines().filter_map(defined).filter(|name| !name.is_empty()).collect()
}

/// `FindingGroup` as `Finding` and `Group`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !letter.is_ascii_uppercase() => word.push(letter),
            _ => words.push(letter.to_string()),
        }
    }
    words
}
