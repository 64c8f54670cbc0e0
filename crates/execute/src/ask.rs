//! Statements of our own: send, wait for the answer, insist on success.

use std::time::{Duration, Instant};

use model::RowSet;

use crate::{
    os,
    seams::{Answer, ConnectError, RawReply, Session},
};

/// Our own statements are short; a server that needs longer than this is not well.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Sends a statement and waits for its answer, whatever it is.
pub fn ask(session: &mut dyn Session, sql: &str, limit: Duration) -> Result<Answer, ConnectError> {
    session.send(sql);
    let start = Instant::now();
    loop {
        os::wait_readable(&[session.fd()], Duration::from_millis(100));
        if let Some(answer) = session.receive() {
            return match answer.reply {
                RawReply::Lost => Err(ConnectError::Gone),
                RawReply::Rows(_) | RawReply::Done { .. } | RawReply::Error(_) => Ok(answer),
            };
        }
        if start.elapsed() > limit {
            let reason = format!("no answer within {} s", limit.as_secs());
            return Err(ConnectError::Own { statement: sql.to_string(), reason });
        }
    }
}

/// Sends a statement that must succeed. Gives its rows, or none.
pub fn must(session: &mut dyn Session, sql: &str) -> Result<RowSet, ConnectError> {
    match ask(session, sql, LIMIT)?.reply {
        RawReply::Rows(rows) => Ok(rows),
        RawReply::Done { .. } => Ok(RowSet::default()),
        RawReply::Error(error) => Err(ConnectError::Own {
            statement: sql.to_string(),
            reason: format!("{} ({})", error.message, error.code),
        }),
        RawReply::Lost => Err(ConnectError::Gone),
    }
}

/// The text of a cell.
pub fn text(rows: &RowSet, row: usize, column: usize) -> String {
    String::from_utf8_lossy(rows.cell(row, column).unwrap_or_default()).into_owned()
}
