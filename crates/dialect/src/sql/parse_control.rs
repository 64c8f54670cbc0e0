//! Reading BEGIN, COMMIT, ROLLBACK, savepoints, SET, LOCK TABLE and PRAGMA.

use model::{
    Level,
    sql::{
        Begin, BeginVerb, Commit, CommitVerb, Keyword, LockTable, OptionValue, Pragma, PragmaValue, Rollback,
        RollbackVerb, SavepointTarget, Scope, SetItem, SetTarget, SetTransaction, SetValue, Statement,
        TableLock, TransactionMode, TransactionWord,
    },
};

use super::{
    parse::{ParseResult, Parser},
    token::TokenKind,
};

impl Parser<'_> {
    /// `BEGIN` or `START TRANSACTION`.
    pub fn begin(&mut self) -> ParseResult<Begin> {
        let clauses = &self.rules.clauses;
        let (sqlite, postgres) = (clauses.sqlite_control, clauses.postgres_control);
        if self.is("START") {
            self.needs(clauses.mysql_control || postgres, "START TRANSACTION")?;
            self.expect("START TRANSACTION")?;
            let (modes, commas) = self.modes()?;
            return Ok(Begin { verb: BeginVerb::StartTransaction, timing: None, word: None, modes, commas });
        }
        self.expect("BEGIN")?;
        let timing = if sqlite { self.keyword() } else { None };
        let word = self.transaction_word();
        let (modes, commas) = if postgres { self.modes()? } else { (Vec::new(), true) };
        Ok(Begin { verb: BeginVerb::Begin, timing, word, modes, commas })
    }

    fn transaction_word(&mut self) -> Option<TransactionWord> {
        let clauses = &self.rules.clauses;
        let only = if clauses.sqlite_control { TransactionWord::Transaction } else { TransactionWord::Work };
        if clauses.postgres_control { self.keyword() } else { self.eat(only.sql()).then_some(only) }
    }

    /// Modes up to the end of the statement, and whether commas are between them.
    fn modes(&mut self) -> ParseResult<(Vec<TransactionMode>, bool)> {
        let mut modes = Vec::new();
        let mut commas = true;
        while self.peek(0).is_some() {
            if !modes.is_empty() {
                // Some with and some without do not print to the same tokens, which is noticed there.
                commas = self.eat_symbol(",");
                self.needs(commas || self.rules.clauses.postgres_control, "modes without a comma")?;
            }
            modes.push(self.mode()?);
        }
        Ok((modes, commas))
    }

    fn mode(&mut self) -> ParseResult<TransactionMode> {
        let modes = [
            ("WITH CONSISTENT SNAPSHOT", TransactionMode::ConsistentSnapshot),
            ("READ ONLY", TransactionMode::ReadOnly),
            ("READ WRITE", TransactionMode::ReadWrite),
        ];
        let postgres =
            [("DEFERRABLE", TransactionMode::Deferrable), ("NOT DEFERRABLE", TransactionMode::NotDeferrable)];
        let is_postgres = self.rules.clauses.postgres_control;
        self.needs(!(is_postgres && self.is("WITH")), "WITH CONSISTENT SNAPSHOT")?;
        let more = if is_postgres { self.choice(&postgres) } else { None };
        if let Some(mode) = more.or_else(|| self.choice(&modes)) {
            return Ok(mode);
        }
        self.expect("ISOLATION LEVEL")?;
        match self.choice(&Level::ALL.map(|level| (level.sql(), level))) {
            Some(level) => Ok(TransactionMode::Isolation(level)),
            None => self.refuse("an isolation level"),
        }
    }

    /// `COMMIT` or `END`.
    pub fn commit(&mut self) -> ParseResult<Commit> {
        let verb = if self.eat("COMMIT") {
            CommitVerb::Commit
        } else {
            let clauses = &self.rules.clauses;
            self.needs(clauses.sqlite_control || clauses.postgres_control, "END")?;
            self.expect("END")?;
            CommitVerb::End
        };
        Ok(Commit { verb, word: self.transaction_word() })
    }

    pub fn rollback(&mut self) -> ParseResult<Rollback> {
        let verb = if self.eat("ABORT") {
            self.needs(self.rules.clauses.postgres_control, "ABORT")?;
            RollbackVerb::Abort
        } else {
            self.expect("ROLLBACK")?;
            RollbackVerb::Rollback
        };
        let word = self.transaction_word();
        let to =
            if verb == RollbackVerb::Rollback && self.eat("TO") { Some(self.savepoint()?) } else { None };
        Ok(Rollback { verb, word, to })
    }

    fn savepoint(&mut self) -> ParseResult<SavepointTarget> {
        let savepoint_word = self.eat("SAVEPOINT");
        Ok(SavepointTarget { savepoint_word, name: self.ident()? })
    }

    pub fn release(&mut self) -> ParseResult<Statement> {
        self.expect("RELEASE")?;
        let target = self.savepoint()?;
        if !target.savepoint_word {
            let clauses = &self.rules.clauses;
            self.needs(clauses.sqlite_control || clauses.postgres_control, "RELEASE without SAVEPOINT")?;
        }
        Ok(Statement::Release(target))
    }

    pub fn set(&mut self) -> ParseResult<Statement> {
        let postgres = self.rules.clauses.postgres_control;
        self.needs(self.rules.clauses.mysql_control || postgres, "SET")?;
        self.expect("SET")?;
        let global = !postgres && self.is("GLOBAL");
        let ahead = usize::from(self.is("SESSION") || global || self.is("LOCAL"));
        if self.is_word_at(ahead, "TRANSACTION") {
            let scope = self.keyword();
            self.expect("TRANSACTION")?;
            let (modes, commas) = self.modes()?;
            if modes.is_empty() {
                return self.refuse("what the transaction is to be");
            }
            return Ok(Statement::SetTransaction(SetTransaction { scope, modes, commas }));
        }
        if postgres {
            return self.postgres_set().map(|item| Statement::Set(vec![item]));
        }
        self.list(Self::set_item).map(Statement::Set)
    }

    fn set_item(&mut self) -> ParseResult<SetItem> {
        let scope = self.keyword();
        let target = match self.peek(0) {
            Some(t) if t.kind == TokenKind::Variable => {
                self.skip(1);
                SetTarget::Variable(t.text.to_string())
            }
            // An account statement in disguise.
            Some(t) if t.text.eq_ignore_ascii_case("PASSWORD") => return self.refuse("a setting"),
            _ => SetTarget::Name(self.ident()?),
        };
        self.expect_symbol("=")?;
        let value = if self.eat("ON") { SetValue::On } else { SetValue::Expr(self.expr()?) };
        Ok(SetItem { scope, target, to_word: false, value })
    }

    /// What PostgreSQL's SET sets: one thing, to one value.
    fn postgres_set(&mut self) -> ParseResult<SetItem> {
        let scope = self.choice(&[("SESSION", Scope::Session), ("LOCAL", Scope::Local)]);
        let name = self.ident()?;
        // These lead to other schemas and other accounts.
        if ["search_path", "role", "session_authorization"].iter().any(|n| n.eq_ignore_ascii_case(&name.name))
        {
            return self.refuse("a setting that stays where it is");
        }
        let to_word = self.eat("TO");
        if !to_word {
            self.expect_symbol("=")?;
        }
        let value = if self.eat("ON") { SetValue::On } else { SetValue::Expr(self.expr()?) };
        Ok(SetItem { scope, target: SetTarget::Name(name), to_word, value })
    }

    /// `LOCK TABLE`, PostgreSQL's.
    pub fn lock_table(&mut self) -> ParseResult<LockTable> {
        self.needs(self.rules.clauses.postgres_control, "LOCK")?;
        self.expect("LOCK")?;
        let table_word = self.eat("TABLE");
        let names = self.list(Self::object)?;
        let mode = if self.eat("IN") {
            let mut all = TableLock::ALL.iter().copied();
            let Some(mode) = all.find(|mode| self.eat(&format!("{} MODE", mode.sql()))) else {
                return self.refuse("how to lock");
            };
            Some(mode)
        } else {
            None
        };
        Ok(LockTable { table_word, names, mode, nowait: self.eat("NOWAIT") })
    }

    /// A constant or a word.
    pub fn option_value(&mut self) -> ParseResult<OptionValue> {
        match self.constant() {
            Some(literal) => Ok(OptionValue::Literal(literal)),
            None => self.any_word().map(OptionValue::Word),
        }
    }

    pub fn pragma(&mut self) -> ParseResult<Pragma> {
        self.needs(self.rules.clauses.sqlite_control, "PRAGMA")?;
        self.expect("PRAGMA")?;
        let name = self.object()?;
        let call = self.eat_symbol("(");
        let value = if call || self.eat_symbol("=") {
            let negative = self.eat_symbol("-");
            let value = self.option_value()?;
            if call {
                self.expect_symbol(")")?;
            }
            Some(PragmaValue { call, negative, value })
        } else {
            None
        };
        Ok(Pragma { schema: name.schema, name: name.name, value })
    }
}
