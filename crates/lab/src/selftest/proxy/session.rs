//! One connection that is followed: every command is passed on, every answer comes back, and where the lie fits and the statement is chosen
//! one of both is not what it should be.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use dialect::{Dialect, sql};
use execute::SessionId;
use model::{
    Ends, Level,
    sql::{Statement, StatementKind},
};

use super::{
    answer::{Answer, ResultSet},
    book::{Book, Told},
    lies::{Reader, Trick, Warned},
    relay::Peer,
    rewrite,
    tamper::{self, Tamper},
};

const COM_QUIT: u8 = 1;
const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;
const COM_RESET_CONNECTION: u8 = 31;

/// The savepoints of the proxy.
const MARK: &str = "isopod_lie";
const LAST: &str = "isopod_last";

/// What the session is in the middle of.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    open: bool,
    /// Without autocommit every statement is in a transaction.
    manual: bool,
    /// In this transaction: has it changed rows, locked rows by reading, read rows plainly?
    wrote: bool,
    locked: bool,
    read: bool,
    /// Is there a savepoint before its last change?
    marked: bool,
}

impl State {
    fn in_transaction(self) -> bool {
        self.open || self.manual
    }
}

/// A statement of a case.
struct Asked<'a> {
    sql: &'a str,
    tree: &'a Statement,
    place: u64,
}

impl Asked<'_> {
    fn kind(&self) -> StatementKind {
        self.tree.kind()
    }

    /// A plain read of tables? At SERIALIZABLE it locks what it reads.
    fn reads_plainly(&self, level: Level) -> bool {
        self.kind() == StatementKind::Select && level < Level::Serializable && self.names_tables()
    }

    fn names_tables(&self) -> bool {
        self.tree.footprint().tables().next().is_some()
    }
}

pub struct Session<'a> {
    client: Peer,
    server: Peer,
    book: &'a Arc<Book>,
    dialect: &'static Dialect,
    id: SessionId,
    schema: Option<String>,
    level: Level,
    state: State,
    /// Which run the place belongs to.
    run: u64,
    place: u64,
    /// What is done to the warnings that are asked for next.
    warnings: Warned,
    /// Should the transaction at hand have been READ ONLY?
    stripped: bool,
}

