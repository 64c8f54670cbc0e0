//! Walking a tree, to read it or to change it: every expression, every query and every table name, inner ones first.

use super::*;

/// What a walk that reads does at each place.
pub trait Visit<'t> {
    /// At an expression, after its parts.
    fn expr(&mut self, _expr: &'t Expr) {}
    /// At the name of a table, index or the table part of a column.
    fn object(&mut self, _name: &'t ObjectName) {}
    /// At a query, after its parts.
    fn query(&mut self, _query: &'t Query) {}
}

/// What a walk that changes does at each place: the same places in the same order.
pub trait VisitMut {
    fn expr(&mut self, _expr: &mut Expr) {}
    fn object(&mut self, _name: &mut ObjectName) {}
    fn query(&mut self, _query: &mut Query) {}
}

/// One walk, written once and made twice.
macro_rules! walk {
    ($module:ident, $visitor:ty, $iter:ident, $children:ident, $subquery:ident $(, $mut:ident)?) => {
        pub(super) mod $module {
            use super::*;

            pub fn statement<'t>(s: &'t $($mut)? Statement, v: &mut $visitor) {
                match s {
                    Statement::Query(q) => query(q, v),
                    Statement::Insert(i) => insert(i, v),
                    Statement::Update(u) => {
                        u.tables.$iter().for_each(|t| table_ref(t, v));
                        assignments(& $($mut)? u.assignments, v);
                        u.from.$iter().for_each(|t| table_ref(t, v));
                        u.filter.$iter().for_each(|e| expr(e, v));
                        order(& $($mut)? u.order_by, & $($mut)? u.limit, v);
                        items(& $($mut)? u.returning, v);
                    }
                    Statement::Delete(d) => {
                        factor(& $($mut)? d.table, v);
                        d.using.$iter().for_each(|t| table_ref(t, v));
                        d.filter.$iter().for_each(|e| expr(e, v));
                        order(& $($mut)? d.order_by, & $($mut)? d.limit, v);
                        items(& $($mut)? d.returning, v);
                    }
                    Statement::CreateTable(c) => {
                        v.object(& $($mut)? c.name);
                        c.items.$iter().for_each(|item| table_item(item, v));
                        match & $($mut)? c.partition {
                            Some(Partitioning { by: PartitionBy::Hash(e), .. }) => expr(e, v),
                            Some(Partitioning { by: PartitionBy::Key(_), .. }) | None => {}
                        }
                    }
                    Statement::CreatePartition(c) => {
                        v.object(& $($mut)? c.name);
                        v.object(& $($mut)? c.of);
                    }
                    Statement::CreateIndex(c) => {
                        v.object(& $($mut)? c.name);
                        v.object(& $($mut)? c.table);
                        c.filter.$iter().for_each(|e| expr(e, v));
                    }
                    Statement::AlterTable(a) => {
                        v.object(& $($mut)? a.table);
                        a.added.$iter().for_each(|added| constraint(& $($mut)? added.kind, v));
                    }
                    Statement::DropTable(d) => d.names.$iter().for_each(|n| v.object(n)),
                    Statement::DropIndex(d) => {
                        v.object(& $($mut)? d.name);
                        d.table.$iter().for_each(|t| v.object(t));
                    }
                    Statement::Truncate(t) => t.names.$iter().for_each(|n| v.object(n)),
                    Statement::LockTable(l) => l.names.$iter().for_each(|n| v.object(n)),
                    Statement::Set(list) => {
                        for item in list {
                            match & $($mut)? item.value {
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

            fn insert<'t>(i: &'t $($mut)? Insert, v: &mut $visitor) {
                v.object(& $($mut)? i.table);
                match & $($mut)? i.source {
                    InsertSource::Values { rows, .. } => rows.$iter().flatten().for_each(|e| expr(e, v)),
                    InsertSource::Query(q) => query(q, v),
                    InsertSource::Set(list) => assignments(list, v),
                    InsertSource::DefaultValues => {}
                }
                assignments(& $($mut)? i.on_duplicate, v);
                for conflict in & $($mut)? i.on_conflict {
                    match & $($mut)? conflict.action {
                        ConflictAction::Nothing => {}
                        ConflictAction::Update { assignments: list, filter } => {
                            assignments(list, v);
                            filter.$iter().for_each(|e| expr(e, v));
                        }
                    }
                }
                items(& $($mut)? i.returning, v);
            }

            fn assignments<'t>(list: &'t $($mut)? [Assignment], v: &mut $visitor) {
                for a in list {
                    a.column.table.$iter().for_each(|t| v.object(t));
                    expr(& $($mut)? a.value, v);
                }
            }

            fn order<'t>(
                order_by: &'t $($mut)? [OrderItem],
                limit: &'t $($mut)? Option<Limit>,
                v: &mut $visitor,
            ) {
                order_by.$iter().for_each(|o| expr(& $($mut)? o.expr, v));
                if let Some(limit) = limit {
                    expr(& $($mut)? limit.count, v);
                    match & $($mut)? limit.offset {
                        Some(Offset::After(e) | Offset::Before(e)) => expr(e, v),
                        None => {}
                    }
                }
            }

            pub fn query<'t>(q: &'t $($mut)? Query, v: &mut $visitor) {
                part(& $($mut)? q.first, v);
                q.rest.$iter().for_each(|(_, _, p)| part(p, v));
                order(& $($mut)? q.order_by, & $($mut)? q.limit, v);
                v.query(q);
            }

            fn part<'t>(p: &'t $($mut)? QueryPart, v: &mut $visitor) {
                match p {
                    QueryPart::Paren(q) => query(q, v),
                    QueryPart::Select(s) => {
                        items(& $($mut)? s.items, v);
                        s.from.$iter().for_each(|t| table_ref(t, v));
                        s.filter.$iter().for_each(|e| expr(e, v));
                        s.group_by.$iter().for_each(|e| expr(e, v));
                        s.having.$iter().for_each(|e| expr(e, v));
                    }
                }
            }

            fn items<'t>(list: &'t $($mut)? [SelectItem], v: &mut $visitor) {
                for item in list {
                    match item {
                        SelectItem::Star => {}
                        SelectItem::TableStar(name) => v.object(name),
                        SelectItem::Expr { expr: e, .. } => expr(e, v),
                    }
                }
            }

            fn table_ref<'t>(t: &'t $($mut)? TableRef, v: &mut $visitor) {
                factor(& $($mut)? t.first, v);
                for join in & $($mut)? t.joins {
                    factor(& $($mut)? join.table, v);
                    match & $($mut)? join.condition {
                        Some(JoinCondition::On(e)) => expr(e, v),
                        Some(JoinCondition::Using(_)) | None => {}
                    }
                }
            }

            fn factor<'t>(f: &'t $($mut)? TableFactor, v: &mut $visitor) {
                match f {
                    TableFactor::Table { name, .. } => v.object(name),
                    TableFactor::Derived { query: q, .. } => query(q, v),
                    TableFactor::Paren(t) => table_ref(t, v),
                }
            }

            fn table_item<'t>(item: &'t $($mut)? TableItem, v: &mut $visitor) {
                match item {
                    TableItem::Column(column) => {
                        for option in & $($mut)? column.options {
                            match option {
                                ColumnOption::Default(e)
                                | ColumnOption::OnUpdate(e)
                                | ColumnOption::Check(e)
                                | ColumnOption::Generated { expr: e, .. } => expr(e, v),
                                ColumnOption::References(r) => v.object(& $($mut)? r.table),
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
                    TableItem::Constraint(of) => constraint(& $($mut)? of.kind, v),
                }
            }

            fn constraint<'t>(kind: &'t $($mut)? Constraint, v: &mut $visitor) {
                match kind {
                    Constraint::Check(e) => expr(e, v),
                    Constraint::ForeignKey { references, .. } => v.object(& $($mut)? references.table),
                    Constraint::PrimaryKey(_) | Constraint::Unique { .. } | Constraint::Index { .. } => {}
                }
            }

            pub fn expr<'t>(e: &'t $($mut)? Expr, v: &mut $visitor) {
                if let Expr::Column(c) = e {
                    c.table.$iter().for_each(|t| v.object(t));
                }
                e.$children().into_iter().for_each(|e| expr(e, v));
                e.$subquery().into_iter().for_each(|q| query(q, v));
                v.expr(e);
            }
        }
    };
}

