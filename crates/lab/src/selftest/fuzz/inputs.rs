//! What is done with each kind of input, as a function of bytes that panics if something is wrong.

use std::{
    io::{self, Cursor, Read},
    path::{Component, Path},
};

use bytes::BytesMut;
use campaign::{Panel, Settings, TimedEvent, Triage, record::traces::TraceReader};
use dbms::{
    attach::secrets,
    mysql::{locks::innodb_status, reply::ReplyReader, wire::ReceiveBuffer},
    net::{Allowance, CELL, COLUMNS, Limits, Login, Refusal, SocketRead},
    postgres::{
        login::Talk,
        reply::{Event, ReplyReader as PgReplyReader},
        wire::{Malformed, ReceiveBuffer as PgReceiveBuffer},
    },
    sqlite::wire as sqlite,
};
use dialect::{Execution, guard, own_commands, sql as grammar};
use execute::RawReply;
use model::{
    Aftermath, Case, Finding, JudgeOverrides, Product, Quality, Rng, RunSummary, Seed, ServerInfo, Tally,
    Target, Trace, Verdict, casefile,
    procfs::{self, Stat},
    regression, shell,
};
use provision::{InstanceRecord, Manifest};
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

/// Any file that is JSON, of a run or of the cache folder: what is taken is written so that the same is read. And the lines beside them.
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
    same::<Triage>(data);
    same::<reduce::Learned>(data);
    same::<Manifest>(data);
    same::<InstanceRecord>(data);
    for (there, name) in
        provision::linked(&String::from_utf8_lossy(data), "package/native").unwrap_or_default()
    {
        let below = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        assert!(below(&there) && below(&name), "{} {}", there.display(), name.display());
    }
    for _ in TraceReader::of(Path::new(""), Cursor::new(data.to_vec())).take_while(Result::is_ok) {}
    if let Some(mut tally) = Tally::read(data) {
        let read = tally;
        tally.add(&read);
        tally.replace(&read, &Tally::default());
    }
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

/// What a PostgreSQL server sends. The first byte says whether it is a login and what was sent before, the second how the bytes are cut on
/// their way, which must make no difference.
pub fn postgres_messages(data: &[u8]) {
    let Some(([way, cut], stream)) = data.split_first_chunk::<2>() else { return };
    let whole = Pieces::whole(stream);
    let pieces = Pieces { left: stream, rng: Some(Seed(u64::from(*cut)).rng("cut", 0)) };
    if way % 4 == 0 {
        assert_eq!(login(whole), login(pieces), "a login that was cut");
    } else {
        // In most there is no room for a message that is longer than an input.
        let answer = if way % 4 == 1 { 256 << 20 } else { 1 << 16 };
        assert_eq!(answers(whole, answer), answers(pieces, answer), "answers that were cut");
    }
}

/// Bytes that come all at once, or a few at a time.
pub(super) struct Pieces<'a> {
    left: &'a [u8],
    rng: Option<Rng>,
}

