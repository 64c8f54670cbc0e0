//! Servers for a hunt through the proxy: attached ones, as anybody's server is, of which the proxy is told which sessions are those of the
//! cases.

use std::{path::PathBuf, sync::Arc};

use campaign::Servers;
use dbms::launch::{Launcher, Settle};
use execute::{
    ConnectError, Guard, Launch, LaunchError, LockMonitor, Options, Placement, Runner, Server, Session,
    SessionId, Settled,
};
use model::{ServerInfo, Target};

use super::book::Book;

/// Where servers come from: whatever the target's address is.
pub struct Attaching {
    /// Isopod's own binary.
    pub exe: PathBuf,
    /// Who is told of the sessions; nobody if there is no proxy on the way.
    pub book: Option<Arc<Book>>,
}

impl Servers for Attaching {
    fn open(&self, target: &Target, options: Options, placement: Placement) -> Result<Runner, LaunchError> {
        let launcher = Launcher::new(target.clone(), Settle::Sql, self.exe.clone(), &mut |_| {})?;
        let launch: Box<dyn Launch> = match &self.book {
            Some(book) => Box::new(ToldLaunch { launcher, book: book.clone() }),
            None => Box::new(launcher),
        };
        Runner::new(launch, Options { guard: Guard::Schema, ..options }, placement)
    }
}

struct ToldLaunch {
    launcher: Launcher,
    book: Arc<Book>,
}

impl Launch for ToldLaunch {
    fn launch(&mut self) -> Result<Box<dyn Server>, LaunchError> {
        let server = self.launcher.launch()?;
        Ok(Box::new(ToldServer { server, book: self.book.clone() }))
    }
}

struct ToldServer {
    server: Box<dyn Server>,
    book: Arc<Book>,
}

impl Server for ToldServer {
    fn info(&self) -> &ServerInfo {
        self.server.info()
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        self.server.connect()
    }

    fn connect_scratch(&mut self, number: usize) -> Result<Box<dyn Session>, ConnectError> {
        self.server.connect_scratch(number)
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        let monitor = self.server.monitor()?;
        Ok(Box::new(ToldMonitor { monitor, book: self.book.clone() }))
    }

    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError> {
        self.server.kill(session, hard)
    }

    fn alive(&mut self) -> bool {
        self.server.alive()
    }

    fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    fn logs(&self) -> Vec<PathBuf> {
        self.server.logs()
    }

    fn guest(&self) -> bool {
        self.server.guest()
    }
}

/// The executor has the sessions of its cases watched, and no others.
struct ToldMonitor {
    monitor: Box<dyn LockMonitor>,
    book: Arc<Book>,
}

impl LockMonitor for ToldMonitor {
    fn how(&self) -> &'static str {
        self.monitor.how()
    }

    fn watch(&mut self, session: SessionId) -> Result<(), ConnectError> {
        self.book.watch(session);
        self.monitor.watch(session)
    }

    fn forget(&mut self, session: SessionId) {
        self.book.forget(session);
        self.monitor.forget(session);
    }

    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        self.monitor.check(outstanding)
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        self.monitor.blockers(waiting)
    }

    fn patience(&self) -> std::time::Duration {
        self.monitor.patience()
    }
}
