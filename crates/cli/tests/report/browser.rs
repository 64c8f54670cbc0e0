//! The pages in a real headless Chromium, wide and as narrow as a phone, light and dark: timeline, version chains and tables are read from
//! the page as the browser has it, and a word on its console is a failure.
//!
//! A page is copied with a script at its end that looks around and tells what it sees. The copy stands in a frame of the wanted width,
//! since the browser's own window does not become as narrow as a phone.

use std::{fs, path::Path, process::Command};

use model::{Case, RoundCause, Trace};
use serde_json::Value;

use crate::{
    folders,
    tested::program,
    tools::{Folder, isopod, servers},
};

const PROBE: &str = r##"<script nonce="probe">
(function(){
var all=function(of,what){return Array.prototype.slice.call(of.querySelectorAll(what))};
var data=function(node){return Object.assign({},node.dataset)};
var drawing=all(document,".line > svg").filter(function(svg){return getComputedStyle(svg).display!=="none"});
var seen={width:innerWidth,scroll:document.documentElement.scrollWidth,title:document.title,
ground:getComputedStyle(document.body).backgroundColor,drawings:drawing.map(function(svg){return svg.getAttribute("class")}),
sessions:[],entries:[],waits:[],snapshots:[],outside:[],overlaps:[]};
drawing.forEach(function(svg){
seen.sessions=all(svg,".session text").map(function(node){return node.textContent});
seen.entries=all(svg,".entry").map(function(node){var of=data(node);of.kind=node.getAttribute("class").split(" ")[1];
of.text=all(node,"text:not(.num)").map(function(line){return line.textContent});of.wrong=!!node.querySelector(".bad");return of});
seen.waits=all(svg,"rect.wait").map(function(node){var of=data(node);of.height=node.getBBox().height;return of});
seen.snapshots=all(svg,".snapshot").map(data);
var texts=all(svg,"text");var boxes=texts.map(function(node){return node.getBBox()});
var width=+svg.getAttribute("width"),height=+svg.getAttribute("height");
boxes.forEach(function(a,i){
if(a.x<-1||a.x+a.width>width+1||a.y<-1||a.y+a.height>height+1)seen.outside.push(texts[i].textContent);
boxes.slice(i+1).forEach(function(b,j){
if(a.x+1<b.x+b.width&&b.x+1<a.x+a.width&&a.y+4<b.y+b.height&&b.y+4<a.y+a.height)
seen.overlaps.push(texts[i].textContent+" / "+texts[i+1+j].textContent)})})});
seen.chains=all(document,"ol.chain").map(function(chain){var of=data(chain);
of.versions=all(chain,"li").map(function(node){return {values:node.querySelector(".values").textContent,
by:node.querySelector(".by").textContent,seen:node.classList.contains("seen"),height:node.getBoundingClientRect().height}});return of});
var table=function(what){var card=document.querySelector(what);return card&&{text:card.textContent,
rows:all(card,"tbody tr").map(function(row){return all(row,"td").map(function(cell){return cell.textContent})})}};
seen.expected=table(".expected");seen.actual=table(".actual");
seen.findings=all(document,"#findings tr[data-id]").map(function(row){return row.dataset.id});
seen.links=all(document,"a[href]").map(function(link){return link.getAttribute("href")});
seen.plots=all(document,"figure.plot").map(function(plot){var path=plot.querySelector("path.curve");
return {id:plot.id,marks:all(plot,"svg *").length,length:path?path.getTotalLength():0,height:plot.getBoundingClientRect().height}});
seen.checks=all(document,"#ready .checks li").map(function(node){return {state:node.dataset.state,
words:node.querySelector("p").textContent,height:node.getBoundingClientRect().height}});
seen.stories=all(document,".headline").map(function(line){return line.textContent});
var button=document.querySelector("button[data-copy]");
if(button)button.click();
setTimeout(function(){seen.copied=button?button.textContent:null;parent.postMessage(JSON.stringify(seen),"*")},200);
})();
</script>"##;

