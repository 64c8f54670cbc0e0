//! What the servers do: scenes with names, and talks that are drawn from a seed.

use std::time::Duration;

use model::{Seed, seed::Rng};

use super::{mysql, postgres, talk::PASSWORD};

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Mysql,
    Postgres,
}

impl Protocol {
    /// How its address begins.
    pub fn scheme(self) -> &'static str {
        match self {
            Protocol::Mysql => "mysql",
            Protocol::Postgres => "postgres",
        }
    }
}

/// At which place a server is not honest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The first words, in MySQL's protocol.
    Greeting,
    /// Where the client asks for encryption.
    Encryption,
    /// Where it is let in.
    Login,
    /// Where it sends a statement that holds this.
    Statement(&'static str),
}

/// What a server says in the middle of a login, each time the client has said something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginWord {
    Bytes(Vec<u8>),
    /// The challenge of SCRAM, which repeats a part of what the client said.
    ScramContinue,
}

/// What a server does there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trick {
    None,
    /// So many bytes of the truth, and then the end of the connection.
    Cut(usize),
    /// So many bytes of the truth, and then nothing.
    Stop(usize),
    /// The truth with other bytes at these places.
    Change(Vec<(usize, u8)>),
    /// This instead, and all else as if it had been the truth.
    Say(Vec<u8>),
    /// This instead, and then the end.
    Last(Vec<u8>),
    /// First the one, and then the other without end.
    Endless {
        first: Vec<u8>,
        then: Vec<u8>,
    },
    /// The same, slowly.
    Drip {
        first: Vec<u8>,
        then: Vec<Vec<u8>>,
        pause: Duration,
    },
    /// After the beginning of a result one row of 16 MB packets without end, of which the first has this number.
    EndlessPackets {
        first: Vec<u8>,
        number: u8,
    },
    /// Instead of letting the client in at once.
    Script(Vec<LoginWord>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    pub name: String,
    pub speaks: Protocol,
    pub at: Place,
    pub trick: Trick,
    /// What stands in the address beside the time limits.
    pub options: &'static str,
    /// The exit code, if it must be this one.
    pub code: Option<i32>,
    /// What it must print.
    pub says: &'static str,
}

/// Small enough that a talk without end is short.
const SMALL: &str = "largest_answer=16";
/// As a user has it who says nothing.
const USUAL: &str = "";

impl Scene {
    fn new(speaks: Protocol, name: &str, at: Place, trick: Trick) -> Scene {
        let name = format!("{}: {name}", speaks.scheme());
        Scene { name, speaks, at, trick, options: SMALL, code: None, says: "" }
    }

    /// It must fail and say this.
    fn fails(self, says: &'static str) -> Scene {
        Scene { code: Some(2), says, ..self }
    }

    /// It must come to an end without an error.
    fn passes(self) -> Scene {
        Scene { code: Some(0), ..self }
    }

    fn with(self, options: &'static str) -> Scene {
        Scene { options, ..self }
    }
}

/// Every scene.
pub fn named() -> Vec<Scene> {
    let mut all = Vec::new();
    for speaks in [Protocol::Mysql, Protocol::Postgres] {
        let scene = |name: &str, at, trick| Scene::new(speaks, name, at, trick);
        all.push(scene("honest", Place::Login, Trick::None).passes());
        all.push(scene("silent when let in", Place::Login, Trick::Stop(0)).fails("does not answer"));
        all.push(scene("gone when let in", Place::Login, Trick::Cut(0)).fails("closed the connection"));
        all.push(scene("garbage when let in", Place::Login, Trick::Last(garbage(1, 300))).fails("error"));
    }
    all.extend(of_mysql());
    all.extend(of_postgres());
    all
}

