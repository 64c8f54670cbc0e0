//! Subqueries: answered first, and replaced by names of the values that they give.

use std::{borrow::Cow, sync::Arc};

use dialect::contract::Visibility;
use eval::{Column, Datum, Fault};
use model::{
    ErrorClass, Reason,
    sql::{BinaryOp, Expr, FunctionArgs, InList, Literal, Query, Select, SelectItem, UnaryOp, VisitMut},
};

use super::{
    from_clause::{FromClause, Named},
    hypothesis::{Lock, Now, TxnId, Waiting},
    query_analysis::{aggregate, columns_read, find_column, plain, reads_one_end},
    schema::Values,
    statement_context::{Condition, LockMode, Scan, StatementContext, alike},
};

/// What a subquery found, and whom it should have waited for.
pub struct SubqueryResult {
    columns: Result<Vec<Column>, Fault>,
    rows: Vec<Values>,
    due: Vec<TxnId>,
    error: Option<ErrorClass>,
    locks: Vec<Lock>,
}

/// The subqueries of an expression, answered.
#[derive(Default)]
pub struct SubqueryValues {
    columns: Vec<Column>,
    values: Vec<Datum>,
    /// Others that it should have waited for.
    pub due: Vec<TxnId>,
    /// An error that one of them raises.
    pub error: Option<ErrorClass>,
    pub locks: Vec<Lock>,
}

