//! The child process: every session of one SQLite database, driven by one thread.
//!
//! The main thread polls the sockets and runs one statement at a time to its end. A second thread reads the
//! control pipe (our stdin): it interrupts a running statement when it is asked to, and when the pipe ends,
//! because whoever started us is gone, it removes the folder and ends the process even in the middle of a
//! statement. A signal on the parent's death is not used: it is sent when the THREAD that started us ends, and
//! it would leave the folder behind.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    os::{
        fd::AsRawFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::Path,
    process::{self, ExitCode},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rusqlite::{Batch, Connection, Statement, fallible_iterator::FallibleIterator, ffi, types::ValueRef};

use model::sync::lock;
use provision::scratch::Scratch;

use super::{
    folder, os, sandbox,
    wire::{self, Body, Cell, Channel, Reply, Request},
};

/// A kill request on the control pipe: the session's number, and 1 to end the session too.
pub(super) const KILL: usize = 9;

/// Runs until the control pipe ends. The program that links this crate calls it for `__sqlite FOLDER`.
pub fn main(folder: &Path) -> ExitCode {
    match serve(folder) {
        Ok(never) => match never {},
        Err(error) => {
            // The parent sees the pipe end; this is for whoever reads its log.
            let _ = writeln!(io::stderr(), "sqlite child: {error}");
            ExitCode::from(2)
        }
    }
}

/// What the control thread needs in order to reach a session whose statement is running.
struct Handle {
    interrupt: rusqlite::InterruptHandle,
    stream: UnixStream,
    /// The session is over. SQLite forgets an interrupt that comes before the first step of a statement, and nobody
    /// would send a second one: the running statement itself looks here.
    over: Arc<AtomicBool>,
}

/// How many instructions of a statement run between two looks at whether its session is over.
const LOOK_EVERY: i32 = 10_000;

type Handles = Arc<Mutex<BTreeMap<u64, Handle>>>;

enum Never {}

