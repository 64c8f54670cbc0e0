//! How transactions are made to collide: one strategy per file, and their list.

/// A way to make transactions collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// None, for comparison.
    None,
    /// Fucci's full-shared filter: two statements with the same predicate.
    Fsf,
    /// Fucci's partially shared filter: predicates that share a part.
    Psf,
    /// Fucci's common tuple construction: two statements are made to meet in one row.
    Ctc,
    /// Two write the same constant.
    SharedSet,
    /// My WHERE reads what you SET.
    CrossColumn,
    /// Keys move up and down.
    KeyMove,
    /// Two go for one unique value.
    KeyCollision,
    /// A row goes and comes back.
    DeleteReinsert,
    /// A row comes and is rolled back.
    RollbackInsert,
    /// One reads a range, the other inserts into it.
    GapInsert,
    /// Rows and the rows that they refer to.
    ParentChild,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 12] = [
        Strategy::None,
        Strategy::Fsf,
        Strategy::Psf,
        Strategy::Ctc,
        Strategy::SharedSet,
        Strategy::CrossColumn,
        Strategy::KeyMove,
        Strategy::KeyCollision,
        Strategy::DeleteReinsert,
        Strategy::RollbackInsert,
        Strategy::GapInsert,
        Strategy::ParentChild,
    ];

    /// Its name in cases, flags and profiles.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::None => "none",
            Strategy::Fsf => "fsf",
            Strategy::Psf => "psf",
            Strategy::Ctc => "ctc",
            Strategy::SharedSet => "shared-set",
            Strategy::CrossColumn => "cross-column",
            Strategy::KeyMove => "key-move",
            Strategy::KeyCollision => "key-collision",
            Strategy::DeleteReinsert => "delete-reinsert",
            Strategy::RollbackInsert => "rollback-insert",
            Strategy::GapInsert => "gap-insert",
            Strategy::ParentChild => "parent-child",
        }
    }
}
