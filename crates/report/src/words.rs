//! Sentences about a verdict, made of its ids, rows and counts. Nobody reads them back.

use dialect::contract;
use model::{
    DeviationId, Evidence, Outcome, Product, Reply, Symptom, Violation,
    verdict::{
        Cause, Deviations, Response,
        evidence::{AccessPath, Before, Damage, Edge, SecondOpinion, Sighting, Table, Turned, Twin},
    },
};

/// Where a known deviation is documented or reported; none where nobody knows it.
pub type Sources = fn(&DeviationId) -> Option<&'static str>;

/// What is wrong, in words.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    pub violation: &'a Violation,
    /// Whose rules are quoted.
    pub product: Product,
    pub sources: Sources,
}

impl<'a> Words<'a> {
    fn evidence(&self) -> &'a Evidence {
        &self.violation.evidence
    }

    fn of(&self, violation: &'a Violation) -> Words<'a> {
        Words { violation, ..*self }
    }

    /// One sentence: what came, and what should have.
    pub fn story(&self) -> String {
        let evidence = self.evidence();
        if let Some(story) = evidence.words.first() {
            return story.clone();
        }
        if let Some(Twin::Stays { without, shows, alone: true }) = &evidence.twin {
            return format!(
                "{} would explain this case, but not its twin, in which that is not needed. {}",
                names(without),
                self.of(shows).story()
            );
        }
        match (self.violation.fingerprint.symptom, &self.violation.fingerprint.cause) {
            (Symptom::Logic, Cause::DecoupledObjects) => self.two_answers(),
            (Symptom::Logic, _) => {
                format!("The model and the decoupled run disagree. {}", self.what_came())
            }
            _ => self.what_came(),
        }
    }

    /// The same statement, two answers. The model accepts the first, so nobody knows yet which of them is wrong.
    fn two_answers(&self) -> String {
        let evidence = self.evidence();
        let came = match (&evidence.actual, &evidence.expected) {
            (Some(Response::FinalState(actual)), Some(Response::FinalState(alone))) => format!(
                "In the end {} holds {}; after the same statements one by one it holds {}.",
                actual.table, actual.rows, alone.rows
            ),
            (Some(actual), Some(alone)) => format!(
                "{} gives {} beside the others, and {} alone.",
                self.step_and_text(),
                answered(actual),
                answered(alone)
            ),
            _ => self.what_came(),
        };
        format!("{came} The model accepts the first: one of the two is wrong.")
    }

    fn what_came(&self) -> String {
        let evidence = self.evidence();
        if let Some(sighting) = &evidence.sighting {
            return self.seen(sighting);
        }
        if let Some(words) = self.server() {
            return words;
        }
        let expected = evidence.expected.as_ref().map(answered).unwrap_or_default();
        match (&evidence.actual, &evidence.expected) {
            (Some(Response::FinalState(actual)), Some(Response::FinalState(expected)))
                if matches!(self.violation.fingerprint.cause, Cause::Alone { .. }) =>
            {
                format!(
                    "{} holds {} in the end, and should hold {}.",
                    actual.table, actual.rows, expected.rows
                )
            }
            (Some(actual @ Response::FinalState(_)), _) => {
                format!("In the end there is {}; the contract allows {expected}.", answered(actual))
            }
            (Some(Response::Wait), _) => format!("{} waits; the contract allows {expected}.", self.step()),
            (Some(actual), _) if evidence.views.is_empty() => {
                format!("{} answers {}; the contract allows {expected}.", self.step(), answered(actual))
            }
            (Some(actual), _) => format!(
                "{} gives {}; alone on what it should see it gives {expected}.",
                self.step_and_text(),
                answered(actual)
            ),
            (None, _) => format!("{} should give {expected}.", self.step_and_text()),
        }
    }

    /// What an invariant saw, or a statement beside nobody else.
    fn seen(&self, sighting: &Sighting) -> String {
        let symptom = self.violation.fingerprint.symptom;
        let place = match self.violation.step {
            Some(step) => format!("{} (step {}): ", self.evidence().session, step + 1),
            None => "in the end: ".to_string(),
        };
        match sighting {
            Sighting::Value { table, column, row, at } => {
                let whose = match symptom {
                    Symptom::AbortedRead => "only statements wrote that were undone",
                    _ => "nobody wrote",
                };
                let value = row.value(0, *at);
                format!("{place}row {row} has {value} in {table}.{column}, which {whose}")
            }
            Sighting::Twice { table, columns, rows } => {
                let kind = if symptom == Symptom::PrimaryValueTwice { "primary" } else { "unique" };
                format!(
                    "{place}rows {} of one result have the same {kind} value in {table}({})",
                    rows.texts().join(" and "),
                    columns.join(", ")
                )
            }
            Sighting::UnlikeStep { step, rows } => {
                let actual = self.evidence().actual.as_ref().map(answered).unwrap_or_default();
                format!(
                    "{place}the same SELECT as step {} gave {actual}, and {rows} before, without a change of its own in between",
                    step + 1
                )
            }
            Sighting::Index { table, index, rows, plain } => {
                let index = if index.is_empty() { "the primary key" } else { index };
                format!("{place}{table} read through {index} holds {rows}, and {plain} by a plain read")
            }
            Sighting::NobodyElse => {
                let does = match &self.evidence().actual {
                    Some(Response::Error(class)) => format!("fails with {class}"),
                    _ => "waits".to_string(),
                };
                format!(
                    "{} {does}, but no other transaction is open that touched its tables.",
                    self.step_and_text()
                )
            }
            Sighting::AskedNotToWait => {
                format!("{} waits for a row although it was asked not to wait.", self.step_and_text())
            }
            Sighting::Circle { steps } => {
                let steps: Vec<String> = steps.iter().map(|step| (step + 1).to_string()).collect();
                format!(
                    "Steps {} wait for each other's locks, and none of them is ended: a deadlock that is not reported.",
                    steps.join(" and ")
                )
            }
            Sighting::ReadOnly => {
                format!("{} changes rows in a transaction that was opened READ ONLY.", self.step_and_text())
            }
            Sighting::Unsorted { rows } => format!(
                "{} gives {}, which is not the order that it asks for.",
                self.step_and_text(),
                rows.texts().join(" before ")
            ),
            Sighting::StaleWrite => format!(
                "{} changes a row that another transaction has changed since the snapshot; it should fail with {}.",
                self.step_and_text(),
                match &self.evidence().expected {
                    Some(Response::Error(class)) => class.name(),
                    _ => "an error",
                }
            ),
            Sighting::DiedLater => {
                let alarm = self.evidence().log.first().map_or("", String::as_str);
                format!("the server died after {}: {alarm}", self.whose_step())
            }
        }
    }

    /// What happened to the server itself.
    fn server(&self) -> Option<String> {
        let line = self.evidence().log.first().map_or("", String::as_str);
        Some(match self.violation.fingerprint.symptom {
            Symptom::Crash => format!("the server died while it ran {}", self.whose_step()),
            Symptom::LostConnection => {
                format!("the connection ended while it ran {}, and the server lives", self.whose_step())
            }
            Symptom::Hang => {
                format!("{} neither answered nor waited for a lock, and was killed", self.whose_step())
            }
            Symptom::InternalError => {
                let message = match &self.evidence().actual {
                    Some(Response::Outcome(outcome)) => outcome.error().map(|error| error.message.as_str()),
                    _ => None,
                };
                let code = &self.violation.fingerprint.cause;
                format!(
                    "{} got the internal error {code}: {}",
                    self.whose_step(),
                    message.unwrap_or_default()
                )
            }
            Symptom::Corruption => format!("the server's own check of the data complains: {line}"),
            Symptom::ErrorLog => format!("the server's error log says: {line}"),
            _ => return None,
        })
    }

    fn number(&self) -> usize {
        self.violation.step.map_or(0, |step| step + 1)
    }

    fn step(&self) -> String {
        format!("Step {} ({})", self.number(), self.evidence().session)
    }

    fn step_and_text(&self) -> String {
        format!("Step {} ({}: {})", self.number(), self.evidence().session, self.evidence().sql)
    }

    fn whose_step(&self) -> String {
        format!("{}'s step {}", self.evidence().session, self.number())
    }

    /// The rule that is broken. An invariant and a server that fails have no words but their name.
    pub fn rule(&self) -> String {
        let print = &self.violation.fingerprint;
        match self.evidence().rule.filter(|_| print.cause != Cause::Invariant) {
            Some(rule) => contract::words(self.product, rule).to_string(),
            None => print.label(),
        }
    }

    /// What was expected, if somebody says so.
    pub fn expected(&self) -> Option<String> {
        self.evidence().expected.as_ref().map(answered)
    }

    /// All that it rests on, a line each.
    pub fn lines(&self) -> Vec<String> {
        let evidence = self.evidence();
        let mut lines = Vec::new();
        if let Some(SecondOpinion::Disagrees { objection, .. }) = &evidence.second_opinion {
            lines.push(format!("it objects by {} ({})", objection.cause, objection.symptom));
        }
        if !evidence.sql.is_empty() {
            lines.push(format!("statement: {}", evidence.sql));
        }
        if evidence.rule.is_some() && self.violation.fingerprint.cause != Cause::Invariant {
            lines.push(format!("rule: {}", self.rule()));
        }
        if let Some(expected) = &evidence.expected {
            let alone = if evidence.views.is_empty() { "expected" } else { "alone on this view" };
            lines.push(format!("{alone}: {}", answered(expected)));
            lines.extend(evidence.actual.as_ref().map(|actual| match actual {
                Response::Wait => "actual: it waits".to_string(),
                actual => format!("actual: {}", answered(actual)),
            }));
        }
        lines.extend(self.remarks());
        lines.extend(evidence.log.iter().cloned());
        lines
    }

    /// What it rests on beside the statement, the rule and the two answers.
    pub fn remarks(&self) -> Vec<String> {
        let evidence = self.evidence();
        let mut lines: Vec<String> = evidence
            .views
            .iter()
            .map(|Table { table, rows }| format!("its view of {table}: {rows}"))
            .collect();
        if evidence.waited {
            lines.push("it waited before it answered".to_string());
        }
        match &self.violation.fingerprint.cause {
            Cause::Deviations(by) => {
                let sources: Vec<&str> = by.iter().filter_map(|by| (self.sources)(by)).collect();
                let sources = match sources.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", sources.join("; ")),
                };
                lines.push(format!("explained by {}{sources}", names(by)));
            }
            Cause::Rule(_) => lines.push("no known deviation explains it".to_string()),
            _ => {}
        }
        lines.extend(evidence.damage.as_ref().map(|damage| self.damage(damage)));
        lines.extend(evidence.second_opinion.as_ref().and_then(|opinion| self.opinion(opinion)));
        lines.extend(evidence.access_path.as_ref().map(path));
        lines.extend(evidence.twin.as_ref().map(|twin| self.twin(twin)));
        lines.extend(evidence.before.as_ref().map(before));
        lines.extend(evidence.words.iter().skip(1).cloned());
        lines
    }

    /// Who depends on whom, an edge each, and the cycle.
    pub fn graph(&self) -> Option<String> {
        let graph = self.evidence().graph.as_ref()?;
        let name = |at: usize| graph.transactions.get(at).map_or("?", String::as_str);
        let edge = |edge: &Edge| format!("{} -{}-> {}", name(edge.from), edge.kind, name(edge.to));
        let mut lines: Vec<String> = graph.edges.iter().map(edge).collect();
        let cycle: Vec<&str> = graph.cycle.iter().map(|at| name(*at)).collect();
        lines.push(format!("cycle: {}", cycle.join(", ")));
        Some(lines.join("\n"))
    }

    fn damage(&self, damage: &'a Damage) -> String {
        match damage {
            Damage::Circle => {
                "each should have waited for the other, and one of them had to give way".to_string()
            }
            Damage::AsIfWaited(violation) => {
                format!("as if it had waited: {}", self.of(violation).story())
            }
            Damage::RunOn { steps, then } => {
                let then = then.as_ref().map(|then| self.damage(then)).unwrap_or_default();
                format!("run on with {}: {then}", steps.join("; "))
            }
        }
    }

    fn opinion(&self, opinion: &'a SecondOpinion) -> Option<String> {
        let alone = |why: String| format!("judged by one oracle alone: {why}");
        Some(match opinion {
            SecondOpinion::Agrees { with, explains } => {
                let by = match with.fingerprint.deviations() {
                    Some(by) if *explains => format!(", and {} explains it", names(by)),
                    Some(_) | None => String::new(),
                };
                format!("the decoupled run agrees{by}: {}", self.of(with).story())
            }
            SecondOpinion::NotAsked => alone("the decoupled run was not asked".into()),
            SecondOpinion::ModelUndecided(why) => {
                alone(format!("the model cannot tell ({why}), so no known deviation was tried"))
            }
            SecondOpinion::DecoupledUndecided(why) => alone(format!("the decoupled run cannot tell ({why})")),
            SecondOpinion::Uncertain => alone("the decoupled run accepts it without being certain".into()),
            SecondOpinion::NotJudged => {
                "judged by the model alone: the decoupled run judges neither waits nor locks".to_string()
            }
            SecondOpinion::EndsEarlier(second) => format!(
                "judged by the model alone: the decoupled run ends earlier: {}",
                self.of(second).story()
            ),
            SecondOpinion::ObjectsLater(second) => {
                format!("the decoupled run objects, too, but later: {}", self.of(second).story())
            }
            SecondOpinion::Disagrees { later, .. } => match (&self.violation.fingerprint.cause, later) {
                (Cause::DecoupledObjects, _) => "the model finds nothing wrong".to_string(),
                (_, None) => "the decoupled run finds nothing wrong".to_string(),
                (_, Some(later)) => format!(
                    "the decoupled run finds nothing wrong there, but later: {}",
                    self.of(later).story()
                ),
            },
        })
    }

    fn twin(&self, twin: &'a Twin) -> String {
        match twin {
            Twin::Gone { without } => format!(
                "twin: gone; the same case without what {} needs shows nothing wrong there",
                names(without)
            ),
            Twin::None(_) => format!("twin: {}", twin.name()),
            Twin::Stays { without, alone: true, .. } => {
                format!("twin: stays; the numbers of steps are those of the twin of {}", names(without))
            }
            Twin::Stays { without, shows, alone: false } => format!(
                "twin: stays; {} would explain it, but the same case without what that needs shows it too: {}",
                names(without),
                self.of(shows).story()
            ),
        }
    }
}