const FRAME: &str = r#"<!doctype html><meta charset="utf-8"><style>body{margin:0}iframe{border:0;width:WIDTHpx;height:900px}</style>
<iframe src="copy.html"></iframe><script>addEventListener("message",function(event){
var told=document.createElement("script");told.type="application/json";told.id="told";told.textContent=event.data.replace(/</g,"\\u003c");
document.body.appendChild(told)})</script>"#;

/// A browser.
pub struct Browser {
    program: std::path::PathBuf,
    folder: Folder,
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    width: usize,
    dark: bool,
}

impl Browser {
    pub fn new() -> Option<Browser> {
        let program = program(&["chromium", "chromium-browser", "google-chrome"], "chromium")?;
        Some(Browser { program, folder: Folder::new() })
    }

    /// What is in a page, and what was said on the console.
    fn look(&self, page: &str, look: Look) -> (Value, Vec<String>) {
        let probed = page.replace("</body>", &format!("{PROBE}</body>"));
        assert_ne!(probed, page, "the page has an end");
        // The policy of a page lets its own script run, and no other one.
        let probed = probed.replacen("script-src 'sha256-", "script-src 'nonce-probe' 'sha256-", 1);
        self.folder.put("copy.html", &probed);
        let frame = self.folder.put("frame.html", &FRAME.replace("WIDTH", &look.width.to_string()));
        let mut command = Command::new(&self.program);
        let profile = self.folder.0.join("profile");
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--enable-logging=stderr",
            ])
            .args(["--window-size=1400,1000", "--virtual-time-budget=5000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()));
        if look.dark {
            command.arg("--blink-settings=preferredColorScheme=0");
        }
        let output = command.arg(format!("file://{frame}")).output().unwrap();
        let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_string).collect();
        let told = "type=\"application/json\" id=\"told\"";
        let begin = dom.find(told).unwrap_or_else(|| panic!("the page did not answer\n{log}\n{dom}"));
        let begin = begin + dom[begin..].find('>').unwrap() + 1;
        let end = begin + dom[begin..].find("</script>").unwrap();
        (serde_json::from_str(&dom[begin..end]).unwrap(), console)
    }

    /// The same, where nothing may be said on the console.
    pub fn quiet(&self, page: &str, look: Look) -> Value {
        let (seen, console) = self.look(page, look);
        assert!(console.is_empty(), "{look:?}: {console:?}");
        assert_eq!(seen["width"], look.width);
        let scroll = seen["scroll"].as_u64().unwrap();
        assert!(scroll <= look.width as u64, "{look:?}: the page is {scroll} wide");
        seen
    }
}

pub const WIDE: Look = Look { width: 1200, dark: false };
pub const PHONE: Look = Look { width: 390, dark: true };

