//! What is wrong, told with what it rests on.

use dialect::contract::Visibility;
use model::{Fingerprint, Outcome, RowSet, Violation, sql::StatementKind};

use super::{Found, NOBODY, Pending, Stage, Talk, Until, Visible, fit};
use crate::decoupled::compare::same_table;

impl Talk<'_> {
    pub(super) fn final_state(&self) -> Option<Violation> {
        let stage = self.stage()?;
        for (name, read) in self.seen.trace.final_state.as_ref()? {
            let Some(at) = stage.find(name) else { continue };
            let view = self.chains[at].view(NOBODY, Until::Committed(self.now));
            let rows: Vec<&[Option<Vec<u8>>]> = view.iter().map(|row| stage.shown(at, &row.data)).collect();
            if same_table(&rows, read) {
                continue;
            }
            let fingerprint = Fingerprint {
                kind: "incorrect-final-state".into(),
                rule: "final-state".into(),
                statement: "final".into(),
                level: Some(self.seen.trace.level),
            };
            let should = shown(stage, at, &view, read);
            return Some(Violation {
                fingerprint,
                step: None,
                story: format!("{name} holds {read} in the end, and should hold {should}."),
                evidence: Vec::new(),
            });
        }
        None
    }

    /// A step waits: is that certainly wrong?
    pub(super) fn waits(&self, step: usize) -> Option<Found> {
        let roles = self.named(step)?;
        let why = if roles.consistent {
            "a plain read takes no locks and waits for nobody"
        } else if fit::told_not_to_wait(&self.history.steps[step]) && !roles.nested {
            "it was told not to wait"
        } else if !self.others(step, &roles.tables) {
            "no other transaction is open that touched its tables"
        } else {
            return None;
        };
        let story = format!("{} waits, but {why}.", self.told(step));
        Some(Found::Violated(Box::new(Violation {
            fingerprint: self.fingerprint("inconsistent-blocking", "wait", step),
            step: Some(step),
            story,
            evidence: Vec::new(),
        })))
    }

    /// Is another transaction open that named one of these tables, or was one since the step was sent?
    pub(super) fn others(&self, step: usize, tables: &[(usize, Vec<Visibility>)]) -> bool {
        let own = self.seen.case.steps[step].session;
        // Without autocommit a statement that failed leaves a transaction with its locks, and the server's answer does not say so.
        let sessions = &self.seen.case.sessions;
        if sessions.iter().enumerate().any(|(of, session)| of != own && !session.autocommit) {
            return true;
        }
        self.txns.iter().zip(&self.history.transactions).any(|(txn, of)| {
            (txn.open || txn.ended.is_some_and(|ended| ended >= self.sent[step]))
                && of.session != own
                && (tables.is_empty() || tables.iter().any(|(at, _)| txn.touched.contains(at)))
        })
    }

    pub(super) fn fingerprint(&self, kind: &str, rule: &str, step: usize) -> Fingerprint {
        Fingerprint {
            kind: kind.to_string(),
            rule: rule.to_string(),
            statement: StatementKind::label(self.history.steps[step].kind()).to_string(),
            level: Some(self.level(step)),
        }
    }

    /// A step for people.
    pub(super) fn told(&self, step: usize) -> String {
        let session = &self.seen.case.sessions[self.seen.case.steps[step].session].name;
        format!("Step {} ({session}: {})", step + 1, self.text(step))
    }

    pub(super) fn wrong(&self, pending: &Pending, what: &str, should: &Outcome) -> Violation {
        let step = pending.step;
        let came = self.outcome(step);
        let mut evidence = Vec::new();
        if let Some(rules) = self.rules(step) {
            let rule = match (pending.roles.changes, pending.roles.consistent) {
                (false, true) if self.single(step) => rules.single_read,
                (false, true) => rules.read,
                (false, false) if self.history.steps[step].is(StatementKind::Select) => rules.read,
                _ => rules.change,
            };
            evidence.push(format!("rule: it sees {}; {}", sees(rule.is), rule.source));
        }
        if let Some(stage) = self.stage() {
            for (at, view) in &pending.views {
                let rows: Vec<String> = view.iter().map(|row| text(stage.shown(*at, &row.data))).collect();
                evidence.push(format!("its view of {}: {}", stage.tables[*at].name, rows.join(" ")));
            }
        }
        evidence.push(format!("alone on this view: {should}"));
        if self.seen.trace.waited(step) {
            evidence.push("it waited before it answered".to_string());
        }
        // A statement that waited may have judged rows before and after the wait.
        let waited = if self.seen.trace.waited(step) { "-after-wait" } else { "" };
        Violation {
            fingerprint: self.fingerprint("incorrect-query-result", &format!("{what}{waited}"), step),
            step: Some(step),
            story: format!(
                "{} gives {came}; alone on what it should see it gives {should}.",
                self.told(step)
            ),
            evidence,
        }
    }
}

fn sees(what: Visibility) -> &'static str {
    match what {
        Visibility::Newest => "the newest rows, committed or not",
        Visibility::Committed => "the newest committed rows",
        Visibility::Fresh => "what was committed when it began",
        Visibility::Snapshot => "what was committed when the snapshot was taken",
    }
}

fn text(cells: &[Option<Vec<u8>>]) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_string(),
    };
    format!("({})", cells.iter().map(cell).collect::<Vec<_>>().join(", "))
}

/// A view for people, written as the server writes rows.
fn shown(stage: &Stage, at: usize, view: &[Visible], like: &RowSet) -> RowSet {
    let mut rows = RowSet::new(like.columns().to_vec());
    for row in view {
        stage.shown(at, &row.data).iter().for_each(|cell| rows.push(cell.as_deref()));
    }
    rows
}
