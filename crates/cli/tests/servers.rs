//! Real servers: fetched, started, killed, and gone afterwards.
//!
//! Where packages cannot be fetched, a test says SKIPPED and why; with CI=true that is a failure.

mod common;

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use common::{EXE, installed, skip, target, whole};
use provision::{ErrorKind, Installed, Instance, Progress, StartOptions, Store};
use tempfile::TempDir;

/// Tests that need a process of their own run this binary again with this variable set.
const CHILD: &str = "ISOPOD_TEST_CHILD";

fn start(installed: &Installed, text: &str) -> Instance {
    installed
        .start(Path::new(EXE), &target(text), &StartOptions::default())
        .unwrap_or_else(|error| panic!("{}", whole(&error)))
}

/// One query as root on a fresh connection: the text of its first column, row by row.
fn ask(stream: &mut (impl Read + Write), sql: &str) -> Vec<String> {
    read_packet(stream);
    // LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH; an empty password needs no exchange.
    let mut login = (0x1u32 | 0x200 | 0x8000 | 0x80000).to_le_bytes().to_vec();
    login.extend([0, 0, 0, 1, 45]);
    login.extend([0; 23]);
    login.extend(b"root\0\0caching_sha2_password\0");
    write_packet(stream, 1, &login);
    let mut answer = read_packet(stream);
    if answer[0] == 0xfe {
        write_packet(stream, 3, &[]);
        answer = read_packet(stream);
    }
    assert_eq!(answer[0], 0, "{}", String::from_utf8_lossy(&answer));
    write_packet(stream, 0, &[&[3], sql.as_bytes()].concat());
    let head = read_packet(stream);
    assert!(head[0] != 0xff, "{}", String::from_utf8_lossy(&head));
    if head[0] == 0 {
        return Vec::new();
    }
    let is_eof = |packet: &[u8]| packet[0] == 0xfe && packet.len() < 9;
    while !is_eof(&read_packet(stream)) {}
    let mut rows = Vec::new();
    loop {
        let row = read_packet(stream);
        if is_eof(&row) {
            return rows;
        }
        rows.push(String::from_utf8_lossy(&row[1..1 + row[0] as usize]).into_owned());
    }
}

fn read_packet(stream: &mut impl Read) -> Vec<u8> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut body = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    stream.read_exact(&mut body).unwrap();
    body
}

fn write_packet(stream: &mut impl Write, number: u8, body: &[u8]) {
    let mut head = (body.len() as u32).to_le_bytes();
    head[3] = number;
    stream.write_all(&[&head, body].concat()).unwrap();
}

/// Logs in to PostgreSQL and sends a query: the text of its first column, row by row.
fn ask_postgres(stream: &mut (impl Read + Write), sql: &str) -> Vec<String> {
    send_to_postgres(stream, sql);
    let mut rows = Vec::new();
    loop {
        let (kind, body) = read_message(stream);
        match kind {
            // The number of columns, and the length of the first.
            b'D' => {
                let length = u32::from_be_bytes(body[2..6].try_into().unwrap()) as usize;
                rows.push(String::from_utf8_lossy(&body[6..6 + length]).into_owned());
            }
            b'E' => panic!("{}", String::from_utf8_lossy(&body)),
            b'Z' => return rows,
            _ => {}
        }
    }
}

/// Logs in to PostgreSQL and sends a query, without waiting for the answer.
fn send_to_postgres(stream: &mut (impl Read + Write), sql: &str) {
    let hello = [&196_608u32.to_be_bytes()[..], b"user\0postgres\0database\0postgres\0\0"].concat();
    stream.write_all(&[&(hello.len() as u32 + 4).to_be_bytes()[..], &hello].concat()).unwrap();
    while read_message(stream).0 != b'Z' {}
    let query = [sql.as_bytes(), b"\0"].concat();
    stream.write_all(&[b"Q", &(query.len() as u32 + 4).to_be_bytes()[..], &query].concat()).unwrap();
}

fn read_message(stream: &mut impl Read) -> (u8, Vec<u8>) {
    let mut head = [0; 5];
    stream.read_exact(&mut head).unwrap();
    let mut body = vec![0; u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4];
    stream.read_exact(&mut body).unwrap();
    (head[0], body)
}

