//! What becomes of the rows that a query finds: columns, aggregates, the first of an order.

use model::Reason;
use std::cmp::Ordering;

use eval::{Datum, Fault};
use model::sql::{Direction, Expr, FunctionArgs, Query, Select, SelectItem};

use super::{
    from_clause::FromClause,
    query_analysis::{aggregate, find_column, limit_of},
    schema::Values,
    statement_context::{Scan, StatementContext},
};

impl StatementContext<'_> {
    pub(super) fn constants(&self, select: &Select) -> Result<Vec<Values>, Fault> {
        let mut row = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Expr { expr, .. } if !expr.has_query() => {
                    row.push(self.evaluator.value(&[], expr, &[])?)
                }
                _ => return Err(Fault::Unsure(Reason::SelectWithoutFrom)),
            }
        }
        Ok(vec![row.into()])
    }

    /// What becomes of the rows that match. The query stays where it is as long as what is known of it.
    pub(super) fn project(
        &self,
        query: &Query,
        select: &Select,
        from: &FromClause,
        scan: Scan,
    ) -> Result<Vec<Values>, Fault> {
        let mut rows: Vec<Values> = scan.rows.into_iter().map(|(_, values)| values).collect();
        let aggregates = select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => aggregate(expr).is_some(),
            SelectItem::Star | SelectItem::TableStar(_) => false,
        });
        if aggregates {
            let row: Result<Vec<Datum>, Fault> = select
                .items
                .iter()
                .map(|item| match item {
                    SelectItem::Expr { expr, .. } => match aggregate(expr) {
                        Some((name, args)) => self.aggregated(name, args, from, &rows),
                        None => Err(Fault::Unsure(Reason::MixedAggregates)),
                    },
                    SelectItem::Star | SelectItem::TableStar(_) => {
                        Err(Fault::Unsure(Reason::MixedAggregates))
                    }
                })
                .collect();
            return Ok(vec![row?.into()]);
        }
        if let Some((limit, offset)) = limit_of(query)? {
            rows = self.limited(rows, &query.order_by, from, limit, offset)?;
        }
        let project = |row: Values| match (&select.items[..], &from.tables[..]) {
            ([SelectItem::Star], _) => Ok(row),
            (_, [_]) => {
                let make = || self.projected(select, from, &row);
                self.evaluator.known_row(|known| &mut known.projected, select, &row, make)
            }
            (_, _) => self.projected(select, from, &row),
        };
        rows.into_iter().map(project).collect()
    }

    pub(super) fn projected(
        &self,
        select: &Select,
        from: &FromClause,
        row: &[Datum],
    ) -> Result<Values, Fault> {
        let mut projected = Vec::with_capacity(select.items.len());
        for item in &select.items {
            match item {
                SelectItem::Star => projected.extend(row.iter().cloned()),
                SelectItem::TableStar(_) => return Err(Fault::Unsure(Reason::TableStar)),
                SelectItem::Expr { expr: Expr::Column(column), .. } => match find_column(from, column) {
                    Some(at) => projected.push(row[at].clone()),
                    None => return Err(Fault::Unsure(Reason::NoSuchColumn)),
                },
                SelectItem::Expr { expr, .. } if expr.has_query() => {
                    return Err(Fault::Unsure(Reason::QueryInResult));
                }
                SelectItem::Expr { expr, .. } => {
                    projected.push(self.evaluator.value(&from.columns, expr, row)?)
                }
            }
        }
        Ok(projected.into())
    }

    /// The first rows in an order. Where two that differ are equal in it and only one is among them, nobody can say which.
    pub fn limited<R: AsRef<[Datum]> + PartialEq>(
        &self,
        mut rows: Vec<R>,
        order_by: &[model::sql::OrderItem],
        from: &FromClause,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<R>, Fault> {
        let mut fault = None;
        let mut by = |left: &R, right: &R| {
            let (left, right) = (left.as_ref(), right.as_ref());
            for item in order_by {
                let at = match &item.expr {
                    Expr::Column(column) => find_column(from, column),
                    _ => None,
                };
                let Some(at) = at else {
                    fault = Some(Fault::Unsure(Reason::OrderByExpression));
                    return Ordering::Equal;
                };
                match self.evaluator.order(&from.columns[at], &left[at], &right[at]) {
                    Ok(Ordering::Equal) => {}
                    Ok(order) if item.direction == Some(Direction::Desc) => return order.reverse(),
                    Ok(order) => return order,
                    Err(why) => fault = Some(why),
                }
            }
            Ordering::Equal
        };
        rows.sort_by(&mut by);
        let edge = |at: usize| at > 0 && at < rows.len() && rows[at - 1] != rows[at];
        let (start, end) = (offset, offset.saturating_add(limit));
        let ties =
            [start, end].into_iter().any(|at| edge(at) && by(&rows[at - 1], &rows[at]) == Ordering::Equal);
        match fault {
            Some(fault) => Err(fault),
            None if ties => Err(Fault::Unsure(Reason::LimitTie)),
            None => Ok(rows.into_iter().skip(offset).take(limit).collect()),
        }
    }

    pub(super) fn aggregated(
        &self,
        name: &str,
        args: &FunctionArgs,
        from: &FromClause,
        rows: &[Values],
    ) -> Result<Datum, Fault> {
        let count = |n: usize| Datum::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let arg = match args {
            FunctionArgs::Star => return Ok(count(rows.len())),
            FunctionArgs::List(list) => list.first().ok_or(Fault::Unsure(Reason::AggregateNotModelled))?,
        };
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let value = self.evaluator.value(&from.columns, arg, row)?;
            if !value.is_null() {
                values.push(value);
            }
        }
        if name.eq_ignore_ascii_case("COUNT") {
            return Ok(count(values.len()));
        }
        let Expr::Column(column) = arg else { return Err(Fault::Unsure(Reason::AggregateOfExpression)) };
        let at = find_column(from, column).ok_or(Fault::Unsure(Reason::NoSuchColumn))?;
        let wanted = match name.to_ascii_uppercase().as_str() {
            "MIN" => Ordering::Less,
            "MAX" => Ordering::Greater,
            _ => return Err(Fault::Unsure(Reason::AggregateNotModelled)),
        };
        let mut best: Option<Datum> = None;
        for value in values {
            let better = match &best {
                None => true,
                Some(best) => {
                    let order = self.evaluator.order(&from.columns[at], &value, best)?;
                    if order == Ordering::Equal && value != *best {
                        return Err(Fault::Unsure(Reason::AggregateTie));
                    }
                    order == wanted
                }
            };
            if better {
                best = Some(value);
            }
        }
        Ok(best.unwrap_or(Datum::Null))
    }
}
