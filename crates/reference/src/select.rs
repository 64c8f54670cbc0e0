//! SELECT from one table: which read it is, and what becomes of the rows.

use std::{borrow::Cow, cmp::Ordering};

use dialect::sql::print_expr;
use eval::{Column, Datum, Decimal};
use model::{
    Level, RowSet, SqlType,
    sql::{
        Direction, Expr, FunctionArgs, Literal, LockStrength, LockWait, Offset, OrderItem, Query, QueryPart,
        Select, SelectItem,
    },
};

use crate::{
    error::{StatementResult, error, fault, unsupported},
    expressions::{ColumnScope, compare, type_of},
    locks::Mode,
    plants::Bug,
    scan::LockingScan,
    server::PRODUCT,
    show,
    statement_run::{NamedTable, StatementRun, count},
    versions::{RowId, Values},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryPosition {
    /// It is the statement.
    Whole,
    /// Inside a SELECT: a clause that locks does not reach into it.
    InQuery,
    /// The source of an INSERT, or inside an UPDATE: from REPEATABLE READ on it locks what it reads.
    InChange,
    /// Inside any other statement that changes rows: it locks what it reads.
    InOther,
}

pub struct QueryResult {
    /// Names and types of its columns.
    pub columns: Vec<(String, SqlType)>,
    pub rows: Vec<Vec<Datum>>,
}

impl QueryResult {
    /// As it goes over the wire.
    pub fn rows(&self) -> RowSet {
        let mut set = RowSet::new(self.columns.iter().map(|(name, ty)| show::column(name, ty)).collect());
        for (value, (_, ty)) in self.rows.iter().flat_map(|row| row.iter().zip(&self.columns)) {
            set.push(show::cell(value, Some(ty)).as_deref());
        }
        set
    }
}

struct OutputColumn<'a> {
    name: String,
    expr: Cow<'a, Expr>,
}