impl<'a> Pieces<'a> {
    pub(super) fn whole(left: &'a [u8]) -> Pieces<'a> {
        Pieces { left, rng: None }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let some = self.rng.as_mut().map_or(room.len(), |rng| rng.between(1, 9));
        let (now, later) = self.left.split_at(some.min(room.len()).min(self.left.len()));
        room[..now.len()].copy_from_slice(now);
        self.left = later;
        Ok(now.len())
    }
}

/// The server's process if it is ready at the end.
pub(super) fn login(mut stream: Pieces<'_>) -> Result<Option<u64>, Refusal> {
    let who = Login { password: "secret".into(), guest: true, ..Login::default() };
    let (mut talk, mut inbox) = (Talk::new(&who, false), PgReceiveBuffer::default());
    inbox.expect(Allowance::LOGIN);
    loop {
        let filled = inbox.fill(&mut stream);
        while let Some(message) = inbox.take()? {
            let mut out = BytesMut::new();
            let ready = talk.message(message, &mut out)?;
            let clear = out.windows(who.password.len()).any(|bytes| bytes == who.password.as_bytes());
            assert!(!clear, "a password in clear");
            if ready.is_some() {
                return Ok(ready);
            }
        }
        if filled == SocketRead::Closed {
            return Ok(None);
        }
    }
}

/// The events of one statement after the other, and what ended them.
pub(super) fn answers(mut stream: Pieces<'_>, answer: usize) -> (Vec<Event>, Result<(), Malformed>) {
    let (mut inbox, mut reader, mut seen) =
        (PgReceiveBuffer::default(), PgReplyReader::default(), Vec::new());
    let allowed = Allowance::answer(&Limits { answer, ..Limits::default() });
    let begin = |reader: &mut PgReplyReader, inbox: &mut PgReceiveBuffer, number: usize| {
        reader.begin(["SELECT 1", "COMMIT"][number % 2]);
        inbox.expect(allowed);
    };
    begin(&mut reader, &mut inbox, 0);
    loop {
        let filled = inbox.fill(&mut stream);
        loop {
            let event = match inbox.take().and_then(|message| message.map(|m| reader.message(m)).transpose())
            {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(malformed) => return (seen, Err(malformed)),
            };
            if let Event::Reply(reply) | Event::LastWords(reply) = &event
                && let RawReply::Rows(rows) = &reply.reply
            {
                assert!(rows.columns().len() <= COLUMNS);
                let cells: usize = (0..rows.len()).map(|row| rows.row(row).count() * CELL).sum();
                assert!(cells <= answer, "more than an answer may take");
                rows.texts();
            }
            let (last, complete) = (matches!(event, Event::LastWords(_)), matches!(event, Event::Reply(_)));
            seen.push(event);
            if last {
                return (seen, Ok(()));
            }
            if complete {
                assert!(!reader.outstanding());
                begin(&mut reader, &mut inbox, seen.len());
            }
        }
        if filled == SocketRead::Closed {
            return (seen, Ok(()));
        }
    }
}

/// Files of /proc, and what a server's data folder says of its shared memory.
pub fn proc_files(data: &[u8]) {
    if let Some(stat) = Stat::parse(data) {
        let _ = (stat.state(), stat.flags(), stat.started(), stat.arguments(), stat.environment());
    }
    let named = [b"7 (", data, b") S 1 7 7 0 -1 4"].concat();
    let stat = Stat::parse(&named).expect("it has a name");
    assert_eq!((stat.state(), stat.flags()), (Some(b'S'), Some(4)), "a name that passes for fields");
    let _ = (procfs::own_memory(data), procfs::most_memory(data), procfs::run_time(data));
    let _ = (procfs::children(data), procfs::has_user(data, 65_534));
    // What stands there is written over in our own memory.
    for range in secrets::in_arguments(data).into_iter().chain(secrets::in_environment(data)) {
        assert!(data.get(range.clone()).is_some_and(|secret| !secret.contains(&0)), "{range:?}");
    }
    let _ = provision::segment(&String::from_utf8_lossy(data));
}

/// What goes between us and the process with SQLite in it: replies to us, requests to it.
pub fn sqlite_frames(data: &[u8]) {
    let mut received = data.to_vec();
    while let Ok(Some(reply)) = sqlite::take::<sqlite::Reply>(&mut received) {
        same_frame(&reply);
        if let sqlite::Body::Rows { columns, cells } = reply.body {
            sqlite::rows(columns, &cells).texts();
        }
    }
    let mut received = data.to_vec();
    while let Ok(Some(request)) = sqlite::take::<sqlite::Request>(&mut received) {
        same_frame(&request);
    }
}

fn same_frame<T: Serialize + DeserializeOwned + std::fmt::Debug>(message: &T) {
    let mut written = sqlite::frame(message).expect("what was read can be written");
    let again: T = sqlite::take(&mut written).expect("and read").expect("as a whole");
    // As text, since a number may be none that equals itself.
    assert_eq!((format!("{again:?}"), &written[..]), (format!("{message:?}"), &[][..]));
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