/// The texts of a list.
fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// A finding's page holds what its trace holds.
fn check(seen: &Value, finding: &Value, folder: &Path) -> (usize, usize) {
    let trace: Trace = serde_json::from_slice(&fs::read(folder.join("trace.json")).unwrap()).unwrap();
    let case: Case =
        model::casefile::parse(&fs::read_to_string(folder.join("case.iso")).unwrap()).unwrap().into_case();
    let id = finding["id"].as_str().unwrap();
    assert_eq!(seen["title"], finding["title"], "{id}");
    assert_eq!(seen["stories"].as_array().unwrap().len(), 1, "{id}");
    let names = texts(&seen["sessions"]);
    assert_eq!(names.len(), case.sessions.len());
    assert!(
        names.iter().zip(&case.sessions).all(|(name, session)| name.starts_with(&session.name)),
        "{names:?}"
    );
    // Every statement is drawn in its lane, in the order in which it was sent.
    let entries = seen["entries"].as_array().unwrap();
    let sent: Vec<(String, String)> = entries
        .iter()
        .filter(|entry| entry["kind"] == "sent")
        .map(|entry| (entry["step"].as_str().unwrap().into(), entry["lane"].as_str().unwrap().into()))
        .collect();
    let really: Vec<(String, String)> = trace
        .rounds
        .iter()
        .filter_map(|round| match round.cause {
            RoundCause::Sent(step) => Some(((step + 1).to_string(), case.steps[step].session.to_string())),
            RoundCause::Timeout | RoundCause::RolledBack(_) | RoundCause::Killed(_) => None,
        })
        .collect();
    assert_eq!(sent, really, "{id}");
    for entry in entries.iter().filter(|entry| entry["kind"] == "sent") {
        let step: usize = entry["step"].as_str().unwrap().parse().unwrap();
        let shown: String = texts(&entry["text"]).concat().split_whitespace().collect();
        let sql: String = case.steps[step - 1].sql.split_whitespace().collect();
        let begin: String = sql.chars().take(40).collect();
        assert!(shown.starts_with(&begin), "{id}: {shown} is not {sql}");
    }
    let wrong: Vec<&Value> =
        entries.iter().filter(|entry| entry["wrong"] == true).map(|entry| &entry["step"]).collect();
    match finding["step"].as_u64() {
        Some(step) => assert_eq!(wrong, [&Value::from(step.to_string())], "{id}"),
        None => assert!(wrong.is_empty(), "{id}"),
    }
    let waits = seen["waits"].as_array().unwrap();
    assert_eq!(waits.len(), trace.rounds.iter().map(|round| round.waiting.len()).sum::<usize>(), "{id}");
    for wait in waits {
        assert!(wait["height"].as_f64().unwrap() >= 10.0, "{id}: {wait}");
        let from: usize = wait["from"].as_str().unwrap().parse().unwrap();
        assert!(
            wait["to"].as_str().unwrap().parse().is_ok_and(|to: usize| to > from) || wait["to"] == "",
            "{wait}"
        );
    }
    assert!(seen["outside"].as_array().unwrap().is_empty(), "{id}: {}", seen["outside"]);
    assert!(seen["overlaps"].as_array().unwrap().is_empty(), "{id}: {}", seen["overlaps"]);
    // Chains are those of the JSON.
    let told = &finding["versions"]["tables"];
    let mut versions = 0;
    for chain in seen["chains"].as_array().unwrap() {
        let of = |table: &&Value| table["table"] == chain["table"];
        let table = told.as_array().unwrap().iter().find(of).unwrap_or_else(|| panic!("{id}: {chain}"));
        let row: usize = chain["row"].as_str().unwrap().parse().unwrap();
        let shown = chain["versions"].as_array().unwrap();
        assert_eq!(shown.len(), table["rows"][row].as_array().unwrap().len(), "{id}");
        for (shown, version) in shown.iter().zip(table["rows"][row].as_array().unwrap()) {
            let values = match version["values"].is_null() {
                true => "deleted".to_string(),
                false => format!("({})", texts(&version["values"]).join(", ")),
            };
            assert_eq!(shown["values"], values, "{id}");
            assert!(shown["height"].as_f64().unwrap() > 20.0);
            versions += 1;
        }
    }
    if !told.is_null() {
        let reads = finding["versions"]["reads"].as_array().unwrap().len();
        assert_eq!(seen["snapshots"].as_array().unwrap().len(), reads, "{id}");
    }
    // Both sides, as the JSON has them.
    for side in ["expected", "actual"] {
        let (shown, meant) = (&seen[side], &finding[side]);
        if let Some(rows) = meant["rows"].as_array().filter(|rows| !rows.is_empty()) {
            assert_eq!(shown["rows"].as_array().unwrap(), rows, "{id}");
        } else if let Some(words) = meant["words"].as_str() {
            assert!(shown["text"].as_str().unwrap().contains(words), "{id}: {shown}");
        }
    }
    assert_eq!(seen["copied"], "Copied", "{id}: the button did nothing");
    (waits.len(), versions)
}

