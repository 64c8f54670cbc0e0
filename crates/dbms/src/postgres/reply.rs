//! From messages to an answer, one message at a time.
//!
//! A result comes as a description of its columns, one message per row, and the tag of the command (`SELECT 3`,
//! `UPDATE 1`, `COMMIT`). The answer is complete only with the message after that, which says whether a transaction is
//! open, or has failed. An error may take the place of anything before it. An error that ends the session is the last
//! word: nothing comes after it.
//!
//! A text of several statements gives several results and runs until one fails. The answer is then that of the last
//! one, which is what the text came to.
//!
//! Notices belong to no answer. Those of the lock manager are handed on; the rest is dropped.

use dialect::sql::comment_end;
use execute::{RawError, RawReply, WireReply};
use fallible_iterator::FallibleIterator;
use model::{Kind, Open, Product, RowSet, rows::Column};
use postgres_protocol::message::backend::{DataRowBody, ErrorFields, Message, RowDescriptionBody};

use super::{values, wire::Malformed};
use crate::net::COLUMNS;

/// Where in the server's source a notice was written. That does not depend on the language of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoticeOrigin {
    /// The function.
    pub routine: String,
    /// The line in its file.
    pub line: String,
}

/// What a message came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    None,
    /// The server waits for rows of COPY: it must be told that there are none.
    WantsCopy,
    /// A message for the server's log, of which we asked for a copy.
    Logged(NoticeOrigin),
    /// The answer is complete.
    Reply(WireReply),
    /// The same, and the server has ended the session.
    LastWords(WireReply),
}

/// How far an answer has come.
#[derive(Debug, Default)]
pub struct ReplyReader {
    outstanding: bool,
    /// Is the next command of the text a COMMIT, in one of its spellings? Known of the first one only.
    commits: bool,
    rows: Option<RowSet>,
    reply: Option<RawReply>,
}

impl ReplyReader {
    /// This text was sent.
    pub fn begin(&mut self, sql: &str) {
        *self = ReplyReader { outstanding: true, commits: commits(sql), ..ReplyReader::default() };
    }

    /// Is an answer awaited?
    pub fn outstanding(&self) -> bool {
        self.outstanding
    }

    /// Takes one message.
    pub fn message(&mut self, message: Message) -> Result<Event, Malformed> {
        match message {
            Message::NoticeResponse(notice) => {
                return Ok(logged(notice.fields())?.map_or(Event::None, Event::Logged));
            }
            // A setting has changed, or another session calls: neither is an answer.
            Message::ParameterStatus(_) | Message::NotificationResponse(_) => {}
            Message::ErrorResponse(body) => {
                let (error, fatal) = error(body.fields())?;
                if fatal {
                    *self = ReplyReader::default();
                    let reply = RawReply::Error(error);
                    return Ok(Event::LastWords(WireReply { reply, warnings: 0, transaction: Open::No }));
                }
                self.rows = None;
                self.reply = Some(RawReply::Error(error));
            }
            _ if !self.outstanding => return Err(unasked()),
            Message::RowDescription(body) => self.rows = Some(columns(&body)?),
            Message::DataRow(body) => self.row(&body)?,
            Message::CopyInResponse(_) => return Ok(Event::WantsCopy),
            Message::CopyOutResponse(_) => self.rows = Some(RowSet::new(vec![copied()])),
            Message::CopyData(body) => {
                let line = body.data();
                let rows = self.rows.as_mut().ok_or_else(unasked)?;
                rows.push(Some(line.strip_suffix(b"\n").unwrap_or(line)));
            }
            Message::CopyDone => {}
            Message::CommandComplete(body) => {
                let tag = body.tag()?;
                let commits = std::mem::take(&mut self.commits);
                self.reply = Some(match self.rows.take() {
                    Some(rows) => RawReply::Rows(rows),
                    None if tag == "ROLLBACK" && commits => RawReply::RolledBack,
                    None => RawReply::Done { affected: affected(tag), matched: None },
                });
            }
            Message::EmptyQueryResponse => self.reply = Some(RawReply::Done { affected: 0, matched: None }),
            Message::ReadyForQuery(body) => {
                let transaction = match body.status() {
                    b'I' => Open::No,
                    b'T' => Open::Yes,
                    b'E' => Open::Failed,
                    other => return Err(Malformed(format!("a transaction in the state {other}"))),
                };
                let reply =
                    self.reply.take().ok_or_else(|| Malformed("an answer without a result".into()))?;
                *self = ReplyReader::default();
                return Ok(Event::Reply(WireReply { reply, warnings: 0, transaction }));
            }
            _ => return Err(unasked()),
        }
        Ok(Event::None)
    }

