//! What is done with each kind of input, as a function of bytes that panics if something is wrong.

use std::io::Cursor;

use campaign::{Panel, Settings, TimedEvent, Triage};
use dbms::{
    mysql::{locks::innodb_status, reply::ReplyReader, wire::ReceiveBuffer},
    sqlite::wire as sqlite,
};
use dialect::{Execution, guard, own_commands, sql as grammar};
use model::{
    Aftermath, Case, Finding, JudgeOverrides, Product, Quality, RunSummary, ServerInfo, Target, Trace,
    Verdict, casefile, regression, shell,
};
use report::{BugReport, Marks, Style, html, markdown, scripts, text};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A case file: what is written of it means the same, and is written in the same way again.
pub fn case_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(file) = casefile::parse(&text) else { return };
    let formatted = file.format();
    let again = casefile::parse(&formatted).expect("what is formatted can be read");
    assert_eq!(again.case(), file.case(), "formatting changed the case");
    assert_eq!(again.format(), formatted, "formatting twice changes more");
    if let Ok(printed) = casefile::print(file.case()) {
        assert_eq!(casefile::parse(&printed).expect("what is printed can be read").case(), file.case());
    }
}

/// A statement; the first byte says of which product.
pub fn sql(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let product = Product::ALL[usize::from(*first) % Product::ALL.len()];
    let text = String::from_utf8_lossy(rest);
    for tool in
        [own_commands::mysql("mysql"), own_commands::PSQL, own_commands::MYSQLTEST, own_commands::SQLITE3]
    {
        tool.first_in(&text);
    }
    let objection = guard::objection(product, &text);
    let _ = grammar::split_tokens(product, &text);
    let Some(tree) = grammar::parse(product, &text).tree() else { return };
    let printed = grammar::print(product, &tree);
    assert_eq!(grammar::parse(product, &printed).tree().as_ref(), Some(&tree), "{printed}");
    assert_eq!(guard::objection(product, &printed).is_some(), objection.is_some(), "{printed}");
}

/// Any file of a run that is JSON: what is taken is written so that the same is read.
pub fn json(data: &[u8]) {
    same::<Finding>(data);
    same::<Settings>(data);
    same::<TimedEvent>(data);
    same::<Trace>(data);
    same::<Case>(data);
    same::<Aftermath>(data);
    same::<ServerInfo>(data);
    same::<Quality>(data);
    same::<RunSummary>(data);
    let _ = serde_json::from_slice::<Triage>(data);
    let _ = serde_json::from_slice::<reduce::Learned>(data);
}

fn same<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(data) else { return };
    let Ok(written) = serde_json::to_string(&read) else { return };
    let again: T = serde_json::from_str(&written).expect("what is written can be read");
    assert_eq!(again, read, "{written}");
}

/// A target or an address: what is shown of it gives the same, without a password.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(target) = text.parse::<Target>() else { return };
    let shown = target.to_string();
    let again: Target = shown.parse().expect("what is shown can be read");
    assert_eq!(again.to_string(), shown);
    let quoted = shell::quoted(&shown);
    assert!(!quoted.contains(|c: char| c.is_control() && c != '\t'), "{quoted:?}");
    assert!(!text::for_terminal(&shown).contains('\u{1b}') || shown.contains("\u{1b}["), "{shown:?}");
}

/// `.my.cnf` and `.pgpass`.
pub fn option_files(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    dbms::attach::clients::my_cnf(&text);
    dbms::attach::clients::pgpass(&text, "localhost", 5432, "db", "user");
}

/// What InnoDB says of its locks.
pub fn lock_status(data: &[u8]) {
    let mut order = innodb_status::WaitOrder::default();
    let text = String::from_utf8_lossy(data);
    innodb_status::parse(&text, &mut order);
    innodb_status::parse(&text, &mut order);
}

/// What a MySQL server sends, as answers to statements.
pub fn mysql_packets(data: &[u8]) {
    let (mut stream, mut buffer, mut reader) =
        (Cursor::new(data), ReceiveBuffer::default(), ReplyReader::Awaited);
    for _ in 0..=data.len() / 1024 {
        buffer.fill(&mut stream);
        while let Ok(Some((_, range))) = buffer.take() {
            match reader.packet(buffer.payload(range)) {
                Ok(Some(_)) => reader = ReplyReader::Awaited,
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }
}

/// What the process with SQLite in it sends.
pub fn sqlite_frames(data: &[u8]) {
    let mut received = data.to_vec();
    while let Ok(Some(reply)) = sqlite::take::<sqlite::Reply>(&mut received) {
        if let sqlite::Body::Rows { columns, cells } = reply.body {
            sqlite::rows(columns, &cells);
        }
    }
    let mut received = data.to_vec();
    while let Ok(Some(_)) = sqlite::take::<sqlite::Request>(&mut received) {}
}

/// A finding as its folder holds it.
#[derive(Serialize, Deserialize)]
pub struct Filed {
    pub case: Case,
    pub trace: Trace,
    pub finding: Finding,
}

/// A run of somebody else: judged by all who need no server, and reported.
pub fn whole_run(data: &[u8]) {
    let Ok(Filed { case, trace, finding }) = serde_json::from_slice(data) else { return };
    if Execution::check(&case, &trace).is_err() {
        return;
    }
    let execution = Execution::new(regression::without_expectations(&case), trace);
    let panel = Panel::new(oracles::without_server(), JudgeOverrides::default());
    for judge in panel.judges() {
        if let Verdict::Violated(violation) = judge.verdict_of_stored(&execution) {
            let _ = violation.fingerprint.label();
        }
    }
    let marks = Marks::default();
    let _ = report::timeline(&execution.case, &execution.trace, &marks, &Style::default());
    if finding.violation.step.is_some_and(|step| step >= execution.case.steps.len()) {
        return;
    }
    let bug = BugReport {
        replay: campaign::record::replay_elsewhere(&finding, "case.iso"),
        finding,
        execution,
        isopod: "0".into(),
        date: String::new(),
        hunt: String::new(),
        sources: oracles::mvcc::source,
        account: Err("not told".into()),
        seen: Vec::new(),
        elsewhere: Vec::new(),
        ready: None,
    };
    let files = scripts::all(&bug);
    let _ = (html::finding(&bug, &files), markdown::markdown(&bug));
}
