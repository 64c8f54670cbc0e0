//! Drops a column from a statement: whatever is said about it is left out, and no more than that.

use model::sql::{
    Assignment, BinaryOp, ColumnOption, ColumnRef, Constraint, CreateTable, Expr, Ident, IndexColumn, Insert,
    JoinCondition, Literal, OrderItem, PartitionBy, Query, QueryPart, SelectItem, Statement, TableItem,
    TableRef, VisitMut,
};

use super::references::drop_references;

/// The column that is dropped.
pub struct DropColumn<'a> {
    pub table: &'a str,
    pub column: &'a str,
}

impl DropColumn<'_> {
    fn is(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(self.column)
    }

    /// Does an expression name the column?
    fn named(&self, expr: &Expr) -> bool {
        let mut named = false;
        expr.for_each_expr(|expr| {
            named |= matches!(expr, Expr::Column(column) if self.is(&column.name.name));
        });
        named
    }

    /// Changes the statement; none if it would be nothing without the column.
    pub fn in_statement(&self, statement: &mut Statement) -> Option<()> {
        // Inner queries first: what they say about a column of that name is left out, too.
        let mut inner = Inner { drop: self, whole: true };
        statement.visit_mut(&mut inner);
        match statement {
            Statement::Query(_) => {}
            Statement::Insert(insert) => self.in_insert(insert),
            Statement::Update(update) => {
                self.assignments(&mut update.assignments);
                if update.assignments.is_empty() {
                    return None;
                }
                self.condition(&mut update.filter);
                self.order(&mut update.order_by);
                self.items(&mut update.returning);
                update.tables.iter_mut().chain(&mut update.from).for_each(|table| self.joins(table));
            }
            Statement::Delete(delete) => {
                self.condition(&mut delete.filter);
                self.order(&mut delete.order_by);
                self.items(&mut delete.returning);
                delete.using.iter_mut().for_each(|table| self.joins(table));
            }
            Statement::CreateTable(create) => self.in_table(create)?,
            Statement::CreateIndex(create) => {
                if create.table.name.name.eq_ignore_ascii_case(self.table) {
                    self.key(&mut create.columns);
                }
                if create.columns.is_empty() || create.filter.as_ref().is_some_and(|expr| self.named(expr)) {
                    return None;
                }
            }
            _ => {}
        }
        inner.whole.then_some(())
    }

    fn in_insert(&self, insert: &mut Insert) {
        self.assignments(&mut insert.on_duplicate);
        for conflict in &mut insert.on_conflict {
            conflict.target.retain(|name| !self.is(&name.name));
            match &mut conflict.action {
                model::sql::ConflictAction::Nothing => {}
                model::sql::ConflictAction::Update { assignments, filter } => {
                    self.assignments(assignments);
                    self.condition(filter);
                }
            }
        }
        let empty = |action: &model::sql::ConflictAction| match action {
            model::sql::ConflictAction::Nothing => false,
            model::sql::ConflictAction::Update { assignments, .. } => assignments.is_empty(),
        };
        insert.on_conflict.retain(|conflict| !empty(&conflict.action));
        self.items(&mut insert.returning);
    }

    fn in_table(&self, create: &mut CreateTable) -> Option<()> {
        if !create.name.name.name.eq_ignore_ascii_case(self.table) {
            // Others may refer to it.
            drop_references(create, |references| self.refers(references));
            return Some(());
        }
        create.items.retain(|item| match item {
            TableItem::Column(column) => !self.is(&column.name.name),
            TableItem::Constraint(_) => true,
        });
        for item in &mut create.items {
            match item {
                TableItem::Column(column) => {
                    let computed = |option: &ColumnOption| match option {
                        ColumnOption::Generated { expr, .. } => self.named(expr),
                        _ => false,
                    };
                    if column.options.iter().any(computed) {
                        return None;
                    }
                    column
                        .options
                        .retain(|option| !matches!(option, ColumnOption::Check(expr) if self.named(expr)));
                }
                TableItem::Constraint(constraint) => match &mut constraint.kind {
                    Constraint::PrimaryKey(columns)
                    | Constraint::Unique { columns, .. }
                    | Constraint::Index { columns, .. } => self.key(columns),
                    Constraint::ForeignKey { columns, .. } => {
                        if columns.iter().any(|name| self.is(&name.name)) {
                            columns.clear();
                        }
                    }
                    Constraint::Check(expr) => {
                        if self.named(expr) {
                            *expr = Expr::Literal(Literal::Null);
                        }
                    }
                },
            }
        }
        create.items.retain(|item| match item {
            TableItem::Column(_) => true,
            TableItem::Constraint(constraint) => match &constraint.kind {
                Constraint::PrimaryKey(columns)
                | Constraint::Unique { columns, .. }
                | Constraint::Index { columns, .. } => !columns.is_empty(),
                Constraint::ForeignKey { columns, .. } => !columns.is_empty(),
                Constraint::Check(expr) => *expr != Expr::Literal(Literal::Null),
            },
        });
        match create.partition.as_mut().map(|partition| &mut partition.by) {
            Some(PartitionBy::Hash(expr)) if self.named(expr) => return None,
            Some(PartitionBy::Key(columns)) if columns.iter().any(|name| self.is(&name.name)) => return None,
            Some(PartitionBy::Hash(_) | PartitionBy::Key(_)) | None => {}
        }
        Some(())
    }

    fn refers(&self, references: &model::sql::References) -> bool {
        references.table.name.name.eq_ignore_ascii_case(self.table)
            && references.columns.iter().any(|name: &Ident| self.is(&name.name))
    }

    fn key(&self, columns: &mut Vec<IndexColumn>) {
        columns.retain(|column| !self.is(&column.name.name));
    }

    /// Drops what sets the column, and what sets others to something that is computed from it.
    fn assignments(&self, list: &mut Vec<Assignment>) {
        let of = |column: &ColumnRef| self.is(&column.name.name);
        list.retain(|assignment| !of(&assignment.column) && !self.named(&assignment.value));
    }

    fn order(&self, list: &mut Vec<OrderItem>) {
        list.retain(|item| !self.named(&item.expr));
    }

    fn items(&self, list: &mut Vec<SelectItem>) {
        let had = !list.is_empty();
        list.retain(|item| match item {
            SelectItem::Expr { expr, .. } => !self.named(expr),
            SelectItem::Star | SelectItem::TableStar(_) => true,
        });
        if had && list.is_empty() {
            list.push(SelectItem::Star);
        }
    }

    fn joins(&self, table: &mut TableRef) {
        for join in &mut table.joins {
            let gone = match &mut join.condition {
                Some(JoinCondition::On(expr)) => {
                    let mut on = Some(expr.clone());
                    self.condition(&mut on);
                    match on {
                        Some(rest) => {
                            *expr = rest;
                            false
                        }
                        None => true,
                    }
                }
                Some(JoinCondition::Using(columns)) => {
                    columns.retain(|name| !self.is(&name.name));
                    columns.is_empty()
                }
                None => false,
            };
            if gone {
                join.condition = Some(JoinCondition::On(Expr::Literal(Literal::Bool(true))));
            }
        }
    }

    /// Drops those parts of a condition that name the column.
    fn condition(&self, filter: &mut Option<Expr>) {
        *filter = filter.take().and_then(|expr| self.rest(expr));
    }

    fn rest(&self, expr: Expr) -> Option<Expr> {
        if !self.named(&expr) {
            return Some(expr);
        }
        match expr {
            Expr::Binary {
                left,
                op: op @ (BinaryOp::And | BinaryOp::AndAmps | BinaryOp::Or | BinaryOp::OrBars),
                right,
            } => match (self.rest(*left), self.rest(*right)) {
                (Some(left), Some(right)) => Some(Expr::binary(left, op, right)),
                (one, other) => one.or(other),
            },
            Expr::Paren(inner) => self.rest(*inner),
            _ => None,
        }
    }
}

/// Walks through all queries.
struct Inner<'a> {
    drop: &'a DropColumn<'a>,
    /// Can all of them be said without the column?
    whole: bool,
}

impl VisitMut for Inner<'_> {
    fn query(&mut self, query: &mut Query) {
        self.drop.order(&mut query.order_by);
        let rest = query.rest.iter_mut().map(|(_, _, part)| part);
        for part in std::iter::once(&mut query.first).chain(rest) {
            let QueryPart::Select(select) = part else { continue };
            self.drop.items(&mut select.items);
            self.drop.condition(&mut select.filter);
            self.drop.condition(&mut select.having);
            select.group_by.retain(|expr| !self.drop.named(expr));
            select.from.iter_mut().for_each(|table| self.drop.joins(table));
            self.whole &= !select.items.is_empty();
        }
    }
}
