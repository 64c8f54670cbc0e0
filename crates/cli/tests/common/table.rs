//! A server of one's own and a table of sessions on it, settled as the scheduler does it: for the tests of the clients
//! and their monitors.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use dbms::{
    locks::Settle,
    net::{Address, Login, SILENCE},
    options::ServerOptions,
};
use execute::{
    ConnectError, LockMonitor, Server, Session, SessionId, Settled, WireReply,
    ask::{ask, demand_rows},
    os::{Interest, wait},
};
use provision::StartOptions;

use super::{EXE, installed, target, whole};

/// Both monitors, with their names.
pub const BOTH: [(Settle, &str); 2] = [(Settle::Proc, "proc"), (Settle::Sql, "sql")];

/// How long settling may take at the most.
const NEVER: Duration = Duration::from_secs(20);

/// A server for this test alone: the monitors take it for one worker's own, as the executor gives it. Others'
/// statements hold latches, and a session that sleeps for a latch looks like one that waits for a lock.
pub struct Own {
    pub target: String,
    pub address: Address,
    pid: u32,
}

impl Own {
    /// What is needed to use it.
    pub fn options(&self, login: Login, name: &str, settle: Settle) -> ServerOptions {
        ServerOptions {
            address: self.address.clone(),
            login,
            name: name.to_string(),
            settle,
            pid: Some(self.pid),
            flags: Vec::new(),
            logs: Vec::new(),
            alive: None,
        }
    }
}

/// Runs a test on a server of each of these.
pub fn on_each(servers: &[&str], test: fn(&Own)) {
    for text in servers {
        let Some(installed) = installed(text) else { continue };
        let instance = installed
            .start(Path::new(EXE), &target(text), &StartOptions::default())
            .unwrap_or_else(|error| panic!("{}", whole(&error)));
        println!("on {text}");
        let address = Address::Unix(instance.socket().to_path_buf());
        test(&Own { target: text.to_string(), address, pid: instance.pid() });
    }
}

/// Sends a statement and gives its answer, whatever it is.
pub fn run(session: &mut dyn Session, sql: &str) -> WireReply {
    ask(session, sql, SILENCE).unwrap()
}

/// The rows of a statement.
pub fn texts(session: &mut dyn Session, sql: &str) -> Vec<String> {
    demand_rows(session, sql, SILENCE).unwrap().texts()
}

/// Sessions with statements outstanding.
pub struct Table<S> {
    pub server: S,
    pub monitor: Box<dyn LockMonitor>,
    pub sessions: Vec<Box<dyn Session>>,
    pub outstanding: Vec<usize>,
    /// Answers that came although the server was settled and nothing was sent.
    pub late: usize,
}

impl<S: Server> Table<S> {
    pub fn of(mut server: S, sessions: usize) -> Table<S> {
        let mut monitor = server.monitor().unwrap();
        let sessions: Vec<_> = (0..sessions).map(|_| server.connect().unwrap()).collect();
        sessions.iter().for_each(|session| monitor.watch(session.id()).unwrap());
        Table { server, monitor, sessions, outstanding: Vec::new(), late: 0 }
    }

    pub fn id(&self, session: usize) -> SessionId {
        self.sessions[session].id()
    }

    pub fn drain(&mut self, into: &mut Vec<(usize, WireReply)>) {
        self.outstanding.retain(|&index| match self.sessions[index].receive() {
            Some(answer) => {
                into.push((index, answer));
                false
            }
            None => true,
        });
    }

    /// Everything that answers until the rest provably waits.
    pub fn settle(&mut self) -> Vec<(usize, WireReply)> {
        let begun = Instant::now();
        let mut answers = Vec::new();
        loop {
            self.drain(&mut answers);
            if self.outstanding.is_empty() {
                return answers;
            }
            let waiting: Vec<SessionId> = self.outstanding.iter().map(|&index| self.id(index)).collect();
            if self.monitor.check(&waiting).unwrap() == Settled::AllWait {
                if !self.readable(Duration::ZERO) {
                    return answers;
                }
            } else {
                self.readable(self.monitor.patience());
            }
            let how = self.monitor.how();
            assert!(begun.elapsed() < NEVER, "never settled by {how}: {waiting:?} {answers:?}");
        }
    }

    /// Has anything come for those who wait?
    fn readable(&self, time: Duration) -> bool {
        let sockets: Vec<_> = self.outstanding.iter().map(|&index| self.sessions[index].fd()).collect();
        wait(&sockets, Interest::Read, time)
    }

    pub fn send(&mut self, session: usize, sql: &str) -> Vec<(usize, WireReply)> {
        let mut late = Vec::new();
        self.drain(&mut late);
        self.late += late.len();
        self.sessions[session].send(sql);
        self.outstanding.push(session);
        self.settle()
    }

    /// Sends what must not wait.
    pub fn now(&mut self, session: usize, sql: &str) -> WireReply {
        let mut answers = self.send(session, sql);
        assert_eq!(answers.len(), 1, "{sql}: {answers:?}");
        answers.remove(0).1
    }

    /// Sends what must wait.
    pub fn waits(&mut self, session: usize, sql: &str) {
        let answers = self.send(session, sql);
        assert!(answers.is_empty(), "{sql} must wait: {answers:?}");
    }

    /// Waits for something to come, and settles.
    pub fn later(&mut self) -> Vec<(usize, WireReply)> {
        assert!(self.readable(SILENCE));
        self.settle()
    }

    /// Kills a session that was killed before, and one that is idle. The second notices with its next statement, either
    /// by the server's word, which `said` knows, or by the end.
    pub fn kill_again(&mut self, gone: usize, idle: usize, said: impl Fn(&WireReply) -> bool) {
        let next = ask(self.sessions[gone].as_mut(), "SELECT 1", SILENCE).unwrap_err();
        assert_eq!(next.to_string(), "the server went away");
        let (gone, id) = (self.id(gone), self.id(idle));
        self.server.kill(gone, true).unwrap();
        self.server.kill(id, true).unwrap();
        let session = self.sessions[idle].as_mut();
        assert!(wait(&[session.fd()], Interest::Read, SILENCE));
        match ask(session, "SELECT 1", SILENCE) {
            Err(ConnectError::Gone) => {}
            Ok(answer) => assert!(said(&answer), "{answer:?}"),
            Err(error) => panic!("{error}"),
        }
        assert!(matches!(ask(session, "SELECT 1", SILENCE), Err(ConnectError::Gone)));
        assert!(self.server.alive());
    }
}