/// Keeps a session of PostgreSQL at work for as long as it lives.
fn busy(instance: &Instance) -> UnixStream {
    let mut stream = UnixStream::connect(instance.socket()).unwrap();
    send_to_postgres(&mut stream, "SELECT count(*) FROM generate_series(1, 100000000000) n");
    stream
}

/// A process and all that it has started.
fn family(pid: u32) -> Vec<u32> {
    let mut all = execute::os::family(pid);
    all.retain(|&one| process_exists(one));
    all
}

/// The System V shared memory of a PostgreSQL server, as the system lists it.
fn segment(instance: &Instance) -> String {
    let text = fs::read_to_string(instance.folder().join("data/postmaster.pid")).unwrap();
    text.lines().nth(6).unwrap().split_whitespace().nth(1).unwrap().to_string()
}

fn segment_exists(number: &str) -> bool {
    let list = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    list.lines().any(|line| line.split_whitespace().nth(1) == Some(number))
}

fn value(instance: &Instance, expression: &str) -> String {
    let mut stream = UnixStream::connect(instance.socket()).unwrap();
    if instance.superuser() == "postgres" {
        return ask_postgres(&mut stream, &format!("SELECT {expression}")).remove(0);
    }
    ask(&mut stream, &format!("SELECT {expression}")).remove(0)
}

