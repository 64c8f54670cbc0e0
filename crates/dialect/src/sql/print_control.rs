//! Writing BEGIN, COMMIT, ROLLBACK, savepoints, SET, LOCK TABLE and PRAGMA.

use model::sql::{
    Begin, BeginVerb, Commit, CommitVerb, LockTable, LockTiming, Pragma, Rollback, RollbackVerb,
    SavepointTarget, Scope, SetItem, SetTarget, SetTransaction, SetValue, TransactionMode, TransactionWord,
};

use super::print::Out;

impl Out {
    /// `BEGIN` or `START TRANSACTION`.
    pub fn begin(&mut self, begin: &Begin) {
        self.kw(match begin.verb {
            BeginVerb::Begin => "BEGIN",
            BeginVerb::StartTransaction => "START TRANSACTION",
        });
        match begin.timing {
            Some(LockTiming::Deferred) => self.kw("DEFERRED"),
            Some(LockTiming::Immediate) => self.kw("IMMEDIATE"),
            Some(LockTiming::Exclusive) => self.kw("EXCLUSIVE"),
            None => {}
        }
        self.transaction_word(begin.word);
        self.modes(&begin.modes, begin.commas);
    }

    fn transaction_word(&mut self, word: Option<TransactionWord>) {
        match word {
            Some(TransactionWord::Work) => self.kw("WORK"),
            Some(TransactionWord::Transaction) => self.kw("TRANSACTION"),
            None => {}
        }
    }

    fn modes(&mut self, modes: &[TransactionMode], commas: bool) {
        if commas {
            self.list(modes, Out::mode);
        } else {
            modes.iter().for_each(|mode| self.mode(mode));
        }
    }

    fn mode(&mut self, mode: &TransactionMode) {
        match mode {
            TransactionMode::ConsistentSnapshot => self.kw("WITH CONSISTENT SNAPSHOT"),
            TransactionMode::ReadOnly => self.kw("READ ONLY"),
            TransactionMode::ReadWrite => self.kw("READ WRITE"),
            TransactionMode::Isolation(level) => {
                self.kw("ISOLATION LEVEL");
                self.kw(level.sql());
            }
            TransactionMode::Deferrable => self.kw("DEFERRABLE"),
            TransactionMode::NotDeferrable => self.kw("NOT DEFERRABLE"),
        }
    }

    /// `COMMIT` or `END`.
    pub fn commit(&mut self, commit: &Commit) {
        self.kw(match commit.verb {
            CommitVerb::Commit => "COMMIT",
            CommitVerb::End => "END",
        });
        self.transaction_word(commit.word);
    }

    pub fn rollback(&mut self, rollback: &Rollback) {
        self.kw(match rollback.verb {
            RollbackVerb::Rollback => "ROLLBACK",
            RollbackVerb::Abort => "ABORT",
        });
        self.transaction_word(rollback.word);
        if let Some(to) = &rollback.to {
            self.kw("TO");
            self.savepoint(to);
        }
    }

    /// `[SAVEPOINT] s`
    pub fn savepoint(&mut self, target: &SavepointTarget) {
        self.kw_if(target.savepoint_word, "SAVEPOINT");
        self.ident(&target.name);
    }

    fn scope(&mut self, scope: Option<Scope>) {
        match scope {
            Some(Scope::Session) => self.kw("SESSION"),
            Some(Scope::Local) => self.kw("LOCAL"),
            Some(Scope::Global) => self.kw("GLOBAL"),
            None => {}
        }
    }

    pub fn set(&mut self, items: &[SetItem]) {
        self.kw("SET");
        self.list(items, |out, item| {
            out.scope(item.scope);
            match &item.target {
                SetTarget::Name(name) => out.ident(name),
                SetTarget::Variable(name) => out.exact(name),
            }
            out.operator(if item.to_word { "TO" } else { "=" });
            match &item.value {
                SetValue::Expr(expr) => out.expr(expr),
                SetValue::On => out.kw("ON"),
            }
        });
    }

    pub fn set_transaction(&mut self, set: &SetTransaction) {
        self.kw("SET");
        self.scope(set.scope);
        self.kw("TRANSACTION");
        self.modes(&set.modes, set.commas);
    }

    pub fn lock_table(&mut self, lock: &LockTable) {
        self.kw("LOCK");
        self.kw_if(lock.table_word, "TABLE");
        self.list(&lock.names, Out::object);
        if let Some(mode) = lock.mode {
            self.kw("IN");
            self.kw(mode.sql());
            self.kw("MODE");
        }
        self.kw_if(lock.nowait, "NOWAIT");
    }

    pub fn pragma(&mut self, pragma: &Pragma) {
        self.kw("PRAGMA");
        if let Some(schema) = &pragma.schema {
            self.ident(schema);
            self.symbol(".");
        }
        self.ident(&pragma.name);
        if let Some(value) = &pragma.value {
            if value.call {
                self.open_call()
            } else {
                self.symbol("=")
            }
            if value.negative {
                self.symbol("-");
                self.glue();
            }
            self.option_value(&value.value);
            if value.call {
                self.symbol(")");
            }
        }
    }
}