walk!(read, dyn Visit<'t> + '_, iter, children, subquery);
walk!(change, dyn VisitMut + '_, iter_mut, children_mut, subquery_mut, mut);

/// The entrances of the two walks.
macro_rules! entrances {
    ($($node:ident $function:ident),*) => { $(
        impl $node {
            /// Shows every expression, every query and every table name to `visitor`, inner ones before outer ones.
            pub fn visit<'t>(&'t self, visitor: &mut dyn Visit<'t>) {
                read::$function(self, visitor);
            }

            /// The same, to change them.
            pub fn visit_mut(&mut self, visitor: &mut dyn VisitMut) {
                change::$function(self, visitor);
            }

            /// Every expression, inner ones before outer ones.
            pub fn for_each_expr<'t>(&'t self, visit: impl FnMut(&'t Expr)) {
                self.visit(&mut Exprs(visit));
            }

            /// Every query, inner ones before outer ones.
            pub fn for_each_query<'t>(&'t self, visit: impl FnMut(&'t Query)) {
                self.visit(&mut Queries(visit));
            }
        }
    )* };
}

entrances!(Statement statement, Query query, Expr expr);

struct Exprs<F>(F);

impl<'t, F: FnMut(&'t Expr)> Visit<'t> for Exprs<F> {
    fn expr(&mut self, expr: &'t Expr) {
        (self.0)(expr);
    }
}

struct Queries<F>(F);

impl<'t, F: FnMut(&'t Query)> Visit<'t> for Queries<F> {
    fn query(&mut self, query: &'t Query) {
        (self.0)(query);
    }
}
