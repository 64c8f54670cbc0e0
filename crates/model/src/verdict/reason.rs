//! Why something cannot be told: one list for all oracles, so that the same reason has the same name and can be counted.

use std::{collections::BTreeSet, convert::Infallible, fmt, str::FromStr, sync::Mutex};

use crate::sync::lock;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Why an oracle cannot tell, why there is no twin, why a path is not known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
            /// The evaluator does not know what the server computes here, in its own words.
            Expression(&'static str),
        }

        impl Reason {
            /// All that have a name of their own.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// The name in files and counts.
            pub fn name(self) -> &'static str {
                match self {
                    $(Reason::$name => $text,)*
                    Reason::Expression(words) => words,
                }
            }
        }
    };
}

reasons! {
    // The run itself.
    /// An answer came after the server had been called settled.
    LateAnswer = "late-answer",
    ServerGone = "server-gone",
    Hung = "hung",
    WantsMoreRuns = "wants-more-runs",
    TooManyQuestions = "too-many-questions",
    NotProbed = "not-played",
    NoScratchSchema = "no-stage",
    FirstQueryRefused = "probe-refused",
    NotAskedFor = "not-asked-for",
    AskedTwice = "asked-twice",
    // The setup.
    NoContract = "no-contract",
    NoContractAtThisLevel = "no-contract-at-this-level",
    SetupNotRead = "setup-not-read",
    /// The setup makes a trigger, a function or a procedure.
    StoredProgram = "stored-program",
    SetupFails = "setup-fails",
    SetupNotFilled = "setup-not-filled",
    PartialIndex = "partial-index",
    OtherEngine = "other-engine",
    ColumnType = "column-type",
    AutoIncrement = "auto-increment",
    OnUpdate = "on-update",
    References = "references",
    UniquePrefix = "unique-prefix",
    OwnValues = "own-values",
    ScratchColumns = "stage-columns",
    StrangeBytes = "strange-bytes",
    // The steps.
    Unparsed = "unparsed",
    SchemaChanged = "schema-changed",
    SettingsChanged = "settings-changed",
    LockTable = "lock-table",
    BeginRefused = "begin-refused",
    BeginWithLevel = "begin-with-level",
    EndRefused = "end-refused",
    SavepointAfterAnError = "savepoint-after-an-error",
    EarlySavepoint = "early-savepoint",
    ServerRefuses = "server-refuses",
    ErrorForetold = "error-foretold",
    StatementNotModelled = "statement",
    // What a statement says.
    AggregateNotModelled = "aggregate",
    AggregateOfExpression = "aggregate-of-expression",
    AggregateTie = "aggregate-tie",
    AssignedInSomeOrder = "assigned-in-some-order",
    /// A cascade of the statement changes what its own subquery reads.
    CascadeIntoItsSubquery = "cascade-into-its-subquery",
    ConflictFilter = "conflict-filter",
    DeleteModifier = "delete-modifier",
    DeleteTarget = "delete-target",
    DerivedTable = "derived-table",
    DistinctOrGroup = "distinct-or-group",
    ExpressionNotModelled = "expression",
    FickleFunction = "fickle-function",
    IgnoredError = "ignored-error",
    IgnoredInSomeOrder = "ignored-in-some-order",
    IgnoredRows = "ignored-rows",
    InnerQuery = "inner-query",
    InnerQueryExpression = "inner-query-expression",
    InsertModifier = "insert-modifier",
    InsertedAndChanged = "inserted-and-changed",
    InsertedAndDeleted = "inserted-and-deleted",
    JoinUsing = "join-using",
    JoinWithAChild = "join-with-a-child",
    JoinsInParentheses = "joins-in-parentheses",
    Limit = "limit",
    LimitTie = "limit-tie",
    LimitWithoutOrder = "limit-without-order",
    MeetsAGoneRow = "meets-a-gone-row",
    MeetsSeveralRows = "meets-several-rows",
    MixedAggregates = "mixed-aggregates",
    NoDefault = "no-default",
    NoSuchColumn = "no-such-column",
    NoSuchTable = "no-such-table",
    OnConflict = "on-conflict",
    OrderByExpression = "order-by-expression",
    OtherNumberOfValues = "other-number-of-values",
    OuterJoin = "outer-join",
    QueryInParentheses = "query-in-parentheses",
    QueryInQuery = "query-in-query",
    QueryInResult = "query-in-result",
    QueryInUpsert = "query-in-upsert",
    ReplaceOfAParent = "replace-of-a-parent",
    ReplaceWithoutAKey = "replace-without-a-key",
    Returning = "returning",
    SelectWithoutFrom = "select-without-from",
    SetDefault = "set-default",
    SkipLocked = "skip-locked",
    TableStar = "table-star",
    Union = "union",
    UpdateModifier = "update-modifier",
    UpdatedTwice = "updated-twice",
    UpsertWithoutAParent = "upsert-without-a-parent",
    Counter = "counter",
    NoInvisibleColumn = "no-invisible-column",
    // What happened between the statements.
    DirtyReadBeforeWait = "dirty-read-before-wait",
    DirtyReadOfHalfDoneWork = "dirty-read-of-half-done-work",
    ErrorInResumedScan = "error-in-resumed-scan",
    HalfDoneStatement = "half-done-statement",
    JoinBesideLock = "join-beside-lock",
    JoinThatWaited = "join-that-waited",
    /// An UPDATE may have judged half of what another statement did: which rows it met is then not known.
    JudgesHalfDoneWork = "judges-half-done-work",
    JudgesUncommitted = "judges-uncommitted",
    LimitBesideLock = "limit-beside-lock",
    /// Only that a lock is missing is suspected: nothing is damaged by it.
    LockSuspect = "lock-suspect",
    ManyWokenAtOnce = "many-woken-at-once",
    OrderOfAnswers = "order-of-answers",
    PartitionedScan = "partitioned-scan",
    SnapshotWhen = "snapshot-when",
    TooManyWorlds = "too-many-worlds",
    TwoViews = "two-views",
    UnchangedRows = "unchanged-rows",
    UnknownFate = "unknown-fate",
    UnsortedAfterWait = "unsorted-after-wait",
    WaitedMoreThanOnce = "waited-more-than-once",
    // A statement that was run alone.
    ErrorOnTheWay = "error-on-the-way",
    NoView = "no-view",
    OtherError = "other-error",
    ScanOrder = "scan-order",
    ViewBreaksConstraint = "view-breaks-constraint",
    ViewBreaksKey = "view-breaks-key",
    ViewNotFilled = "view-not-filled",
    Warnings = "warnings",
    WhichError = "which-error",
    // Why a path is not known.
    NoPath = "no-path",
    PlanNotAsked = "plan-not-asked",
    PlanNotRun = "plan-not-run",
    PlanRefused = "plan-refused",
    RunWithThePlanDiffers = "run-with-the-plan-differs",
    SeveralIndexes = "several-indexes",
    SeveralTables = "several-tables",
    // Why there is no twin, or why it says nothing.
    ATransactionWithoutEnd = "a-transaction-without-end",
    DidNotWait = "did-not-wait",
    NeverAnswered = "never-answered",
    NoBegin = "no-begin",
    NoConstantToChange = "no-constant-to-change",
    NoIndexToLeaveOut = "no-index-to-leave-out",
    NoOtherColumn = "no-other-column",
    NoQuery = "no-query",
    NoStatementLetItGoOn = "no-statement-let-it-go-on",
    NoTransactionRolledBack = "no-transaction-rolled-back",
    NoUpdate = "no-update",
    NoUpdateOfAKey = "no-update-of-a-key",
    NobodyBesideIt = "nobody-beside-it",
    NotExplainedByTheModel = "not-explained-by-the-model",
    StatementWouldBeGone = "statement-would-be-gone",
    TwinExplainedAgain = "twin-explained-again",
    TwinNotRun = "twin-not-run",
    TwinStalls = "twin-stalls",
    TwinUndecided = "twin-undecided",
    TwinWrongElsewhere = "twin-wrong-elsewhere",
    Undocumented = "undocumented",
}

impl Reason {
    /// The reason of this name; what is none of the list are words of the evaluator.
    pub fn from_name(name: &str) -> Reason {
        let known = Reason::ALL.iter().copied().find(|reason| reason.name() == name);
        known.unwrap_or_else(|| Reason::Expression(interned(name)))
    }
}

/// Words that a file has. The evaluator has some hundred of them, so they are kept for ever, each once.
fn interned(words: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = lock(&KNOWN);
    if let Some(same) = known.get(words) {
        return same;
    }
    let kept: &'static str = Box::leak(words.to_string().into_boxed_str());
    known.insert(kept);
    kept
}

impl AsRef<str> for Reason {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Reason {
    type Err = Infallible;

    /// By any name that it ever had.
    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(super::old::reason(name).unwrap_or_else(|| Reason::from_name(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_name_of_its_own_and_is_found_by_it() {
        let mut names: Vec<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        assert!(Reason::ALL.iter().all(|reason| Reason::from_name(reason.name()) == *reason));
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