    fn row(&mut self, body: &DataRowBody) -> Result<(), Malformed> {
        let rows = self.rows.as_mut().ok_or_else(unasked)?;
        let mut count = 0;
        let mut ranges = body.ranges();
        while let Some(range) = ranges.next()? {
            let kind = rows.columns().get(count).ok_or_else(uneven)?.kind;
            match range {
                None => rows.push(None),
                Some(range) => {
                    let bytes = body.buffer().get(range).ok_or_else(uneven)?;
                    rows.push(Some(&values::cell(kind, bytes)));
                }
            }
            count += 1;
        }
        if count == 0 {
            rows.push_bare();
        }
        if count == rows.columns().len() { Ok(()) } else { Err(uneven()) }
    }
}

fn unasked() -> Malformed {
    Malformed("a message that nobody asked for".into())
}

fn uneven() -> Malformed {
    Malformed("a row that does not fit its columns".into())
}

fn columns(body: &RowDescriptionBody) -> Result<RowSet, Malformed> {
    let mut columns = Vec::new();
    let mut fields = body.fields();
    while let Some(field) = fields.next()? {
        if columns.len() == COLUMNS {
            return Err(Malformed("a result of more than 4,096 columns".into()));
        }
        columns.push(values::column(field.name(), field.type_oid()));
    }
    Ok(RowSet::new(columns))
}

/// What COPY sends has no columns: a line is a value.
fn copied() -> Column {
    Column { name: "copy".into(), kind: Kind::Text, type_name: "COPY".into() }
}

