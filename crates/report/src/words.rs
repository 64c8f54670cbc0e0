//! Sentences about a verdict, made of its ids, rows and counts. Nobody reads them back.

use dialect::contract;
use model::{
    DeviationId, ErrorClass, Evidence, Product, RuleId, Symptom, Violation,
    verdict::{
        Cause, Deviations, Response,
        evidence::{AccessPath, Before, Damage, Edge, SecondOpinion, Sighting, Table, Turned, Twin},
    },
};

use crate::{
    answers::{answered, difference, does, rows, should},
    marks::{Mark, Marks},
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
                "{} would explain this case, but not the same case without what it needs. {}",
                names(without),
                self.of(shows).story()
            );
        }
        match (self.violation.fingerprint.symptom, &self.violation.fingerprint.cause) {
            (Symptom::Logic, Cause::DecoupledObjects) => self.two_answers(),
            (Symptom::Logic, _) => format!(
                "{} The server answers the same when nobody else is there: this is no matter of isolation.",
                self.what_came()
            ),
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
        format!("{came} One of the two is wrong.")
    }

    fn what_came(&self) -> String {
        let evidence = self.evidence();
        if let Some(sighting) = &evidence.sighting {
            return self.seen(sighting);
        }
        if let Some(words) = self.server() {
            return words;
        }
        let step = if evidence.views.is_empty() { self.step() } else { self.step_and_text() };
        let expected = evidence.expected.as_ref();
        match (&evidence.actual, expected) {
            (Some(Response::FinalState(actual)), Some(Response::FinalState(expected))) => {
                match difference(&actual.rows, &expected.rows) {
                    Some(differs) => format!("In the end {} is wrong: {differs}.", actual.table),
                    None => format!(
                        "In the end {} holds {}; it should hold {}.",
                        actual.table, actual.rows, expected.rows
                    ),
                }
            }
            (Some(actual @ Response::FinalState(_)), _) => {
                format!(
                    "In the end there is {}; it {}.",
                    answered(actual),
                    expected.map_or_else(String::new, should)
                )
            }
            (Some(actual), Some(expected)) => match (rows(actual), rows(expected)) {
                (Some(came), Some(due)) if difference(came, due).is_some() => {
                    format!("{step} returns wrong rows: {}.", difference(came, due).unwrap_or_default())
                }
                _ if evidence.waited && self.violation.fingerprint.symptom == Symptom::MissingWait => {
                    format!(
                        "{step} waits, and then {}, although a transaction that is in its way has not ended; it should wait on, \
                         or fail with an error that says why not.",
                        does(actual)
                    )
                }
                _ => format!("{step} {}; it {}.", does(actual), should(expected)),
            },
            (Some(actual), None) => format!("{step} {}.", does(actual)),
            (None, expected) => {
                format!("{} {}.", self.step_and_text(), expected.map_or_else(|| "is wrong".into(), should))
            }
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
            Sighting::Circle { steps } => format!(
                "Steps {} wait for each other's locks, and none of them is ended: a deadlock that is not reported.",
                numbered(steps)
            ),
            Sighting::ReadOnly => {
                format!("{} changes rows in a transaction that was opened READ ONLY.", self.step_and_text())
            }
            Sighting::Unsorted { rows } => format!(
                "{} gives {}, which is not the order that it asks for.",
                self.step_and_text(),
                rows.texts().join(" before ")
            ),
            Sighting::Type { table, column, described, shown } => format!(
                "{} shows column {column} of {table} as {shown}; where the whole table is read it is {described}.",
                self.step_and_text()
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

    /// The rule that is broken: that of what explains it, or else the one by which it was noticed.
    pub fn broken(&self) -> Option<RuleId> {
        let print = &self.violation.fingerprint;
        let mut explained = print.deviations().into_iter().flatten().filter_map(contract::deviation);
        // Files of earlier versions do not say it.
        let circle = (!self.violation.circle().is_empty()).then_some(RuleId::DeadlockIsEnded);
        explained.find_map(|by| by.breaks).or(self.evidence().rule).or(circle)
    }

    /// The same in words. An invariant has those of its symptom, and a server that fails none but its name.
    pub fn rule(&self) -> String {
        let print = &self.violation.fingerprint;
        match (invariant(print.symptom), self.broken()) {
            (Some(words), _) if print.cause == Cause::Invariant => words.to_string(),
            // What a statement sees is not what breaks here.
            _ if print.symptom == Symptom::Logic && print.cause == Cause::ModelObjects => {
                "a statement answers by what it says and by the rows that it reads".to_string()
            }
            (_, Some(rule)) => contract::words(self.product, rule).to_string(),
            (_, None) => of_every_server(print.symptom).map_or_else(|| print.label(), String::from),
        }
    }

    /// What the known deviations do that explain it, a sentence each.
    pub fn explanation(&self) -> Vec<String> {
        let by = self.violation.fingerprint.deviations().into_iter().flatten();
        by.filter_map(|by| Some(format!("What happens instead: {}.", contract::deviation(by)?.happens)))
            .collect()
    }

    /// What was expected, if somebody says so.
    pub fn expected(&self) -> Option<String> {
        match self.violation.circle() {
            [] => self.evidence().expected.as_ref().map(answered),
            steps => {
                let code = dialect::of(self.product).deadlock_error;
                let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
                Some(format!("error {}{code} for one of steps {}", ErrorClass::Deadlock, numbered(steps)))
            }
        }
    }

    /// What came, where it is no answer: a wait.
    pub fn waits(&self) -> Option<String> {
        match self.violation.circle() {
            [] => self.violation.waits_wrongly().then(|| "it waits".to_string()),
            steps => Some(format!("steps {} wait for each other", numbered(steps))),
        }
    }

    /// Marks what is wrong in a timeline, where nothing else says what should have come.
    pub fn mark(&self, marks: &mut Marks) {
        let expected = self.expected().unwrap_or_else(|| "something else".to_string());
        let missed = match self.waits() {
            Some(_) => Mark::Waits { expected },
            None => Mark::Missed { expected },
        };
        match (self.violation.step, &self.evidence().expected) {
            (Some(step), _) => {
                let steps = marks.steps.len().max(step + 1);
                marks.steps.resize(steps, Mark::Unspecified);
                if marks.steps[step].expected().is_none() {
                    marks.steps[step] = missed;
                }
            }
            (None, Some(Response::FinalState(Table { table, rows }))) if !marks.table(table).is_missed() => {
                marks.tables.retain(|(name, _)| name != table);
                marks.tables.push((table.clone(), Mark::Missed { expected: rows.to_string() }));
            }
            (None, _) => {}
        }
    }

    /// Is the rule the first of [`Words::lines`]? Of the final state there is nothing else to tell.
    pub fn begins_with_the_rule(&self) -> bool {
        let evidence = self.evidence();
        let disagrees = matches!(evidence.second_opinion, Some(SecondOpinion::Disagrees { .. }));
        !disagrees && evidence.sql.is_empty() && self.says_the_rule()
    }

    fn says_the_rule(&self) -> bool {
        self.evidence().rule.is_some() && self.violation.fingerprint.cause != Cause::Invariant
    }

    /// All that it rests on, a line each.
    pub fn lines(&self) -> Vec<String> {
        let evidence = self.evidence();
        let mut lines = Vec::new();
        if let Some(SecondOpinion::Disagrees { objection, .. }) = &evidence.second_opinion {
            let who = match self.violation.fingerprint.cause {
                Cause::DecoupledObjects => "the decoupled run",
                _ => "the model",
            };
            lines.push(format!("{who} objects by {} ({})", objection.cause, objection.symptom));
        }
        if !evidence.sql.is_empty() {
            lines.push(format!("statement: {}", evidence.sql));
        }
        if self.says_the_rule() {
            lines.push(format!("rule: {}", self.rule()));
        }
        if let (None, Some(expected)) = (&evidence.expected, self.expected()) {
            lines.push(format!("expected: {expected}"));
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
                "judged by the model alone: the decoupled run judges neither waits nor locks, nor what comes to a statement alone, too"
                    .to_string()
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
            Twin::None(model::Reason::TwinStalls) => {
                "twin: no proof; the same case without what would explain it ends in a wait that nobody ends"
                    .to_string()
            }
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
        AccessPath::Unknown(why) => {
            format!(
                "path: not known ({why}): a scan that went on after its wait explains it, and is not proved"
            )
        }
    }
}

fn before(before: &Before) -> String {
    let how = match before.by {
        Turned::SaysTheSame => "the model could not tell, and says the same of the smaller case",
        Turned::NeedsFewer => "smaller cases need only one of them",
        Turned::GoneInTwin => {
            "the model could not tell; there, too, it is gone without what the known deviation needs"
        }
        Turned::ByItself => "the server answers the same to the statement alone",
        Turned::InTheEnd => {
            "the statement is right about what is in the tables, and that is wrong without it, too"
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

/// Steps by their numbers, in order: `6 and 7`
pub(crate) fn numbered(steps: &[usize]) -> String {
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    steps.iter().map(|step| (step + 1).to_string()).collect::<Vec<_>>().join(" and ")
}

/// What every engine owes, by what was seen instead.
fn invariant(symptom: Symptom) -> Option<&'static str> {
    Some(match symptom {
        Symptom::AbortedRead => "nothing that was rolled back is ever seen above READ UNCOMMITTED",
        Symptom::UniqueValueTwice => "no two rows of one answer have the same value in a unique key",
        Symptom::PrimaryValueTwice => "no two rows of one answer have the same primary key",
        Symptom::ReadNotRepeatable => {
            "the same SELECT gives the same rows for as long as the transaction's snapshot lasts"
        }
        Symptom::IndexDisagrees => "a table has the same rows by whichever index it is read",
        Symptom::ValueFromNowhere => "every value was written by somebody",
        Symptom::WrongOrder => "rows come in the order that ORDER BY asks for",
        _ => return None,
    })
}

/// What every server owes, by what it did instead.
fn of_every_server(symptom: Symptom) -> Option<&'static str> {
    Some(match symptom {
        Symptom::Crash => "no statement ends the server",
        Symptom::LostConnection => "no statement ends the connection",
        Symptom::Hang => "every statement answers, or waits for a lock",
        Symptom::InternalError => {
            "a statement that is refused is told why; an internal error says nothing of that"
        }
        Symptom::Corruption => "the server finds its own tables whole",
        Symptom::ErrorLog => "nothing that a client sends makes the server log damage",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use model::{Fingerprint, RowSet, ShownBy};

    use model::{DbError, Ends, Level, Open, Outcome, Reply, rows::Column, value::Kind};

    use super::*;
    use crate::findings::What;

    fn words_of(violation: &Violation) -> Words<'_> {
        Words { violation, product: Product::Mariadb, sources: |_| None }
    }

    fn wrong(cause: Cause, rule: RuleId, actual: Response, expected: Response) -> Violation {
        let fingerprint = Fingerprint {
            symptom: Symptom::WrongRows,
            cause,
            statement: ShownBy::FinalState,
            level: Some(Level::RepeatableRead),
        };
        let evidence = Evidence {
            session: "T2".into(),
            sql: "SELECT * FROM t".into(),
            rule: Some(rule),
            expected: Some(expected),
            actual: Some(actual),
            ..Evidence::default()
        };
        Violation { fingerprint, step: Some(4), evidence: Box::new(evidence) }
    }

    fn numbers(all: impl Iterator<Item = u32>) -> Response {
        let column = Column { name: "a".into(), kind: Kind::Integer, type_name: "INT".into() };
        let mut rows = RowSet::new(vec![column]);
        all.for_each(|number| rows.push(Some(number.to_string().as_bytes())));
        Response::Rows(rows)
    }

    #[test]
    fn the_rule_is_said_once() {
        let rows = |n: u32| numbers(std::iter::once(n));
        let mut wrong = wrong(Cause::Rule(RuleId::CommitLasts), RuleId::CommitLasts, rows(1), rows(2));
        assert_eq!(What::of(&words_of(&wrong)).evidence, "statement: SELECT * FROM t");
        wrong.evidence.sql.clear();
        assert_eq!(What::of(&words_of(&wrong)).evidence, "");
    }

    #[test]
    fn the_rule_is_the_one_that_the_known_bug_breaks_and_not_the_one_that_makes_the_answer_right() {
        let cause = Cause::Deviations(["noop-without-version".into()].into());
        let violation = wrong(cause, RuleId::OneSnapshot, numbers(0..1), numbers(1..2));
        let words = words_of(&violation);
        assert_eq!(words.story(), "Step 5 (T2) returns (0); it should return (1).");
        assert_eq!(words.broken(), Some(RuleId::OwnChanges));
        assert!(words.rule().starts_with("a transaction sees its own changes"), "{}", words.rule());
        assert!(words.explanation()[0].contains("writes no version of its own"));
        let plain =
            wrong(Cause::Rule(RuleId::OneSnapshot), RuleId::OneSnapshot, numbers(0..1), numbers(1..2));
        assert_eq!(words_of(&plain).broken(), Some(RuleId::OneSnapshot));
        assert!(
            words_of(&plain).rule().contains("own changes"),
            "a snapshot alone would make the answer right"
        );
    }

    #[test]
    fn of_many_rows_only_those_that_differ_are_told() {
        let rule = RuleId::OneSnapshot;
        let violation = wrong(Cause::Rule(rule), rule, numbers((1..30).filter(|n| *n != 7)), numbers(1..29));
        assert_eq!(
            words_of(&violation).story(),
            "Step 5 (T2) returns wrong rows: of 28 rows (7) is missing, and (29) is too many."
        );
    }

    #[test]
    fn an_error_that_ends_a_transaction_is_told_as_what_it_does() {
        let error = DbError {
            code: 1020,
            sqlstate: "HY000".into(),
            class: ErrorClass::WriteConflict,
            ends: Ends::Transaction,
            message: "Record has changed since last read".into(),
        };
        let outcome = Outcome { reply: Reply::Error(error), warnings: Vec::new(), transaction: Open::No };
        let (rule, actual) = (RuleId::FreshSnapshot, Response::Outcome(Box::new(outcome)));
        let violation =
            wrong(Cause::Rule(rule), rule, actual, Response::AnAnswer { nobody_in_the_way: true });
        assert_eq!(
            words_of(&violation).story(),
            "Step 5 (T2) fails with error write-conflict (1020), transaction over; it should answer at once: no other transaction is \
             in its way."
        );
    }

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
             One of the two is wrong."
        );
    }
}