fn process_exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// On a machine with more work than processors the clock measures the others: then the processor time that a
/// process has used counts instead. Otherwise a time that loses every comparison.
fn under_load(pid: u32) -> Duration {
    let load = fs::read_to_string("/proc/loadavg").unwrap();
    let load: f64 = load.split(' ').next().unwrap().parse().unwrap();
    let processors = std::thread::available_parallelism().unwrap().get();
    if load < processors as f64 {
        return Duration::MAX;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // User and system time, in hundredths of a second.
    Duration::from_millis(10 * (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()))
}

/// Waits for something that must become true, and fails if it does not.
fn eventually(within: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < within, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs one test of this file again, in a process of its own with these variables.
fn again(test: &str, variables: &[(&str, &Path)]) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--include-ignored"]).env(CHILD, "1");
    for (name, value) in variables {
        command.env(name, value);
    }
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// One that the server's own user may enter.
fn fresh_folder() -> TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap()
}

/// Nothing in the cache that is not whole: no folder in progress, no installation.
fn half_done(cache: &Path) -> Vec<PathBuf> {
    let mut left: Vec<PathBuf> = Vec::new();
    for sub in ["tmp", "installs"] {
        left.extend(fs::read_dir(cache.join(sub)).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    left
}

#[test]
fn both_servers_start_in_under_a_second_with_the_vendors_defaults() {
    for (name, log_bin, performance_schema) in [("mariadb@10.11", "0", "0"), ("mysql@9.7", "1", "1")] {
        let Some(installed) = installed(name) else { return };
        let (mut wall, mut best) = (Duration::MAX, Duration::MAX);
        for _ in 0..4 {
            let begin = Instant::now();
            let mut instance = start(&installed, name);
            wall = wall.min(begin.elapsed());
            best = best.min(wall).min(under_load(instance.pid()));
            assert!(instance.alive());
            assert!(value(&instance, "version()").starts_with(&installed.version().to_string()));
            assert_eq!(value(&instance, "@@log_bin"), log_bin);
            assert_eq!(value(&instance, "@@performance_schema"), performance_schema);
            assert_eq!(value(&instance, "@@innodb_lock_wait_timeout"), "50");
            assert_eq!(value(&instance, "@@innodb_stats_auto_recalc"), "0");
            assert_eq!(value(&instance, "@@skip_networking"), "1");
            assert!(instance.flags().iter().any(|flag| flag == "--innodb-flush-log-at-trx-commit=0"));
            let (pid, folder) = (instance.pid(), instance.folder().to_path_buf());
            drop(instance);
            assert!(!process_exists(pid) && !folder.exists());
        }
        let (all, template) = (installed.manifest().bytes >> 20, installed.manifest().template_bytes >> 20);
        println!(
            "{name}: started in {wall:?} ({best:?}); {all} MiB installed, of it {template} MiB template"
        );
        assert!(best < Duration::from_secs(1), "{name} took {best:?}");
    }
}

#[test]
fn postgres_starts_with_the_vendors_defaults_and_without_privileges() {
    let Some(installed) = installed("postgres@18") else { return };
    let options = StartOptions { tcp: true, ..StartOptions::default() };
    let begin = Instant::now();
    let mut instance = installed.start(Path::new(EXE), &target("postgres@18"), &options).unwrap();
    println!("started in {:?}", begin.elapsed());
    assert!(instance.alive());
    for (setting, expected) in [
        ("default_transaction_isolation", "read committed"),
        ("autovacuum", "off"),
        ("deadlock_timeout", "1s"),
        ("lock_timeout", "0"),
        ("server_encoding", "UTF8"),
        ("listen_addresses", "127.0.0.1"),
    ] {
        assert_eq!(value(&instance, &format!("current_setting('{setting}')")), expected, "{setting}");
    }
    std::net::TcpStream::connect(("127.0.0.1", instance.port().unwrap())).unwrap();
    let plain = start(&installed, "postgres@18?default_transaction_isolation=serializable");
    assert_eq!(value(&plain, "current_setting('default_transaction_isolation')"), "serializable");
    assert_eq!(value(&plain, "current_setting('listen_addresses')"), "");
}

#[test]
fn an_old_server_starts_with_its_own_defaults() {
    let Some(installed) = installed("mysql@5.6") else { return };
    let instance = start(&installed, "mysql@5.6");
    for (expression, expected) in [
        ("@@log_bin", "0"),
        ("@@sql_mode", "NO_ENGINE_SUBSTITUTION"),
        ("@@innodb_lock_wait_timeout", "50"),
        ("@@thread_cache_size", "0"),
        ("CURRENT_USER()", "root@localhost"),
        ("(SELECT COUNT(*) FROM mysql.user WHERE User = '')", "0"),
    ] {
        assert_eq!(value(&instance, expression), expected, "{expression}");
    }
}

#[test]
fn settings_of_the_target_are_in_force() {
    for (text, expression, expected) in [
        ("mysql@9.7?log_bin=OFF", "@@log_bin", "0"),
        ("mysql@9.7?log_bin=ON", "@@log_bin", "1"),
        ("mysql@9.7?innodb_lock_wait_timeout=3", "@@innodb_lock_wait_timeout", "3"),
        ("mariadb@10.11?log_bin=ON", "@@log_bin", "1"),
        ("mariadb@10.11?log_bin=OFF", "@@log_bin", "0"),
        ("mariadb@10.11?innodb_snapshot_isolation=ON", "@@innodb_snapshot_isolation", "1"),
        ("mariadb@10.11", "@@innodb_snapshot_isolation", "0"),
    ] {
        let Some(installed) = installed(text) else { return };
        assert_eq!(value(&start(&installed, text), expression), expected, "{text}");
    }
}

#[test]
fn a_setting_that_the_server_does_not_know_is_named() {
    for text in ["mysql@9.7?no_such_setting=4", "mariadb@10.11?no_such_setting=4"] {
        let Some(installed) = installed(text) else { return };
        let error = installed.start(Path::new(EXE), &target(text), &StartOptions::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.title.ends_with("does not take the setting no_such_setting=4"), "{}", whole(&error));
        assert!(error.help.iter().any(|line| line.contains("unknown variable")), "{}", whole(&error));
        let error = installed.start(Path::new(EXE), &target("mysql?datadir=/"), &StartOptions::default());
        assert_eq!(error.unwrap_err().kind, ErrorKind::Setting);
    }
}

#[test]
fn a_setting_that_postgres_does_not_take_is_named() {
    let Some(installed) = installed("postgres@18") else { return };
    for (setting, why) in [
        ("no_such_setting=4", "unrecognized configuration parameter"),
        ("enable_seqscan=perhaps", "requires a Boolean value"),
    ] {
        let text = format!("postgres@18?{setting}");
        let error = installed.start(Path::new(EXE), &target(&text), &StartOptions::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.title.ends_with(&format!("does not take the setting {setting}")), "{}", whole(&error));
        assert!(error.help.iter().any(|line| line.contains(why)), "{}", whole(&error));
    }
    let port = target("postgres@18?port=1");
    let error = installed.start(Path::new(EXE), &port, &StartOptions::default());
    assert_eq!(error.unwrap_err().kind, ErrorKind::Setting);
}

#[test]
fn no_server_runs_as_root_nor_as_anybody_with_an_account() {
    let accounts = fs::read_to_string("/etc/passwd").unwrap();
    for name in ["mariadb@10.11", "mysql@9.7", "mysql@5.6", "postgres@18"] {
        let Some(installed) = installed(name) else { continue };
        let instance = start(&installed, name);
        let status = fs::read_to_string(format!("/proc/{}/status", instance.pid())).unwrap();
        let ids = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap().to_string();
        for line in ["Uid:", "Gid:", "Groups:"] {
            assert!(!ids(line).split_whitespace().any(|id| id == "0"), "{name}: {status}");
        }
        let user = ids("Uid:").split_whitespace().nth(1).unwrap().to_string();
        let ours = fs::metadata(instance.folder()).unwrap().uid().to_string();
        let has = accounts.lines().any(|line| line.split(':').nth(2) == Some(&user));
        assert!(user == ours || !has, "{name} runs as {user}");
        // Who runs here, and its port, is nobody else's business.
        let record = instance.folder().with_added_extension("json");
        assert_eq!(fs::metadata(record).unwrap().mode() & 0o77, 0, "{name}");
    }
}

#[test]
fn several_run_at_once_and_tcp_only_if_asked() {
    let Some(installed) = installed("mariadb@10.11") else { return };
    let options = StartOptions { tcp: true, ..StartOptions::default() };
    let first = installed.start(Path::new(EXE), &target("mariadb@10.11"), &options).unwrap();
    let others: Vec<Instance> = (0..3).map(|_| start(&installed, "mariadb@10.11")).collect();
    std::net::TcpStream::connect(("127.0.0.1", first.port().unwrap())).unwrap();
    for other in &others {
        assert_eq!(other.port(), None);
        assert_eq!(value(other, "CURRENT_USER()"), "root@localhost");
    }
    let mut pids: Vec<u32> = others.iter().map(Instance::pid).collect();
    pids.dedup();
    assert_eq!(pids.len(), 3);
}

#[test]
fn a_server_killed_a_hundred_times_leaves_nothing() {
    for (name, times) in [("mariadb@10.11", 90), ("mysql@9.7", 10)] {
        let Some(installed) = installed(name) else { return };
        for _ in 0..times {
            let mut instance = start(&installed, name);
            let (pid, folder) = (instance.pid(), instance.folder().to_path_buf());
            let mut stream = UnixStream::connect(instance.socket()).unwrap();
            read_packet(&mut stream);
            assert!(instance.alive());
            kill(pid);
            // The connection breaks; from then on the answer must be no.
            let _ = stream.read(&mut [0; 16]);
            assert!(!instance.alive(), "a dead server is called alive");
            assert!(instance.error_log().contains("ready for connections"));
            eventually(Duration::from_secs(2), "the keeper says how", || {
                instance.ended().is_some_and(|how| how.contains("SIGKILL"))
            });
            assert!(folder.exists());
            drop(instance);
            assert!(!process_exists(pid) && !folder.exists());
            assert!(!folder.with_added_extension("lock").exists());
            assert!(!folder.with_added_extension("json").exists());
        }
    }
}

#[test]
fn a_killed_postgres_leaves_nothing() {
    let Some(installed) = installed("postgres@18") else { return };
    for round in 0..10 {
        let mut instance = start(&installed, "postgres@18");
        let _busy = busy(&instance);
        let (all, folder) = (family(instance.pid()), instance.folder().to_path_buf());
        let segment = segment(&instance);
        assert!(all.len() > 3 && segment_exists(&segment), "{all:?}");
        // Half of them end by themselves, half in mid-flight.
        if round % 2 == 0 {
            kill(instance.pid());
            eventually(Duration::from_secs(2), "the keeper says how", || {
                instance.ended().is_some_and(|how| how.contains("SIGKILL"))
            });
            assert!(!instance.alive());
        }
        drop(instance);
        assert!(!all.iter().any(|&pid| process_exists(pid)));
        assert!(!folder.exists() && !segment_exists(&segment));
    }
}

/// Starts one server of each kind, says so, and waits to be killed.
#[test]
#[ignore = "a part of another test"]
fn owner() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let servers = KINDS.map(|name| start(&installed(name).unwrap(), name));
    let _busy = busy(&servers[3]);
    for server in &servers {
        for pid in family(server.pid()) {
            println!("\nSERVER {pid} {}", server.folder().display());
        }
    }
    println!("\nREADY");
    std::thread::sleep(Duration::from_secs(100));
}

/// One of each kind.
const KINDS: [&str; 4] = ["mariadb@10.11", "mysql@9.7", "mysql@5.6", "postgres@18"];

#[test]
fn a_killed_owner_leaves_no_server() {
    if KINDS.iter().any(|name| installed(name).is_none()) {
        return;
    }
    let mut owner = again("owner", &[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut servers = Vec::new();
    for line in BufReader::new(owner.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(rest) = line.strip_prefix("SERVER ") {
            let (pid, folder) = rest.split_once(' ').unwrap();
            servers.push((pid.parse::<u32>().unwrap(), PathBuf::from(folder)));
        }
        if line == "READY" {
            break;
        }
    }
    let mut folders: Vec<&PathBuf> = servers.iter().map(|(_, folder)| folder).collect();
    folders.dedup();
    assert_eq!(folders.len(), KINDS.len());
    // A server may have ended a helper of its own meanwhile.
    let runs = |one: &&PathBuf| servers.iter().any(|(pid, folder)| folder == *one && process_exists(*pid));
    assert!(folders.iter().all(|folder| folder.exists() && runs(folder)));
    owner.kill().unwrap();
    owner.wait().unwrap();
    eventually(Duration::from_secs(2), "no server and no folder", || {
        servers.iter().all(|(pid, folder)| !process_exists(*pid) && !folder.exists())
    });
}

#[test]
fn a_killed_keeper_takes_its_server_along() {
    for name in ["mariadb@10.11", "postgres@18"] {
        keeper_killed(name);
    }
}

fn keeper_killed(name: &str) {
    let Some(installed) = installed(name) else { return };
    let mut instance = start(&installed, name);
    // A session at work does not notice for long that its server is dead, and holds on to its shared memory.
    let postgres = name.starts_with("postgres").then(|| (busy(&instance), segment(&instance)));
    let (pid, folder) = (instance.pid(), instance.folder().to_path_buf());
    let all = family(pid);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let keeper: u32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
    kill(keeper);
    eventually(Duration::from_secs(2), "the server ends", || !instance.alive());
    drop(instance);
    assert!(!folder.exists());
    eventually(Duration::from_secs(5), "all of it", || !all.iter().any(|&pid| process_exists(pid)));
    if let Some((_, segment)) = postgres {
        eventually(Duration::from_secs(2), "its shared memory", || !segment_exists(&segment));
    }
}

#[test]
fn a_detached_instance_stays_until_it_is_stopped() {
    let Some(installed) = installed("mariadb@10.11") else { return };
    let begun =
        installed.start_detached(Path::new(EXE), &target("mariadb@10.11"), &StartOptions::default()).unwrap();
    let found: Vec<_> = provision::running().into_iter().filter(|running| running.id == begun.id).collect();
    assert_eq!(found.len(), 1);
    assert!(found[0].detached() && process_exists(found[0].pid()));
    assert!(UnixStream::connect(found[0].socket()).is_ok());
    provision::stop(Some(&begun.id)).unwrap();
    assert!(!process_exists(begun.pid()) && !begun.folder.exists());
    assert_eq!(provision::stop(Some(&begun.id)).unwrap_err().kind, ErrorKind::NoInstance);
}

#[test]
fn an_unknown_version_says_what_there_is() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    let error = Store::at(&cache).unwrap().ensure(&target("mysql@8.4"), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownVersion);
    assert_eq!(error.title, "mysql@8.4 cannot be installed here");
    assert_eq!(error.help[0], "available: mysql@5.6, mysql@8.0.33, mysql@9.7");
    assert_eq!(half_done(&cache), Vec::<PathBuf>::new());
}

/// Fills the disk up to the last two megabytes.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    let mut written = 0;
    while let Ok(n) = file.write(&[1; 1 << 16]) {
        written += n as u64;
    }
    file.set_len(written.saturating_sub(2 << 20)).unwrap();
}

/// Tries to install into `ISOPOD_CACHE` and prints how that ended.
#[test]
#[ignore = "a part of other tests"]
fn installer() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let fill_at = env::var("ISOPOD_TEST_FILL").unwrap_or_default();
    let mut events = |event| {
        if !fill_at.is_empty() && format!("{event:?}").starts_with(&fill_at) {
            fill(&Store::open().unwrap().root().join("filler"));
        }
        if matches!(event, Progress::Unpack { .. } | Progress::Begin { .. } | Progress::Retry { .. }) {
            println!("\nEVENT {event:?}");
        }
    };
    let wanted = env::var("ISOPOD_TEST_TARGET").unwrap_or("mariadb@10.11".into());
    match Store::open().unwrap().ensure(&target(&wanted), &mut events) {
        Ok(installed) => println!("\nINSTALLED {}", installed.version()),
        Err(error) => println!("\nFAILED {}", whole(&error)),
    }
}

#[test]
fn an_unreachable_registry_leaves_nothing_half_done() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    // Nobody listens on the discard port.
    let closed = Path::new("http://127.0.0.1:9");
    let variables = [("ISOPOD_CACHE", cache.as_path()), ("http_proxy", closed), ("https_proxy", closed)];
    for (name, client) in [("mariadb@10.11", "apt-get"), ("postgres@18", "npm")] {
        let mut installer = again("installer", &variables);
        let said = said(&installer.env("ISOPOD_TEST_TARGET", name).output().unwrap());
        if said.contains("MissingTool") {
            return skip(&said);
        }
        assert!(said.contains("FAILED Unreachable: the package registry cannot be reached"), "{said}");
        assert!(said.contains(&format!("{client}: ")) && said.contains("127.0.0.1:9"), "{said}");
        assert_eq!(half_done(&cache), Vec::<PathBuf>::new());
    }
}

