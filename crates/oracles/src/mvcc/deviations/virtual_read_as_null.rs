//! A read that goes by an index over a virtual column and sorts afterwards takes that column for NULL.
//!
//! ```text
//! CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (1) VIRTUAL, KEY (b))
//! SELECT a FROM t WHERE b ORDER BY a       a row that somebody is changing is read as (a, NULL), and not found
//! ```
//!
//! It may be the transaction itself that is changing it, and at READ UNCOMMITTED nobody need be. Which rows it happens to depends on what was done to them,
//! so each row may be met either way. With a LIMIT others come into the place of those that are lost.

use eval::{Datum, Fault};
use model::Reason;
use model::sql::{Query, Select, SelectItem, Statement};

use super::{
    super::{
        allowed_outcome::AllowedOutcome,
        query_analysis::aggregate,
        schema::Values,
        statement_context::{StatementContext, VisibleRows},
        twins::{TwinDraft, Why},
    },
    AffectedServers, Alternatives, KnownDeviation, ModelChange, NO_HOOKS, Status,
};

pub static DEVIATION: KnownDeviation = KnownDeviation {
    name: "virtual-read-as-null",
    status: Status::Found,
    source: "not reported; MariaDB from 10.5 on, docs/found/sorted-read-sees-an-open-delete.iso",
    // 10.5.23 has it, 10.2.11 does not.
    affects: AffectedServers { product: Some("mariadb"), since: &[10, 5], ..AffectedServers::ALL },
    alternatives: Some(alternatives),
    twin: Some(without_order),
    ..NO_HOOKS
};

static READS_NULL: ModelChange =
    ModelChange { rows_met: Some(as_they_are_or_with_null), ..ModelChange::NONE };

fn alternatives(statement: &Alternatives<'_, '_>) -> Result<Vec<AllowedOutcome>, Fault> {
    if statement.reads() { statement.new_with(&READS_NULL) } else { Ok(Vec::new()) }
}

fn as_they_are_or_with_null(
    context: &StatementContext<'_>,
    (query, select): (&Query, &Select),
    table: usize,
    rows: &VisibleRows<'_>,
) -> Option<Vec<(usize, Values)>> {
    let of = &context.schema.tables[table];
    let indexed = |at: &usize| of.indexes.iter().any(|index| index.columns.contains(at));
    let virtuals: Vec<usize> =
        (0..of.columns.len()).filter(|at| of.traits[*at].is_virtual && indexed(at)).collect();
    let aggregates =
        |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if aggregate(expr).is_some());
    if virtuals.is_empty() || query.order_by.is_empty() || select.items.iter().any(aggregates) {
        return None;
    }
    let as_it_is = |(row, values): &(usize, &Values)| (*row, Values::clone(values));
    let with_null = |(row, values): &(usize, &Values)| {
        let mut values = values.to_vec();
        virtuals.iter().for_each(|&at| values[at] = Datum::Null);
        (*row, Values::from(values))
    };
    Some(rows.iter().map(as_it_is).chain(rows.iter().map(with_null)).collect())
}

/// The twin: without ORDER BY, and so without LIMIT, which would leave it open which rows come.
fn without_order(draft: &mut TwinDraft<'_>, step: usize) -> Result<(), Why> {
    let Some(Statement::Query(query)) = draft.seen.case.tree(step) else { return Err(Reason::NoQuery) };
    let mut query = query.clone();
    query.order_by.clear();
    query.limit = None;
    draft.rewrite(step, &Statement::Query(query));
    Ok(())
}
