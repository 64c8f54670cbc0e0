//! Statements on more than one table: subqueries in WHERE and SET, UPDATE and DELETE that read or change a second one.

use eval::Datum;
use model::{
    Rng,
    sql::{
        Assignment, BinaryOp, ColumnRef, Delete, Direction, Expr, FunctionArgs, Ident, InList, Join,
        JoinCondition, JoinKind, Limit, OrderItem, Query, QueryPart, SelectItem, Statement, TableRef, Update,
    },
};

use super::{Statements, rich::comparable};
use crate::schema::pool;

/// A column of one table and one of another whose values can be compared.
#[derive(Clone, Copy)]
struct Link {
    other: usize,
    own_column: usize,
    other_column: usize,
}

impl Statements<'_> {
    /// A condition with a subquery on one table, if there is a column to compare with.
    pub fn subquery_condition(&self, rng: &mut Rng, table: usize, changes: bool) -> Option<Expr> {
        let link = self.link(rng, table, changes && !self.caps.reads_itself)?;
        let column = Expr::column(&self.table(table).columns[link.own_column].name);
        let query = Box::new(self.inner(rng, link, false));
        if rng.ratio(2, 3) {
            return Some(Expr::In {
                expr: Box::new(column),
                negated: rng.ratio(1, 6),
                list: InList::Query(query),
            });
        }
        let scalar = Expr::Subquery(Box::new(self.inner(rng, link, true)));
        let op = *rng.pick(&[BinaryOp::Eq, BinaryOp::Le, BinaryOp::Ge]);
        Some(Expr::binary(column, op, scalar))
    }

    /// `column = (SELECT MAX(x) FROM ...)`, where the types are the same and nothing forbids it.
    pub fn subquery_value(&self, rng: &mut Rng, table: usize) -> Option<Assignment> {
        let link = self.link(rng, table, !self.caps.reads_itself)?;
        let shape = self.table(table);
        let column = &shape.columns[link.own_column];
        let other = &self.table(link.other).columns[link.other_column];
        let plain = column.nullable && shape.idle_columns().contains(&link.own_column);
        if !plain || column.ty != other.ty {
            return None;
        }
        let query = self.inner(rng, link, true);
        Some(self.assign_expr(table, link.own_column, Expr::Subquery(Box::new(query))))
    }

    /// SELECT x, or MIN or MAX of it, with a plain filter.
    fn inner(&self, rng: &mut Rng, link: Link, scalar: bool) -> Query {
        let filter = if rng.ratio(1, 4) { None } else { Some(self.simple(rng, link.other)) };
        let mut query = Query::of(self.read(link.other, &[link.other_column], filter, Vec::new()));
        if let (true, QueryPart::Select(select)) = (scalar, &mut query.first) {
            let column = Expr::column(&self.table(link.other).columns[link.other_column].name);
            let name = Ident::new(if rng.ratio(1, 2) { "MIN" } else { "MAX" });
            let expr = Expr::Function { name, quantifier: None, args: FunctionArgs::List(vec![column]) };
            select.items = vec![SelectItem::Expr { expr, alias: None }];
        }
        query
    }

    /// Columns of this table and of one (another one, if asked) that can be compared; the foreign key first of all.
    fn link(&self, rng: &mut Rng, table: usize, another: bool) -> Option<Link> {
        use model::SqlType;
        let fit = |ty: &SqlType| matches!(ty, SqlType::Int { .. } | SqlType::Decimal { .. } | SqlType::Date);
        let mut links = Vec::new();
        for other in (0..self.schema.tables.len()).filter(|&other| !another || other != table) {
            for (own_column, own) in self.table(table).columns.iter().enumerate() {
                for (other_column, theirs) in self.table(other).columns.iter().enumerate() {
                    if fit(&own.ty) && comparable(&own.ty, &theirs.ty) {
                        links.push(Link { other, own_column, other_column });
                    }
                }
            }
        }
        if links.is_empty() { None } else { Some(*rng.pick(&links)) }
    }

    /// An UPDATE that reads a second table, or changes it too (MySQL); a plain one where there is none.
    pub fn multi_update(&self, rng: &mut Rng, table: usize) -> Statement {
        let several = self.caps.multi_tables || self.caps.clauses.update_from;
        let Some(link) = self.link(rng, table, true).filter(|_| several) else {
            return self.update(rng, table, None, None);
        };
        let own = self.table(table).idle_columns();
        if own.is_empty() {
            return self.update(rng, table, None, None);
        }
        let at = *rng.pick(&own);
        let mut assignments = vec![self.qualified_assignment(rng, table, at)];
        let theirs = self.table(link.other).idle_columns();
        if self.caps.multi_tables && !theirs.is_empty() && rng.ratio(1, 2) {
            let at = *rng.pick(&theirs);
            assignments.push(self.qualified_assignment(rng, link.other, at));
        }
        let (mut tables, mut from) = (vec![self.changed(table, Vec::new())], Vec::new());
        let mut filter = self.narrow(rng, table);
        if self.caps.multi_tables {
            tables = vec![self.joined(table, link)];
        } else {
            from = vec![self.changed(link.other, Vec::new())];
            filter = and(Some(self.meet(table, link)), filter);
        }
        Statement::Update(Update { tables, assignments, from, filter, ..Update::default() })
    }

    /// An UPDATE that changes two tables, the first few pairs of rows in an order that leaves no choice; one without an order
    /// where there is no such thing.
    pub fn ordered_multi_update(&self, rng: &mut Rng, table: usize) -> Statement {
        let links = (0..4).filter_map(|_| self.link(rng, table, true));
        // Best where there are more pairs than are taken.
        let link = links.max_by_key(|link| self.pairs(table, *link).min(4));
        let (own, theirs) =
            (self.table(table).idle_columns(), link.map(|link| self.table(link.other).idle_columns()));
        let (Some(link), Some(theirs), true) = (link, theirs, self.caps.ordered_multi_update) else {
            return self.multi_update(rng, table);
        };
        if own.is_empty() || theirs.is_empty() {
            return self.multi_update(rng, table);
        }
        let (own, theirs) = (*rng.pick(&own), *rng.pick(&theirs));
        let assignments = vec![
            self.qualified_assignment(rng, table, own),
            self.qualified_assignment(rng, link.other, theirs),
        ];
        let mut sides = [table, link.other];
        rng.shuffle(&mut sides);
        let mut order = vec![(sides[1], rng.below(self.table(sides[1]).columns.len()))];
        for side in sides {
            let shape = self.table(side);
            match shape.identity() {
                Some(key) => order.extend(key.parts.iter().map(|part| (side, part.column))),
                None => order.extend((0..shape.columns.len()).map(|column| (side, column))),
            }
        }
        let order_by = order.into_iter().map(|(table, column)| OrderItem {
            expr: Expr::Column(self.qualified(table, column)),
            direction: rng.ratio(1, 2).then_some(Direction::Desc),
            nulls: None,
        });
        let order_by = order_by.collect();
        Statement::Update(Update {
            tables: vec![self.joined(table, link)],
            assignments,
            filter: self.narrow(rng, table).filter(|_| rng.ratio(1, 3)),
            order_by,
            limit: Some(Limit { count: Expr::int(rng.between(1, 3) as i64), offset: None }),
            ..Update::default()
        })
    }

    /// How many pairs of rows a link joins in the beginning.
    fn pairs(&self, table: usize, link: Link) -> usize {
        let meets = |row: &Vec<Datum>| {
            let theirs = &self.table(link.other).rows;
            theirs
                .iter()
                .filter(|other| pool::alike(&row[link.own_column], &other[link.other_column]))
                .count()
        };
        self.table(table).rows.iter().filter(|row| !row[link.own_column].is_null()).map(meets).sum()
    }

    /// A DELETE that reads a second table; a plain one where there is none.
    pub fn multi_delete(&self, rng: &mut Rng, table: usize) -> Statement {
        let several = self.caps.delete_using;
        let Some(link) = self.link(rng, table, true).filter(|_| several) else {
            return self.delete(rng, table, None);
        };
        let (using, filter) = if self.caps.multi_tables {
            (vec![self.joined(table, link)], self.narrow(rng, table))
        } else {
            let meets = Some(self.meet(table, link));
            (vec![self.changed(link.other, Vec::new())], and(meets, self.narrow(rng, table)))
        };
        let delete = Delete::new(self.changed(table, Vec::new()).first, filter);
        Statement::Delete(Delete { using, ..delete })
    }

    fn qualified(&self, table: usize, column: usize) -> ColumnRef {
        let shape = self.table(table);
        ColumnRef {
            table: Some(shape.name.as_str().into()),
            name: shape.columns[column].name.as_str().into(),
        }
    }

    fn qualified_assignment(&self, rng: &mut Rng, table: usize, column: usize) -> Assignment {
        let value = rng.pick(&self.table(table).columns[column].pool).clone();
        let mut assignment = self.assign(table, column, &value);
        if self.caps.multi_tables {
            assignment.column = self.qualified(table, column);
        }
        assignment
    }

    /// `t.a = u.b`
    fn meet(&self, table: usize, link: Link) -> Expr {
        let own = Expr::Column(self.qualified(table, link.own_column));
        Expr::binary(own, BinaryOp::Eq, Expr::Column(self.qualified(link.other, link.other_column)))
    }

    /// `t JOIN u ON t.a = u.b`
    fn joined(&self, table: usize, link: Link) -> TableRef {
        let mut tables = self.changed(table, Vec::new());
        let other = self.changed(link.other, Vec::new()).first;
        let condition = Some(JoinCondition::On(self.meet(table, link)));
        tables.joins.push(Join { kind: JoinKind::Plain, table: other, condition });
        tables
    }

    /// Most often only some rows of the table, by a column with its table before it.
    fn narrow(&self, rng: &mut Rng, table: usize) -> Option<Expr> {
        if rng.ratio(1, 4) {
            return None;
        }
        let at = rng.below(self.table(table).columns.len());
        let value = rng.pick(&self.table(table).columns[at].pool).clone();
        let op = *rng.pick(&[BinaryOp::Eq, BinaryOp::Le, BinaryOp::Ge]);
        Some(Expr::binary(Expr::Column(self.qualified(table, at)), op, self.literal(&value)))
    }
}

fn and(one: Option<Expr>, other: Option<Expr>) -> Option<Expr> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Expr::binary(one, BinaryOp::And, other)),
        (one, other) => one.or(other),
    }
}
