//! What inputs are made of: cases of the generator and of the planted bugs, and what came of them on the engine in process.

use campaign::{Panel, Settings, events::Event};
use dbms::sqlite::wire::{Body, Cell, Reply, Request, frame};
use dialect::Execution;
use execute::{Launch, Options, Placement, Runner, Server};
use generate::Generator;
use model::{Case, Finding, JudgeOverrides, Level, Product, Quality, Seed, Tally, Target, Verdict, casefile};
use reference::{Bug, ReferenceServer};
use serde_json::json;

use super::{
    inputs::Filed,
    recorded::{ANSWERS, BEFORE_LOGIN, FILES, LOGIN},
};

/// Runs with what the oracles say of them.
pub struct Material {
    pub runs: Vec<(Execution, Option<Finding>)>,
}

impl Material {
    pub fn new() -> crate::Result<Material> {
        let mut runs = Vec::new();
        // These wait until somebody gives up.
        let quick =
            |bug: &&Bug| !matches!(bug, Bug::Crash | Bug::Hang | Bug::LockNeverReleased | Bug::LostWakeup);
        for bug in Bug::ALL.iter().filter(quick) {
            let case =
                casefile::parse(bug.case()).map_err(|_| "a case of the engine cannot be read")?.into_case();
            let level = case.sessions.first().and_then(|session| session.level);
            runs.push(run(&reference::target(Some(*bug)), &case, level.unwrap_or(Level::RepeatableRead))?);
        }
        let target = reference::target(None);
        for case in generated(target.product, 12) {
            runs.push(run(&target, &case, Level::RepeatableRead)?);
        }
        Ok(Material { runs })
    }
}

fn run(target: &Target, case: &Case, level: Level) -> crate::Result<(Execution, Option<Finding>)> {
    let of = target.clone();
    let launch: Box<dyn Launch> =
        Box::new(move || Ok(Box::new(ReferenceServer::start(&of)?) as Box<dyn Server>));
    let free = Placement { pin: false, realtime: false, cpu: None };
    let execution = Runner::new(launch, Options::default(), free)?.run(case, level)?;
    let panel = Panel::new(oracles::without_server(), JudgeOverrides::default());
    let found = panel.judges().find_map(|judge| match judge.verdict_of_stored(&execution) {
        Verdict::Violated(violation) => Some(Finding::bare("9b1f0a2c", target.clone(), violation)),
        Verdict::Holds { .. } | Verdict::Undecided { .. } => None,
    });
    Ok((execution, found))
}

fn generated(product: Product, cases: u64) -> Vec<Case> {
    let version = dialect::newest(product);
    let mut generator = Generator::new(Seed(7), product, &version, dialect::of(product).levels);
    (0..cases).map(|number| generator.case(number * 17).case).collect()
}

pub fn case_files(_: &Material) -> Vec<Vec<u8>> {
    let planted = Bug::ALL.iter().map(|bug| bug.case().as_bytes().to_vec());
    let made = Product::ALL.into_iter().flat_map(|product| generated(product, 4));
    let made = made.filter_map(|case| casefile::print(&case).ok());
    planted.chain(made.map(String::into_bytes)).collect()
}

pub fn statements(_: &Material) -> Vec<Vec<u8>> {
    let of = |(first, product): (usize, Product)| {
        let cases = generated(product, 30);
        let texts = cases.into_iter().flat_map(|case| {
            case.setup.statements.into_iter().chain(case.steps.into_iter().map(|step| step.sql))
        });
        let texts: std::collections::BTreeSet<String> = texts.collect();
        texts.into_iter().map(move |text| [&[first as u8][..], text.as_bytes()].concat())
    };
    Product::ALL.into_iter().enumerate().flat_map(of).collect()
}

pub fn json(material: &Material) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (execution, found) in &material.runs {
        let (case, trace) = (execution.case.case(), &execution.trace);
        all.extend([serde_json::to_vec(case), serde_json::to_vec(trace), serde_json::to_vec(&trace.server)]);
        all.extend(found.iter().map(serde_json::to_vec));
        all.extend(found.iter().map(|finding| serde_json::to_vec(&Event::Finding(Box::new(finding.into())))));
    }
    all.push(serde_json::to_vec(&settings()));
    all.push(serde_json::to_vec(&Quality { cases: 7, statements: 40, ..Quality::default() }));
    all.extend(material.runs.iter().take(3).map(|(execution, _)| kept_trace(execution)));
    let files = FILES.iter().map(|text| text.as_bytes().to_vec());
    let tally = Tally { cases: 12, statements: 130, ..Tally::default() };
    all.into_iter().flatten().chain(files).chain([tally.line().into_bytes()]).collect()
}