/// Honest talks that end after each of their bytes: of the greeting, the login, an answer to a statement of ours and to one of the case.
pub fn cuts() -> Vec<Scene> {
    let places = [
        (Protocol::Mysql, Place::Greeting, mysql::greeting(false)),
        (Protocol::Mysql, Place::Login, mysql::packet(2, &mysql::OK)),
        (Protocol::Mysql, Place::Statement("VERSION()"), mysql::truth("SELECT VERSION()")),
        (Protocol::Mysql, Place::Statement("WHERE a > 0"), mysql::truth("SELECT a FROM t WHERE a > 0")),
        (Protocol::Postgres, Place::Login, postgres::welcome()),
        (
            Protocol::Postgres,
            Place::Statement("FROM pg_settings"),
            postgres::truth("SELECT FROM pg_settings"),
        ),
        (Protocol::Postgres, Place::Statement("WHERE a > 0"), postgres::truth("SELECT a FROM t WHERE a > 0")),
    ];
    let cut = |(speaks, place, truth): &(Protocol, Place, Vec<u8>), at: usize| {
        (at <= truth.len())
            .then(|| Scene::new(*speaks, &format!("cut, {place:?}, {at}"), place.clone(), Trick::Cut(at)))
    };
    // From all places in turn, so that a few of them are a few of each.
    let longest = places.iter().map(|(.., truth)| truth.len()).max().unwrap_or(0);
    (0..=longest).flat_map(|at| places.iter().filter_map(move |place| cut(place, at))).collect()
}