fn path(path: &AccessPath) -> String {
    let way = |path: &AccessPath| match path {
        AccessPath::Index(name) => format!("by index {name}"),
        AccessPath::Table | AccessPath::Unexplained { .. } | AccessPath::Unknown(_) => {
            "by the table itself".to_string()
        }
    };
    match path {
        AccessPath::Table | AccessPath::Index(_) => format!("path: {}, as the server says", way(path)),
        AccessPath::Unexplained { path, elsewhere } => format!(
            "path: {}, as the server says; on this way no scan that went on explains it, though {} would on another",
            way(path),
            names(elsewhere)
        ),
        AccessPath::Unknown(why) => format!("path: not known ({why})"),
    }
}

fn before(before: &Before) -> String {
    let how = match before.by {
        Turned::SaysTheSame => "the model could not tell, and says the same of the smaller case",
        Turned::NeedsFewer => "smaller cases need only one of them",
        Turned::GoneInTwin => {
            "the model could not tell; there, too, it is gone without what the known deviation needs"
        }
        Turned::WithoutBystanders => {
            "without statements that change neither an answer nor a row the same answer comes, and is explained"
        }
    };
    let print = &before.fingerprint;
    format!("before, it was {} by {}: {how}", print.symptom, print.cause)
}

fn names(by: &Deviations) -> String {
    by.iter().map(|by| by.0.as_str()).collect::<Vec<_>>().join(", ")
}