/// A file of kept traces with one run in it.
pub fn kept_trace(execution: &Execution) -> serde_json::Result<Vec<u8>> {
    let (case, trace) = (execution.case.case(), &execution.trace);
    let lines = [
        json!({"format": 1}),
        json!({"server": trace.server}),
        json!({"setup": case.setup.statements}),
        json!({"run": {"number": 7, "case": case, "trace": trace}}),
    ];
    let lines: serde_json::Result<Vec<_>> = lines.iter().map(serde_json::to_vec).collect();
    Ok(lines?.into_iter().flat_map(|line| [line, b"\n".to_vec()].concat()).collect())
}

fn settings() -> Settings {
    Settings {
        started: "2026-11-16 14:31 UTC".into(),
        isopod: "0".into(),
        seed: Seed(7),
        targets: Vec::new(),
        budget: campaign::Budget::Cases(100),
        workers: 2,
        profile: "wide".into(),
        profile_text: String::new(),
        profile_hash: String::new(),
        oracles: vec!["vote".into()],
        confirm: 3,
        keep: 5,
        renew_cases: 50_000,
        renew_bytes: 512 << 20,
        hung_after: 10,
        pin: true,
        settings_swarm: false,
        reduce: 100,
        strategy: String::new(),
        learned: None,
        keep_traces: false,
        judge_as: JudgeOverrides::default(),
    }
}

