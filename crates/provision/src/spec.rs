//! What we and the keeper tell each other, one line of JSON per message.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What the keeper is to do: the first line on its input. The end of its input means that we are gone.
#[derive(Debug, Serialize, Deserialize)]
pub struct InstanceSpec {
    /// What runs, for people: `mysql 9.7.4`.
    pub title: String,
    /// The target as the user wrote it.
    pub target: String,
    /// The folder in which the instance's folder is made.
    pub parent: PathBuf,
    /// The name of the instance's folder.
    pub name: String,
    /// The data folder to copy.
    pub template: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The user that it runs as, if not as we do.
    pub user: Option<u32>,
    /// The name of the file in the instance's folder that takes what it prints.
    pub output: String,
    /// The Unix socket that it will listen on.
    pub socket: PathBuf,
    /// How it is known that it takes connections.
    pub sign: ReadySign,
    /// The account that may do everything.
    pub superuser: String,
    /// Stay when we are gone, until told to stop?
    pub detached: bool,
    /// The TCP port that it listens on, if any.
    pub port: Option<u16>,
    /// Who comes that way needs this; it is kept in a file beside the data.
    pub password: Option<String>,
    /// A file that is written before it starts, with what it holds.
    pub file: Option<(PathBuf, String)>,
    /// What is said to it when it is up; until then nobody comes in by the port.
    pub first: Option<String>,
    /// How long the server may take to accept a connection.
    pub patience_ms: u64,
}

impl InstanceSpec {
    /// What stands beside the folder of the instance, once it runs under these processes.
    pub fn record(&self, keeper: u32, pid: u32) -> InstanceRecord {
        InstanceRecord {
            title: self.title.clone(),
            target: self.target.clone(),
            keeper,
            pid,
            socket: self.socket.clone(),
            superuser: self.superuser.clone(),
            port: self.port,
            detached: self.detached,
            // The template is a part of it.
            install: self.template.parent().map(PathBuf::from),
        }
    }
}

/// What a server that takes connections does when somebody connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadySign {
    /// It speaks first: the MySQL family.
    Greeting,
    /// It answers to who we are, and says no while it is starting: PostgreSQL.
    Login,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupervisorReport {
    /// The server accepts connections.
    Up {
        /// The server's process.
        pid: u32,
    },
    /// It did not come up; everything is removed.
    Failed {
        /// Why, in one line.
        reason: String,
        /// Is no room left?
        disk_full: bool,
        /// What the server wrote to its error log.
        log: String,
    },
    /// The server ended by itself, or was killed by somebody else.
    Ended {
        /// How, in the system's words: `signal: 9 (SIGKILL)`.
        status: String,
    },
}

/// What stands beside the folder of a running instance, for `list` and `stop`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// What runs.
    pub title: String,
    /// The target as the user wrote it.
    pub target: String,
    /// The keeper's process.
    pub keeper: u32,
    /// The server's process.
    pub pid: u32,
    pub socket: PathBuf,
    /// The account that may do everything; by the Unix socket without a password.
    pub superuser: String,
    /// Its TCP port on 127.0.0.1, if any.
    pub port: Option<u16>,
    /// Does it stay until it is told to stop?
    pub detached: bool,
    /// The installation that it runs from, in the cache.
    #[serde(default)]
    pub install: Option<PathBuf>,
}
