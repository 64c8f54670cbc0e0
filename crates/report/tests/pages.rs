//! The pages and the Markdown of a finding made by hand: what they say, where, and that nothing gets out of its place.

mod built;

use base64::prelude::{BASE64_STANDARD, Engine};
use built::{NASTY, edit, finding};
use model::{
    Chance, FindingGroup, Level, Product, Quality, RunSummary, Seed, Signature, Tally, TargetSummary,
    run::Share,
    verdict::{
        Cause, Response,
        evidence::{Edge, Graph},
    },
};
use report::{
    BugReport, Overview, html, json, markdown,
    overview::ListedGroup,
    ready::{Checklist, ChecklistItem, Item},
    scripts,
};
use sha2::{Digest, Sha256};

fn page(bug: &BugReport) -> String {
    html::finding(bug, &scripts::all(bug))
}

/// The elements that open like this, as text up to their end.
fn elements<'a>(page: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    page.match_indices(begin)
        .map(|(at, _)| &page[at..at + page[at..].find(end).expect("it ends") + end.len()])
        .collect()
}

#[test]
fn a_page_has_everything_in_its_place() {
    let bug = finding(Product::Mariadb);
    let page = page(&bug);
    for words in [
        "<h1>Locking SELECT misses 1 row at REPEATABLE READ</h1>",
        "<p class=\"meta\">mariadb 10.11.19-TEST · 3 of 3 runs · 2026-11-18 05:50 UTC</p>",
        "<li>Reduced from 31 to 6 statements</li>",
        "<li>Hunt: <code>isopod hunt mariadb@10.11 --seed 0000-0000-0007</code></li>",
        "<pre class=\"command\">isopod run runs/1/findings/9b1f0a2c/case.iso --target x --level RR</pre>",
        "<p>A statement that changes or locks rows works on the newest committed rows, and comes to each of them once.</p>",
        "No sentence of MariaDB&#39;s manual is known that says so; MySQL&#39;s says: &quot;... while the locking statements use the most recent state",
        "--sync-binlog=0",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(
        place("<pre>CREATE TABLE t (a INT, b TEXT);") < place("id=\"timeline\""),
        "nobody understands it without"
    );
    let (before, folded) = page.split_at(place("<section id=\"reproduce\">"));
    for word in ["oracle", "twin", "decoupled", "vote", "fingerprint", "contract"] {
        assert!(!before.contains(word), "{word}");
    }
    assert!(folded.contains("<details id=\"background\">") && folded.contains("vote"));
    // Wide and narrow: each with two lanes, seven entries, one wait and two views.
    for (class, count) in [
        ("<g class=\"session\"", 2),
        ("<g class=\"entry sent\"", 6),
        ("<g class=\"entry back\"", 1),
        ("<g class=\"snapshot\"", 2),
        ("<g class=\"wakes\"", 1),
    ] {
        assert_eq!(page.matches(class).count(), 2 * count, "{class}");
    }
    let bars = elements(&page, "<rect class=\"wait\" data-step", ">");
    assert_eq!(bars.len(), 2);
    for part in ["data-step=\"4\"", "data-lane=\"1\"", "data-from=\"4\"", "data-to=\"5\"", "data-for=\"T1\""]
    {
        assert!(bars[0].contains(part), "{part} in {}", bars[0]);
    }
    let chains = elements(&page, "<ol class=\"chain\"", "</ol>");
    assert_eq!(chains.len(), 1);
    for words in ["(1, &#39;x&#39;)", "T1, step 3 · committed by step 5", "step 4 should see this"] {
        assert!(chains[0].contains(words), "{words} in {}", chains[0]);
    }
    let expected = elements(&page, "<div class=\"card expected\">", "</div>\n");
    assert!(expected[0].contains("<tr class=\"odd\"><td>2</td><td>&#39;x&#39;</td></tr>"), "{}", expected[0]);
    let actual = elements(&page, "<div class=\"card bad actual\">", "</div>\n");
    assert!(actual[0].contains("no rows"), "{}", actual[0]);
    assert!(!page.contains("id=\"graph\""), "there is no graph, so no place for one");
    for (i, file) in scripts::all(&bug).iter().enumerate() {
        assert!(page.contains(&format!("data-copy=\"file-{i}\"")), "{}", file.name);
        assert!(page.contains(&format!("href=\"{}\"", file.name)), "{}", file.name);
    }
}

#[test]
fn a_known_one_leads_to_its_reports() {
    let mut known = finding(Product::Mariadb);
    known.finding.known = Some("MDEV-32898, MySQL#113228".into());
    let page = page(&known);
    assert!(page.contains(
        "Known as <a href=\"https://jira.mariadb.org/browse/MDEV-32898\">MDEV-32898</a>, <a href="
    ));
    assert!(page.contains("<a href=\"https://bugs.mysql.com/bug.php?id=113228\">MySQL#113228</a>."));
    let text = markdown::markdown(&known);
    assert!(text.contains("[MDEV-32898](https://jira.mariadb.org/browse/MDEV-32898)"), "{text}");
    assert!(text.contains("[MySQL#113228](https://bugs.mysql.com/bug.php?id=113228)"), "{text}");
}

#[test]
fn a_graph_is_shown_where_there_is_one() {
    let mut with = finding(Product::Mariadb);
    with.finding.violation.evidence.graph = Some(Graph {
        transactions: vec!["T1".into(), "T2".into()],
        edges: vec![Edge { from: 0, to: 1, kind: "rw".into() }],
        cycle: vec![0, 1],
    });
    assert!(page(&with).contains("<h2>Dependency graph</h2>\n<pre>T1 -rw-&gt; T2\ncycle: T1, T2</pre>"));
}

#[test]
fn pages_ask_for_nothing_from_elsewhere() {
    let page = page(&finding(Product::Mariadb));
    for word in ["http://", "https://", "src=", "@import", "url(h", "<link rel=\"stylesheet\""] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("prefers-color-scheme:dark"));
}