impl StatementRun<'_> {
    pub fn query(&mut self, query: &Query, role: QueryPosition) -> StatementResult<QueryResult> {
        let select = match &query.first {
            _ if !query.rest.is_empty() => return unsupported("UNION"),
            QueryPart::Paren(inner) if query.order_by.is_empty() && query.limit.is_none() => {
                return self.query(inner, role);
            }
            QueryPart::Paren(_) => return unsupported("queries in parentheses"),
            QueryPart::Select(select) => select,
        };
        if select.quantifier.is_some() || !select.group_by.is_empty() || select.having.is_some() {
            return unsupported("DISTINCT, GROUP BY and HAVING");
        }
        if select.from.is_empty() {
            return self.constants(select);
        }
        let table = self.one_table(&select.from)?;
        let filter = select.filter.as_ref().map(|filter| self.resolved(filter, inner(role))).transpose()?;
        let items = self.items(&table, select, role)?;
        self.check_query(&table, &items, filter.as_deref(), &query.order_by, role)?;
        let (limit, offset) = limits(query)?;
        if limit == Some(0) {
            // The tables are not asked, so this is no read at all.
            return self.finish(&table, &items, &[], query, Some(0), 0);
        }
        let rows = match self.locking(query, role)? {
            None => self.look(&table, filter.as_deref())?,
            Some(mut how) => {
                let stops =
                    query.order_by.is_empty() && !items.iter().any(|item| aggregate(&item.expr).is_some());
                how.limit = limit.filter(|_| stops).map(|limit| limit + offset);
                let mut rows = self.lock(&table, filter.as_deref(), &how)?;
                self.repeat_a_row(&table, &mut rows);
                rows
            }
        };
        let rows: Vec<Values> = rows.into_iter().map(|(_, values)| values).collect();
        self.finish(&table, &items, &rows, query, limit, offset)
    }

    /// The planted bug: where the row that it waited for is gone, the scan steps back by one.
    fn repeat_a_row(&self, table: &NamedTable, rows: &mut Vec<(RowId, Values)>) {
        let of = &self.base.tables[table.at];
        let stuck = self.memory.stuck.as_ref().filter(|stuck| stuck.table == of.id);
        let gone = stuck.is_some_and(|stuck| of.rows.get(stuck.row).is_none());
        if let (true, true, Some(last)) = (gone, of.has_unique_secondary(), rows.last())
            && self
                .base
                .plants
                .hits(Bug::DuplicateRowAfterRollback, || format!("{} {last:?}", self.statement.text))
        {
            rows.push(last.clone());
        }
    }

    fn check_query(
        &self,
        table: &NamedTable,
        items: &[OutputColumn],
        filter: Option<&Expr>,
        order_by: &[OrderItem],
        role: QueryPosition,
    ) -> StatementResult<()> {
        let exprs: Vec<&Expr> = items
            .iter()
            .map(|item| item.expr.as_ref())
            .chain(filter)
            .chain(order_by.iter().map(|order| &order.expr))
            .collect();
        let aliases: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
        match self.check_names(self.sheet(table), &exprs, &aliases) {
            Err(_) if role != QueryPosition::Whole => {
                unsupported("queries that name columns of those around them")
            }
            checked => checked,
        }
    }

    /// How a query locks, if it does.
    fn locking<'b>(&self, query: &'b Query, role: QueryPosition) -> StatementResult<Option<LockingScan<'b>>> {
        let serializable = self.txn.level == Level::Serializable && !self.txn.single;
        let Some(lock) = query.locks.first() else {
            let shared = match role {
                // The planted bug: a plain SELECT stays one.
                QueryPosition::Whole | QueryPosition::InQuery => {
                    serializable && !self.base.plants.hits(Bug::WriteSkew, || self.statement.text.clone())
                }
                QueryPosition::InChange => self.strict(),
                QueryPosition::InOther => true,
            };
            return Ok(shared.then(|| LockingScan::plain(Mode::Shared)));
        };
        let mode = match lock.strength {
            LockStrength::Update => Mode::Exclusive,
            LockStrength::Share | LockStrength::InShareMode => Mode::Shared,
            LockStrength::NoKeyUpdate | LockStrength::KeyShare => return unsupported("locks of keys"),
        };
        if matches!(lock.wait, Some(LockWait::Seconds(_))) {
            return unsupported("WAIT");
        }
        if self.txn.read_only && mode == Mode::Exclusive {
            return error(1792, "25006", "Cannot execute statement in a READ ONLY transaction.");
        }
        Ok(Some(LockingScan { wait: lock.wait.as_ref(), ..LockingScan::plain(mode) }))
    }

    fn items<'b>(
        &mut self,
        table: &NamedTable,
        select: &'b Select,
        role: QueryPosition,
    ) -> StatementResult<Vec<OutputColumn<'b>>> {
        let mut items = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Star | SelectItem::TableStar(_) => {
                    let columns = &self.base.tables[table.at].columns;
                    items.extend(columns.iter().map(|column| OutputColumn {
                        name: column.name.clone(),
                        expr: Cow::Owned(Expr::column(&column.name)),
                    }));
                }
                SelectItem::Expr { expr, alias } => {
                    let name = match (alias, expr) {
                        (Some(alias), _) => alias.name.name.clone(),
                        (None, Expr::Column(column)) => column.name.name.clone(),
                        (None, _) => print_expr(PRODUCT, expr),
                    };
                    items.push(OutputColumn { name, expr: self.resolved(expr, inner(role))? });
                }
            }
        }
        Ok(items)
    }

    /// SELECT without FROM.
    fn constants(&mut self, select: &Select) -> StatementResult<QueryResult> {
        let sheet = ColumnScope::default();
        let mut found = QueryResult { columns: Vec::new(), rows: vec![Vec::new()] };
        for item in &select.items {
            let SelectItem::Expr { expr, alias } = item else { return unsupported("* without FROM") };
            let value = sheet.value(expr, &[])?;
            let name =
                alias.as_ref().map_or_else(|| print_expr(PRODUCT, expr), |alias| alias.name.name.clone());
            found.columns.push((name, type_of(&value)));
            found.rows[0].push(value);
        }
        Ok(found)
    }

    /// Projects, orders and limits.
    fn finish(
        &self,
        table: &NamedTable,
        items: &[OutputColumn],
        rows: &[Values],
        query: &Query,
        limit: Option<usize>,
        offset: usize,
    ) -> StatementResult<QueryResult> {
        let (sheet, of) = (self.sheet(table), &self.base.tables[table.at]);
        let mut types: Vec<Option<SqlType>> =
            items.iter().map(|item| static_type(&item.expr, &of.columns)).collect();
        let mut results: Vec<(Vec<Datum>, Vec<Datum>)> = Vec::new();
        if items.iter().any(|item| aggregate(&item.expr).is_some()) {
            let row = items.iter().map(|item| aggregated(sheet, &of.columns, &item.expr, rows));
            results.push((Vec::new(), row.collect::<StatementResult<_>>()?));
        } else {
            for row in rows {
                let keys = query.order_by.iter().map(|order| sheet.value(order_by(order, items), row));
                let keys = keys.collect::<StatementResult<_>>()?;
                let row = items.iter().map(|item| sheet.value(&item.expr, row));
                results.push((keys, row.collect::<StatementResult<_>>()?));
            }
            let orders: Vec<(&Expr, bool)> = query
                .order_by
                .iter()
                .map(|order| (order_by(order, items), order.direction == Some(Direction::Desc)))
                .collect();
            sort(&mut results, &orders, &of.columns)?;
        }
        let limited = results.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX));
        let rows: Vec<Vec<Datum>> = limited.map(|(_, row)| row).collect();
        for (i, ty) in types.iter_mut().enumerate().filter(|(_, ty)| ty.is_none()) {
            let some = rows.iter().map(|row| &row[i]).find(|value| !value.is_null());
            *ty = Some(type_of(some.unwrap_or(&Datum::Null)));
        }
        let columns = items.iter().zip(types.into_iter().flatten());
        Ok(QueryResult { columns: columns.map(|(item, ty)| (item.name.clone(), ty)).collect(), rows })
    }
}