/// A registry that is too busy twice, and then has nothing.
fn busy_registry() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (asked, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while head.read_line(&mut line).is_ok_and(|n| n > 2) {
                line.clear();
            }
            let status = if asked < 2 { "429 Too Many Requests" } else { "404 Not Found" };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn a_busy_registry_is_asked_again_later() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    let registry = busy_registry();
    let variables = [
        ("ISOPOD_CACHE", cache.as_path()),
        ("ISOPOD_TEST_TARGET", Path::new("postgres@18")),
        ("npm_config_registry", Path::new(&registry)),
        ("no_proxy", Path::new("127.0.0.1")),
    ];
    let begin = Instant::now();
    let said = said(&again("installer", &variables).output().unwrap());
    if said.contains("MissingTool") {
        return skip(&said);
    }
    assert!(said.contains("EVENT Retry { attempt: 1, after: 1s") && said.contains("429"), "{said}");
    assert!(said.contains("EVENT Retry { attempt: 2, after: 2s"), "{said}");
    assert!(!said.contains("attempt: 3") && said.contains("FAILED Tool: npm failed"), "{said}");
    assert!(begin.elapsed() >= Duration::from_secs(3));
    assert_eq!(half_done(&cache), Vec::<PathBuf>::new());
}

#[test]
fn a_package_of_npm_is_installed_once_and_then_needs_no_network() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    let wanted = ("ISOPOD_TEST_TARGET", Path::new("postgres@18"));
    let first = said(&again("installer", &[("ISOPOD_CACHE", &cache), wanted]).output().unwrap());
    if first.contains("FAILED Unreachable") || first.contains("MissingTool") {
        return skip(&first);
    }
    assert!(first.contains("INSTALLED 18."), "{first}");
    // Programs only: nobody needs the rest, and nothing that was fetched stays.
    let root = fs::read_dir(cache.join("installs")).unwrap().next().unwrap().unwrap().path().join("root");
    assert!(root.join("bin/postgres").exists() && root.join("bin/initdb").exists());
    assert!(!root.join("include").exists() && !root.join("lib/libpq.a").exists());
    assert!(fs::read_link(root.join("lib/libpq.so.5")).is_ok(), "links are made again");
    assert!(!cache.join("tmp").exists());

    let closed = Path::new("http://127.0.0.1:9");
    let begin = Instant::now();
    let cut_off =
        [("ISOPOD_CACHE", cache.as_path()), wanted, ("http_proxy", closed), ("https_proxy", closed)];
    let second = said(&again("installer", &cut_off).output().unwrap());
    println!("the second time: {:?}", begin.elapsed());
    assert!(second.contains("INSTALLED 18.") && !second.contains("EVENT"), "{second}");
}