/// Where endless answers are tried: a statement of our own at the beginning, one in the middle, one of the case.
fn statements(speaks: Protocol) -> [(&'static str, Place); 3] {
    let (first, second) = match speaks {
        Protocol::Mysql => ("VERSION()", "CREATE TABLE t("),
        Protocol::Postgres => ("FROM pg_settings", "CREATE TABLE t("),
    };
    [
        ("own statement", Place::Statement(first)),
        ("setup", Place::Statement(second)),
        ("step", Place::Statement("WHERE a > 0")),
    ]
}

fn of_mysql() -> Vec<Scene> {
    let scene = |name: &str, at, trick| Scene::new(Protocol::Mysql, name, at, trick);
    let at = Place::Statement;
    let (head, number) = mysql::head(1);
    let mut all = Vec::new();
    for (place, at) in statements(Protocol::Mysql) {
        let endless = |name: &str, payload: &[u8]| {
            let then = mysql::round(number, payload).repeat(64);
            let trick = Trick::Endless { first: head.clone(), then };
            scene(&format!("endless {name}, {place}"), at.clone(), trick)
        };
        all.push(endless("rows", &mysql::row(&[Some("1234567890")])));
        all.push(endless("NULL rows", &mysql::row(&[None])));
        all.push(endless("NULL rows of the usual size", &mysql::row(&[None])).with(USUAL));
        all.push(endless("empty rows", &mysql::row(&[Some("")])));
        all.push(endless("large rows of the usual size", &mysql::row(&[Some(&"x".repeat(250))])).with(USUAL));
        let row = mysql::packet(number, &mysql::row(&[Some("1")]));
        let rows = (0..=255u8).map(|more| {
            let mut row = row.clone();
            row[3] = number.wrapping_add(more);
            row
        });
        let trick =
            Trick::Drip { first: head.clone(), then: rows.collect(), pause: Duration::from_millis(300) };
        all.push(scene(&format!("a row now and then, {place}"), at.clone(), trick));
        let trick = Trick::EndlessPackets { first: head.clone(), number };
        let packets =
            |size: &str| scene(&format!("one row of many packets{size}, {place}"), at.clone(), trick.clone());
        all.push(packets("").fails("larger"));
        all.push(packets(" of the usual size").with(USUAL));
        let many = mysql::packet(1, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        let trick = Trick::Endless { first: many, then: mysql::round(2, &mysql::definition()).repeat(64) };
        all.push(scene(&format!("endless columns, {place}"), at.clone(), trick).fails("4,096 columns"));
        all.push(scene(&format!("no answer, {place}"), at.clone(), Trick::Stop(0)));
        all.push(scene(&format!("half an answer, {place}"), at.clone(), Trick::Stop(9)));
        let wrong = Trick::Say(mysql::packet(7, &mysql::OK));
        all.push(scene(&format!("a wrong number, {place}"), at.clone(), wrong).fails("wrong number"));
        let local = Trick::Say(mysql::packet(1, b"\xfb/etc/passwd"));
        all.push(
            scene(&format!("a file of ours is asked for, {place}"), at.clone(), local)
                .fails("cannot be read"),
        );
        let text = format!("no such user guest with {PASSWORD}, sorry");
        all.push(scene(&format!("an error with the password, {place}"), at, Trick::Say(mysql::error(&text))));
    }
    let wrong = Trick::Say(mysql::packet(7, &mysql::OK));
    all.push(scene("a wrong number, final state", at("SELECT * FROM"), wrong).fails("wrong number"));
    for (name, cells) in [
        ("an empty version", [Some(""), Some("")]),
        ("no version", [None, None]),
        ("a name for a version", [Some("vitess"), Some("")]),
        ("a version that is too large", [Some("99999999999.1"), Some("")]),
    ] {
        let trick = Trick::Say(mysql::result(2, &[&cells]));
        all.push(scene(name, at("VERSION()"), trick).fails("no version that Isopod can read"));
    }
    for part in [
        "VERSION()",
        "SHOW GLOBAL VARIABLES",
        "CURRENT_USER()",
        "GET_LOCK",
        "schemata",
        "@@SESSION.sql_mode",
        "@@SESSION.autocommit",
        "transaction_isolation",
        "information_schema.tables",
    ] {
        for (name, bytes) in [
            ("no rows", mysql::result(2, &[])),
            ("no columns", mysql::result(0, &[])),
            ("too few columns", mysql::result(1, &[&[None]])),
            ("no result", mysql::packet(1, &mysql::OK)),
        ] {
            all.push(scene(&format!("{name} for {part}"), at(part), Trick::Say(bytes)));
        }
    }
    let script = |name: &str, words: &[&[u8]]| {
        let words = words.iter().map(|word| LoginWord::Bytes(word.to_vec())).collect();
        scene(name, Place::Login, Trick::Script(words))
    };
    all.push(
        script("the password itself is asked for", &[b"\xfemysql_clear_password\0"]).fails("login method"),
    );
    let challenge = b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0";
    all.push(
        script("the password is not cached", &[challenge, &[1, 4]]).fails("only be sent over an encrypted"),
    );
    all.push(script("an unknown turn", &[&[1, 4]]).fails("turn"));
    let endless = Trick::Endless { first: Vec::new(), then: mysql::round(2, &[1, 3]).repeat(64) };
    all.push(scene("endless packets before the login is over", Place::Login, endless).fails("64 KB"));
    let large = Trick::Endless { first: vec![0xff, 0xff, 0xff, 2], then: vec![1; 1 << 16] };
    all.push(scene("a large packet before the login is over", Place::Login, large).fails("64 KB"));
    let text = format!("Access denied for {PASSWORD}");
    let mut denied = mysql::error(&text);
    denied[3] = 2;
    all.push(scene("a login error with the password", Place::Login, Trick::Last(denied)).fails("***"));
    all.push(scene("garbage at once", Place::Greeting, Trick::Last(garbage(2, 500))).fails("error"));
    all.push(
        scene("TLS is offered and broken", Place::Encryption, Trick::Cut(0)).passes_with("is not encrypted"),
    );
    let broken = Trick::Last(garbage(3, 400));
    all.push(
        scene("TLS is offered and garbage", Place::Encryption, broken.clone())
            .passes_with("is not encrypted"),
    );
    all.push(
        scene("TLS is offered, demanded and broken", Place::Encryption, broken)
            .with("sslmode=require")
            .fails("cannot be encrypted"),
    );
    all.push(
        scene("TLS is demanded and not offered", Place::Login, Trick::None)
            .with("sslmode=require")
            .fails("offers no encryption"),
    );
    all
}

fn of_postgres() -> Vec<Scene> {
    let scene = |name: &str, at, trick| Scene::new(Protocol::Postgres, name, at, trick);
    let at = Place::Statement;
    let mut all = Vec::new();
    for (place, at) in statements(Protocol::Postgres) {
        let endless = |name: &str, columns: usize, block: Vec<u8>| {
            let then = block.repeat(4096);
            let trick = Trick::Endless { first: postgres::head(columns), then };
            scene(&format!("endless {name}, {place}"), at.clone(), trick)
        };
        all.push(endless("rows", 1, postgres::row(&[Some("1234567890")])));
        all.push(endless("NULL rows", 1, postgres::row(&[None])));
        all.push(endless("NULL rows of the usual size", 1, postgres::row(&[None])).with(USUAL));
        all.push(endless("rows without columns", 0, postgres::row(&[])));
        all.push(endless("rows without columns of the usual size", 0, postgres::row(&[])).with(USUAL));
        all.push(endless("notices", 1, postgres::notice()));
        all.push(endless("notices of the usual size", 1, postgres::notice()).with(USUAL));
        all.push(endless("results", 1, [postgres::head(1), postgres::message(b'C', b"SELECT 0\0")].concat()));
        let (first, row) = (postgres::head(1), vec![postgres::row(&[Some("1")])]);
        let trick = Trick::Drip { first, then: row, pause: Duration::from_millis(300) };
        all.push(scene(&format!("a row now and then, {place}"), at.clone(), trick));
        let trick = Trick::Drip {
            first: Vec::new(),
            then: vec![postgres::notice()],
            pause: Duration::from_millis(300),
        };
        all.push(scene(&format!("a notice now and then, {place}"), at.clone(), trick));
        let first = [postgres::head(1), vec![b'D', 0x40, 0, 0, 0]].concat();
        let trick = Trick::Endless { first, then: vec![0; 1 << 16] };
        all.push(scene(&format!("one row of 1 GB, {place}"), at.clone(), trick).with(USUAL).fails("larger"));
        let trick = Trick::Say(postgres::head(4097));
        all.push(scene(&format!("too many columns, {place}"), at.clone(), trick).fails("4,096 columns"));
        let trick = Trick::Say(postgres::row(&[Some("1")]));
        all.push(
            scene(&format!("a row before its columns, {place}"), at.clone(), trick).fails("cannot be read"),
        );
        all.push(scene(&format!("no answer, {place}"), at.clone(), Trick::Stop(0)));
        all.push(scene(&format!("half an answer, {place}"), at.clone(), Trick::Stop(9)));
        let text = format!("no such user guest with {PASSWORD}, sorry");
        let bytes = [postgres::error("ERROR", "28000", &text), postgres::message(b'Z', b"I")].concat();
        all.push(scene(&format!("an error with the password, {place}"), at, Trick::Say(bytes)));
    }
    for part in [
        "FROM pg_settings",
        "has_database_privilege",
        "pg_namespace",
        "pg_try_advisory_lock",
        "default_transaction_isolation",
        "relname",
    ] {
        for (name, bytes) in [
            ("no rows", postgres::result(3, &[])),
            ("no columns", postgres::result(0, &[&[]])),
            ("too few columns", postgres::result(1, &[&[None]])),
            ("NULL", postgres::result(3, &[&[None, None, None]])),
            ("no result", postgres::done("OK")),
        ] {
            all.push(scene(&format!("{name} for {part}"), at(part), Trick::Say(bytes)));
        }
    }
    let script = |name: &str, words: &[LoginWord]| scene(name, Place::Login, Trick::Script(words.to_vec()));
    let bytes = LoginWord::Bytes;
    let scram = || bytes(postgres::authentication(10, b"SCRAM-SHA-256\0\0"));
    let clear = || bytes(postgres::authentication(3, &[]));
    all.push(script("the password itself is asked for", &[clear()]).fails("only be sent over an encrypted"));
    all.push(script("the same after SCRAM had begun", &[scram(), clear()]).fails("turn"));
    all.push(
        script("the same after the challenge of SCRAM", &[scram(), LoginWord::ScramContinue, clear()])
            .fails("turn"),
    );
    let digest = bytes(postgres::authentication(5, b"salt"));
    all.push(script("a digest after SCRAM had begun", &[scram(), digest]).fails("turn"));
    all.push(script("let in without the proof of SCRAM", &[scram()]).fails("did not prove"));
    all.push(
        script("let in without the end of SCRAM", &[scram(), LoginWord::ScramContinue])
            .fails("did not prove"),
    );
    let ready = Trick::Last(postgres::message(b'Z', b"I"));
    all.push(scene("ready before it lets us in", Place::Login, ready).fails("turn"));
    let endless = Trick::Endless { first: Vec::new(), then: postgres::notice().repeat(1000) };
    all.push(scene("endless notices before the login is over", Place::Login, endless).fails("64 KB"));
    let large = Trick::Endless { first: vec![b'N', 0x3f, 0, 0, 0], then: vec![1; 1 << 16] };
    all.push(scene("a large message before the login is over", Place::Login, large).fails("64 KB"));
    let text = format!("denied for {PASSWORD}");
    let denied = Trick::Last(postgres::error("FATAL", "28000", &text));
    all.push(scene("a login error with the password", Place::Login, denied).fails("***"));
    let broken = Trick::Last([&b"S"[..], &garbage(4, 400)].concat());
    all.push(
        scene("TLS is offered and garbage", Place::Encryption, broken.clone())
            .passes_with("is not encrypted"),
    );
    let gone = Trick::Last(b"S".to_vec());
    all.push(scene("TLS is offered and broken", Place::Encryption, gone).passes_with("is not encrypted"));
    all.push(
        scene("TLS is offered, demanded and broken", Place::Encryption, broken)
            .with("sslmode=require")
            .fails("cannot be encrypted"),
    );
    all.push(
        scene("TLS is demanded and not offered", Place::Login, Trick::None)
            .with("sslmode=require")
            .fails("offers no encryption"),
    );
    let other = Trick::Last(b"X".to_vec());
    all.push(scene("neither yes nor no to TLS", Place::Encryption, other).fails("turn"));
    all
}

impl Scene {
    /// It must go through, and say this.
    fn passes_with(self, says: &'static str) -> Scene {
        Scene { says, ..self.passes() }
    }
}

/// Bytes that mean nothing.
fn garbage(seed: u64, count: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| rng.bits() as u8).collect()
}

/// The talk of this number: an honest one that is cut, stopped or changed at a place that is drawn.
pub fn drawn(seed: Seed, number: u64) -> Scene {
    let mut rng = seed.rng("hostile", number);
    let speaks = *rng.pick(&[Protocol::Mysql, Protocol::Postgres]);
    let mysql = [
        Place::Greeting,
        Place::Login,
        Place::Statement("SET NAMES"),
        Place::Statement("VERSION()"),
        Place::Statement("SHOW GLOBAL VARIABLES"),
        Place::Statement("CURRENT_USER()"),
        Place::Statement("GET_LOCK"),
        Place::Statement("CREATE DATABASE"),
        Place::Statement("performance_schema."),
        Place::Statement("@@SESSION"),
        Place::Statement("transaction_isolation"),
        Place::Statement("information_schema."),
        Place::Statement("INSERT INTO t"),
        Place::Statement("WHERE a > 0"),
        Place::Statement("UPDATE t"),
        Place::Statement("SELECT * FROM"),
        Place::Statement(""),
    ];
    let postgres = [
        Place::Encryption,
        Place::Login,
        Place::Statement("FROM pg_settings"),
        Place::Statement("has_database_privilege"),
        Place::Statement("pg_namespace"),
        Place::Statement("advisory"),
        Place::Statement("CREATE SCHEMA"),
        Place::Statement("default_transaction_isolation"),
        Place::Statement("relname"),
        Place::Statement("INSERT INTO t"),
        Place::Statement("WHERE a > 0"),
        Place::Statement("UPDATE t"),
        Place::Statement("SELECT * FROM"),
        Place::Statement(""),
    ];
    let at = match speaks {
        Protocol::Mysql => rng.pick(&mysql).clone(),
        Protocol::Postgres => rng.pick(&postgres).clone(),
    };
    let trick = match rng.below(10) {
        0..3 => Trick::Cut(rng.below(256)),
        3 => Trick::Stop(rng.below(256)),
        4 => {
            let length = rng.between(1, 600);
            let bytes = garbage(rng.bits(), length);
            if rng.ratio(1, 2) { Trick::Say(bytes) } else { Trick::Last(bytes) }
        }
        _ => {
            let count = rng.between(1, 4);
            let odd = [0, 1, 0x7f, 0x80, 0xfb, 0xfc, 0xfd, 0xfe, 0xff];
            let byte = |rng: &mut Rng| if rng.ratio(1, 2) { *rng.pick(&odd) } else { rng.bits() as u8 };
            // The beginning says what the rest means.
            let place = |rng: &mut Rng| if rng.ratio(1, 2) { rng.below(12) } else { rng.below(256) };
            Trick::Change((0..count).map(|_| (place(&mut rng), byte(&mut rng))).collect())
        }
    };
    let name = format!("drawn {number} of seed {seed}, {at:?}, {}", short(&trick));
    Scene::new(speaks, &name, at, trick)
}

fn short(trick: &Trick) -> String {
    match trick {
        Trick::Cut(_) | Trick::Stop(_) | Trick::Change(_) => format!("{trick:?}"),
        Trick::Say(_) => "garbage".to_string(),
        Trick::Last(_) => "garbage, and the end".to_string(),
        Trick::None
        | Trick::Endless { .. }
        | Trick::Drip { .. }
        | Trick::EndlessPackets { .. }
        | Trick::Script(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scenes_have_names_of_their_own_and_talks_follow_from_their_seed() {
        let all = named();
        let names: BTreeSet<&str> = all.iter().map(|scene| scene.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() > 100);
        assert_eq!(drawn(Seed(7), 3), drawn(Seed(7), 3));
        assert_ne!(drawn(Seed(7), 3), drawn(Seed(7), 4));
    }
}
