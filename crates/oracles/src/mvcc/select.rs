//! SELECT: the statement itself, and queries inside others.

use std::cmp::Ordering;

use dialect::contract::{Concession, Sees};
use eval::{Column, Datum, Fault};
use model::{
    ErrorClass,
    sql::{
        Direction, Expr, FunctionArgs, InList, Literal, LockStrength, LockWait, Offset, Query, QueryPart,
        Select, SelectItem, Statement, VisitMut,
    },
};

use super::{
    foretold::{Expected, Foretold},
    scene::{Condition, From, Mode, Scan, Scene},
    world::{Lock, Rows, TxnId},
};

/// What a query inside another statement found, and whom it should have waited for.
pub struct Inner {
    columns: Result<Vec<Column>, Fault>,
    rows: Vec<Vec<Datum>>,
    due: Vec<TxnId>,
    error: Option<ErrorClass>,
    locks: Vec<Lock>,
}

/// The queries inside an expression, answered.
#[derive(Default)]
pub struct Answers {
    columns: Vec<Column>,
    values: Vec<Datum>,
    /// Others that it should have waited for.
    pub due: Vec<TxnId>,
    /// An error that one of them raises.
    pub error: Option<ErrorClass>,
    /// What they lock.
    pub locks: Vec<Lock>,
}

impl<'a> Scene<'a> {
    /// What a SELECT may answer.
    pub fn query(&self, query: &Query) -> Result<Vec<Foretold>, Fault> {
        let select = plain(query)?;
        if select.from.is_empty() {
            let rows = self.constants(select)?;
            return Ok(vec![Foretold::only(Expected::Rows(rows))]);
        }
        let from = self.from(&select.from)?;
        let wait = query.locks.first().and_then(|lock| lock.wait.as_ref());
        let shared = query.locks.first().map(|lock| match lock.strength {
            LockStrength::Update | LockStrength::NoKeyUpdate => false,
            LockStrength::Share | LockStrength::KeyShare | LockStrength::InShareMode => true,
        });
        let sees = match shared {
            Some(_) => self.rules.change.is,
            None if self.lasts => self.rules.read.is,
            None => self.rules.single_read.is,
        };
        let role = if self.lasts { self.rules.read.is } else { self.rules.single_read.is };
        let locking = sees == Sees::Committed || shared.is_some();
        if limit_of(query)?.is_some_and(|(limit, _)| limit == 0) {
            return Ok(vec![Foretold::only(Expected::Rows(Vec::new()))]);
        }
        // A query inside a locking read is a plain one: it takes the snapshot, before or after a wait.
        let inside = locking
            && role == Sees::Snapshot
            && self.view.is_none()
            && select.filter.as_ref().is_some_and(nested);
        let mut moments = vec![None];
        if inside {
            moments = vec![Some(self.world.clock)];
            moments
                .extend(self.waited.map(|waited| Some(waited.clock)).filter(|moment| *moment != moments[0]));
        }
        let mut all = Vec::new();
        for begun in moments {
            let reader = Scene { view: begun.or(self.view), ..*self };
            let (condition, answers) = reader.condition(select.filter.as_ref(), role)?;
            let mut some = match locking {
                false => self.plain_read(query, select, &from, &condition, sees)?,
                true => {
                    let read = columns_read(&from, select, &condition, query);
                    let mode = match (shared, wait) {
                        (Some(false), Some(LockWait::SkipLocked)) => Mode::SkipLocked(None),
                        (_, Some(LockWait::SkipLocked)) => Mode::SkipLocked(Some(read)),
                        (Some(false), _) => Mode::Exclusive,
                        (Some(true) | None, _) => Mode::Shared(read),
                    };
                    self.locking_read(query, select, &from, &condition, mode, wait)?
                }
            };
            // Unless the server saw beforehand that it need not run.
            if begun.is_some() {
                let opened: Vec<Foretold> =
                    some.iter().map(|foretold| Foretold { opens_view: begun, ..foretold.clone() }).collect();
                some.splice(0..0, opened);
            }
            for foretold in &mut some {
                foretold.due.extend(&answers.due);
                foretold.locks.extend(answers.locks.iter().cloned());
            }
            some.extend(answers.error.map(Foretold::error));
            all.extend(some);
        }
        Ok(all)
    }

