//! Reads that go by an index over a virtual column and sort afterwards: as found, MariaDB takes that column for NULL.
//!
//! ```text
//! CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (1) VIRTUAL, KEY (b))
//! SELECT a FROM t WHERE b ORDER BY a       a row that another is changing is read as (a, NULL), and not found
//! ```
//!
//! Which rows it happens to depends on what others have done to them, so each row may be met either way.

use eval::{Datum, Fault};
use model::sql::{Query, Select, SelectItem};

use super::{
    allowed_outcome::{AllowedOutcome, Expected},
    expressions::aggregate,
    from_clause::FromClause,
    schema::Values,
    statement_context::{Condition, Seen, StatementContext},
};

impl StatementContext<'_> {
    /// What such a read may show; nothing where this is none.
    pub(super) fn blanked(
        &self,
        query: &Query,
        select: &Select,
        from: &FromClause,
        condition: &Condition,
        tables: &[Seen],
        opens_view: Option<u32>,
    ) -> Result<Vec<AllowedOutcome>, Fault> {
        let ([named], [rows]) = (&from.tables[..], tables) else { return Ok(Vec::new()) };
        let of = &self.schema.tables[named.table];
        let indexed = |at: &usize| of.indexes.iter().any(|index| index.columns.contains(at));
        let blank: Vec<usize> =
            (0..of.columns.len()).filter(|at| of.traits[*at].is_virtual && indexed(at)).collect();
        let aggregates =
            |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if aggregate(expr).is_some());
        let sorts = !query.order_by.is_empty() && query.limit.is_none();
        if blank.is_empty() || !sorts || select.items.iter().any(aggregates) {
            return Ok(Vec::new());
        }
        let with = |(row, values): &(usize, &Values)| (*row, Values::clone(values));
        let without = |(row, values): &(usize, &Values)| {
            let mut values = values.to_vec();
            blank.iter().for_each(|&at| values[at] = Datum::Null);
            (*row, Values::from(values))
        };
        let rows: Vec<_> = rows.iter().map(with).chain(rows.iter().map(without)).collect();
        let scan = self.select(from, condition, &[rows]).map_err(Fault::Unsure)?;
        let rows = self.project(query, select, from, scan)?;
        Ok(vec![AllowedOutcome { opens_view, ..AllowedOutcome::only(Expected::Among(rows)) }])
    }
}