pub fn targets(_: &Material) -> Vec<Vec<u8>> {
    let texts = [
        "sqlite",
        "mariadb@10.11?innodb_snapshot_isolation=ON&log-bin=OFF",
        "mysql?basedir=/opt/mysql",
        "mysql://user:secret@host:3306/db?sslmode=require",
        "postgres://user@%2Frun%2Fpostgresql/db?port=5433",
        "mysql://root@/run/mysqld/mysqld.sock",
        "postgres://u:p%40ss@[::1]:5432/db",
        "reference?plant=aborted-read,lost-update&one_in=50",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn option_files(_: &Material) -> Vec<Vec<u8>> {
    let texts = [
        "# comment\n[client]\nuser = root\npassword=\"a\\sb # c\"\n!include /etc/x\n[mysql]\npassword='x'\n",
        "[client-mariadb]\r\nuser=me\r\npassword\r\n",
        "localhost:5432:*:user:secret\n*:*:db:us\\:er:pa\\\\ss\n# comment\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn lock_status(_: &Material) -> Vec<Vec<u8>> {
    let text = "\
------------\nTRANSACTIONS\n------------\n\
---TRANSACTION 421, ACTIVE 3 sec starting index read\nmysql tables in use 1, locked 1\n\
LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)\n\
MariaDB thread id 8, OS thread handle 140, query id 20 localhost root Updating\nUPDATE t SET a = 1\n\
------- TRX HAS BEEN WAITING 2 SEC FOR THIS LOCK TO BE GRANTED:\n\
RECORD LOCKS space id 5 page no 3 n bits 8 index PRIMARY of table `test`.`t` trx id 421 lock_mode X locks rec but not gap waiting\n\
Record lock, heap no 2 PHYSICAL RECORD: n_fields 4; compact format; info bits 0\n 0: len 4; hex 80000001; asc     ;;\n\
------------------\n\
TABLE LOCK table `test`.`t` trx id 421 lock mode IX\n\
---TRANSACTION 420, ACTIVE 9 sec\n2 lock struct(s), heap size 1128, 1 row lock(s), undo log entries 1\n\
MySQL thread id 7, OS thread handle 139, query id 18 localhost root\n\
RECORD LOCKS space id 5 page no 3 n bits 8 index PRIMARY of table `test`.`t` trx id 420 lock_mode X\n\
Record lock, heap no 1 PHYSICAL RECORD: n_fields 1; compact format; info bits 0\n 0: len 8; hex 73757072656d756d; asc supremum;;\n\
--------\nFILE I/O\n--------\n";
    vec![text.as_bytes().to_vec()]
}

pub fn mysql_packets(_: &Material) -> Vec<Vec<u8>> {
    let column = b"\x03def\x04test\x01t\x01t\x01a\x01a\x0c\x3f\x00\x0b\x00\x00\x00\x03\x03\x50\x00\x00\x00";
    let packets: [&[u8]; 5] = [b"\x01", column, b"\x011", b"\xfb", b"\xfe\x00\x00\x22\x00\x00\x00"];
    let mut rows = Vec::new();
    for (number, payload) in packets.iter().enumerate() {
        rows.extend((payload.len() as u32).to_le_bytes()[..3].iter().copied().chain([number as u8 + 1]));
        rows.extend_from_slice(payload);
    }
    let done =
        b"\x30\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00(Rows matched: 1  Changed: 1  Warnings: 0 and more";
    let error = b"\x17\x00\x00\x01\xff\x28\x04#42000You have an err";
    vec![rows, done.to_vec(), error.to_vec()]
}

pub fn postgres_messages(_: &Material) -> Vec<Vec<u8>> {
    let logins = BEFORE_LOGIN.iter().copied().chain([&[][..]]);
    let logins = logins.map(|before| [&[0, 7], before, LOGIN].concat());
    let all = ANSWERS.concat();
    let answers = ANSWERS.iter().copied().chain([&all[..]]);
    logins.chain(answers.flat_map(|answer| [1, 2].map(|way| [&[way, 7], answer].concat()))).collect()
}

pub fn proc_files(_: &Material) -> Vec<Vec<u8>> {
    let texts = [
        "8137 (postgres) S 8135 8137 8137 0 -1 4194560 1042 0 0 0 2 1 0 0 20 0 1 0 5316424 220819456 6934 18446744073709551615 94 95 140 0 0 0 0 \
         19935232 84487 0 0 0 17 1 0 0 0 0 0 96 97 98 140731 140732 140733 140734 0\n",
        "12 (ib_srv_lock_to) S 1 12 12 0 -1 1077936192 5 0 0 0 0 0 0 0 20 0 40 0 531 1 1\n",
        "53914 6934 6133 1890 0 890 0\n",
        "Name:\tisopod\nUmask:\t0022\nState:\tR (running)\nVmPeak:\t  220 kB\nVmHWM:\t    5124 kB\nThreads:\t3\n",
        "134925 3309 12\n",
        "8138 8139 8140 \n",
        "         0          0 4294967295\n         1     100000      65536\n",
        "isopod\0hunt\0mysql://root:secret@host:3306/db?sslmode=require\0--target=u:pw@h\0--password=x&y\0",
        "HOME=/root\0ISOPOD_PASSWORD=secret\0MYSQL_PWD=x\0PGPASSWORD=\0PATH=/bin\0",
        "1000\n/dev/shm/x/data\n1763\n5432\n/dev/shm/x/tmp\n\n 4294967295         7\nready   \n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn sqlite_frames(_: &Material) -> Vec<Vec<u8>> {
    let rows = Body::Rows {
        columns: vec![("a".into(), "INT".into()), ("b".into(), String::new())],
        cells: vec![Cell::Integer(-1), Cell::Null, Cell::Real(0.5), Cell::Text(b"x".to_vec())],
    };
    let bodies = [rows, Body::Done { affected: 3 }, Body::Error { code: 5, message: "locked".into() }];
    let replies = bodies.map(|body| frame(&Reply { body, autocommit: true }).ok());
    let requests = [Request::Open(7), Request::Run("SELECT 1".into()), Request::Reopen];
    let requests = requests.map(|request| frame(&request).ok());
    let one: Vec<Vec<u8>> = replies.into_iter().chain(requests).flatten().collect();
    let all = one.concat();
    one.into_iter().chain([all]).collect()
}

pub fn runs(material: &Material) -> Vec<Vec<u8>> {
    let whole = |(execution, found): &(Execution, Option<Finding>)| {
        let finding = found.clone()?;
        let (case, trace) = (execution.case.case().clone(), execution.trace.clone());
        serde_json::to_vec(&Filed { case, trace, finding }).ok()
    };
    material.runs.iter().filter_map(whole).collect()
}