    fn plain_read(
        &self,
        query: &Query,
        select: &Select,
        from: &From,
        condition: &Condition,
        sees: Sees,
    ) -> Result<Vec<Foretold>, Fault> {
        let opens_view = (sees == Sees::Snapshot && self.view.is_none()).then_some(self.world.clock);
        let dirty = sees == Sees::Newest
            && from.tables.iter().any(|named| self.world.half_done(self.session, named.table));
        if dirty {
            return Ok(vec![Foretold::only(Expected::Anything)]);
        }
        let tables: Vec<_> =
            from.tables.iter().map(|named| self.visible(named.table, sees, &self.world.tables)).collect();
        let mut all = Vec::new();
        let scan = self.select(from, condition, &tables).map_err(Fault::Unsure)?;
        let empty = scan.rows.is_empty();
        all.extend(scan.error.map(|class| Foretold { opens_view, ..Foretold::error(class) }));
        let rows = self.project(query, select, from, scan)?;
        all.insert(0, Foretold { opens_view, ..Foretold::only(Expected::Rows(rows.clone())) });
        if opens_view.is_some() && empty && select.filter.is_some() {
            // A condition that is found to be impossible beforehand takes no snapshot.
            all.push(Foretold::only(Expected::Rows(rows)));
        }
        Ok(all)
    }

    fn locking_read(
        &self,
        query: &Query,
        select: &Select,
        from: &From,
        condition: &Condition,
        mode: Mode,
        wait: Option<&LockWait>,
    ) -> Result<Vec<Foretold>, Fault> {
        let scans = self.scans(from, condition, mode).map_err(Fault::Unsure)?;
        let tables: Vec<usize> = from.tables.iter().map(|named| named.table).collect();
        let bits = tables.iter().fold(0, |bits, table| bits | 1 << table);
        let others = self.world.others(self.session, bits).next().is_some();
        let skips = matches!(mode, Mode::SkipLocked(_));
        let mut all = Vec::new();
        for (scan, by) in scans {
            if !scan.due.is_empty() && query.limit.is_some() {
                return Err(Fault::Unsure("limit-beside-lock"));
            }
            let columns = match mode {
                Mode::Shared(columns) => Some(columns),
                Mode::Exclusive | Mode::SemiConsistent | Mode::SkipLocked(_) => None,
            };
            let mut locks = Vec::new();
            let mut met = Vec::new();
            for (numbers, _) in &scan.rows {
                for (&row, &table) in numbers.iter().zip(&tables) {
                    met.push((table, row));
                    // With LIMIT it is not known which rows were reached.
                    if query.limit.is_none() && !skips && tables.len() == 1 {
                        locks.push(Lock { table, row, columns, step: self.step });
                    }
                }
            }
            match self.stale(&met, &tables) {
                // Through an index that holds all that is read, the row itself is not locked.
                Some((class, true)) if query.limit.is_none() && mode == Mode::Exclusive => {
                    all.push(Foretold::error(class));
                    continue;
                }
                Some((class, _)) => all.push(Foretold::error(class)),
                None => {}
            }
            all.extend(scan.error.map(Foretold::error));
            let mut due = scan.due.clone();
            let ends = reads_one_end(select);
            if ends {
                // One end of an index may answer it: then that is all that is locked.
                locks.clear();
                due.clear();
            }
            // What is passed by makes room for others: any of all rows may be among the first.
            let unlimited = Query { limit: None, ..query.clone() };
            let of = if skips && others { &unlimited } else { query };
            let rows = self.project(of, select, from, scan)?;
            // As reported: through a unique index a row may be met twice after somebody's change was undone.
            if self.lenient && !rows.is_empty() && self.met_twice(&tables) {
                let by = Some(Concession::DuplicateAfterRollback);
                all.push(Foretold { by, ..Foretold::only(Expected::Twice(rows.clone())) });
            }
            let reply = if skips && others { Expected::Among(rows) } else { Expected::Rows(rows) };
            let range = self.rules.ranges.is && query.limit.is_none() && !ends && !skips;
            match wait {
                Some(LockWait::Nowait) if !due.is_empty() => {
                    all.push(Foretold::error(ErrorClass::LockTimeout));
                }
                Some(LockWait::Nowait) if others => {
                    all.push(Foretold { locks, range, by, ..Foretold::only(reply) });
                    all.push(Foretold::error(ErrorClass::LockTimeout));
                }
                _ => all.push(Foretold { locks, range, by, due, ..Foretold::only(reply) }),
            }
        }
        Ok(all)
    }

