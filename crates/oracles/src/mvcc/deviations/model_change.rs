//! What a deviation changes in the model while the outcomes that it allows are worked out.

use eval::Datum;
use model::sql::{Query, Select};

use super::{
    super::{
        schema::{Foreign, Table, Values},
        statement_context::{StatementContext, VisibleRows},
    },
    KnownDeviation,
};

/// The deviation that is assumed to be at work, and how.
#[derive(Clone, Copy)]
pub struct Assumed {
    pub deviation: &'static KnownDeviation,
    pub change: &'static ModelChange,
}

/// See [`ModelChange::rows_met`]: the query, its SELECT, its table, and the rows.
pub type RowsMet =
    fn(&StatementContext<'_>, (&Query, &Select), usize, &VisibleRows<'_>) -> Option<Vec<(usize, Values)>>;

type ForeignKeyIgnored = fn(&Table, &Foreign, &[Datum]) -> bool;

/// The places at which a deviation can change the model.
pub struct ModelChange {
    /// Changes the rows of a table that a snapshot shows.
    pub visible_rows: Option<for<'a> fn(&StatementContext<'a>, usize, &mut VisibleRows<'a>)>,
    /// What a plain read of one table may meet these rows as: it shows some of those that match. None where it meets them as they are.
    pub rows_met: Option<RowsMet>,
    /// Does an UPDATE pass by a row that another is changing, although its last committed version matches? Where it goes on after a wait,
    /// it has passed by all such rows behind it.
    pub passes_by: Option<fn(&ContestedRow<'_>) -> bool>,
    /// Is a foreign key of a table not enforced for a row?
    pub ignores_foreign_key: Option<ForeignKeyIgnored>,
}

impl ModelChange {
    /// None, for the rest of another.
    pub const NONE: ModelChange =
        ModelChange { visible_rows: None, rows_met: None, passes_by: None, ignores_foreign_key: None };
}

/// A row that another transaction is changing and that a scan may have to wait for.
pub struct ContestedRow<'r> {
    /// As it was committed last.
    pub committed: Option<&'r Values>,
    /// As the other has it.
    pub newest: Option<&'r Values>,
    /// Does what the other has match?
    pub newest_matches: bool,
    /// The columns of the clustered key.
    pub key: Option<&'r Vec<usize>>,
}
