//! Transactions, savepoints and settings of a session.

use execute::{RawReply, SessionId};
use model::{
    Level, RowSet, SqlType,
    sql::{
        Begin, Expr, Literal, Query, QueryPart, Rollback, SavepointTarget, Scope, SelectItem, SetItem,
        SetTarget, SetTransaction, SetValue, Statement, TransactionMode,
    },
};

use crate::{
    database::{Database, Savepoint, Txn},
    engine::Engine,
    error::{StatementResult, error, unsupported},
    plants::Bug,
    show,
};

const DONE: RawReply = RawReply::Done { affected: 0, matched: None };

impl Engine {
    /// Runs a statement that is none of rows and tables; none if it is not such a one.
    pub(crate) fn control(
        &mut self,
        id: SessionId,
        statement: &Statement,
    ) -> Option<StatementResult<RawReply>> {
        Some(match statement {
            Statement::Begin(begin) => self.begin(id, begin),
            Statement::Commit(_) => {
                self.commit(id);
                Ok(DONE)
            }
            Statement::Rollback(Rollback { to: None, .. }) => {
                self.roll_back(id);
                Ok(DONE)
            }
            Statement::Rollback(Rollback { to: Some(to), .. }) => self.roll_back_to(id, to),
            Statement::Savepoint(name) => {
                self.savepoint(id, &name.name);
                Ok(DONE)
            }
            Statement::Release(target) => self.release_savepoint(id, target),
            Statement::Set(items) => self.set(id, items),
            Statement::SetTransaction(set) => self.set_transaction(id, set),
            Statement::Query(query) => self.variable(id, query).map(|rows| Ok(RawReply::Rows(rows)))?,
            Statement::LockTable(_) | Statement::Pragma(_) | Statement::CreatePartition(_) => {
                unsupported("this statement")
            }
            Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::CreateTable(_)
            | Statement::CreateIndex(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::DropIndex(_)
            | Statement::Truncate(_) => return None,
        })
    }

    fn begin(&mut self, id: SessionId, begin: &Begin) -> StatementResult<RawReply> {
        let unknown = |mode: &TransactionMode| match mode {
            TransactionMode::ReadOnly | TransactionMode::ReadWrite | TransactionMode::ConsistentSnapshot => {
                false
            }
            TransactionMode::Isolation(_) | TransactionMode::Deferrable | TransactionMode::NotDeferrable => {
                true
            }
        };
        if begin.modes.iter().any(unknown) {
            return unsupported("this way to begin");
        }
        self.commit(id);
        let level = self.next_level(id);
        let mut txn = self.base.begin(level, false);
        let mut warning = None;
        for mode in &begin.modes {
            match mode {
                TransactionMode::ReadOnly => txn.read_only = true,
                TransactionMode::ConsistentSnapshot if level == Level::RepeatableRead => {
                    txn.view = Some(self.base.clock);
                }
                TransactionMode::ConsistentSnapshot => {
                    let text = "WITH CONSISTENT SNAPSHOT was ignored because this phrase can only be used with \
                                REPEATABLE READ isolation level.";
                    warning = Some((138, text.to_string()));
                }
                TransactionMode::ReadWrite
                | TransactionMode::Isolation(_)
                | TransactionMode::Deferrable
                | TransactionMode::NotDeferrable => {}
            }
        }
        if let Some(link) = self.links.get_mut(&id) {
            link.txn = Some(txn);
            link.warnings = warning.into_iter().collect();
        }
        Ok(DONE)
    }

    fn savepoint(&mut self, id: SessionId, name: &str) {
        let Some(link) = self.links.get_mut(&id) else { return };
        // Without autocommit it begins a transaction, like any other statement. With it, and outside of one, it is over
        // before it began.
        if link.txn.is_none() && !link.autocommit {
            let level = link.next_level.take().unwrap_or(link.level);
            link.txn = Some(self.base.begin(level, false));
        }
        if let Some(txn) = &mut link.txn {
            txn.savepoints.retain(|other| !other.name.eq_ignore_ascii_case(name));
            let (mark, set) = (txn.undo.len(), self.base.clock);
            txn.savepoints.push(Savepoint { name: name.to_string(), mark, set });
        }
    }

    fn roll_back_to(&mut self, id: SessionId, target: &SavepointTarget) -> StatementResult<RawReply> {
        let name = &target.name.name;
        if let Some(txn) = self.links.get_mut(&id).and_then(|link| link.txn.as_mut())
            && let Some(found) = txn.savepoints.iter().position(|other| other.name.eq_ignore_ascii_case(name))
        {
            let mark = mark(&self.base, txn, &txn.savepoints[found]);
            txn.savepoints.truncate(found + 1);
            self.base.undo(txn, mark);
            // The planted bug: the locks go with what was written.
            if self.base.plants.hits(Bug::LockReleasedEarly, || self.base.written(txn)) {
                self.base.locks.release(txn.id);
            }
            // Its locks stay, but a row that is gone is in nobody's way any more.
            self.released.push((txn.id, false));
            return Ok(DONE);
        }
        no_savepoint(name)
    }

    fn release_savepoint(&mut self, id: SessionId, target: &SavepointTarget) -> StatementResult<RawReply> {
        let name = &target.name.name;
        if let Some(txn) = self.links.get_mut(&id).and_then(|link| link.txn.as_mut())
            && let Some(found) = txn.savepoints.iter().position(|other| other.name.eq_ignore_ascii_case(name))
        {
            txn.savepoints.truncate(found);
            return Ok(DONE);
        }
        no_savepoint(name)
    }

    fn set(&mut self, id: SessionId, items: &[SetItem]) -> StatementResult<RawReply> {
        for item in items {
            let name = match &item.target {
                SetTarget::Name(name) => name.name.as_str(),
                SetTarget::Variable(name) => name.trim_start_matches('@'),
            };
            if item.scope == Some(Scope::Global) || !name.eq_ignore_ascii_case("autocommit") {
                return unsupported(format!("the setting {name}"));
            }
            let on = match &item.value {
                SetValue::On | SetValue::Expr(Expr::Literal(Literal::Bool(true))) => true,
                SetValue::Expr(Expr::Literal(Literal::Number(text))) => text != "0",
                SetValue::Expr(Expr::Literal(Literal::Bool(false))) => false,
                SetValue::Expr(Expr::Column(word)) => word.name.name.eq_ignore_ascii_case("ON"),
                SetValue::Expr(_) => return unsupported("this value of autocommit"),
            };
            let before = self.links.get(&id).is_none_or(|link| link.autocommit);
            if on && !before {
                self.commit(id);
            }
            if let Some(link) = self.links.get_mut(&id) {
                link.autocommit = on;
            }
        }
        Ok(DONE)
    }

    fn set_transaction(&mut self, id: SessionId, set: &SetTransaction) -> StatementResult<RawReply> {
        let Some(link) = self.links.get_mut(&id) else { return Ok(DONE) };
        for mode in &set.modes {
            let TransactionMode::Isolation(level) = mode else { return unsupported("this way to begin") };
            match set.scope {
                Some(Scope::Session | Scope::Local) => link.level = *level,
                Some(Scope::Global) => return unsupported("SET GLOBAL"),
                None if link.txn.is_some() => {
                    let message =
                        "Transaction characteristics can't be changed while a transaction is in progress";
                    return error(1568, "25001", message);
                }
                None => link.next_level = Some(*level),
            }
        }
        Ok(DONE)
    }

    /// `SELECT @@name`
    fn variable(&self, id: SessionId, query: &Query) -> Option<RowSet> {
        let QueryPart::Select(select) = &query.first else { return None };
        let [SelectItem::Expr { expr: Expr::Variable(name), .. }] = select.items.as_slice() else {
            return None;
        };
        let link = self.links.get(&id)?;
        let bare = name.trim_start_matches('@').to_ascii_lowercase();
        let value = match bare.trim_start_matches("session.") {
            "transaction_isolation" | "tx_isolation" => link.level.sql().replace(' ', "-"),
            "autocommit" => u8::from(link.autocommit).to_string(),
            _ => return None,
        };
        let mut rows = RowSet::new(vec![show::column(name, &SqlType::Text)]);
        rows.push(Some(value.as_bytes()));
        Some(rows)
    }

    /// SHOW WARNINGS and SHOW FULL TABLES, which no dialect's grammar has.
    pub(crate) fn show(&self, id: SessionId, text: &str) -> Option<RowSet> {
        let words: Vec<String> = text.split_whitespace().map(str::to_ascii_uppercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut rows;
        match words.as_slice() {
            ["SHOW", "WARNINGS"] => {
                let int = SqlType::Int { bits: 32, unsigned: true };
                rows = RowSet::new(vec![
                    show::column("Level", &SqlType::Text),
                    show::column("Code", &int),
                    show::column("Message", &SqlType::Text),
                ]);
                for (code, message) in &self.links.get(&id)?.warnings {
                    rows.push(Some(b"Warning"));
                    rows.push(Some(code.to_string().as_bytes()));
                    rows.push(Some(message.as_bytes()));
                }
            }
            ["SHOW", "FULL", "TABLES"] => {
                let names = ["Tables", "Table_type"];
                rows = RowSet::new(names.map(|name| show::column(name, &SqlType::Text)).to_vec());
                for table in &self.base.tables {
                    rows.push(Some(table.name.as_bytes()));
                    rows.push(Some(b"BASE TABLE"));
                }
            }
            _ => return None,
        }
        Some(rows)
    }
}

/// How much of what a transaction has written stays when it goes back to a savepoint.
fn mark(base: &Database, txn: &Txn, savepoint: &Savepoint) -> usize {
    let right = savepoint.mark;
    let meanwhile = base.clock > savepoint.set;
    // The planted bugs: a commit of another since then moves the mark by one.
    if meanwhile && base.plants.hits(Bug::SavepointUndoesTooMuch, || base.written(txn)) {
        right.saturating_sub(1)
    } else if meanwhile && base.plants.hits(Bug::SavepointUndoesTooLittle, || base.written(txn)) {
        right + 1
    } else {
        right
    }
}

fn no_savepoint(name: &str) -> StatementResult<RawReply> {
    error(1305, "42000", format!("SAVEPOINT {name} does not exist"))
}
