//! Statements of our own: send, and wait for the answer. For setting up, resetting and looking things up;
//! the statements of a case never go this way.

use std::time::{Duration, Instant};

use model::RowSet;

use crate::{
    os::{Interest, wait},
    seams::{ConnectError, RawReply, Session, WireReply},
};

/// Our own statements are short; a server that needs longer than this is not well.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Sends a statement and waits for its answer, whatever it is.
///
/// `limit` is how long it may take until all of the answer is there, however much of it comes meanwhile. When that is over,
/// the session is abandoned.
pub fn ask(session: &mut dyn Session, sql: &str, limit: Duration) -> Result<WireReply, ConnectError> {
    session.send(sql);
    await_answer(session, sql, limit)
}

/// Waits for the answer to what was sent last; `what` names it if the server does not complete it in time.
pub fn await_answer(
    session: &mut dyn Session,
    what: &str,
    limit: Duration,
) -> Result<WireReply, ConnectError> {
    let limit = limit.min(session.own_limit());
    let begun = Instant::now();
    loop {
        let left = limit.saturating_sub(begun.elapsed());
        let spoke = wait(&[session.fd()], Interest::Read, left);
        match session.receive() {
            Some(WireReply { reply: RawReply::Lost, .. }) => return Err(ConnectError::Gone),
            Some(WireReply { reply: RawReply::Unreadable(reason), .. }) => {
                return Err(ConnectError::Unreadable { statement: what.to_string(), reason });
            }
            Some(answer) => return Ok(answer),
            None if spoke && !left.is_zero() => {}
            None => {
                session.abandon();
                return Err(refused(what, format!("no complete answer within {limit:?}")));
            }
        }
    }
}

/// As [`ask`], but an error of the server is a failure of ours: this statement must succeed.
pub fn demand(session: &mut dyn Session, sql: &str, limit: Duration) -> Result<WireReply, ConnectError> {
    ask(session, sql, limit).and_then(|answer| accept(answer, sql))
}

/// An answer to something that must succeed; `what` names it.
pub fn accept(answer: WireReply, what: &str) -> Result<WireReply, ConnectError> {
    match &answer.reply {
        RawReply::Error(error) if ends_session(&error.sqlstate) => Err(ConnectError::Gone),
        RawReply::Error(error) => Err(refused(what, error.to_string())),
        RawReply::Rows(_)
        | RawReply::Done { .. }
        | RawReply::RolledBack
        | RawReply::Unreadable(_)
        | RawReply::Lost => Ok(answer),
    }
}

/// States that end a connection in every product: trouble with the connection itself, and a server that goes down. Not
/// so 08P01: bytes that make no sense are a mistake of ours or of the server's, and must be seen.
fn ends_session(sqlstate: &str) -> bool {
    sqlstate.starts_with("08") && sqlstate != "08P01" || sqlstate.starts_with("57P0")
}

/// As [`demand`], for a statement that gives rows.
pub fn demand_rows(session: &mut dyn Session, sql: &str, limit: Duration) -> Result<RowSet, ConnectError> {
    match demand(session, sql, limit)?.reply {
        RawReply::Rows(rows) => Ok(rows),
        _ => Err(refused(sql, "it gave no rows".to_string())),
    }
}

/// As [`demand`], with the usual patience. Gives the rows, or none.
pub fn must(session: &mut dyn Session, sql: &str) -> Result<RowSet, ConnectError> {
    Ok(match demand(session, sql, LIMIT)?.reply {
        RawReply::Rows(rows) => rows,
        _ => RowSet::default(),
    })
}

/// The rows of a statement that gives at least so many columns, as texts; NULL is empty.
pub fn records<const N: usize>(
    session: &mut dyn Session,
    sql: &str,
    limit: Duration,
) -> Result<Vec<[String; N]>, ConnectError> {
    let rows = demand_rows(session, sql, limit)?;
    if rows.columns().len() < N {
        return Err(refused(sql, format!("it gave {} of {N} columns", rows.columns().len())));
    }
    Ok((0..rows.len()).map(|row| std::array::from_fn(|column| text(&rows, row, column))).collect())
}