fn inner(role: QueryPosition) -> QueryPosition {
    if role == QueryPosition::Whole { QueryPosition::InQuery } else { role }
}

fn limits(query: &Query) -> StatementResult<(Option<usize>, usize)> {
    let Some(limit) = &query.limit else { return Ok((None, 0)) };
    let offset = match &limit.offset {
        None => 0,
        Some(Offset::After(offset) | Offset::Before(offset)) => count(offset)?,
    };
    Ok((Some(count(&limit.count)?), offset))
}

/// What an ORDER BY means: an expression, a column's other name, or its position.
fn order_by<'a>(order: &'a OrderItem, items: &'a [OutputColumn]) -> &'a Expr {
    let found = match &order.expr {
        Expr::Literal(Literal::Number(text)) => {
            text.parse::<usize>().ok().and_then(|position| items.get(position.checked_sub(1)?))
        }
        Expr::Column(column) if column.table.is_none() => {
            items.iter().find(|item| item.name.eq_ignore_ascii_case(&column.name.name))
        }
        _ => None,
    };
    found.map_or(&order.expr, |item| item.expr.as_ref())
}

pub fn sort<T>(
    rows: &mut [(Vec<Datum>, T)],
    orders: &[(&Expr, bool)],
    columns: &[Column],
) -> StatementResult<()> {
    let mut failed = None;
    let by: Vec<Option<Column>> = orders
        .iter()
        .map(|(expr, _)| match bare(expr) {
            Expr::Column(name) => {
                columns.iter().find(|column| column.name.eq_ignore_ascii_case(&name.name.name)).cloned()
            }
            _ => None,
        })
        .collect();
    rows.sort_by(|(left, _), (right, _)| {
        for (i, (_, descending)) in orders.iter().enumerate() {
            let ty = || Column { table: None, name: String::new(), ty: type_of(&left[i]), collation: None };
            let column = by[i].clone().unwrap_or_else(ty);
            match compare(&left[i], &right[i], &column) {
                Ok(Ordering::Equal) => {}
                Ok(order) => return if *descending { order.reverse() } else { order },
                Err(stop) => failed = Some(stop),
            }
        }
        Ordering::Equal
    });
    failed.map_or(Ok(()), Err)
}

fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => bare(inner),
        _ => expr,
    }
}

/// The type of a column of the result, where it does not depend on what the rows hold.
fn static_type(expr: &Expr, columns: &[Column]) -> Option<SqlType> {
    match bare(expr) {
        Expr::Column(name) => {
            let fits = |column: &&Column| column.name.eq_ignore_ascii_case(&name.name.name);
            columns.iter().find(fits).map(|column| column.ty.clone())
        }
        expr => match aggregate(expr)? {
            (Aggregate::Count, _) => Some(SqlType::Int { bits: 64, unsigned: false }),
            (Aggregate::Min | Aggregate::Max, Some(of)) => static_type(of, columns),
            (Aggregate::Min | Aggregate::Max | Aggregate::Sum, _) => None,
        },
    }
}

/// What a whole set of rows gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aggregate {
    Count,
    Min,
    Max,
    Sum,
}

fn aggregate(expr: &Expr) -> Option<(Aggregate, Option<&Expr>)> {
    let Expr::Function { name, quantifier: None, args } = bare(expr) else { return None };
    let kind = match name.name.to_ascii_uppercase().as_str() {
        "COUNT" => Aggregate::Count,
        "MIN" => Aggregate::Min,
        "MAX" => Aggregate::Max,
        "SUM" => Aggregate::Sum,
        _ => return None,
    };
    match args {
        FunctionArgs::Star => (kind == Aggregate::Count).then_some((kind, None)),
        FunctionArgs::List(list) => match list.as_slice() {
            [one] => Some((kind, Some(one))),
            _ => None,
        },
    }
}

fn aggregated(
    sheet: &ColumnScope,
    columns: &[Column],
    expr: &Expr,
    rows: &[Values],
) -> StatementResult<Datum> {
    let Some((kind, of)) = aggregate(expr) else {
        return unsupported("columns beside aggregates without GROUP BY");
    };
    let Some(of) = of else { return Ok(Datum::Int(rows.len() as i64)) };
    let mut values = Vec::new();
    for row in rows {
        let value = sheet.value(of, row)?;
        if !value.is_null() {
            values.push((vec![value], ()));
        }
    }
    match kind {
        Aggregate::Count => Ok(Datum::Int(values.len() as i64)),
        Aggregate::Min | Aggregate::Max => {
            sort(&mut values, &[(of, kind == Aggregate::Max)], columns)?;
            Ok(values.into_iter().next().and_then(|(mut value, ())| value.pop()).unwrap_or(Datum::Null))
        }
        Aggregate::Sum => sum(values.into_iter().flat_map(|(value, ())| value)),
    }
}

fn sum(values: impl Iterator<Item = Datum>) -> StatementResult<Datum> {
    let mut total: Option<Decimal> = None;
    for value in values {
        let value = match value {
            Datum::Int(n) => Decimal::whole(n),
            Datum::UInt(n) => Decimal::whole(n),
            Datum::Decimal(decimal) => decimal,
            _ => return unsupported("the sum of such values"),
        };
        let so_far = total.unwrap_or(Decimal::whole(0));
        total = Some(so_far.plus(value).ok_or_else(|| fault(eval::Fault::unsure("so large a sum")))?);
    }
    Ok(total.map_or(Datum::Null, Datum::Decimal))
}