/// The policy of a page names its own script by its hash, and no other one is run.
#[test]
fn a_page_runs_its_own_script_and_no_other() {
    let pages = [page(&finding(Product::Mariadb)), html::index(&a_run())];
    for page in &pages {
        let [script] = elements(page, "<script>", "</script>")[..] else { panic!("one script") };
        let script = script.strip_prefix("<script>").unwrap().strip_suffix("</script>").unwrap();
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        // The escaper writes some characters of a hash in another way, which a browser reads back.
        let policy = elements(page, "<meta http-equiv=\"Content-Security-Policy\"", ">")[0];
        assert!(policy.contains(&format!("script-src 'sha256-{hash}';")), "{hash} is not in {policy}");
    }
}

#[test]
fn where_the_model_cannot_follow_that_is_said() {
    let without = report::BugReport { account: Err("no-contract".into()), ..finding(Product::Postgres) };
    let page = page(&without);
    assert!(page.contains("The model cannot follow this run (no-contract), so it tells no versions."));
    assert!(!page.contains("<g class=\"snapshot\""));
}

#[test]
fn nothing_gets_out_of_its_place() {
    let mut nasty = finding(Product::Mariadb);
    nasty.finding.known = Some(NASTY.into());
    nasty.finding.target.settings.insert("x".into(), NASTY.into());
    nasty.execution.trace.server.version_text = NASTY.into();
    nasty.execution.trace.server.settings.insert(NASTY.into(), NASTY.into());
    nasty.execution.trace.server.flags.push(format!("--x={}", NASTY.replace('/', "")));
    nasty.finding.violation.evidence.session = NASTY.into();
    nasty.finding.violation.evidence.sql = NASTY.into();
    nasty.finding.violation.evidence.log.push(NASTY.into());
    nasty.finding.violation.evidence.expected = Some(Response::Words(NASTY.into()));
    nasty.finding.violation.fingerprint.cause = Cause::LogWords(NASTY.into());
    edit(&mut nasty, |case| case.sessions[1].name = NASTY.into());
    edit(&mut nasty, |case| case.steps[3].sql = NASTY.into());
    nasty.replay = NASTY.into();
    nasty.execution.aftermath.log.push(NASTY.into());
    nasty.finding.judged_as.settings.insert("x".into(), NASTY.into());
    nasty.ready = Some(Checklist {
        known: Some(NASTY.into()),
        checked: NASTY.into(),
        items: vec![Item::failed(ChecklistItem::Manual, NASTY)],
    });
    if let Ok(account) = &mut nasty.account {
        account.tables[0].table = NASTY.into();
        account.tables[0].columns[0] = NASTY.into();
        account.tables[0].rows[0][0].values = Some(vec![NASTY.into()]);
        account.by.push(NASTY.into());
    }
    let page = page(&nasty);
    assert!(!page.contains("<img"), "{:?}", page.find("<img").map(|at| &page[at - 80..at + 40]));
    assert_eq!(page.matches("</script>").count(), 1, "only the page's own");
    let group = FindingGroup {
        signature: Signature::Explained([NASTY.into()].into()),
        known: Some(NASTY.into()),
        resembles: Some(NASTY.into()),
        servers: [NASTY.into()].into(),
        findings: vec!["9b1f0a2c".into(), "0000".into()],
        smallest: nasty.finding.clone(),
        ..group("9b1f0a2c")
    };
    let mut run = a_run();
    run.name = NASTY.into();
    run.groups.push(ListedGroup { group, title: NASTY.into(), ready: nasty.ready.clone() });
    let hunted = &mut run.summary.targets[0];
    hunted.target.settings.insert("x".into(), NASTY.into());
    hunted.lost = Some(NASTY.into());
    hunted.quality.features.insert(NASTY.into(), 3);
    let index = html::index(&run);
    assert!(!index.contains("<img"));
    assert_eq!(index.matches("</script>").count(), 1);
    let text = markdown::markdown(&nasty);
    // Outside of blocks and of code every sign is escaped.
    let mut block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            block = !block;
        }
        if ["<details><summary>", "</details>"].iter().any(|own| line.starts_with(own)) {
            continue;
        }
        let bare = line.split("`` ").next().unwrap_or(line);
        assert!(block || bare.matches('<').count() == bare.matches("\\<").count(), "{line}");
    }
    assert!(!block);
}