/// The first row of a statement that must give one.
pub fn record<const N: usize>(
    session: &mut dyn Session,
    sql: &str,
    limit: Duration,
) -> Result<[String; N], ConnectError> {
    let first = records(session, sql, limit)?.into_iter().next();
    first.ok_or_else(|| refused(sql, "it gave no row".to_string()))
}

/// The text of a cell; empty where it is NULL, or not there.
pub fn text(rows: &RowSet, row: usize, column: usize) -> String {
    String::from_utf8_lossy(rows.cell(row, column).unwrap_or_default()).into_owned()
}

fn refused(statement: &str, reason: String) -> ConnectError {
    ConnectError::Own { statement: statement.to_string(), reason }
}

#[cfg(test)]
mod tests {
    use std::os::fd::RawFd;

    use model::{Kind, Open, rows::Column};

    use super::*;
    use crate::seams::SessionId;

    /// A server that always has something to say, and says this when it is asked.
    struct Talker {
        reply: Option<RawReply>,
        limit: Duration,
        abandoned: bool,
    }

    impl Session for Talker {
        fn id(&self) -> SessionId {
            1
        }

        fn send(&mut self, _sql: &str) {}

        fn receive(&mut self) -> Option<WireReply> {
            let reply = self.reply.clone()?;
            Some(WireReply { reply, warnings: 0, transaction: Open::No })
        }

        fn fd(&self) -> RawFd {
            -1
        }

        fn reset(&mut self) -> bool {
            false
        }

        fn abandon(&mut self) {
            self.abandoned = true;
        }

        fn own_limit(&self) -> Duration {
            self.limit
        }
    }

    fn talker(reply: Option<RawReply>) -> Talker {
        Talker { reply, limit: Duration::MAX, abandoned: false }
    }

    fn rows(columns: usize, cells: &[Option<&str>]) -> RawReply {
        let column = || Column { name: "a".into(), kind: Kind::Text, type_name: "TEXT".into() };
        let mut rows = RowSet::new((0..columns).map(|_| column()).collect());
        cells.iter().for_each(|cell| rows.push(cell.map(str::as_bytes)));
        RawReply::Rows(rows)
    }

    #[test]
    fn who_never_comes_to_an_end_is_given_up() {
        let begun = Instant::now();
        let mut session = talker(None);
        let refused = ask(&mut session, "SELECT 1", Duration::from_millis(30)).unwrap_err().to_string();
        assert!(refused.contains("no complete answer within 30ms") && session.abandoned, "{refused}");
        let mut session = Talker { limit: Duration::from_millis(20), ..talker(None) };
        let refused = ask(&mut session, "SELECT 1", LIMIT).unwrap_err().to_string();
        assert!(refused.contains("within 20ms"), "the session's own limit: {refused}");
        assert!(begun.elapsed() < LIMIT);
    }

    #[test]
    fn what_is_not_there_is_an_error_with_a_sentence() {
        let record = |reply| record::<2>(&mut talker(Some(reply)), "SELECT a, b", LIMIT);
        let said = |reply| record(reply).unwrap_err().to_string();
        assert_eq!(record(rows(2, &[Some("x"), None])).unwrap(), ["x".to_string(), String::new()]);
        assert_eq!(record(rows(3, &[Some("x"), Some("y"), None])).unwrap(), ["x", "y"]);
        assert!(said(rows(2, &[])).contains("it gave no row"));
        assert!(said(rows(1, &[Some("x")])).contains("it gave 1 of 2 columns"));
        assert!(said(rows(0, &[])).contains("it gave 0 of 2 columns"));
        assert!(said(RawReply::Done { affected: 0, matched: None }).contains("it gave no rows"));
        assert!(
            said(RawReply::Unreadable("a wrong number".into())).contains("cannot be read: a wrong number")
        );
        assert!(matches!(record(RawReply::Lost), Err(ConnectError::Gone)));
    }
}