impl<'a> StatementContext<'a> {
    /// A condition with its subqueries answered.
    pub fn condition<'e>(
        &self,
        filter: Option<&'e Expr>,
        sees: Visibility,
    ) -> Result<(Condition<'e>, SubqueryValues), Fault> {
        let mut answers = SubqueryValues::default();
        let Some(filter) = filter else { return Ok((Condition::default(), answers)) };
        let expr = self.answered(filter, sees, &mut answers)?;
        let (columns, values) = (std::mem::take(&mut answers.columns), std::mem::take(&mut answers.values));
        Ok((Condition { expr: Some(expr), columns, values, ..Condition::default() }, answers))
    }

    /// An expression with its subqueries replaced by names of values. It stays where it is as long as what is known of it.
    pub fn answered<'e>(
        &self,
        expr: &'e Expr,
        sees: Visibility,
        answers: &mut SubqueryValues,
    ) -> Result<Cow<'e, Expr>, Fault> {
        struct Replace<'s, 'a, 'b> {
            context: &'s StatementContext<'a>,
            sees: Visibility,
            answers: &'b mut SubqueryValues,
            /// Those to come.
            queries: &'b [Query],
            fault: Option<Fault>,
        }
        impl VisitMut for Replace<'_, '_, '_> {
            fn expr(&mut self, expr: &mut Expr) {
                if self.fault.is_none()
                    && expr.subquery().is_some()
                    && let Some((query, rest)) = self.queries.split_first()
                {
                    self.queries = rest;
                    self.fault = self.context.replace(expr, query, self.sees, self.answers).err();
                }
            }
        }
        if !expr.has_query() {
            return Ok(Cow::Borrowed(expr));
        }
        let queries = self.evaluator.known_of(|known| &mut known.inner, expr, || queries(expr));
        let mut walk = Replace { context: self, sees, answers, queries: &queries, fault: None };
        let mut replaced = expr.clone();
        replaced.visit_mut(&mut walk);
        match walk.fault {
            Some(fault) => Err(fault),
            None => Ok(Cow::Owned(replaced)),
        }
    }

    /// Puts what a query answers in its place.
    fn replace(
        &self,
        expr: &mut Expr,
        query: &Query,
        sees: Visibility,
        answers: &mut SubqueryValues,
    ) -> Result<(), Fault> {
        let new = match expr {
            Expr::Subquery(_) => {
                let inner = self.inner_query(query, sees)?;
                inner.has_one_column()?;
                answers.take(&inner);
                match inner.rows.as_slice() {
                    [] => Expr::Literal(Literal::Null),
                    [row] => answers.name(inner.column()?, row[0].clone()),
                    _ => {
                        answers.error = Some(ErrorClass::Runtime);
                        Expr::Literal(Literal::Null)
                    }
                }
            }
            Expr::In { expr: of, negated, list: InList::Query(_) } => {
                let mut inner = self.inner_query(query, sees)?;
                inner.has_one_column()?;
                // An index may answer it value by value: then only what is asked for is met.
                inner.due.clear();
                inner.locks.clear();
                answers.take(&inner);
                let mut list: Vec<Expr> = Vec::new();
                for row in &inner.rows {
                    list.push(answers.name(inner.column()?, row[0].clone()));
                }
                // Each is compared by itself: a list of constants is not always (signs, types).
                let equals = list.into_iter().map(|one| binary(of.as_ref().clone(), BinaryOp::Eq, one));
                match (equals.reduce(|some, one| binary(some, BinaryOp::Or, one)), *negated) {
                    (None, negated) => Expr::Literal(Literal::Bool(negated)),
                    (Some(any), false) => any,
                    (Some(any), true) => Expr::Unary { op: UnaryOp::Not, expr: Box::new(any) },
                }
            }
            Expr::Exists(_) => {
                let inner = self.inner_query(query, sees)?;
                answers.take(&inner);
                Expr::Literal(Literal::Bool(!inner.rows.is_empty()))
            }
            _ => return Ok(()),
        };
        *expr = new;
        Ok(())
    }

    /// A subquery. It stays where it is as long as what is known of it.
    pub fn inner_query(&self, query: &Query, sees: Visibility) -> Result<SubqueryResult, Fault> {
        let select = plain(query)?;
        if select.from.is_empty() || !query.locks.is_empty() {
            return Err(Fault::Unsure(Reason::InnerQuery));
        }
        let from = self.from(&select.from)?;
        if select.filter.as_ref().is_some_and(Expr::has_query) {
            return Err(Fault::Unsure(Reason::QueryInQuery));
        }
        let condition = Condition { expr: select.filter.as_ref().map(Cow::Borrowed), ..Condition::default() };
        let mut locks = Vec::new();
        let scan = match sees {
            Visibility::Committed => {
                let find = || columns_read(&from, select, &condition, query);
                let read = self.evaluator.known_of(|known| &mut known.reads, select, find);
                let earlier = match self.inner_at.filter(|_| reads_one_end(select) || !self.rules.ranges.is) {
                    Some(at) => self.read_before(at, &from, &condition, read, reads_one_end(select))?,
                    None => None,
                };
                let scan = match earlier {
                    Some(scan) => scan,
                    None => self.lock(&from, &condition, LockMode::Shared(read)).map_err(Fault::Unsure)?,
                };
                if let ([named], None) = (&from.tables[..], &query.limit) {
                    locks.extend(scan.rows.iter().map(|(numbers, _)| Lock {
                        table: named.table,
                        row: numbers[0],
                        columns: Some(read),
                        step: self.step,
                    }));
                }
                scan
            }
            Visibility::Newest | Visibility::Fresh | Visibility::Snapshot => {
                let half = |named: &Named| self.half_done(named.table);
                // One that waited may have looked before: at what was there, or half done, then.
                let earlier = |named: &Named| {
                    let changed = |waited: &Waiting| {
                        let (then, now) = (&waited.tables[named.table], &self.hypothesis.tables[named.table]);
                        then.len() != now.len()
                            || (0..now.len()).any(|row| then[row].newest() != now[row].newest())
                    };
                    let beside = |waited: &Waiting| waited.beside & (1 << named.table.min(63)) != 0;
                    self.waited.is_some_and(|waited| beside(waited) || changed(waited))
                };
                if sees == Visibility::Newest && self.beside_victim {
                    return Err(Fault::Unsure(Reason::DirtyReadBeforeWait));
                }
                if sees == Visibility::Newest && from.tables.iter().any(|named| half(named) || earlier(named))
                {
                    return Err(Fault::Unsure(Reason::DirtyReadOfHalfDoneWork));
                }
                let (reader, sees) = match self.inner_at {
                    Some(at) if sees == Visibility::Fresh => (self.at(at), Visibility::Snapshot),
                    _ => (*self, sees),
                };
                let rows = reader.seen(&from, sees, &self.hypothesis.tables);
                self.select(&from, &condition, &rows).map_err(Fault::Unsure)?
            }
        };
        let columns = self.result_columns(select, &from);
        let (mut due, error) = (scan.due.clone(), scan.error);
        if reads_one_end(select) {
            due.clear();
            locks.clear();
        }
        let rows = self.project(query, select, &from, scan)?;
        Ok(SubqueryResult { columns, rows, due, error, locks })
    }

    /// The rows of INSERT .. SELECT.
    pub fn inner_rows(
        &self,
        query: &Query,
        sees: Visibility,
    ) -> Result<(Vec<Values>, SubqueryValues), Fault> {
        let inner = self.inner_query(query, sees)?;
        let mut answers = SubqueryValues::default();
        answers.take(&inner);
        Ok((inner.rows, answers))
    }

    /// The columns of a result as things that an expression can name; only where they are columns of the table, or the least or
    /// greatest of one.
    fn result_columns(&self, select: &Select, from: &FromClause) -> Result<Vec<Column>, Fault> {
        let mut columns = Vec::new();
        for item in &select.items {
            let expr = match item {
                SelectItem::Expr { expr, .. } => expr,
                SelectItem::Star | SelectItem::TableStar(_) => {
                    columns.extend(from.columns.iter().cloned());
                    continue;
                }
            };
            let (counts, expr) = match aggregate(expr) {
                Some((name, FunctionArgs::List(args))) if !name.eq_ignore_ascii_case("COUNT") => {
                    (false, args.first())
                }
                Some(_) => (true, None),
                None => (false, Some(expr)),
            };
            let column = match expr {
                Some(Expr::Column(column)) => find_column(from, column).map(|at| from.columns[at].clone()),
                _ => None,
            };
            columns.push(match (column, counts) {
                (Some(column), _) => column,
                (None, true) => Column {
                    table: None,
                    name: "count".into(),
                    ty: model::SqlType::Int { bits: 64, unsigned: false },
                    collation: None,
                },
                (None, false) => return Err(Fault::Unsure(Reason::InnerQueryExpression)),
            });
        }
        Ok(columns)
    }

    /// What a subquery that locks its rows but no gaps found after so many commits. None if it cannot have been answered then: what it has
    /// read stays as it is, unless one end of an index was all that it looked at.
    fn read_before(
        &self,
        at: u32,
        from: &FromClause,
        condition: &Condition,
        read: u64,
        one_end: bool,
    ) -> Result<Option<Scan>, Fault> {
        let reader = self.at(at);
        let tables = &self.hypothesis.tables;
        let rows = reader.seen(from, Visibility::Snapshot, tables);
        let scan = self.select(from, condition, &rows).map_err(Fault::Unsure)?;
        let columns = if from.tables.len() == 1 { read } else { u64::MAX };
        let kept = |(table, row): (usize, usize)| {
            let chain = &tables[table][row];
            let now = match chain.now(self.me) {
                Now::Settled(now) => now,
                Now::Contested { newest, .. } => newest,
            };
            now.zip(chain.seen(self.me, at)).is_some_and(|(now, then)| alike(then, now, columns))
        };
        let numbers: Vec<usize> = from.tables.iter().map(|named| named.table).collect();
        Ok((one_end || scan.met(&numbers).all(kept)).then_some(scan))
    }

    /// As this one, with the snapshot of after so many commits.
    fn at(&self, commits: u32) -> StatementContext<'a> {
        StatementContext { view: Some(commits), ..*self }
    }
}