impl<'a> Session<'a> {
    pub fn new(
        client: Peer,
        server: Peer,
        book: &'a Arc<Book>,
        id: SessionId,
        schema: Option<String>,
    ) -> Session<'a> {
        let dialect = dialect::of(book.product);
        let level = dialect.default_level;
        let (state, warnings) = (State::default(), Warned::Same);
        let stripped = false;
        Session {
            client,
            server,
            book,
            dialect,
            id,
            schema,
            level,
            state,
            run: 0,
            place: 0,
            warnings,
            stripped,
        }
    }

    /// Until one side ends.
    pub fn serve(mut self) -> io::Result<()> {
        loop {
            let (_, command) = self.client.next()?;
            let Some((&code, body)) = command.split_first() else { continue };
            if code == COM_QUIT {
                return self.server.send(0, &command);
            }
            let answer = match (code, std::str::from_utf8(body)) {
                (COM_QUERY, Ok(sql)) if self.book.is_of_case(self.id) => self.of_case(sql)?,
                (COM_QUERY, Ok(sql)) => {
                    // Settings are also made in the middle of a run, by whoever only looks whether the server lives.
                    let setting = sql.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("SET "));
                    if self.schema.is_some() && !setting {
                        self.book.between();
                    }
                    self.pass(&command)?
                }
                _ => self.pass(&command)?,
            };
            match code {
                COM_INIT_DB if answer.failure().is_none() => {
                    self.schema = Some(String::from_utf8_lossy(body).into_owned());
                }
                COM_RESET_CONNECTION => {
                    (self.state, self.level) = (State::default(), self.dialect.default_level);
                }
                _ => {}
            }
            self.client.send_all(&answer.payloads())?;
        }
    }

    /// Passes a command on and waits for its answer.
    fn pass(&mut self, command: &[u8]) -> io::Result<Answer> {
        self.server.send(0, command)?;
        let (server, client) = (&mut self.server, &self.client);
        Answer::read(|| server.next_for(client))
    }

    /// Asks something of the proxy's own.
    fn own(&mut self, sql: &str) -> io::Result<Answer> {
        self.pass(&[&[COM_QUERY], sql.as_bytes()].concat())
    }

    fn print(&self, statement: &Statement) -> String {
        sql::print(self.book.product, statement)
    }

    /// A statement in a session of a case: of the executor's, or a step.
    fn of_case(&mut self, sql: &str) -> io::Result<Answer> {
        if let Some(rules) = &self.dialect.set_level {
            if let Some(level) = Level::ALL.into_iter().find(|level| (rules.set)(*level) == sql) {
                self.level = level;
                return self.own(sql);
            }
            if sql == (rules.read)(&self.book.version) {
                return self.own(sql);
            }
        }
        if self.dialect.show_warnings == Some(sql) {
            let mut answer = self.own(sql)?;
            self.tell_warnings(&mut answer);
            return Ok(answer);
        }
        let tree = sql::parse(self.book.product, sql).tree();
        let Some(tree) = tree.filter(|tree| tree.kind() != StatementKind::Set) else {
            let answer = self.own(sql)?;
            self.follow(None, &answer);
            return Ok(answer);
        };
        let run = self.book.step(self.schema.as_deref());
        if run != self.run {
            (self.run, self.place) = (run, 0);
        }
        self.place += 1;
        self.warnings = Warned::Same;
        self.stripped &= tree.kind() != StatementKind::Begin;
        let asked = Asked { sql, tree: &tree, place: self.place };
        let chosen = self.book.chooses(sql);
        let answer = match chosen {
            true => self.lie(&asked)?,
            false => self.truth(&asked)?.0,
        };
        if self.stripped
            && asked.kind().writes()
            && matches!(&answer, Answer::Done(done) if done.affected > 0)
        {
            self.told(&asked);
        }
        self.follow(Some(asked.kind()), &answer);
        Ok(answer)
    }

    /// What a statement left the session in.
    fn follow(&mut self, kind: Option<StatementKind>, answer: &Answer) {
        let state = &mut self.state;
        if kind == Some(StatementKind::Begin) {
            *state = State { manual: state.manual, ..State::default() };
        }
        if let Some(end) = answer.end() {
            (state.open, state.manual) = (end.in_transaction(), !end.autocommit());
        }
        if let Some(failure) = answer.failure() {
            let (code, sqlstate) = failure.code();
            state.open &= (self.dialect.classify)(code, &sqlstate).1 == Ends::Statement;
        }
        if !state.open {
            *state = State { manual: state.manual, ..State::default() };
            self.stripped = false;
            return;
        }
        match kind {
            Some(kind) if kind.writes() => state.wrote = true,
            Some(StatementKind::LockingSelect) => state.locked = true,
            Some(StatementKind::Select) => state.read = true,
            Some(_) | None => {}
        }
    }

    fn told(&self, asked: &Asked<'_>) {
        let (connection, place, sql) = (self.id, asked.place, asked.sql.to_string());
        self.book.note(Told { connection, place, sql });
    }

    /// Sends a statement as it is, or this one instead; says whether it had to wait. The next statement of a case goes out when
    /// everything has answered or waits, so whatever has not answered by then waits.
    fn timed(&mut self, sql: &str) -> io::Result<(Answer, bool)> {
        let count = self.book.sending();
        let answer = self.own(sql)?;
        Ok((answer, self.book.sent_since(count)))
    }

    /// Sends a statement as it is. What a later lie needs is prepared.
    fn truth(&mut self, asked: &Asked<'_>) -> io::Result<(Answer, bool)> {
        if matches!(self.book.lie.trick, Trick::LoseLast)
            && asked.kind().writes()
            && self.state.in_transaction()
        {
            self.own(&format!("SAVEPOINT {LAST}"))?;
            self.state.marked = true;
        }
        let answer = self.timed(asked.sql)?;
        if let (Trick::AnswerOfAnother, Answer::Rows(set)) = (self.book.lie.trick, &answer.0) {
            self.book.exchange(self.id, &set.columns, &set.rows);
        }
        Ok(answer)
    }

    /// Sends a statement, and lies about it if the lie fits.
    fn lie(&mut self, asked: &Asked<'_>) -> io::Result<Answer> {
        let kind = asked.kind();
        match self.book.lie.trick {
            Trick::Honest => Ok(self.truth(asked)?.0),
            Trick::Send(change) => self.sent_otherwise(asked, change),
            Trick::WriteInReadOnly => {
                let mut other = asked.tree.clone();
                if !rewrite::read_only_stripped(&mut other) {
                    return Ok(self.truth(asked)?.0);
                }
                self.stripped = true;
                Ok(self.timed(&self.print(&other))?.0)
            }
            Trick::Answer(change) => self.answered_otherwise(asked, change, false),
            Trick::AnswerAfterWait(change) => self.answered_otherwise(asked, change, true),
            Trick::Warnings { count, rows } => {
                let before = self.book.told();
                let answer = self.answered_otherwise(asked, count, false)?;
                if self.book.told() > before {
                    self.warnings = rows;
                }
                Ok(answer)
            }
            Trick::Level(other) => self.at_level(asked, other),
            Trick::Undo(only) if kind == only => self.undone(asked, false),
            Trick::UndoAfterWait if kind.writes() => self.undone(asked, true),
            Trick::MissRowAfterWait if kind.writes() => self.misses_row(asked),
            Trick::Twice if kind.writes() => self.twice(asked),
            Trick::LoseLast if kind == StatementKind::Commit && self.state.marked => {
                if self.own(&format!("ROLLBACK TO SAVEPOINT {LAST}"))?.failure().is_none() {
                    self.told(asked);
                }
                Ok(self.truth(asked)?.0)
            }
            Trick::CommitEarly if kind.writes() && self.state.open => {
                let (answer, _) = self.truth(asked)?;
                if matches!(&answer, Answer::Done(done) if done.affected > 0) {
                    self.begin_anew()?;
                    self.told(asked);
                }
                Ok(answer)
            }
            Trick::Refuse { fits, error, ends } if fits(kind) && asked.names_tables() => {
                if ends {
                    self.own("ROLLBACK")?;
                }
                self.told(asked);
                Ok(Answer::Failed(error()))
            }
            Trick::DenyCommit if kind == StatementKind::Commit && self.state.wrote => {
                self.truth(asked)?;
                self.told(asked);
                Ok(Answer::Failed(tamper::deadlock()))
            }
            Trick::ReadElsewhere { at, who } if self.reads(asked, who) => {
                let (mut answer, _) = self.truth(asked)?;
                let found = self.book.elsewhere(self.schema.as_deref(), at, asked.sql);
                self.replace(asked, &mut answer, found);
                Ok(answer)
            }
            Trick::OneRowElsewhere if self.reads(asked, Reader::Snapshot) => {
                let (mut answer, _) = self.truth(asked)?;
                let newer = self.book.elsewhere(self.schema.as_deref(), Level::ReadCommitted, asked.sql);
                let mixed =
                    answer.rows().zip(newer).and_then(|(rows, newer)| tamper::one_row_of(rows, &newer));
                self.replace(asked, &mut answer, mixed);
                Ok(answer)
            }
            Trick::ReadOld if self.reads(asked, Reader::Anybody) && !self.state.wrote => {
                let (mut answer, _) = self.truth(asked)?;
                let found = self.book.formerly(asked.sql);
                self.replace(asked, &mut answer, found);
                Ok(answer)
            }
            Trick::OldAfterWait if kind == StatementKind::LockingSelect && !self.state.wrote => {
                let mut plain = asked.tree.clone();
                rewrite::unlocked(&mut plain);
                let plain = self.print(&plain);
                let before = self.book.elsewhere(self.schema.as_deref(), Level::ReadCommitted, &plain);
                let (mut answer, waited) = self.truth(asked)?;
                if waited {
                    self.replace(asked, &mut answer, before);
                }
                Ok(answer)
            }
            Trick::LockedFromSnapshot if kind == StatementKind::LockingSelect && self.state.read => {
                let (mut answer, _) = self.truth(asked)?;
                let mut plain = asked.tree.clone();
                rewrite::unlocked(&mut plain);
                let seen = self.own(&self.print(&plain))?;
                self.replace(asked, &mut answer, seen.rows().cloned());
                Ok(answer)
            }
            Trick::AnswerOfAnother if asked.names_tables() && !kind.writes() => {
                let (mut answer, _) = self.timed(asked.sql)?;
                let other = match &answer {
                    Answer::Rows(set) => self.book.exchange(self.id, &set.columns, &set.rows),
                    Answer::Done(_) | Answer::Failed(_) => None,
                };
                self.replace(asked, &mut answer, other);
                Ok(answer)
            }
            Trick::Refresh
                if self.reads(asked, Reader::Snapshot) && !self.state.locked && self.state.open =>
            {
                let (answer, _) = self.truth(asked)?;
                let now = self.book.elsewhere(self.schema.as_deref(), Level::ReadCommitted, asked.sql);
                if now.as_ref() == answer.rows() || now.is_none() {
                    return Ok(answer);
                }
                self.begin_anew()?;
                self.told(asked);
                self.own(asked.sql)
            }
            Trick::Unlock
                if kind == StatementKind::LockingSelect
                    && self.state.open
                    && !self.state.wrote
                    && !self.state.read =>
            {
                let (answer, _) = self.truth(asked)?;
                if answer.rows().is_some_and(|rows| !rows.is_empty()) {
                    self.begin_anew()?;
                    self.told(asked);
                }
                Ok(answer)
            }
            Trick::NoForeignKeys if kind.writes() => {
                let (off, on) = (self.dialect.tables.before_drop, self.dialect.tables.after_drop);
                if let Some(off) = off {
                    self.own(off)?;
                }
                let (answer, _) = self.truth(asked)?;
                if let Some(on) = on {
                    self.own(on)?;
                }
                self.told(asked);
                Ok(answer)
            }
            Trick::Disconnect if kind.is_data() && asked.names_tables() => {
                self.told(asked);
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Trick::Hang if kind.is_data() && asked.names_tables() && self.book.is_first() => {
                self.told(asked);
                self.hang()
            }
            // It does not fit here.
            Trick::Undo(_)
            | Trick::UndoAfterWait
            | Trick::MissRowAfterWait
            | Trick::Twice
            | Trick::LoseLast
            | Trick::CommitEarly
            | Trick::Refuse { .. }
            | Trick::DenyCommit
            | Trick::ReadElsewhere { .. }
            | Trick::OneRowElsewhere
            | Trick::ReadOld
            | Trick::OldAfterWait
            | Trick::LockedFromSnapshot
            | Trick::AnswerOfAnother
            | Trick::Refresh
            | Trick::Unlock
            | Trick::NoForeignKeys
            | Trick::Disconnect
            | Trick::Hang => Ok(self.truth(asked)?.0),
        }
    }

    /// Is it a plain read of such a reader?
    fn reads(&self, asked: &Asked<'_>, who: Reader) -> bool {
        asked.reads_plainly(self.level)
            && match who {
                Reader::Anybody => true,
                Reader::Snapshot => {
                    self.level == Level::RepeatableRead && self.state.in_transaction() && !self.state.wrote
                }
                Reader::Writer => self.state.wrote,
            }
    }

    fn sent_otherwise(&mut self, asked: &Asked<'_>, change: rewrite::Rewrite) -> io::Result<Answer> {
        let mut other = asked.tree.clone();
        if !change(&mut other) {
            return Ok(self.truth(asked)?.0);
        }
        let (answer, _) = self.timed(&self.print(&other))?;
        // What this version cannot read is no lie.
        let refused = answer.failure().is_some_and(|failure| {
            let (code, sqlstate) = failure.code();
            (self.dialect.classify)(code, &sqlstate).0 == model::ErrorClass::Syntax
        });
        if refused {
            return Ok(self.truth(asked)?.0);
        }
        self.told(asked);
        Ok(answer)
    }

    fn answered_otherwise(
        &mut self,
        asked: &Asked<'_>,
        change: Tamper,
        after_wait: bool,
    ) -> io::Result<Answer> {
        let (mut answer, waited) = self.truth(asked)?;
        if (waited || !after_wait) && change(&mut answer, asked.tree) {
            self.told(asked);
        }
        Ok(answer)
    }

    /// Other rows instead of those that came, if they are others.
    fn replace(&self, asked: &Asked<'_>, answer: &mut Answer, other: Option<Vec<super::answer::Row>>) {
        if let (Some(rows), Some(other)) = (answer.rows_mut(), other)
            && *rows != other
        {
            *rows = other;
            self.told(asked);
        }
    }

    /// The level is set for the transaction that the statement begins, and for no other.
    fn at_level(&mut self, asked: &Asked<'_>, other: fn(Level) -> Option<Level>) -> io::Result<Answer> {
        let begins = asked.kind() == StatementKind::Begin || asked.kind().is_data() && asked.names_tables();
        if let (Some(level), true, false) = (other(self.level), begins, self.state.open) {
            let set = self.own(&format!("SET TRANSACTION ISOLATION LEVEL {}", level.sql()))?;
            if set.failure().is_none() {
                self.told(asked);
            }
        }
        Ok(self.truth(asked)?.0)
    }

    /// Sets a mark to which a change can be taken back; true if it is the beginning of a transaction of the proxy's own.
    fn mark(&mut self) -> io::Result<bool> {
        let own = !self.state.in_transaction();
        let sql = if own { "BEGIN".to_string() } else { format!("SAVEPOINT {MARK}") };
        self.own(&sql)?;
        Ok(own)
    }

    fn take_back(&mut self, own: bool) -> io::Result<()> {
        let sql = if own { "ROLLBACK".to_string() } else { format!("ROLLBACK TO SAVEPOINT {MARK}") };
        self.own(&sql).map(|_| ())
    }

    /// Ends a transaction of the proxy's own.
    fn unmark(&mut self, own: bool, answer: &mut Answer) -> io::Result<()> {
        if own {
            self.own("COMMIT")?;
            answer.close_transaction();
        }
        Ok(())
    }

    fn undone(&mut self, asked: &Asked<'_>, after_wait: bool) -> io::Result<Answer> {
        let own = self.mark()?;
        let (mut answer, waited) = self.truth(asked)?;
        if (waited || !after_wait) && matches!(&answer, Answer::Done(done) if done.affected > 0) {
            self.take_back(own)?;
            self.told(asked);
        }
        self.unmark(own, &mut answer)?;
        Ok(answer)
    }

    /// It is taken back, and done again to one row less. Everything that it would wait for is locked by now.
    fn misses_row(&mut self, asked: &Asked<'_>) -> io::Result<Answer> {
        let own = self.mark()?;
        let (mut answer, waited) = self.truth(asked)?;
        if let Answer::Done(done) = &mut answer
            && waited
            && let Some(fewer) = done.affected.checked_sub(1)
            && let Some(limited) = rewrite::limited(asked.tree, fewer)
        {
            let (limited, before) = (self.print(&limited), done.affected);
            self.take_back(own)?;
            if own {
                self.own("BEGIN")?;
            }
            let mut again = self.own(&limited)?;
            if !matches!(&again, Answer::Done(done) if done.affected < before) {
                // The server does not do it in part; then all of it is right.
                self.take_back(own)?;
                if own {
                    self.own("BEGIN")?;
                }
                again = self.own(asked.sql)?;
            } else {
                self.told(asked);
            }
            answer = again;
        }
        self.unmark(own, &mut answer)?;
        Ok(answer)
    }

    fn twice(&mut self, asked: &Asked<'_>) -> io::Result<Answer> {
        let (answer, _) = self.truth(asked)?;
        if matches!(&answer, Answer::Done(done) if done.affected > 0) {
            let again = self.own(asked.sql)?;
            if matches!(&again, Answer::Done(done) if done.affected > 0) {
                self.told(asked);
            }
        }
        Ok(answer)
    }

    /// Ends the transaction at hand and begins another.
    fn begin_anew(&mut self) -> io::Result<()> {
        self.own("COMMIT")?;
        self.own(self.dialect.begin.plain).map(|_| ())
    }

    /// Says nothing until somebody ends the connection.
    fn hang(&mut self) -> io::Result<Answer> {
        const LOOK: Duration = Duration::from_millis(20);
        while !self.client.stirs(LOOK) && !self.server.stirs(Duration::ZERO) {
            if self.book.closing.load(Ordering::Relaxed) {
                break;
            }
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }

    /// Changes the list of warnings, if that of the last statement is to be another.
    fn tell_warnings(&mut self, answer: &mut Answer) {
        const ADDED: [&[u8]; 3] = [b"Warning", b"1292", b"Truncated incorrect value"];
        let Answer::Rows(ResultSet { rows, .. }) = answer else { return };
        match std::mem::replace(&mut self.warnings, Warned::Same) {
            Warned::Same => {}
            Warned::More => rows.push(ADDED.iter().map(|cell| Some(cell.to_vec())).collect()),
            Warned::Others => rows.iter_mut().for_each(|row| {
                if let Some(code) = row.get_mut(1) {
                    *code = Some(ADDED[1].to_vec());
                }
            }),
        }
    }
}