#[test]
fn places_on_this_machine_are_nobodys_business() {
    let bug = finding(Product::Mariadb);
    let files = scripts::all(&bug);
    for text in files.iter().map(|file| &file.text).chain([&page(&bug)]) {
        assert!(!text.contains("secret-place"), "{text}");
    }
}

#[test]
fn the_checklist_is_shown_where_somebody_asked() {
    let without = finding(Product::Mariadb);
    assert!(
        !page(&without).contains("id=\"ready\"") && !markdown::markdown(&without).contains("Ready to file")
    );
    let mut items: Vec<Item> =
        ChecklistItem::ALL.iter().map(|asked| Item::passed(*asked, "20 of 20 runs")).collect();
    let list = |items: &[Item]| Checklist { known: None, checked: "0000".into(), items: items.to_vec() };
    let with = |items: &[Item]| BugReport { ready: Some(list(items)), ..finding(Product::Mariadb) };
    let shown = page(&with(&items));
    assert!(shown.contains("Ready to file. Checked with 0000, the smallest of its signature."), "{shown}");
    assert!(shown.contains("<a class=\"pill good\" href=\"#ready\">ready to file</a>"));
    assert_eq!(shown.matches("data-state=\"passed\"").count(), 7);
    items[0] = Item::unchecked(ChecklistItem::PlainClient, "no client");
    items[6] = Item::failed(ChecklistItem::Level, "ranks low");
    let shown = page(&with(&items));
    assert!(shown.contains("Not ready: 1 failed, 1 not checked of 7 items."), "{shown}");
    assert!(shown.contains("href=\"#ready\">not ready to file</a>"));
    let text = markdown::markdown(&with(&items));
    assert!(text.contains("- [ ] **Plain client, default settings**: not checked: no client\n"), "{text}");
    assert!(text.contains("- [ ] **Not only READ UNCOMMITTED**: failed: ranks low\n"), "{text}");
    assert!(text.contains("- [x] **Something to see**: 20 of 20 runs\n"), "{text}");
    // What was not run has no rate.
    assert!(!text.contains("With the client alone"), "{text}");
}

