//! Reading BEGIN, COMMIT, ROLLBACK, savepoints, SET and PRAGMA.

use model::{
    Level,
    sql::{
        Begin, BeginVerb, Commit, CommitVerb, LockTiming, OptionValue, Pragma, PragmaValue, Rollback,
        SavepointTarget, Scope, SetItem, SetTarget, SetTransaction, SetValue, Statement, TransactionMode,
        TransactionWord,
    },
};

use super::{
    parse::{Parser, Read},
    token::TokenKind,
};

impl Parser<'_> {
    /// `BEGIN` or `START TRANSACTION`.
    pub fn begin(&mut self) -> Read<Begin> {
        let sqlite = self.rules.clauses.sqlite_control;
        if self.is("START") {
            self.needs(self.rules.clauses.mysql_control, "START TRANSACTION")?;
            self.expect("START TRANSACTION")?;
            let modes = if self.peek(0).is_some() { self.list(Self::mode)? } else { Vec::new() };
            return Ok(Begin { verb: BeginVerb::StartTransaction, timing: None, word: None, modes });
        }
        self.expect("BEGIN")?;
        let timings = [
            ("DEFERRED", LockTiming::Deferred),
            ("IMMEDIATE", LockTiming::Immediate),
            ("EXCLUSIVE", LockTiming::Exclusive),
        ];
        let timing = if sqlite { self.choice(&timings) } else { None };
        Ok(Begin { verb: BeginVerb::Begin, timing, word: self.transaction_word(), modes: Vec::new() })
    }

    fn transaction_word(&mut self) -> Option<TransactionWord> {
        let (text, word) = if self.rules.clauses.sqlite_control {
            ("TRANSACTION", TransactionWord::Transaction)
        } else {
            ("WORK", TransactionWord::Work)
        };
        self.eat(text).then_some(word)
    }

    fn mode(&mut self) -> Read<TransactionMode> {
        let modes = [
            ("WITH CONSISTENT SNAPSHOT", TransactionMode::ConsistentSnapshot),
            ("READ ONLY", TransactionMode::ReadOnly),
            ("READ WRITE", TransactionMode::ReadWrite),
        ];
        if let Some(mode) = self.choice(&modes) {
            return Ok(mode);
        }
        self.expect("ISOLATION LEVEL")?;
        match self.choice(&Level::ALL.map(|level| (level.sql(), level))) {
            Some(level) => Ok(TransactionMode::Isolation(level)),
            None => self.refuse("an isolation level"),
        }
    }

    /// `COMMIT` or `END`.
    pub fn commit(&mut self) -> Read<Commit> {
        let verb = if self.eat("COMMIT") {
            CommitVerb::Commit
        } else {
            self.needs(self.rules.clauses.sqlite_control, "END")?;
            self.expect("END")?;
            CommitVerb::End
        };
        Ok(Commit { verb, word: self.transaction_word() })
    }

    /// `ROLLBACK`.
    pub fn rollback(&mut self) -> Read<Rollback> {
        self.expect("ROLLBACK")?;
        let word = self.transaction_word();
        let to = if self.eat("TO") { Some(self.savepoint()?) } else { None };
        Ok(Rollback { word, to })
    }

    fn savepoint(&mut self) -> Read<SavepointTarget> {
        let savepoint_word = self.eat("SAVEPOINT");
        Ok(SavepointTarget { savepoint_word, name: self.ident()? })
    }

    /// `RELEASE`.
    pub fn release(&mut self) -> Read<Statement> {
        self.expect("RELEASE")?;
        let target = self.savepoint()?;
        if !target.savepoint_word {
            self.needs(self.rules.clauses.sqlite_control, "RELEASE without SAVEPOINT")?;
        }
        Ok(Statement::Release(target))
    }

    /// `SET`.
    pub fn set(&mut self) -> Read<Statement> {
        self.needs(self.rules.clauses.mysql_control, "SET")?;
        self.expect("SET")?;
        let ahead = usize::from(self.is("SESSION") || self.is("GLOBAL") || self.is("LOCAL"));
        if self.is_word_at(ahead, "TRANSACTION") {
            let scope = self.scope();
            self.expect("TRANSACTION")?;
            return Ok(Statement::SetTransaction(SetTransaction { scope, modes: self.list(Self::mode)? }));
        }
        self.list(Self::set_item).map(Statement::Set)
    }

    fn scope(&mut self) -> Option<Scope> {
        self.choice(&[("SESSION", Scope::Session), ("LOCAL", Scope::Local), ("GLOBAL", Scope::Global)])
    }

    fn set_item(&mut self) -> Read<SetItem> {
        let scope = self.scope();
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
        Ok(SetItem { scope, target, value })
    }

    /// `PRAGMA`.
    pub fn pragma(&mut self) -> Read<Pragma> {
        self.needs(self.rules.clauses.sqlite_control, "PRAGMA")?;
        self.expect("PRAGMA")?;
        let name = self.object()?;
        let call = self.eat_symbol("(");
        let value = if call || self.eat_symbol("=") {
            let negative = self.eat_symbol("-");
            let value = match self.constant() {
                Some(literal) => OptionValue::Literal(literal),
                None => OptionValue::Word(self.any_word()?),
            };
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
