//! Looking at queries and expressions: which columns they name, whether there is a query inside, what is counted.

use eval::Fault;
use model::Reason;
use model::sql::{BinaryOp, Expr, FunctionArgs, Literal, Offset, Query, QueryPart, Select, SelectItem};

use super::{from_clause::FromClause, statement_context::Condition};

/// The one SELECT that a query is.
pub fn plain(query: &Query) -> Result<&Select, Fault> {
    match &query.first {
        _ if !query.rest.is_empty() => Err(Fault::Unsure(Reason::Union)),
        QueryPart::Paren(inner) if query.order_by.is_empty() && query.limit.is_none() => plain(inner),
        QueryPart::Paren(_) => Err(Fault::Unsure(Reason::QueryInParentheses)),
        QueryPart::Select(select) => {
            if select.quantifier.is_some() || !select.group_by.is_empty() || select.having.is_some() {
                return Err(Fault::Unsure(Reason::DistinctOrGroup));
            }
            Ok(select)
        }
    }
}

pub fn limit_of(query: &Query) -> Result<Option<(usize, usize)>, Fault> {
    limits(query.limit.as_ref())
}

pub fn limits(limit: Option<&model::sql::Limit>) -> Result<Option<(usize, usize)>, Fault> {
    let number = |expr: &Expr| match expr {
        Expr::Literal(Literal::Number(text)) => text.parse().map_err(|_| Fault::Unsure(Reason::Limit)),
        _ => Err(Fault::Unsure(Reason::Limit)),
    };
    let Some(limit) = limit else { return Ok(None) };
    let offset = match &limit.offset {
        None => 0,
        Some(Offset::After(expr) | Offset::Before(expr)) => number(expr)?,
    };
    Ok(Some((number(&limit.count)?, offset)))
}

/// The function, if the expression is one that takes all rows together.
pub fn aggregate(expr: &Expr) -> Option<(&str, &FunctionArgs)> {
    match expr {
        Expr::Function { name, args, .. } => {
            let known = ["COUNT", "MIN", "MAX", "SUM", "AVG"];
            let one = match args {
                FunctionArgs::Star => true,
                FunctionArgs::List(list) => list.len() == 1,
            };
            (one && known.iter().any(|known| name.name.eq_ignore_ascii_case(known)))
                .then_some((name.name.as_str(), args))
        }
        Expr::Paren(inner) => aggregate(inner),
        _ => None,
    }
}

/// May one end of an index answer it? Then no other row is met.
pub fn reads_one_end(select: &Select) -> bool {
    select.items.iter().any(|item| match item {
        SelectItem::Expr { expr, .. } => aggregate(expr)
            .is_some_and(|(name, _)| name.eq_ignore_ascii_case("MIN") || name.eq_ignore_ascii_case("MAX")),
        SelectItem::Star | SelectItem::TableStar(_) => false,
    })
}

/// Where a column is among those of FROM.
pub fn find_column(from: &FromClause, column: &model::sql::ColumnRef) -> Option<usize> {
    from.columns.iter().position(|known| {
        known.name.eq_ignore_ascii_case(&column.name.name)
            && column.table.as_ref().is_none_or(|table| {
                known.table.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(&table.name.name))
            })
    })
}

/// Does a condition give a value to each column of one of these keys? Then a search by it finds one row at most, and locks only
/// that, not what could come beside it.
pub fn pins(from: &FromClause, keys: &[Vec<usize>], condition: &Condition) -> bool {
    fn pinned(from: &FromClause, expr: &Expr, columns: &mut Vec<usize>) {
        match expr {
            Expr::Paren(inner) => pinned(from, inner, columns),
            Expr::Binary { left, op: BinaryOp::And | BinaryOp::AndAmps, right } => {
                pinned(from, left, columns);
                pinned(from, right, columns);
            }
            Expr::Binary { left, op: BinaryOp::Eq, right } => {
                for side in [left, right] {
                    if let Expr::Column(column) = side.as_ref() {
                        columns.extend(find_column(from, column));
                    }
                }
            }
            _ => {}
        }
    }
    let Some(expr) = &condition.expr else { return false };
    let mut columns = Vec::new();
    pinned(from, expr, &mut columns);
    keys.iter().any(|key| key.iter().all(|column| columns.contains(column)))
}

/// The columns of a single table that a query names, as bits; all of them where it is not clear.
pub fn columns_read(from: &FromClause, select: &Select, condition: &Condition, query: &Query) -> u64 {
    let star = select.items.iter().any(|item| !matches!(item, SelectItem::Expr { .. }));
    if star {
        return u64::MAX;
    }
    let (mut bits, mut all) = (0, false);
    let mut names = |expr: &Expr| {
        expr.for_each_expr(|expr| {
            if let Expr::Column(column) = expr {
                match find_column(from, column) {
                    Some(at) => bits |= 1 << at.min(63),
                    None => all |= !column.name.name.starts_with("query "),
                }
            }
        });
    };
    for item in &select.items {
        if let SelectItem::Expr { expr, .. } = item {
            names(expr);
        }
    }
    condition.expr.iter().for_each(|expr| names(expr));
    select.group_by.iter().chain(&select.having).for_each(&mut names);
    query.order_by.iter().for_each(|item| names(&item.expr));
    if all { u64::MAX } else { bits }
}
