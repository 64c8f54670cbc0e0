//! Which transaction a step ran in, and what became of it: told by whether a transaction was open after each step.

use std::sync::Arc;

use model::{Execution, 
    Ends, Level, Open, Outcome, Product, Reply,
    sql::{InsertModifier, Resolution, Statement, StatementKind, TransactionMode},
};

use super::Told;

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was committed.
    Committed,
    /// It was rolled back, by whomever.
    Undone,
    /// The trace does not say.
    Unknown,
}

/// A transaction: from BEGIN to its end, or one statement that committed by itself.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Whose it is.
    pub session: usize,
    /// Its level, if it is known.
    pub level: Option<Level>,
    /// The steps in it, its BEGIN and its COMMIT too.
    pub steps: Vec<usize>,
    /// What became of it.
    pub fate: Fate,
}

/// A session while its steps are gone through.
struct Teller {
    session: usize,
    level: Option<Level>,
    current: Option<usize>,
    /// Savepoints of the current transaction: name, and how many steps it had then.
    savepoints: Vec<(String, usize)>,
}

/// Tells the transactions of a run.
pub fn tell(
    seen: &Execution,
    product: Product,
    trees: Vec<Option<Arc<Statement>>>,
) -> (Vec<Told>, Vec<Transaction>) {
    let (case, trace) = (&seen.case, &seen.trace);
    let mut steps: Vec<Told> = trees
        .into_iter()
        .map(|tree| Told {
            kind: tree.as_deref().map(Statement::kind),
            tree,
            transaction: None,
            undone: false,
        })
        .collect();
    let mut all = Vec::new();
    for (session, spec) in case.sessions.iter().enumerate() {
        let level = Some(spec.level.unwrap_or(trace.level));
        let mut teller = Teller { session, level, current: None, savepoints: Vec::new() };
        for i in (0..case.steps.len()).filter(|&i| case.steps[i].session == session) {
            teller.step(i, &trace.outcomes[i], product, &mut steps, &mut all);
        }
        // What was still open when the case was over was rolled back by us, if there was a server to do it.
        if let Some(last) = teller.current {
            let died = trace.outcomes.iter().any(|outcome| outcome.reply == Reply::ServerDied);
            all[last].fate = if died { Fate::Unknown } else { Fate::Undone };
        }
    }
    for step in &mut steps {
        step.undone |= step.transaction.is_some_and(|t| all[t].fate == Fate::Undone);
    }
    (steps, all)
}

impl Teller {
    fn step(
        &mut self,
        i: usize,
        outcome: &Outcome,
        product: Product,
        steps: &mut [Told],
        all: &mut Vec<Transaction>,
    ) {
        if outcome.reply == Reply::NotSent {
            return;
        }
        let kind = steps[i].kind;
        let commits_first = dialect::of(product).semantics.begin_commits_open;
        if kind == Some(StatementKind::Begin) && commits_first && outcome.error().is_none() {
            self.end(all, Fate::Committed);
        }
        if let Some(Statement::SetTransaction(_) | Statement::Set(_)) | None = steps[i].statement() {
            self.level = None;
        }
        let current = *self.current.get_or_insert_with(|| {
            let (session, level) = (self.session, self.level);
            all.push(Transaction { session, level, steps: Vec::new(), fate: Fate::Unknown });
            all.len() - 1
        });
        if let Some(Statement::Begin(begin)) = steps[i].statement() {
            for mode in &begin.modes {
                if let TransactionMode::Isolation(level) = mode {
                    all[current].level = Some(*level);
                }
            }
        }
        all[current].steps.push(i);
        steps[i].transaction = Some(current);
        steps[i].undone = failed_whole(&steps[i], outcome);
        if outcome.error().is_none() {
            self.savepoint(current, i, steps, all);
        }
        if let Some(fate) = fate(kind, outcome) {
            self.end(all, fate);
        }
    }

    fn end(&mut self, all: &mut [Transaction], fate: Fate) {
        if let Some(current) = self.current.take() {
            all[current].fate = fate;
        }
        self.savepoints.clear();
    }

    /// Keeps the list of savepoints; going back to one undoes what came after it.
    fn savepoint(&mut self, current: usize, i: usize, steps: &mut [Told], all: &[Transaction]) {
        let place = |savepoints: &[(String, usize)], name: &str| {
            savepoints.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        match steps[i].statement() {
            Some(Statement::Savepoint(name)) => {
                self.savepoints.push((name.name.clone(), all[current].steps.len()));
            }
            Some(Statement::Release(target)) => {
                if let Some(at) = place(&self.savepoints, &target.name.name) {
                    self.savepoints.truncate(at);
                }
            }
            Some(Statement::Rollback(rollback)) => {
                let name = rollback.to.as_ref().map(|target| target.name.name.clone());
                if let Some(at) = name.and_then(|name| place(&self.savepoints, &name)) {
                    for &undone in &all[current].steps[self.savepoints[at].1..] {
                        steps[undone].undone = true;
                    }
                    self.savepoints.truncate(at + 1);
                }
            }
            Some(_) | None => {}
        }
    }
}

/// Did it fail so that nothing of it stayed? SQLite's OR FAIL keeps what was done before the failure.
fn failed_whole(step: &Told, outcome: &Outcome) -> bool {
    let keeps = match step.statement() {
        Some(Statement::Insert(insert)) => insert.modifier == Some(InsertModifier::Or(Resolution::Fail)),
        Some(Statement::Update(update)) => update.modifier == Some(InsertModifier::Or(Resolution::Fail)),
        Some(_) => false,
        None => true,
    };
    outcome.error().is_some() && !keeps
}

/// If the transaction is over after this step: what became of it.
fn fate(kind: Option<StatementKind>, outcome: &Outcome) -> Option<Fate> {
    let open = match outcome.transaction {
        Open::Yes | Open::Failed | Open::Unknown => true,
        Open::No => false,
    };
    match &outcome.reply {
        Reply::RolledBack => Some(Fate::Undone),
        Reply::ConnectionLost | Reply::ServerDied => Some(Fate::Unknown),
        // A kill is answered in many ways, and may have come too late.
        Reply::Hung | Reply::Killed => (!open).then_some(Fate::Unknown),
        Reply::NotSent => None,
        Reply::Rows(_) | Reply::Done { .. } => match kind {
            Some(StatementKind::Rollback) => Some(Fate::Undone),
            Some(StatementKind::Commit) => Some(Fate::Committed),
            Some(_) => (!open).then_some(Fate::Committed),
            None => (!open).then_some(Fate::Unknown),
        },
        Reply::Error(error) => match (error.ends, kind) {
            // Where a new transaction is open at once, the old one is over all the same.
            (Ends::Transaction, _) if outcome.transaction == Open::Failed => None,
            (Ends::Transaction, _) => Some(Fate::Undone),
            (Ends::Session, Some(StatementKind::Commit)) => Some(Fate::Unknown),
            (Ends::Session, _) => Some(Fate::Undone),
            // Such a statement may have committed before it failed.
            (
                Ends::Statement,
                None
                | Some(StatementKind::Ddl | StatementKind::Set | StatementKind::Commit | StatementKind::Begin),
            ) => (!open).then_some(Fate::Unknown),
            (Ends::Statement, _) => (!open).then_some(Fate::Undone),
        },
    }
}