/// An answer for people.
pub fn answered(of: &Response) -> String {
    match of {
        Response::Rows(rows) => rows.to_string(),
        Response::SomeOf(rows) => format!("some of {rows}"),
        Response::SomeTwice(rows) => format!("{rows}, some of them twice"),
        Response::Count { affected, matched } => {
            let counts: Vec<String> = affected.iter().map(u64::to_string).collect();
            let rows = match counts.join(" or ").as_str() {
                "1" => "1 row".to_string(),
                counts => format!("{counts} rows"),
            };
            matched.map_or(rows.clone(), |matched| format!("{rows} ({matched} matched)"))
        }
        Response::Error(class) => format!("error {class}"),
        Response::Outcome(outcome) => came(outcome),
        Response::FinalState(Table { table, rows }) => format!("{table}: {rows}"),
        Response::Wait => "a wait".to_string(),
        Response::WaitFor(step) => format!("a wait for the lock of step {}", step + 1),
        Response::AnAnswer { nobody_in_the_way: false } => "an answer".to_string(),
        Response::AnAnswer { nobody_in_the_way: true } => {
            "an answer: no other transaction can be in its way".to_string()
        }
        Response::AnError => "an error".to_string(),
        Response::Success => "ok".to_string(),
        Response::LockedRows => "the rows that were locked before".to_string(),
        Response::Anything => "anything".to_string(),
        Response::Words(words) => words.clone(),
    }
}

/// A count may be right and what it matched wrong.
pub fn came(outcome: &Outcome) -> String {
    match &outcome.reply {
        Reply::Done { matched: Some(matched), .. } => format!("{outcome} ({matched} matched)"),
        _ => outcome.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use model::{Fingerprint, RowSet, ShownBy};

    use super::*;

    #[test]
    fn where_only_the_decoupled_run_objects_nobody_says_what_should_be() {
        let state = || Response::FinalState(Table { table: "v".into(), rows: RowSet::new(Vec::new()) });
        let (expected, actual) = (Some(state()), Some(state()));
        let fingerprint = Fingerprint {
            symptom: Symptom::Logic,
            cause: Cause::DecoupledObjects,
            statement: ShownBy::FinalState,
            level: None,
        };
        let evidence = Box::new(Evidence { expected, actual, ..Evidence::default() });
        let violation = Violation { fingerprint, step: None, evidence };
        let words = Words { violation: &violation, product: Product::Mysql, sources: |_| None };
        assert_eq!(
            words.story(),
            "In the end v holds no rows; after the same statements one by one it holds no rows. \
             The model accepts the first: one of the two is wrong."
        );
    }
}