impl SubqueryResult {
    /// With more of them it is refused, whatever the rows are.
    fn has_one_column(&self) -> Result<(), Fault> {
        match &self.columns {
            Ok(columns) if columns.len() != 1 => Err(Fault::Unsure(Reason::InnerQueryExpression)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The one column that an expression takes.
    fn column(&self) -> Result<&Column, Fault> {
        self.columns
            .as_ref()
            .map_err(Fault::clone)?
            .first()
            .ok_or(Fault::Unsure(Reason::InnerQueryExpression))
    }
}

impl SubqueryValues {
    fn take(&mut self, inner: &SubqueryResult) {
        self.due.extend(&inner.due);
        self.error = self.error.or(inner.error);
        self.locks.extend(inner.locks.iter().cloned());
    }

    fn name(&mut self, of: &Column, value: Datum) -> Expr {
        let name = format!("query {}", self.columns.len());
        self.columns.push(Column { table: None, name: name.clone(), ..of.clone() });
        self.values.push(value);
        Expr::column(&name)
    }

    /// The columns and values that stand for queries.
    pub fn values(&self) -> (&[Column], &[Datum]) {
        (&self.columns, &self.values)
    }
}

/// The subqueries of an expression, in the order of a walk.
fn queries(expr: &Expr) -> Arc<[Query]> {
    struct Found(Vec<Query>);
    impl VisitMut for Found {
        fn expr(&mut self, expr: &mut Expr) {
            if let Some(query) = expr.subquery() {
                self.0.push(query.clone());
                *expr = Expr::Literal(Literal::Null);
            }
        }
    }
    let mut found = Found(Vec::new());
    expr.clone().visit_mut(&mut found);
    found.0.into()
}

fn binary(left: Expr, op: BinaryOp, right: Expr) -> Expr {
    Expr::Binary { left: Box::new(left), op, right: Box::new(right) }
}