/// `UPDATE 3` is 3, `INSERT 0 2` is 2, `CREATE TABLE` is 0.
fn affected(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The error, and whether it ends the session.
pub fn error(mut fields: ErrorFields<'_>) -> Result<(RawError, bool), Malformed> {
    let mut error = RawError { code: 0, sqlstate: String::new(), message: String::new() };
    let mut fatal = false;
    while let Some(field) = fields.next()? {
        let text = String::from_utf8_lossy(field.value_bytes());
        match field.type_() {
            b'C' => error.sqlstate = text.into_owned(),
            b'M' => error.message = text.into_owned(),
            // The severity that is never translated.
            b'V' => fatal = matches!(&*text, "FATAL" | "PANIC"),
            _ => {}
        }
    }
    Ok((error, fatal))
}

/// Where a message for the log was written, if it is one.
fn logged(mut fields: ErrorFields<'_>) -> Result<Option<NoticeOrigin>, Malformed> {
    let (mut place, mut log) = (NoticeOrigin::default(), false);
    while let Some(field) = fields.next()? {
        let text = field.value_bytes();
        match field.type_() {
            b'V' => log = text == b"LOG",
            b'R' => place.routine = String::from_utf8_lossy(text).into_owned(),
            b'L' => place.line = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    Ok(log.then_some(place))
}

/// Does this text begin with COMMIT, END or PREPARE TRANSACTION? All of them roll a failed transaction back.
fn commits(sql: &str) -> bool {
    let mut rest = sql.trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            &comment[comment_end(Product::Postgres, comment).unwrap_or(comment.len())..]
        } else if let Some(after) = rest.strip_prefix(';') {
            after
        } else {
            break;
        };
        rest = after.trim_start();
    }
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    ["COMMIT", "END", "PREPARE"].iter().any(|commit| word.eq_ignore_ascii_case(commit))
}

#[cfg(test)]
mod tests {
    use super::{
        super::wire::{ReceiveBuffer, message},
        *,
    };

    /// Reads bytes in pieces of this size; gives what is no silence.
    fn read(sql: &str, bytes: &[u8], cut: usize) -> Result<Vec<Event>, Malformed> {
        let (mut inbox, mut reading, mut events) =
            (ReceiveBuffer::default(), ReplyReader::default(), Vec::new());
        reading.begin(sql);
        for mut part in bytes.chunks(cut) {
            inbox.fill(&mut part);
            while let Some(message) = inbox.take()? {
                match reading.message(message)? {
                    Event::None => {}
                    event => events.push(event),
                }
            }
        }
        Ok(events)
    }

    fn description(columns: &[(&str, u32)]) -> Vec<u8> {
        let mut body = (columns.len() as u16).to_be_bytes().to_vec();
        for (name, oid) in columns {
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0]);
            body.extend_from_slice(&oid.to_be_bytes());
            body.extend_from_slice(&[0, 4, 0xff, 0xff, 0xff, 0xff, 0, 0]);
        }
        message(b'T', &body)
    }

    fn row(cells: &[Option<&str>]) -> Vec<u8> {
        let mut body = (cells.len() as u16).to_be_bytes().to_vec();
        for cell in cells {
            match cell {
                None => body.extend_from_slice(&(-1i32).to_be_bytes()),
                Some(text) => {
                    body.extend_from_slice(&(text.len() as u32).to_be_bytes());
                    body.extend_from_slice(text.as_bytes());
                }
            }
        }
        message(b'D', &body)
    }

    fn select() -> Vec<u8> {
        [
            description(&[("a", 23), ("b", 17)]),
            message(b'N', b"SProtokoll\0VLOG\0MProzess 7 wartet\0Fproc.c\0L1512\0RProcSleep\0\0"),
            row(&[Some("7"), Some("\\x00ff")]),
            message(b'S', b"TimeZone\0UTC\0"),
            row(&[None, Some("\\x")]),
            message(b'C', b"SELECT 2\0"),
            message(b'Z', b"T"),
        ]
        .concat()
    }

    #[test]
    fn rows_are_read_however_the_bytes_are_cut() {
        let bytes = select();
        let whole = read("SELECT", &bytes, bytes.len()).unwrap();
        let [Event::Logged(place), Event::Reply(answer)] = &whole[..] else { panic!("{whole:?}") };
        assert_eq!((&place.routine[..], &place.line[..]), ("ProcSleep", "1512"));
        let RawReply::Rows(rows) = &answer.reply else { panic!("no rows") };
        assert_eq!(rows.texts(), ["(7, x'00ff')", "(NULL, x'')"]);
        assert_eq!(answer.transaction, Open::Yes);
        for cut in 1..bytes.len() {
            assert_eq!(read("SELECT", &bytes, cut).unwrap(), whole, "cut at {cut}");
        }
        for length in 0..bytes.len() {
            let events = read("SELECT", &bytes[..length], bytes.len()).unwrap();
            assert!(!events.iter().any(|event| matches!(event, Event::Reply(_))), "half of it: {length}");
        }
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let end = [message(b'C', b"SELECT 2\0"), message(b'Z', b"I")].concat();
        let bytes = [description(&[]), row(&[]), row(&[]), end].concat();
        let events = read("SELECT FROM t", &bytes, bytes.len()).unwrap();
        let [Event::Reply(answer)] = &events[..] else { panic!("{events:?}") };
        let RawReply::Rows(rows) = &answer.reply else { panic!("no rows") };
        assert_eq!(rows.texts(), ["()", "()"]);
    }

    #[test]
    fn bytes_that_are_changed_never_panic() {
        let bytes = select();
        for at in 0..bytes.len() {
            for byte in [0, 1, b'D', 0x7f, 0xff] {
                let mut bad = bytes.clone();
                bad[at] = byte;
                let _ = read("SELECT", &bad, bad.len()); // Whatever it is, it is no panic.
            }
        }
    }

    fn done(sql: &str, tag: &str, status: &[u8]) -> WireReply {
        let bytes = [message(b'C', format!("{tag}\0").as_bytes()), message(b'Z', status)].concat();
        match read(sql, &bytes, bytes.len()).unwrap().pop() {
            Some(Event::Reply(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tags_say_how_many_and_whether_a_commit_was_one() {
        let count = |tag| match done("x", tag, b"I").reply {
            RawReply::Done { affected, matched: None } => affected,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            [count("UPDATE 3"), count("INSERT 0 2"), count("CREATE TABLE"), count("BEGIN")],
            [3, 2, 0, 0]
        );
        assert_eq!(done("commit", "COMMIT", b"I").reply, RawReply::Done { affected: 0, matched: None });
        let spellings = [
            "COMMIT",
            " -- so\n/* be it */ ;End",
            "PREPARE TRANSACTION 'x'",
            "/* a /* b */ c */ commit work",
        ];
        for text in spellings {
            assert_eq!(done(text, "ROLLBACK", b"I").reply, RawReply::RolledBack, "{text}");
        }
        for text in ["ROLLBACK", "ABORT", "ROLLBACK TO s", "/* COMMIT */ ROLLBACK", "/* COMMIT"] {
            assert_eq!(
                done(text, "ROLLBACK", b"I").reply,
                RawReply::Done { affected: 0, matched: None },
                "{text}"
            );
        }
        // Only the first command of a text is known.
        let both = [message(b'C', b"COMMIT\0"), message(b'C', b"ROLLBACK\0"), message(b'Z', b"I")].concat();
        let events = read("COMMIT; ROLLBACK", &both, both.len()).unwrap();
        let [Event::Reply(answer)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(answer.reply, RawReply::Done { affected: 0, matched: None });
        assert_eq!(done("x", "BEGIN", b"T").transaction, Open::Yes);
        assert_eq!(done("x", "BEGIN", b"E").transaction, Open::Failed);
    }

    #[test]
    fn errors() {
        let error = b"SFEHLER\0VERROR\0C40P01\0MVerklemmung\0Rx\0\0";
        let bytes = [description(&[("a", 23)]), row(&[Some("1")]), message(b'E', error), message(b'Z', b"E")]
            .concat();
        let events = read("SELECT", &bytes, bytes.len()).unwrap();
        let [Event::Reply(WireReply { reply: RawReply::Error(error), transaction: Open::Failed, .. })] =
            &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!((error.code, &error.sqlstate[..], &error.message[..]), (0, "40P01", "Verklemmung"));
        let fatal = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mgone\0\0");
        let events = read("SELECT", &fatal, 3).unwrap();
        assert!(matches!(&events[..], [Event::LastWords(_)]), "{events:?}");
    }

    #[test]
    fn copy_does_not_hang() {
        let bytes = [message(b'H', &[0, 0, 1, 0, 0]), message(b'd', b"1\t2\n"), message(b'c', b"")].concat();
        let bytes = [bytes, message(b'C', b"COPY 1\0"), message(b'Z', b"I")].concat();
        let events = read("COPY t TO STDOUT", &bytes, bytes.len()).unwrap();
        let [Event::Reply(WireReply { reply: RawReply::Rows(rows), .. })] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(rows.texts(), ["('1\t2')"]);
        let bytes = message(b'G', &[0, 0, 1, 0, 0]);
        assert_eq!(read("COPY t FROM STDIN", &bytes, 1).unwrap(), [Event::WantsCopy]);
    }

    #[test]
    fn a_result_has_at_most_4096_columns() {
        let columns = |count| description(&vec![("a", 23); count]);
        assert!(read("x", &columns(4096), 4096).is_ok());
        assert!(read("x", &columns(4097), 4096).is_err());
    }

    #[test]
    fn what_we_never_ask_for_is_malformed() {
        assert!(read("x", &row(&[Some("1")]), 9).is_err());
        assert!(read("x", &[description(&[("a", 23)]), row(&[None, None])].concat(), 9).is_err());
        assert!(read("x", &[description(&[("a", 23), ("b", 23)]), row(&[None])].concat(), 9).is_err());
        assert!(read("x", &message(b'Z', b"I"), 9).is_err(), "an answer without a result");
        assert!(read("x", &message(b'1', b""), 9).is_err());
    }
}