#[test]
fn a_server_in_a_folder_of_the_users_runs_from_there() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    let store = Store::at(&cache).unwrap();
    for name in ["mariadb@10.11", "postgres@18"] {
        let Some(original) = installed(name) else { return };
        let folder = original.folder().join("root");
        let product = original.manifest().product;
        let text = format!("{product}?basedir={}", folder.display());
        let mut events = Vec::new();
        let found = store
            .ensure(&target(&text), &mut |event| events.push(event))
            .unwrap_or_else(|error| panic!("{}", whole(&error)));
        assert_eq!(found.version(), original.version());
        assert_eq!(events, [Progress::Template], "nothing is fetched");
        let mut instance = start(&found, &text);
        assert!(instance.alive());
        let program = fs::read_to_string(format!("/proc/{}/cmdline", instance.pid())).unwrap();
        assert!(!program.contains(original.folder().join("template").to_str().unwrap()));
        drop(instance);
        // The second time there is nothing to do.
        store.ensure(&target(&text), &mut |event| panic!("{event:?}")).unwrap();
        assert!(store.installed(&target(&text)).is_some());
        let other = if name.starts_with("mariadb") { "mysql" } else { "postgres@9" };
        let wrong = store.ensure(&target(&format!("{other}?basedir={}", folder.display())), &mut |_| {});
        let wrong = wrong.unwrap_err();
        assert_eq!(wrong.kind, ErrorKind::UnknownVersion, "{}", whole(&wrong));
        assert!(
            wrong.title.contains(&format!("holds {product} {}", original.version())),
            "{}",
            whole(&wrong)
        );
    }
    assert_eq!(store.prune(true).unwrap().installs.len(), 2);
}