#[test]
fn whoever_found_it_is_no_markup_either() {
    let mut bug = finding(Product::Mariadb);
    (bug.isopod, bug.finding.oracle) = ("<img src=x> `0`".into(), "[a](http://x) *b*".into());
    let text = markdown::markdown(&bug);
    assert!(text.contains("- Found by isopod \\<img src=x\\> \\`0\\`, seed"), "{text}");
    assert!(text.contains("- Judged by: \\[a\\](http://x) \\*b\\* ("), "{text}");
}

#[test]
fn markdown_has_what_a_tracker_wants() {
    let text = markdown::markdown(&finding(Product::Mariadb));
    let mut at = 0;
    for words in [
        "# Locking SELECT misses 1 row at REPEATABLE READ\n",
        "| Server | mariadb 10.11.19-TEST |",
        "| Isolation level | REPEATABLE READ |",
        "| Reproduces | 3 of 3 runs |",
        "## How to repeat",
        "CREATE TABLE t (a INT, b TEXT);",
        "/*    T1 */ SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;",
        "/*  1 T1 */ BEGIN;",
        "/*  4 T2 */ SELECT a, b FROM t FOR UPDATE;   -- waits for T1",
        "/*  5 T1 */ COMMIT;",
        "-- T2: step 4 comes back: no rows   <-- wrong",
        "/*  6 T2 */ DELETE FROM nothing;   -- error syntax (1146)",
        "## Expected",
        "2 | 'x'",
        "## Actual",
        "no rows",
        "## Why this is wrong\n\nA statement that changes or locks rows works on the newest committed rows, and comes to each of them once.\n",
        "No sentence of MariaDB's manual is known that says so; MySQL's says: \"... while the locking statements use",
        "## Seen on",
        "| mariadb 10.11.19 | REPEATABLE READ |",
        "## Settings in force",
        "log_bin = OFF",
    ] {
        let found = text[at..]
            .find(words)
            .unwrap_or_else(|| panic!("`{words}` is not behind\n{}\nin\n{text}", &text[..at]));
        at += found + words.len();
    }
}

fn a_run() -> Overview {
    let chance = |level: Level, cases: u64| Chance {
        name: "lost-update".into(),
        family: false,
        level,
        cases,
        below: None,
    };
    let quality = Quality {
        features: [("insert".to_string(), 918)].into(),
        strategies: [("ctc".to_string(), Share { cases: 100, conflicting: 83 })].into(),
        ..Quality::default()
    };
    let hunted = TargetSummary {
        target: "mariadb@10.11".parse().unwrap(),
        version: Some("10.11.19".into()),
        tally: Tally { cases: 1_836, conflicts: 1_500, ..Tally::default() },
        quality,
        chances: vec![chance(Level::ReadCommitted, 12), chance(Level::RepeatableRead, 0)],
        lost: None,
    };
    let summary = RunSummary {
        isopod: "0.1.0".into(),
        seed: Seed(1),
        profile: "wide".into(),
        profile_hash: String::new(),
        learned: None,
        oracles: vec!["vote".into()],
        judged_as: Default::default(),
        folder: "run".into(),
        elapsed_ms: 20_000,
        ending: None,
        targets: vec![hunted],
        findings: Vec::new(),
        looked: 0,
        stale: Vec::new(),
        cut_short: false,
    };
    Overview {
        name: "run".into(),
        date: "2026-11-18 05:50 UTC".into(),
        hunt: "isopod hunt mariadb@10.11 --seed 0000-0000-0007".into(),
        summary,
        unreadable: 0,
        groups: Vec::new(),
        found_after_ms: vec![1_000, 4_000, 4_000],
        progress: vec![(10_000, 700), (20_000, 1_836)],
    }
}

