//! What is wrong, by one word: the same word whichever oracle says so.

crate::named! {
    /// What a violation shows.
    pub enum Symptom {
        WrongRows = "wrong-rows",
        WrongCount = "wrong-count",
        /// It changed as many rows as it should, and says that it found others.
        WrongMatch = "wrong-match",
        /// Rows came, but as values of other types.
        WrongTypes = "wrong-types",
        /// An error came instead of success, or success instead of an error; by a statement that was run alone.
        WrongError = "wrong-error",
        /// Rows instead of a count, or the other way round.
        WrongAnswer = "wrong-answer",
        /// The rows, but not in the order that was asked for.
        WrongOrder = "wrong-order",
        WrongFinalState = "wrong-final-state",
        MissingWait = "missing-wait",
        NeedlessWait = "needless-wait",
        /// Transactions wait for each other in a circle, and none of them is ended.
        UnreportedDeadlock = "unreported-deadlock",
        MissingError = "missing-error",
        NeedlessError = "needless-error",
        /// A row came into what a transaction had locked.
        Phantom = "phantom",
        /// A savepoint that is there is not found, or one that is not there is.
        Savepoint = "savepoint",
        AbortedRead = "aborted-read",
        ValueFromNowhere = "value-from-nowhere",
        PrimaryValueTwice = "primary-value-twice",
        UniqueValueTwice = "unique-value-twice",
        ReadNotRepeatable = "read-not-repeatable",
        IndexDisagrees = "index-disagrees",
        /// Transactions depend on each other in a circle.
        Cycle = "cycle",
        /// Two ways to judge disagree about one statement on one view.
        Logic = "logic",
        Crash = "crash",
        LostConnection = "lost-connection",
        Hang = "hang",
        InternalError = "internal-error",
        Corruption = "corruption",
        ErrorLog = "error-log",
    }
}

/// Where somebody who looks from outside can see a symptom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visible {
    /// In the rows or the count that a statement answers.
    Answer,
    /// In whether a statement waits.
    Wait,
    /// In the rows that are there afterwards.
    FinalState,
    /// In the server itself: it died, hung, or complains.
    Server,
    /// Nowhere else than in what the symptom itself says.
    Itself(Symptom),
}

impl Symptom {
    /// Where it can be seen. Two symptoms that show in the same place may be one bug.
    pub fn visible(self) -> Visible {
        match self {
            Symptom::WrongRows
            | Symptom::WrongCount
            | Symptom::WrongMatch
            | Symptom::WrongTypes
            | Symptom::WrongOrder
            | Symptom::WrongError
            | Symptom::WrongAnswer => Visible::Answer,
            Symptom::WrongFinalState => Visible::FinalState,
            Symptom::NeedlessWait => Visible::Wait,
            Symptom::Crash
            | Symptom::LostConnection
            | Symptom::Hang
            | Symptom::InternalError
            | Symptom::Corruption
            | Symptom::ErrorLog => Visible::Server,
            other => Visible::Itself(other),
        }
    }

    /// Is it about who waits for whom, and about nothing else?
    pub fn is_wait(self) -> bool {
        matches!(self, Symptom::MissingWait | Symptom::NeedlessWait)
    }
}
