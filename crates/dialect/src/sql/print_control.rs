//! Writing BEGIN, COMMIT, ROLLBACK, savepoints, SET, LOCK TABLE and PRAGMA.

use model::sql::{
    Begin, Commit, Keyword, LockTable, Pragma, Rollback, SavepointTarget, SetItem, SetTarget, SetTransaction,
    SetValue, TransactionMode,
};

use super::print::Out;

impl Out {
    /// `BEGIN` or `START TRANSACTION`.
    pub fn begin(&mut self, begin: &Begin) {
        self.kw(begin.verb.sql());
        self.keyword(begin.timing);
        self.keyword(begin.word);
        self.modes(&begin.modes, begin.commas);
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
        self.kw(commit.verb.sql());
        self.keyword(commit.word);
    }

    pub fn rollback(&mut self, rollback: &Rollback) {
        self.kw(rollback.verb.sql());
        self.keyword(rollback.word);
        self.optional("TO", &rollback.to, Out::savepoint);
    }

    /// `[SAVEPOINT] s`
    pub fn savepoint(&mut self, target: &SavepointTarget) {
        self.kw_if(target.savepoint_word, "SAVEPOINT");
        self.ident(&target.name);
    }

    pub fn set(&mut self, items: &[SetItem]) {
        self.kw("SET");
        self.list(items, |out, item| {
            out.keyword(item.scope);
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
        self.keyword(set.scope);
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