fn group(id: &str) -> FindingGroup {
    FindingGroup {
        id: id.into(),
        signature: Signature::Explained([id.into()].into()),
        known: None,
        resembles: None,
        targets: ["mariadb@10.11".parse().unwrap()].into(),
        servers: ["mariadb 10.11.19".to_string()].into(),
        levels: [(Level::ReadCommitted, 9)].into(),
        found_after_ms: 1_000,
        cases: 9,
        findings: vec![id.into()],
        smallest: finding(Product::Mariadb).finding,
        fresh: None,
        gone_in: None,
    }
}

#[test]
fn the_page_of_a_run_counts_and_plots() {
    let mut run = a_run();
    let one = FindingGroup { known: Some("MDEV-1".into()), ..group("one") };
    let two = FindingGroup { resembles: Some("MDEV-2".into()), ..group("two") };
    let listed =
        |group: FindingGroup| ListedGroup { title: format!("Title {}", group.id), group, ready: None };
    run.groups = [one, two].map(listed).into();
    let page = html::index(&run);
    for words in [
        "<h1>2 groups of findings, 1 of them new</h1>",
        "<b>1,836</b><span>cases</span>",
        "<tr data-id=\"one\">",
        "href=\"two.html\"",
        "behaves like <a href=\"https://jira.mariadb.org/browse/MDEV-2\">MDEV-2</a>",
        "<a href=\"https://jira.mariadb.org/browse/MDEV-1\">MDEV-1</a>",
        "2026-11-18 05:50 UTC",
        "<pre class=\"command\">isopod hunt mariadb@10.11 --seed 0000-0000-0007</pre>",
        "data-level=\"RC\" data-signatures=\"2\"",
        "<figure class=\"plot\" id=\"plot-cases\"",
        "<figure class=\"plot\" id=\"plot-found\"",
        "<g class=\"first\" data-id=\"two\">",
        "data-name=\"insert\" data-part=\"918\"",
        "data-name=\"ctc\" data-part=\"83\"",
        "<td class=\"n wrong\">0</td>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let mut nothing = a_run();
    (nothing.groups, nothing.summary.targets, nothing.progress) = Default::default();
    let nothing = html::index(&nothing);
    assert!(nothing.contains("Nothing was found") && !nothing.contains("NaN"));
}

#[test]
fn json_keeps_its_keys() {
    let bug = finding(Product::Mariadb);
    let files = scripts::all(&bug);
    let text = json::json(&a_run(), &[(&bug, &files)]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["format"], 2);
    let keys: Vec<&String> = value["findings"][0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "actual",
            "case",
            "condition",
            "evidence",
            "expected",
            "files",
            "found_after_ms",
            "id",
            "kind",
            "known",
            "level",
            "oracle",
            "ready",
            "reduced_from",
            "replay",
            "rule",
            "runs",
            "seed",
            "server",
            "statement",
            "statements",
            "step",
            "story",
            "target",
            "title",
            "versions"
        ]
    );
    let one = &value["findings"][0];
    assert_eq!(one["step"], 4);
    assert_eq!(one["expected"]["rows"][0], serde_json::json!(["2", "'x'"]));
    assert_eq!(one["versions"]["tables"][0]["rows"][0][1]["by"]["step"], 2);
    assert_eq!(value["targets"][0]["cases"], 1_836);
}
