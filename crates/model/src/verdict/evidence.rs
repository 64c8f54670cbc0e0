//! What a verdict rests on, as data. Sentences are made of it in `report`.

use serde::{Deserialize, Serialize};

use super::{Deviations, Fingerprint, Reason, RuleId, Violation};
use crate::{
    outcome::{ErrorClass, Outcome},
    rows::RowSet,
};

/// All that a violation rests on. What an oracle has nothing to say about is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The session whose step it is, by its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The text of that step.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sql: String,
    /// The rule that is broken, whether something explains it or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Response>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Response>,
    /// What an invariant has come upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sighting: Option<Sighting>,
    /// The rows that a statement should have seen, by table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<Table>,
    /// Had the statement waited before it answered? Said by the decoupled run, and of a wait that ended too early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waited: bool,
    /// If a wait is missing: what it damages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
    /// What the other one of two ways to judge says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_opinion: Option<SecondOpinion>,
    /// By which way the server went to the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_path: Option<AccessPath>,
    /// What came of the same case without what the deviations need that explain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin: Option<Twin>,
    /// What it looked like before its case was reduced to something simpler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    /// Who depends on whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
    /// Lines of the server's own log, of its check of the data, or of a stack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// Words that version 0 of the file wrote. Shown as they are, and never read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

/// An answer: what came, or what should have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// These rows, in any order.
    Rows(RowSet),
    /// Some of these rows.
    SomeOf(RowSet),
    /// These rows, and at least one of them twice.
    SomeTwice(RowSet),
    /// One of these counts of affected rows, and so many matched.
    Count {
        affected: Vec<u64>,
        matched: Option<u64>,
    },
    /// An error of this class.
    Error(ErrorClass),
    /// As the server sent it.
    Outcome(Box<Outcome>),
    /// The rows of a table in the end.
    FinalState(Table),
    Wait,
    /// It waits for the lock of this step, from 0.
    WaitFor(usize),
    /// An answer, whatever it is: nobody can be in its way.
    AnAnswer {
        nobody_in_the_way: bool,
    },
    /// An error, whatever it is.
    AnError,
    /// It succeeds.
    Success,
    /// The rows that were locked before.
    LockedRows,
    Anything,
    /// As version 0 of the file wrote it. Shown, and never read.
    Words(String),
}

/// Rows of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub table: String,
    pub rows: RowSet,
}

/// What an invariant has come upon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sighting {
    /// The cell of a row; the row is the only one of the set.
    Value { table: String, column: String, row: RowSet, at: usize },
    /// Two rows with the same value in a key.
    Twice { table: String, columns: Vec<String>, rows: RowSet },
    /// The same SELECT as this step, from 0, whose rows these are.
    UnlikeStep { step: usize, rows: RowSet },
    /// The rows of a table through an index, whose name is empty for the primary key; `plain` by a plain read.
    Index { table: String, index: String, rows: RowSet, plain: RowSet },
    /// A wait or an error of concurrency without another open transaction that touched the tables.
    NobodyElse,
    /// A wait for a row lock by a statement that was asked not to wait.
    AskedNotToWait,
    /// Steps, from 0, each of which waits for the transaction of another.
    Circle { steps: Vec<usize> },
    /// A transaction that was opened READ ONLY changed rows.
    ReadOnly,
    /// Two rows that came one after the other.
    Unsorted { rows: RowSet },
    /// A column that a SELECT shows as it is, and that has another type where the whole table is read.
    Type { table: String, column: String, described: String, shown: String },
    /// A row was changed that another transaction had changed since the snapshot.
    StaleWrite,
    /// The server died after the step had answered.
    DiedLater,
}

/// What a missing wait damages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// Each should have waited for the other, and one of them had to give way.
    Circle,
    /// What is wrong if the trace is told as if it had waited.
    AsIfWaited(Box<Violation>),
    /// The same, after the case was run on with these statements.
    RunOn { steps: Vec<String>, then: Option<Box<Damage>> },
}

/// What the model says beside the decoupled run, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondOpinion {
    /// The decoupled run objects to the same; `explains`: only it knows what explains it.
    Agrees {
        with: Box<Violation>,
        explains: bool,
    },
    /// The decoupled run was not asked.
    NotAsked,
    /// The model cannot tell, so no deviation was tried.
    ModelUndecided(Reason),
    DecoupledUndecided(Reason),
    /// The decoupled run accepts it without being certain.
    Uncertain,
    /// It does not judge waits, nor what a statement meets with nobody else there.
    NotJudged,
    /// It ends earlier, by this.
    EndsEarlier(Box<Violation>),
    /// It accepts what a known deviation explains, and objects to this later.
    ObjectsLater(Box<Violation>),
    /// It finds nothing wrong; `later`: there, but this later. What it objects to is the fingerprint.
    Disagrees {
        objection: Fingerprint,
        later: Option<Box<Violation>>,
    },
}

/// The way to the rows, as the server says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessPath {
    /// By the table itself.
    Table,
    Index(String),
    /// On this way no scan that went on explains it, though these would on another.
    Unexplained {
        path: Box<AccessPath>,
        elsewhere: Deviations,
    },
    Unknown(Reason),
}

impl AccessPath {
    /// As it is counted: is a scan that went on proved by the server's own plan, or only what explains it?
    pub fn name(&self) -> String {
        match self {
            AccessPath::Table | AccessPath::Index(_) => "proved".to_string(),
            AccessPath::Unexplained { .. } => "refuted".to_string(),
            AccessPath::Unknown(why) => format!("explained, not proved ({why})"),
        }
    }
}

/// What a twin shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Twin {
    /// Nothing is wrong there.
    Gone { without: Deviations },
    /// The same is wrong; `alone`: the case itself would have been explained, and the steps are those of the twin.
    Stays { without: Deviations, shows: Box<Violation>, alone: bool },
    /// There is none, or it says nothing.
    None(Reason),
}

impl Twin {
    /// As it is counted.
    pub fn name(&self) -> String {
        match self {
            Twin::Gone { .. } => "gone".to_string(),
            Twin::Stays { .. } => "stays".to_string(),
            Twin::None(why) => format!("none ({why})"),
        }
    }
}

/// What a finding looked like before its case was reduced to something simpler, and why it is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    pub fingerprint: Fingerprint,
    pub by: Turned,
}

/// Why a finding is what its case was reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turned {
    /// The model could not tell, and says the same of the smaller case.
    SaysTheSame,
    /// Smaller cases need only one of the deviations.
    NeedsFewer,
    /// The model could not tell; the twin of the case before shows nothing wrong.
    GoneInTwin,
    /// The statement is wrong without anybody else; in the case before, the decoupled run could not tell.
    ByItself,
    /// The case before has statements more that change neither an answer nor a row.
    WithoutBystanders,
    /// What a statement showed is in the tables without it, too.
    InTheEnd,
}

/// Which transactions depend on which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// The transactions, each by what people call it.
    pub transactions: Vec<String>,
    pub edges: Vec<Edge>,
    /// The transactions of a cycle, in its order.
    pub cycle: Vec<usize>,
}

/// A dependency: from one transaction to another, `wr`, `ww`, `rw` and the like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub kind: String,
}
