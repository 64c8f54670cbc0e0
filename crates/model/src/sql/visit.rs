//! Walking a tree and changing it: every expression and every table name, inner ones first.

use super::*;

/// What a walk does at each place. All do nothing unless said otherwise.
pub trait VisitMut {
    /// At an expression, after its parts.
    fn expr(&mut self, _expr: &mut Expr) {}
    /// At the name of a table, index or the table part of a column.
    fn object(&mut self, _name: &mut ObjectName) {}
    /// At a query, after its parts.
    fn query(&mut self, _query: &mut Query) {}
}

type Visitor<'a> = &'a mut dyn VisitMut;

pub(super) fn statement(s: &mut Statement, v: Visitor) {
    match s {
        Statement::Query(q) => query(q, v),
        Statement::Insert(i) => insert(i, v),
        Statement::Update(u) => {
            u.tables.iter_mut().for_each(|t| table_ref(t, v));
            assignments(&mut u.assignments, v);
            u.from.iter_mut().for_each(|t| table_ref(t, v));
            tail(&mut u.filter, &mut u.order_by, &mut u.limit, v);
            items(&mut u.returning, v);
        }
        Statement::Delete(d) => {
            factor(&mut d.table, v);
            d.using.iter_mut().for_each(|t| table_ref(t, v));
            tail(&mut d.filter, &mut d.order_by, &mut d.limit, v);
            items(&mut d.returning, v);
        }
        Statement::CreateTable(c) => {
            v.object(&mut c.name);
            c.items.iter_mut().for_each(|item| table_item(item, v));
            match c.partition.as_mut().map(|p| &mut p.by) {
                Some(PartitionBy::Hash(e)) => expr(e, v),
                Some(PartitionBy::Key(_)) | None => {}
            }
        }
        Statement::CreatePartition(c) => {
            v.object(&mut c.name);
            v.object(&mut c.of);
        }
        Statement::CreateIndex(c) => {
            v.object(&mut c.name);
            v.object(&mut c.table);
            c.filter.iter_mut().for_each(|e| expr(e, v));
        }
        Statement::DropTable(d) => d.names.iter_mut().for_each(|n| v.object(n)),
        Statement::DropIndex(d) => {
            v.object(&mut d.name);
            d.table.iter_mut().for_each(|t| v.object(t));
        }
        Statement::Truncate(t) => t.names.iter_mut().for_each(|n| v.object(n)),
        Statement::LockTable(l) => l.names.iter_mut().for_each(|n| v.object(n)),
        Statement::Set(list) => {
            for item in list {
                match &mut item.value {
                    SetValue::Expr(e) => expr(e, v),
                    SetValue::On => {}
                }
            }
        }
        Statement::Begin(_)
        | Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Savepoint(_)
        | Statement::Release(_)
        | Statement::SetTransaction(_)
        | Statement::Pragma(_) => {}
    }
}

fn insert(i: &mut Insert, v: Visitor) {
    v.object(&mut i.table);
    match &mut i.source {
        InsertSource::Values { rows, .. } => rows.iter_mut().flatten().for_each(|e| expr(e, v)),
        InsertSource::Query(q) => query(q, v),
        InsertSource::Set(list) => assignments(list, v),
        InsertSource::DefaultValues => {}
    }
    assignments(&mut i.on_duplicate, v);
    for conflict in &mut i.on_conflict {
        match &mut conflict.action {
            ConflictAction::Nothing => {}
            ConflictAction::Update { assignments: list, filter } => {
                assignments(list, v);
                filter.iter_mut().for_each(|e| expr(e, v));
            }
        }
    }
    items(&mut i.returning, v);
}

fn assignments(list: &mut [Assignment], v: Visitor) {
    for a in list {
        a.column.table.iter_mut().for_each(|t| v.object(t));
        expr(&mut a.value, v);
    }
}

fn tail(filter: &mut Option<Expr>, order_by: &mut [OrderItem], limit: &mut Option<Limit>, v: Visitor) {
    filter.iter_mut().for_each(|e| expr(e, v));
    order_by.iter_mut().for_each(|o| expr(&mut o.expr, v));
    if let Some(limit) = limit {
        expr(&mut limit.count, v);
        match &mut limit.offset {
            Some(Offset::After(e) | Offset::Before(e)) => expr(e, v),
            None => {}
        }
    }
}

fn query(q: &mut Query, v: Visitor) {
    part(&mut q.first, v);
    q.rest.iter_mut().for_each(|(_, _, p)| part(p, v));
    tail(&mut None, &mut q.order_by, &mut q.limit, v);
    v.query(q);
}