#[test]
fn a_full_disk_leaves_nothing_half_done() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    // Too small from the beginning; or full while lists are fetched, or packages unpacked.
    for (megabytes, fill_at) in [(100, ""), (800, "Lists"), (800, "Unpack { done: 3")] {
        let size = format!("size={megabytes}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&cache).output();
        if !mount.is_ok_and(|output| output.status.success()) {
            return skip("a small disk cannot be mounted without root");
        }
        let variables = [("ISOPOD_CACHE", cache.as_path()), ("ISOPOD_TEST_FILL", Path::new(fill_at))];
        let output = again("installer", &variables).output().unwrap();
        let left = half_done(&cache);
        assert!(Command::new("umount").args(["--lazy"]).arg(&cache).status().unwrap().success());
        let said = said(&output);
        if said.contains("FAILED Unreachable") || said.contains("MissingTool") {
            return skip(&said);
        }
        println!("{fill_at}: {said}");
        assert!(said.contains("FAILED DiskFull"), "{fill_at}: {said}");
        assert_eq!(left, Vec::<PathBuf>::new());
    }
}

#[test]
fn a_killed_installation_is_cleared_and_two_at_once_install_once() {
    let folder = fresh_folder();
    let cache = folder.path().to_path_buf();
    let mut killed = again("installer", &[("ISOPOD_CACHE", &cache)]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(killed.stdout.take().unwrap()).lines().map(Result::unwrap);
    let reached = lines.into_iter().find(|line| line.contains("FAILED") || line.contains("EVENT Unpack"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let reached = reached.unwrap();
    if reached.contains("FAILED") {
        return skip(&reached);
    }
    assert_ne!(half_done(&cache), Vec::<PathBuf>::new());
    // A process that the dead one was just starting may hold the lock for a moment longer.
    eventually(Duration::from_secs(5), "the half-done installation is cleared", || {
        Store::at(&cache).unwrap();
        half_done(&cache).is_empty()
    });
    let store = Store::at(&cache).unwrap();

    let events = Mutex::new(Vec::new());
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut record = |event| events.lock().unwrap().push(event);
                let installed = store.ensure(&target("mariadb@10.11"), &mut record).unwrap();
                assert!(installed.version().within(&"10.11".parse().unwrap()));
            });
        }
    });
    println!("installed in {:?}", begin.elapsed());
    let events = events.into_inner().unwrap();
    let count = |wanted: fn(&Progress) -> bool| events.iter().filter(|event| wanted(event)).count();
    assert_eq!(count(|event| matches!(event, Progress::WaitForOther)), 1);
    assert_eq!(count(|event| matches!(event, Progress::Done { .. })), 1);
    println!("{:?}", events.last());
    let listed = store.list();
    let line = listed.iter().find(|listed| listed.line.name() == "mariadb@10.11").unwrap();
    assert_eq!(line.installed.len(), 1);
    assert_eq!(store.prune(true).unwrap().installs.len(), 1);
    assert_eq!(half_done(&cache), Vec::<PathBuf>::new());
}