    /// May a row of these be met twice: is there a unique index beside the primary key, and was a change undone?
    fn met_twice(&self, tables: &[usize]) -> bool {
        tables.iter().any(|&table| {
            let of = &self.schema.tables[table];
            of.uniques.len() > usize::from(of.primary) && self.world.undone & (1 << table.min(63)) != 0
        })
    }

    /// A condition with the queries inside it answered.
    pub fn condition(&self, filter: Option<&Expr>, sees: Sees) -> Result<(Condition, Answers), Fault> {
        let mut answers = Answers::default();
        let Some(filter) = filter else { return Ok((Condition::default(), answers)) };
        let expr = self.answered(filter, sees, &mut answers)?;
        let (columns, values) = (std::mem::take(&mut answers.columns), std::mem::take(&mut answers.values));
        Ok((Condition { expr: Some(expr), columns, values }, answers))
    }

    /// An expression with the queries inside it replaced by names of values.
    pub fn answered(&self, expr: &Expr, sees: Sees, answers: &mut Answers) -> Result<Expr, Fault> {
        struct Replace<'s, 'a, 'b> {
            scene: &'s Scene<'a>,
            sees: Sees,
            answers: &'b mut Answers,
            fault: Option<Fault>,
        }
        impl VisitMut for Replace<'_, '_, '_> {
            fn expr(&mut self, expr: &mut Expr) {
                if self.fault.is_none()
                    && let Err(fault) = self.scene.replace(expr, self.sees, self.answers)
                {
                    self.fault = Some(fault);
                }
            }
        }
        if !nested(expr) {
            return Ok(expr.clone());
        }
        let mut walk = Replace { scene: self, sees, answers, fault: None };
        let select = Select { filter: Some(expr.clone()), ..Select::default() };
        let mut statement = Statement::Query(Query::of(select));
        statement.visit_mut(&mut walk);
        if let Some(fault) = walk.fault {
            return Err(fault);
        }
        match statement {
            Statement::Query(Query { first: QueryPart::Select(select), .. }) => {
                select.filter.ok_or(Fault::Unsure("expression"))
            }
            _ => Err(Fault::Unsure("expression")),
        }
    }

    fn replace(&self, expr: &mut Expr, sees: Sees, answers: &mut Answers) -> Result<(), Fault> {
        let new = match expr {
            Expr::Subquery(query) => {
                let inner = self.inner_query(query, sees)?;
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
            Expr::In { expr: of, negated, list: InList::Query(query) } => {
                let mut inner = self.inner_query(query, sees)?;
                // An index may answer it value by value: then only what is asked for is met.
                inner.due.clear();
                inner.locks.clear();
                answers.take(&inner);
                let mut list: Vec<Expr> = Vec::new();
                for row in &inner.rows {
                    list.push(answers.name(inner.column()?, row[0].clone()));
                }
                match list.is_empty() {
                    true => Expr::Literal(Literal::Bool(*negated)),
                    false => Expr::In { expr: of.clone(), negated: *negated, list: InList::Exprs(list) },
                }
            }
            Expr::Exists(query) => {
                let inner = self.inner_query(query, sees)?;
                answers.take(&inner);
                Expr::Literal(Literal::Bool(!inner.rows.is_empty()))
            }
            _ => return Ok(()),
        };
        *expr = new;
        Ok(())
    }

    /// A query inside another statement.
    pub fn inner_query(&self, query: &Query, sees: Sees) -> Result<Inner, Fault> {
        let select = plain(query)?;
        if select.from.is_empty() || !query.locks.is_empty() {
            return Err(Fault::Unsure("inner-query"));
        }
        let from = self.from(&select.from)?;
        if select.filter.as_ref().is_some_and(nested) {
            return Err(Fault::Unsure("query-in-query"));
        }
        let condition = Condition { expr: select.filter.clone(), ..Condition::default() };
        let mut locks = Vec::new();
        let scan = match sees {
            Sees::Committed => {
                let read = columns_read(&from, select, &condition, query);
                let scan = self.lock(&from, &condition, Mode::Shared(read)).map_err(Fault::Unsure)?;
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
            Sees::Newest | Sees::Fresh | Sees::Snapshot => {
                let half = |named: &super::scene::Named| self.world.half_done(self.session, named.table);
                if sees == Sees::Newest && from.tables.iter().any(half) {
                    return Err(Fault::Unsure("dirty-read-of-half-done"));
                }
                let rows: Vec<_> =
                    from.tables.iter().map(|named| self.visible(named.table, sees, self.inner)).collect();
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
        Ok(Inner { columns, rows, due, error, locks })
    }

    /// Rows that a query inside INSERT gives.
    pub fn inner_rows(&self, query: &Query, sees: Sees) -> Result<(Vec<Vec<Datum>>, Answers), Fault> {
        let inner = self.inner_query(query, sees)?;
        let mut answers = Answers::default();
        answers.take(&inner);
        Ok((inner.rows, answers))
    }

    /// The columns of a result as things that an expression can name; only where they are columns of the table, or the least or
    /// greatest of one.
    fn result_columns(&self, select: &Select, from: &From) -> Result<Vec<Column>, Fault> {
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
                (None, false) => return Err(Fault::Unsure("inner-query-expression")),
            });
        }
        Ok(columns)
    }

    fn constants(&self, select: &Select) -> Result<Vec<Vec<Datum>>, Fault> {
        let mut row = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Expr { expr, .. } if !nested(expr) => {
                    row.push(self.compute.value(&[], expr, &[])?)
                }
                _ => return Err(Fault::Unsure("select-without-from")),
            }
        }
        Ok(vec![row])
    }

    /// What becomes of the rows that match.
    fn project(
        &self,
        query: &Query,
        select: &Select,
        from: &From,
        scan: Scan,
    ) -> Result<Vec<Vec<Datum>>, Fault> {
        let mut rows: Vec<Vec<Datum>> = scan.rows.into_iter().map(|(_, values)| values).collect();
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
                        None => Err(Fault::Unsure("mixed-aggregates")),
                    },
                    SelectItem::Star | SelectItem::TableStar(_) => Err(Fault::Unsure("mixed-aggregates")),
                })
                .collect();
            return Ok(vec![row?]);
        }
        if let Some((limit, offset)) = limit_of(query)? {
            rows = self.limited(rows, &query.order_by, from, limit, offset)?;
        }
        rows.into_iter().map(|row| self.projected(select, from, row)).collect()
    }

    fn projected(&self, select: &Select, from: &From, row: Vec<Datum>) -> Result<Vec<Datum>, Fault> {
        let mut projected = Vec::with_capacity(select.items.len());
        for item in &select.items {
            match item {
                SelectItem::Star => projected.extend(row.iter().cloned()),
                SelectItem::TableStar(_) => return Err(Fault::Unsure("table-star")),
                SelectItem::Expr { expr: Expr::Column(column), .. } => match find_column(from, column) {
                    Some(at) => projected.push(row[at].clone()),
                    None => return Err(Fault::Unsure("no-such-column")),
                },
                SelectItem::Expr { expr, .. } if nested(expr) => {
                    return Err(Fault::Unsure("query-in-result"));
                }
                SelectItem::Expr { expr, .. } => {
                    projected.push(self.compute.value(&from.columns, expr, &row)?)
                }
            }
        }
        Ok(projected)
    }

    /// The first rows in an order. Where two that differ are equal in it and only one is among them, nobody can say which.
    pub fn limited(
        &self,
        mut rows: Vec<Vec<Datum>>,
        order_by: &[model::sql::OrderItem],
        from: &From,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<Vec<Datum>>, Fault> {
        let mut fault = None;
        let mut by = |left: &Vec<Datum>, right: &Vec<Datum>| {
            for item in order_by {
                let at = match &item.expr {
                    Expr::Column(column) => find_column(from, column),
                    _ => None,
                };
                let Some(at) = at else {
                    fault = Some(Fault::Unsure("order-by-expression"));
                    return Ordering::Equal;
                };
                match self.compute.order(&from.columns[at], &left[at], &right[at]) {
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
            None if ties => Err(Fault::Unsure("limit-tie")),
            None => Ok(rows.into_iter().skip(offset).take(limit).collect()),
        }
    }

    fn aggregated(
        &self,
        name: &str,
        args: &FunctionArgs,
        from: &From,
        rows: &[Vec<Datum>],
    ) -> Result<Datum, Fault> {
        let count = |n: usize| Datum::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let arg = match args {
            FunctionArgs::Star => return Ok(count(rows.len())),
            FunctionArgs::List(list) => list.first().ok_or(Fault::Unsure("aggregate"))?,
        };
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let value = self.compute.value(&from.columns, arg, row)?;
            if !value.is_null() {
                values.push(value);
            }
        }
        if name.eq_ignore_ascii_case("COUNT") {
            return Ok(count(values.len()));
        }
        let Expr::Column(column) = arg else { return Err(Fault::Unsure("aggregate-of-expression")) };
        let at = find_column(from, column).ok_or(Fault::Unsure("no-such-column"))?;
        let wanted = match name.to_ascii_uppercase().as_str() {
            "MIN" => Ordering::Less,
            "MAX" => Ordering::Greater,
            _ => return Err(Fault::Unsure("aggregate")),
        };
        let mut best: Option<Datum> = None;
        for value in values {
            let better = match &best {
                None => true,
                Some(best) => {
                    let order = self.compute.order(&from.columns[at], &value, best)?;
                    if order == Ordering::Equal && value != *best {
                        return Err(Fault::Unsure("aggregate-tie"));
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

    /// A scene in which queries that do not lock are answered from another moment.
    pub fn reading(&self, inner: &'a [Rows]) -> Scene<'a> {
        Scene { inner, ..*self }
    }
}

impl Inner {
    /// The one column that an expression takes.
    fn column(&self) -> Result<&Column, Fault> {
        self.columns.as_ref().map_err(Fault::clone)?.first().ok_or(Fault::Unsure("inner-query-expression"))
    }
}

impl Answers {
    fn take(&mut self, inner: &Inner) {
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

/// The one SELECT that a query is.
fn plain(query: &Query) -> Result<&Select, Fault> {
    match &query.first {
        _ if !query.rest.is_empty() => Err(Fault::Unsure("union")),
        QueryPart::Paren(inner) if query.order_by.is_empty() && query.limit.is_none() => plain(inner),
        QueryPart::Paren(_) => Err(Fault::Unsure("query-in-parentheses")),
        QueryPart::Select(select) => {
            if select.quantifier.is_some() || !select.group_by.is_empty() || select.having.is_some() {
                return Err(Fault::Unsure("distinct-or-group"));
            }
            Ok(select)
        }
    }
}

/// Limit and offset.
pub fn limit_of(query: &Query) -> Result<Option<(usize, usize)>, Fault> {
    limits(query.limit.as_ref())
}

/// Limit and offset.
pub fn limits(limit: Option<&model::sql::Limit>) -> Result<Option<(usize, usize)>, Fault> {
    let number = |expr: &Expr| match expr {
        Expr::Literal(Literal::Number(text)) => text.parse().map_err(|_| Fault::Unsure("limit")),
        _ => Err(Fault::Unsure("limit")),
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
fn reads_one_end(select: &Select) -> bool {
    select.items.iter().any(|item| match item {
        SelectItem::Expr { expr, .. } => aggregate(expr)
            .is_some_and(|(name, _)| name.eq_ignore_ascii_case("MIN") || name.eq_ignore_ascii_case("MAX")),
        SelectItem::Star | SelectItem::TableStar(_) => false,
    })
}

/// Where a column is among those of FROM.
pub fn find_column(from: &From, column: &model::sql::ColumnRef) -> Option<usize> {
    from.columns.iter().position(|known| {
        known.name.eq_ignore_ascii_case(&column.name.name)
            && column.table.as_ref().is_none_or(|table| {
                known.table.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(&table.name.name))
            })
    })
}

/// Is there a query inside?
pub fn nested(expr: &Expr) -> bool {
    struct Find(bool);
    impl VisitMut for Find {
        fn query(&mut self, _: &mut Query) {
            self.0 = true;
        }
    }
    // Most expressions are small and hold none: look before the copy that a visit needs.
    if !may_nest(expr) {
        return false;
    }
    let mut find = Find(false);
    let mut statement = Statement::Update(model::sql::Update {
        modifier: None,
        tables: Vec::new(),
        assignments: Vec::new(),
        from: Vec::new(),
        filter: Some(expr.clone()),
        order_by: Vec::new(),
        limit: None,
        returning: Vec::new(),
    });
    statement.visit_mut(&mut find);
    find.0
}

fn may_nest(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Column(_) | Expr::Variable(_) | Expr::Default | Expr::BareFunction(_) => {
            false
        }
        Expr::Unary { expr, .. }
        | Expr::Paren(expr)
        | Expr::IsNull { expr, .. }
        | Expr::IsBool { expr, .. } => may_nest(expr),
        Expr::Binary { left, right, .. } => may_nest(left) || may_nest(right),
        Expr::Between { expr, low, high, .. } => may_nest(expr) || may_nest(low) || may_nest(high),
        Expr::In { expr, list: InList::Exprs(list), .. } => may_nest(expr) || list.iter().any(may_nest),
        Expr::Function { args: FunctionArgs::List(list), .. } => list.iter().any(may_nest),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => may_nest(expr),
        Expr::Like { expr, pattern, .. } => may_nest(expr) || may_nest(pattern),
        Expr::Case { .. } => true,
        Expr::Function { args: FunctionArgs::Star, .. } => false,
        Expr::In { list: InList::Query(_), .. } | Expr::Row(_) | Expr::Subquery(_) | Expr::Exists(_) => true,
    }
}

/// The columns of a single table that a query names, as bits; all of them where it is not clear.
fn columns_read(from: &From, select: &Select, condition: &Condition, query: &Query) -> u64 {
    struct Names<'f> {
        from: &'f From,
        bits: u64,
        all: bool,
    }
    impl VisitMut for Names<'_> {
        fn expr(&mut self, expr: &mut Expr) {
            if let Expr::Column(column) = expr {
                match find_column(self.from, column) {
                    Some(at) => self.bits |= 1 << at.min(63),
                    None => self.all |= !column.name.name.starts_with("query "),
                }
            }
        }
    }
    let star = select.items.iter().any(|item| !matches!(item, SelectItem::Expr { .. }));
    let mut names = Names { from, bits: 0, all: star };
    let select = Select { filter: condition.expr.clone(), from: Vec::new(), ..select.clone() };
    let order_by = query.order_by.clone();
    Statement::Query(Query { order_by, limit: None, ..Query::of(select) }).visit_mut(&mut names);
    if names.all { u64::MAX } else { names.bits }
}
