//! A server on 127.0.0.1 that is honest but for one thing at one place.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use model::sync::lock;

use super::{
    mysql, postgres,
    scenes::{Place, Protocol, Scene, Trick},
};

/// A server that listens until it is stopped.
pub struct Fake {
    pub port: u16,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    over: AtomicBool,
    /// All that clients sent.
    heard: Mutex<Vec<u8>>,
}

/// What is kept of what clients send.
const HEARD: usize = 1 << 20;

impl Fake {
    pub fn start(scene: &Scene) -> io::Result<Fake> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State::default());
        let (of, scene) = (state.clone(), Arc::new(scene.clone()));
        let listening = thread::spawn(move || {
            let mut talks = Vec::new();
            while !of.over.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        let (state, scene) = (of.clone(), scene.clone());
                        talks.push(thread::spawn(move || serve(stream, state, &scene)));
                    }
                    Err(_) => thread::sleep(Duration::from_millis(2)),
                }
            }
            talks.into_iter().for_each(|talk| drop(talk.join()));
        });
        Ok(Fake { port, state, listening })
    }

    /// Ends it; gives what clients sent.
    pub fn stop(self) -> Vec<u8> {
        self.state.over.store(true, Ordering::Relaxed);
        let _ = self.listening.join(); // What it heard is what it heard.
        std::mem::take(&mut lock(&self.state.heard))
    }
}

fn serve(stream: TcpStream, state: Arc<State>, scene: &Scene) {
    let timed = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(Duration::from_millis(100))))
        .and_then(|()| stream.set_write_timeout(Some(Duration::from_millis(100))));
    if timed.is_err() {
        return;
    }
    let mut wire = Wire { stream, state, scene };
    // A client that goes away is nothing to speak of.
    let _ = match scene.speaks {
        Protocol::Mysql => mysql::serve(&mut wire),
        Protocol::Postgres => postgres::serve(&mut wire),
    };
}

/// One connection.
pub struct Wire<'a> {
    stream: TcpStream,
    state: Arc<State>,
    pub scene: &'a Scene,
}

impl Wire<'_> {
    fn over(&self) -> io::Result<()> {
        if self.state.over.load(Ordering::Relaxed) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// Reads so many bytes of the client's.
    pub fn hear(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let (mut bytes, mut filled) = (vec![0; count], 0);
        while filled < count {
            self.over()?;
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => filled += more,
                Err(error) if passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let mut heard = lock(&self.state.heard);
        if heard.len() < HEARD {
            heard.extend_from_slice(&bytes);
        }
        Ok(bytes)
    }

    /// Says this.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.over()?;
            match self.stream.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says nothing more.
    fn silence(&mut self) -> io::Result<()> {
        loop {
            self.hear(1)?;
        }
    }

    /// Says what is true here, or plays the trick if this is its place.
    pub fn answer(&mut self, here: impl Fn(&Place) -> bool, truth: &[u8]) -> io::Result<()> {
        if !here(&self.scene.at) {
            return self.say(truth);
        }
        let end = || io::Error::from(io::ErrorKind::ConnectionAborted);
        match self.scene.trick.clone() {
            Trick::None => self.say(truth),
            Trick::Cut(at) => {
                self.say(&truth[..at % (truth.len() + 1)])?;
                Err(end())
            }
            Trick::Stop(at) => {
                self.say(&truth[..at % (truth.len() + 1)])?;
                self.silence()
            }
            Trick::Change(changes) => {
                let mut bytes = truth.to_vec();
                let length = bytes.len().max(1);
                for (at, byte) in changes {
                    if let Some(there) = bytes.get_mut(at % length) {
                        *there = byte;
                    }
                }
                self.say(&bytes)
            }
            Trick::Say(bytes) => self.say(&bytes),
            Trick::Last(bytes) => {
                self.say(&bytes)?;
                Err(end())
            }
            Trick::Endless { first, then } => {
                self.say(&first)?;
                loop {
                    self.say(&then)?;
                }
            }
            Trick::Drip { first, then, pause } => {
                self.say(&first)?;
                loop {
                    for piece in &then {
                        self.say(piece)?;
                        thread::sleep(pause);
                    }
                }
            }
            Trick::EndlessPackets { first, mut number } => {
                self.say(&first)?;
                let chunk = vec![b'x'; 0xff_ffff];
                loop {
                    self.say(&[0xff, 0xff, 0xff, number])?;
                    self.say(&chunk)?;
                    number = number.wrapping_add(1);
                }
            }
            Trick::Script(_) => self.say(truth), // That is played by the login.
        }
    }
}

fn passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