/// Looks at every page of a report.
fn look_at(browser: &Browser, run: &Path, least: usize) {
    let report = run.join("report");
    let read = |name: &str| fs::read_to_string(report.join(name)).unwrap();
    let json: Value = serde_json::from_str(&read("findings.json")).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let (mut waits, mut versions) = (0, 0);
    for (at, finding) in findings.iter().enumerate() {
        let id = finding["id"].as_str().unwrap();
        let page = read(&format!("{id}.html"));
        // Each way for every second one: a look takes a second.
        let look = if at.is_multiple_of(2) { WIDE } else { PHONE };
        let seen = browser.quiet(&page, look);
        assert_eq!(texts(&seen["drawings"]), [if look.width > 760 { "wide" } else { "narrow" }]);
        let (more_waits, more_versions) = check(&seen, finding, &run.join("findings").join(id));
        (waits, versions) = (waits + more_waits, versions + more_versions);
    }
    assert!(
        findings.len() >= least && waits > 0 && versions > findings.len(),
        "{} findings, {waits} waits, {versions} versions",
        findings.len()
    );
    let index = read("index.html");
    let (light, dark) = (browser.quiet(&index, WIDE), browser.quiet(&index, PHONE));
    assert_ne!(light["ground"], dark["ground"], "it is as dark as it is light");
    for seen in [light, dark] {
        let groups: Vec<&Value> =
            json["groups"].as_array().unwrap().iter().map(|group| &group["id"]).collect();
        assert_eq!(seen["findings"].as_array().unwrap().iter().collect::<Vec<_>>(), groups);
        for link in texts(&seen["links"]) {
            let tracker = ["https://jira.mariadb.org/browse/MDEV-", "https://bugs.mysql.com/bug.php?id="];
            let elsewhere = tracker.iter().any(|tracker| link.starts_with(tracker));
            assert!(elsewhere || report.join(link).is_file(), "{link} leads nowhere");
        }
        let plots = seen["plots"].as_array().unwrap();
        assert_eq!(plots.len(), 4, "{plots:?}");
        for plot in plots {
            assert!(plot["marks"].as_u64().unwrap() > 3 && plot["height"].as_f64().unwrap() > 60.0, "{plot}");
        }
        assert!(
            plots.iter().filter(|plot| plot["length"].as_f64().unwrap() > 100.0).count() >= 2,
            "{plots:?}"
        );
    }
}

#[test]
fn the_pages_of_a_run_hold_what_they_should() {
    let Some(browser) = Browser::new() else { return };
    let folder = Folder::new();
    let run = folders::run(&folder);
    isopod(&["report", &run]).exits(0);
    look_at(&browser, Path::new(&run), 4);
}

#[test]
fn the_pages_of_a_hunt_on_mariadb_hold_what_they_should() {
    let Some(browser) = Browser::new() else { return };
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let folder = Folder::new();
    let out = folder.0.join("run").display().to_string();
    // Two targets and whole cases: long statements, many sessions, and more than one line of everything.
    let hunt = [
        "hunt",
        "mariadb@10.11",
        "sqlite",
        "--profile",
        "wide",
        "--seed",
        "5",
        "--cases",
        "150",
        "--keep",
        "1",
        "--no-reduce",
    ];
    isopod(&[&hunt[..], &["--workers", "1", "--out", &out]].concat()).exits(1);
    isopod(&["report", &out]).exits(0);
    look_at(&browser, Path::new(&out), 2);
}

/// The looking glass itself: what it should catch it does.
#[test]
fn a_word_on_the_console_and_a_page_too_wide_are_seen() {
    let Some(browser) = Browser::new() else { return };
    let page = |body: &str| format!("<!doctype html><html><body>{body}</body></html>");
    let (_, quiet) = browser.look(&page("<p>fine</p>"), WIDE);
    assert!(quiet.is_empty(), "{quiet:?}");
    let (_, console) = browser.look(&page("<script>console.error('oh')</script>"), WIDE);
    assert_eq!(console.len(), 1, "{console:?}");
    let (_, console) = browser.look(&page("<script>nobody.knows()</script>"), WIDE);
    assert_eq!(console.len(), 1, "{console:?}");
    let (seen, _) = browser.look(&page("<div style=\"width:800px\">wide</div>"), PHONE);
    assert!(seen["scroll"].as_u64().unwrap() > 390, "{seen}");
}
