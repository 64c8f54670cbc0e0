//! The engine behind the executor's traits. All of it lives in the thread of the one who uses it.

use std::{cell::RefCell, os::fd::RawFd, rc::Rc, time::Duration};

use execute::{ConnectError, LockMonitor, Server, Session, SessionId, Settled, WireReply};
use model::{Place, Product, ServerInfo, Target};

use crate::{
    engine::Engine,
    expressions::VERSION,
    plants::{BadPlant, Bug, Plants},
    silent_pipe::SilentPipe,
};

/// What targets call it.
pub const PRODUCT: Product = Product::Reference;

/// The target that names it, with these bugs planted.
pub fn target(planted: Option<Bug>) -> Target {
    let settings = planted.map(|bug| ("plant".to_string(), bug.name().to_string())).into_iter().collect();
    Target { product: PRODUCT, version: None, settings, place: Place::Cache }
}

/// A reference engine as a server.
pub struct ReferenceServer {
    engine: Rc<RefCell<Engine>>,
    silence: Option<Rc<SilentPipe>>,
    info: ServerInfo,
    plants: Plants,
    /// An engine has one schema, so each scratch schema is an engine of its own, with the same bugs.
    scratch: Vec<Rc<RefCell<Engine>>>,
}

impl ReferenceServer {
    /// Brings one up, with the bugs that the target's settings name.
    pub fn start(target: &Target) -> Result<ReferenceServer, BadPlant> {
        let plants = Plants::read(&target.settings)?;
        let info = ServerInfo {
            product: PRODUCT,
            version: VERSION.clone(),
            version_text: format!("reference {}", *VERSION),
            settings: target.settings.clone(),
            flags: Vec::new(),
        };
        let engine = Rc::new(RefCell::new(Engine::new(plants.clone())));
        Ok(ReferenceServer { engine, silence: None, info, plants, scratch: Vec::new() })
    }

    fn open(&mut self, engine: Rc<RefCell<Engine>>) -> Result<Box<dyn Session>, ConnectError> {
        let refused = |error: std::io::Error| ConnectError::Refused {
            server: "the reference engine".into(),
            reason: error.to_string(),
        };
        let silence = match &self.silence {
            Some(silence) => silence.clone(),
            None => self.silence.insert(Rc::new(SilentPipe::new().map_err(refused)?)).clone(),
        };
        let id = engine.borrow_mut().connect()?;
        Ok(Box::new(ReferenceSession { engine, id, silence, abandoned: false }))
    }
}

impl Server for ReferenceServer {
    fn info(&self) -> &ServerInfo {
        &self.info
    }

    fn connect(&mut self) -> Result<Box<dyn Session>, ConnectError> {
        self.open(self.engine.clone())
    }

    fn connect_scratch(&mut self, number: usize) -> Result<Box<dyn Session>, ConnectError> {
        while self.scratch.len() <= number {
            self.scratch.push(Rc::new(RefCell::new(Engine::new(self.plants.clone()))));
        }
        self.open(self.scratch[number].clone())
    }

    fn monitor(&mut self) -> Result<Box<dyn LockMonitor>, ConnectError> {
        Ok(Box::new(ExactLockMonitor { engine: self.engine.clone() }))
    }

    fn kill(&mut self, session: SessionId, hard: bool) -> Result<(), ConnectError> {
        self.engine.borrow_mut().kill(session, hard);
        Ok(())
    }

    fn alive(&mut self) -> bool {
        self.engine.borrow().alive()
    }

    fn pid(&self) -> Option<u32> {
        None
    }
}

struct ReferenceSession {
    engine: Rc<RefCell<Engine>>,
    id: SessionId,
    silence: Rc<SilentPipe>,
    abandoned: bool,
}

impl Session for ReferenceSession {
    fn id(&self) -> SessionId {
        self.id
    }

    fn send(&mut self, sql: &str) {
        self.engine.borrow_mut().send(self.id, sql);
    }

    fn receive(&mut self) -> Option<WireReply> {
        self.engine.borrow_mut().receive(self.id)
    }

    fn fd(&self) -> RawFd {
        // Nothing here answers by itself, so what is not there yet does not come while somebody polls.
        if self.engine.borrow().answered(self.id) { -1 } else { self.silence.fd() }
    }

    fn reset(&mut self) -> bool {
        !self.abandoned && self.engine.borrow_mut().reset(self.id)
    }

    fn abandon(&mut self) {
        self.abandoned = true;
        self.engine.borrow_mut().kill(self.id, true);
    }
}

impl Drop for ReferenceSession {
    fn drop(&mut self) {
        self.engine.borrow_mut().disconnect(self.id);
    }
}

/// The engine knows who waits.
struct ExactLockMonitor {
    engine: Rc<RefCell<Engine>>,
}

impl LockMonitor for ExactLockMonitor {
    fn how(&self) -> &'static str {
        "exact"
    }

    fn check(&mut self, outstanding: &[SessionId]) -> Result<Settled, ConnectError> {
        let engine = self.engine.borrow();
        let all = outstanding.iter().all(|id| engine.waits(*id));
        Ok(if all { Settled::AllWait } else { Settled::Working })
    }

    fn blockers(&mut self, waiting: &[SessionId]) -> Vec<Vec<SessionId>> {
        let engine = self.engine.borrow();
        waiting.iter().map(|id| engine.blockers(*id)).collect()
    }

    fn patience(&self) -> Duration {
        // An answer is there at once or not at all; only for one that never comes it is worth to wait.
        if self.engine.borrow().hangs() { Duration::from_millis(1) } else { Duration::ZERO }
    }
}