fn serve(folder: &Path) -> io::Result<Never> {
    let scratch = folder::make(folder)?;
    sandbox::close(folder).map_err(io::Error::other)?;
    let listener = UnixListener::bind(folder::socket(folder))?;
    listener.set_nonblocking(true)?;
    let handles = Handles::default();
    let shared = handles.clone();
    thread::spawn(move || control(&shared, scratch));
    say(rusqlite::version().as_bytes())?;

    let database = folder::database(folder);
    let mut clients: Vec<Client> = Vec::new();
    loop {
        let mut wanted = vec![(listener.as_raw_fd(), false)];
        wanted.extend(clients.iter().map(|client| client.channel.wanted()));
        let ready = os::wait(&wanted, None)?;
        // Sessions that were closed before a statement was sent must be gone before it runs, or it would meet
        // their locks. Looking again AFTER the statement was seen shows every one of them.
        let again = os::wait(&wanted, Some(Duration::ZERO))?;
        let mut news = ready[1..].iter().zip(&again[1..]).map(|(first, again)| (first.any, again.hung_up));
        let mut busy = Vec::new();
        clients.retain_mut(|client| {
            let (any, hung_up) = news.next().unwrap_or_default();
            if hung_up {
                client.leave(&handles);
            } else {
                busy.push(any);
            }
            !hung_up
        });
        let mut busy = busy.into_iter();
        clients.retain_mut(|client| {
            let stays = busy.next() != Some(true) || client.attend(&database, &handles);
            if !stays {
                client.leave(&handles);
            }
            stays
        });
        if ready[0].any {
            match listener.accept() {
                Ok((stream, _)) => {
                    clients.push(Client { channel: Channel::new(stream)?, id: None, connection: None })
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// One line of news to the parent: its length, and itself.
fn say(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(&[text.len() as u8])?;
    out.write_all(text)?;
    out.flush()
}

/// Reads kill requests until the parent is gone, then takes everything down.
fn control(handles: &Handles, scratch: Scratch) {
    let mut input = io::stdin().lock();
    let mut request = [0; KILL];
    while input.read_exact(&mut request).is_ok() {
        let (id, hard) = request.split_at(8);
        let id = u64::from_le_bytes(id.try_into().unwrap_or_default());
        if let Some(handle) = lock(handles).get(&id) {
            handle.over.store(hard == [1], Ordering::Relaxed);
            handle.interrupt.interrupt();
            if hard == [1] {
                let _ = handle.stream.shutdown(std::net::Shutdown::Both);
            }
        }
        // Only now may the parent send this session something new: the interrupt cannot hit that.
        if say(b"").is_err() {
            break;
        }
    }
    lock(handles).values().for_each(|handle| handle.interrupt.interrupt());
    drop(scratch);
    process::exit(0);
}

/// One session as the child sees it.
struct Client {
    channel: Channel,
    id: Option<u64>,
    connection: Option<Connection>,
}

impl Client {
    /// Reads, runs and answers what there is. False when the session is over.
    fn attend(&mut self, database: &Path, handles: &Handles) -> bool {
        self.channel.flush();
        self.channel.fill();
        while !self.channel.closed
            && let Ok(request) = self.channel.take()
        {
            let Some(request) = request else { return true };
            let reply = self.answer(request, database, handles);
            self.channel.put(&reply);
        }
        false
    }

    /// Closing the connection rolls back what is open.
    fn leave(&mut self, handles: &Handles) {
        if let Some(id) = self.id {
            lock(handles).remove(&id);
        }
        self.connection = None;
    }

    fn answer(&mut self, request: Request, database: &Path, handles: &Handles) -> Reply {
        let body = match request {
            Request::Open(id) => {
                self.id = Some(id);
                self.open(id, database, handles)
            }
            Request::Reopen => match self.id {
                Some(id) => self.open(id, database, handles),
                None => misuse("no session is open"),
            },
            Request::Run(sql) => match &self.connection {
                Some(connection) => run(connection, &sql),
                None => misuse("no session is open"),
            },
        };
        Reply { body, autocommit: self.connection.as_ref().is_none_or(Connection::is_autocommit) }
    }

    fn open(&mut self, id: u64, database: &Path, handles: &Handles) -> Body {
        self.connection = None;
        lock(handles).remove(&id);
        let over = Arc::new(AtomicBool::new(false));
        let opened = Connection::open(database).and_then(|mut connection| {
            connection.busy_timeout(Duration::ZERO)?;
            let over = over.clone();
            connection.progress_handler(LOOK_EVERY, Some(move || over.load(Ordering::Relaxed)))?;
            sandbox::attach_nothing(&mut connection)?;
            Ok(connection)
        });
        let connection = match opened {
            Ok(connection) => connection,
            Err(error) => return refused(&error),
        };
        match self.channel.try_clone() {
            Ok(stream) => {
                let handle = Handle { interrupt: connection.get_interrupt_handle(), stream, over };
                lock(handles).insert(id, handle);
            }
            Err(error) => return misuse(&error.to_string()),
        }
        self.connection = Some(connection);
        Body::Done { affected: 0 }
    }
}

/// Runs one statement to its end.
fn run(connection: &Connection, sql: &str) -> Body {
    let mut batch = Batch::new(connection, sql);
    let mut statement = match batch.next() {
        Ok(Some(statement)) => statement,
        Ok(None) => return misuse("an empty statement"),
        Err(error) => return refused(&error),
    };
    // SQLite would run the first and forget the rest.
    if !matches!(batch.next(), Ok(None)) {
        return misuse("more than one statement at once");
    }
    let changes = changes_rows(&statement, sql);
    let mut cells = Vec::new();
    let mut size = 0;
    let mut rows = statement.raw_query();
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                for i in 0..row.as_ref().column_count() {
                    let cell = match row.get_ref(i) {
                        Ok(value) => cell(value),
                        Err(error) => return refused(&error),
                    };
                    size += 11
                        + match &cell {
                            Cell::Text(bytes) | Cell::Blob(bytes) => bytes.len(),
                            Cell::Null | Cell::Integer(_) | Cell::Real(_) => 0,
                        };
                    cells.push(cell);
                }
                if size > wire::LONGEST / 2 {
                    let message = "the result is too large".to_string();
                    return Body::Error { code: ffi::SQLITE_TOOBIG as u32, message };
                }
            }
            Ok(None) => break,
            Err(error) => return refused(&error),
        }
    }
    drop(rows);
    // Only now: if another session changed the table, the first step compiled the statement anew.
    let columns: Vec<(String, String)> = statement
        .columns()
        .map(|column| (column.name().to_string(), column.decl_type().unwrap_or_default().to_string()))
        .collect();
    if columns.is_empty() {
        Body::Done { affected: if changes { connection.changes() } else { 0 } }
    } else {
        Body::Rows { columns, cells }
    }
}

/// Does this statement set SQLite's count of changes? Every other one leaves that of an earlier statement.
fn changes_rows(statement: &Statement<'_>, sql: &str) -> bool {
    let word = first_word(sql).to_ascii_uppercase();
    match &*word {
        "INSERT" | "UPDATE" | "DELETE" | "REPLACE" => true,
        "WITH" => !statement.readonly(),
        _ => false,
    }
}

/// The first word after blanks and comments.
fn first_word(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, after)| after)
        } else {
            let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            return &rest[..end];
        };
        rest = after.unwrap_or_default().trim_start();
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) => Cell::Text(bytes.to_vec()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn refused(error: &rusqlite::Error) -> Body {
    match error {
        rusqlite::Error::SqliteFailure(cause, message) => Body::Error {
            code: cause.extended_code as u32,
            message: message.clone().unwrap_or_else(|| cause.to_string()),
        },
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            Body::Error { code: error.extended_code as u32, message: msg.clone() }
        }
        other => misuse(&other.to_string()),
    }
}

/// A use of the library that SQLite itself never gets to see.
fn misuse(message: &str) -> Body {
    Body::Error { code: ffi::SQLITE_MISUSE as u32, message: message.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_do_not_hide_the_first_word() {
        assert_eq!(first_word("  -- why\n /* and */ update t SET a = 1"), "update");
        assert_eq!(first_word("/* unfinished"), "");
        assert_eq!(first_word("SELECT(1)"), "SELECT");
    }

    #[test]
    fn only_a_change_of_rows_counts() {
        let connection = Connection::open_in_memory().unwrap();
        let affected = |sql: &str| match run(&connection, sql) {
            Body::Done { affected } => affected,
            other => panic!("{other:?}"),
        };
        assert_eq!(affected("CREATE TABLE t(a)"), 0);
        assert_eq!(affected("INSERT INTO t VALUES (1), (2)"), 2);
        assert_eq!(affected("BEGIN"), 0);
        assert_eq!(affected("WITH x(a) AS (VALUES (3)) INSERT INTO t SELECT a FROM x"), 1);
        assert_eq!(affected("COMMIT"), 0);
        assert_eq!(affected("DELETE FROM t"), 3);
    }

    #[test]
    fn one_statement_at_a_time() {
        let connection = Connection::open_in_memory().unwrap();
        for sql in ["CREATE TABLE t(a); INSERT INTO t VALUES (1)", "", " -- nothing"] {
            assert!(matches!(run(&connection, sql), Body::Error { code: 21, .. }), "{sql}");
        }
        assert!(matches!(run(&connection, "SELECT 1; -- the end"), Body::Rows { .. }));
    }
}