fn part(p: &mut QueryPart, v: Visitor) {
    match p {
        QueryPart::Paren(q) => query(q, v),
        QueryPart::Select(s) => {
            items(&mut s.items, v);
            s.from.iter_mut().for_each(|t| table_ref(t, v));
            s.filter.iter_mut().for_each(|e| expr(e, v));
            s.group_by.iter_mut().for_each(|e| expr(e, v));
            s.having.iter_mut().for_each(|e| expr(e, v));
        }
    }
}

fn items(list: &mut [SelectItem], v: Visitor) {
    for item in list {
        match item {
            SelectItem::Star => {}
            SelectItem::TableStar(name) => v.object(name),
            SelectItem::Expr { expr: e, .. } => expr(e, v),
        }
    }
}

fn table_ref(t: &mut TableRef, v: Visitor) {
    factor(&mut t.first, v);
    for join in &mut t.joins {
        factor(&mut join.table, v);
        match &mut join.condition {
            Some(JoinCondition::On(e)) => expr(e, v),
            Some(JoinCondition::Using(_)) | None => {}
        }
    }
}

fn factor(f: &mut TableFactor, v: Visitor) {
    match f {
        TableFactor::Table { name, .. } => v.object(name),
        TableFactor::Derived { query: q, .. } => query(q, v),
        TableFactor::Paren(t) => table_ref(t, v),
    }
}

fn table_item(item: &mut TableItem, v: Visitor) {
    match item {
        TableItem::Column(column) => {
            for option in &mut column.options {
                match option {
                    ColumnOption::Default(e)
                    | ColumnOption::OnUpdate(e)
                    | ColumnOption::Check(e)
                    | ColumnOption::Generated { expr: e, .. } => expr(e, v),
                    ColumnOption::References(r) => v.object(&mut r.table),
                    ColumnOption::Name(_)
                    | ColumnOption::NotNull
                    | ColumnOption::Null
                    | ColumnOption::AutoIncrement
                    | ColumnOption::Identity { .. }
                    | ColumnOption::Autoincrement
                    | ColumnOption::PrimaryKey(_)
                    | ColumnOption::Key
                    | ColumnOption::Unique { .. }
                    | ColumnOption::Collate(_)
                    | ColumnOption::CharacterSet(_)
                    | ColumnOption::Comment(_) => {}
                }
            }
        }
        TableItem::Constraint(constraint) => match &mut constraint.kind {
            Constraint::Check(e) => expr(e, v),
            Constraint::ForeignKey { references, .. } => v.object(&mut references.table),
            Constraint::PrimaryKey(_) | Constraint::Unique { .. } | Constraint::Index { .. } => {}
        },
    }
}

fn expr(e: &mut Expr, v: Visitor) {
    match e {
        Expr::Literal(_) | Expr::Variable(_) | Expr::Default | Expr::BareFunction(_) => {}
        Expr::Column(c) => c.table.iter_mut().for_each(|t| v.object(t)),
        Expr::Unary { expr: x, .. }
        | Expr::IsNull { expr: x, .. }
        | Expr::IsBool { expr: x, .. }
        | Expr::Collate { expr: x, .. }
        | Expr::Cast { expr: x, .. }
        | Expr::Paren(x) => expr(x, v),
        Expr::Binary { left, right, .. } => {
            expr(left, v);
            expr(right, v);
        }
        Expr::In { expr: x, list, .. } => {
            expr(x, v);
            match list {
                InList::Exprs(list) => list.iter_mut().for_each(|e| expr(e, v)),
                InList::Query(q) => query(q, v),
            }
        }
        Expr::Between { expr: x, low, high, .. } => {
            expr(x, v);
            expr(low, v);
            expr(high, v);
        }
        Expr::Like { expr: x, pattern, escape, .. } => {
            expr(x, v);
            expr(pattern, v);
            escape.iter_mut().for_each(|e| expr(e, v));
        }
        Expr::Case { operand, whens, otherwise } => {
            operand.iter_mut().for_each(|e| expr(e, v));
            for w in whens {
                expr(&mut w.when, v);
                expr(&mut w.then, v);
            }
            otherwise.iter_mut().for_each(|e| expr(e, v));
        }
        Expr::Function { args, .. } => match args {
            FunctionArgs::Star => {}
            FunctionArgs::List(list) => list.iter_mut().for_each(|e| expr(e, v)),
        },
        Expr::Row(list) => list.iter_mut().for_each(|e| expr(e, v)),
        Expr::Subquery(q) | Expr::Exists(q) => query(q, v),
    }
    v.expr(e);
}
