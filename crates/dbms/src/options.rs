//! What is needed to use a server, whatever it speaks: where it is, who we are there, and what our schema is called.

use std::{fmt, path::PathBuf};

use execute::ConnectError;

use crate::{
    locks::Settle,
    net::{Address, Login},
};

/// Everything that we create on a server has this in front of its name.
pub const PREFIX: &str = "isopod_";

/// What stands between the name of our schema and the number of a scratch schema beside it.
const SCRATCH: &str = "_stage";

/// The name of a scratch schema beside our schema of this name.
pub fn scratch_name(schema: &str, number: usize) -> String {
    format!("{schema}{SCRATCH}{number}")
}

/// The schema beside which this one stands, if it has the name of a scratch schema.
pub fn scratch_of(name: &str) -> Option<&str> {
    let (schema, number) = name.rsplit_once(SCRATCH)?;
    (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit())).then_some(schema)
}

/// What is needed to use a server.
pub struct ServerOptions {
    /// Where it listens; of a Unix socket the path of the file itself.
    pub address: Address,
    pub login: Login,
    /// Our schema there will be `isopod_<name>`. One that is left from before is dropped first, so two
    /// users of one server need two names. Small letters, digits and underscores.
    pub name: String,
    /// How to know that statements wait.
    pub settle: Settle,
    /// Its first process, if it runs here.
    pub pid: Option<u32>,
    /// The flags that it was started with, as far as they are known.
    pub flags: Vec<String>,
    /// The files that hold its error log, if they can be read here.
    pub logs: Vec<PathBuf>,
    /// Does it live? Known to whoever started it; without that, it lives if it takes connections. A server of ours ends when
    /// this is dropped.
    pub alive: Option<Box<dyn FnMut() -> bool + Send>>,
}

impl ServerOptions {
    /// The name of our schema, which needs no quotes anywhere.
    pub fn schema(&self) -> Result<String, ConnectError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if self.name.is_empty() || self.name.len() > 40 || !self.name.chars().all(plain) {
            return Err(self
                .address
                .refused("the name of our schema may have small letters, digits and underscores only"));
        }
        Ok(format!("{PREFIX}{}", self.name))
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("address", &self.address)
            .field("name", &self.name)
            .field("settle", &self.settle)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
