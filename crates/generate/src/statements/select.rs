//! SELECT: plain, locking, and with MIN, MAX and COUNT. Columns are always named.

use model::{
    Rng,
    sql::{
        Direction, Expr, FunctionArgs, Ident, Limit, Lock, LockStrength, LockWait, OrderItem, Query, Select,
        SelectItem, Statement, TableFactor, TableRef,
    },
};

use super::{Filter, Statements};
use crate::schema::Index;

impl Statements<'_> {
    /// A plain SELECT.
    pub fn select(&self, rng: &mut Rng, table: usize, filter: Option<Filter>) -> Statement {
        Statement::Query(self.query(rng, table, filter))
    }

    /// A SELECT that locks what it reads.
    pub fn locking_select(&self, rng: &mut Rng, table: usize, filter: Option<Filter>) -> Statement {
        let mut query = self.query(rng, table, filter);
        query.locks = self.locks(rng);
        Statement::Query(query)
    }

    /// A plain SELECT of all columns of all rows: what an observer does.
    pub fn look(&self, table: usize) -> Statement {
        let items = (0..self.table(table).columns.len()).collect::<Vec<_>>();
        Statement::Query(Query::of(self.read(table, &items, None, Vec::new())))
    }

    /// The same, and it locks.
    pub fn locking_look(&self, rng: &mut Rng, table: usize) -> Statement {
        let mut look = self.look(table);
        if let Statement::Query(query) = &mut look {
            query.locks = self.locks(rng);
            query.locks.iter_mut().for_each(|lock| lock.wait = None);
        }
        look
    }

    /// A SELECT of MIN, MAX and COUNT.
    pub fn aggregate(&self, rng: &mut Rng, table: usize, filter: Option<Filter>) -> Statement {
        let shape = self.table(table);
        let filter = filter.unwrap_or_else(|| self.filter(rng, table)).into_option();
        let hints = self.hint(rng, table, filter.as_ref());
        let mut select = self.read(table, &[], filter, hints);
        let ordered: Vec<usize> =
            (0..shape.columns.len()).filter(|&at| self.has_extremes(table, at)).collect();
        for _ in 0..rng.between(1, 2) {
            let (name, args) = match (rng.below(3), ordered.is_empty()) {
                (0, _) | (_, true) => ("COUNT", FunctionArgs::Star),
                (n, false) => {
                    let column = Expr::column(&shape.columns[*rng.pick(&ordered)].name);
                    (if n == 1 { "MIN" } else { "MAX" }, FunctionArgs::List(vec![column]))
                }
            };
            let expr = Expr::Function { name: Ident::new(name), quantifier: None, args };
            select.items.push(SelectItem::Expr { expr, alias: None });
        }
        Statement::Query(Query::of(select))
    }

    /// Does every product have MIN and MAX of it, and is it certain which of equal values comes?
    fn has_extremes(&self, table: usize, column: usize) -> bool {
        use model::SqlType::*;
        matches!(self.table(table).columns[column].ty, Int { .. } | Decimal { .. } | Date | DateTime)
    }

    fn query(&self, rng: &mut Rng, table: usize, filter: Option<Filter>) -> Query {
        let details = &self.profile.details;
        let shape = self.table(table);
        let filter = filter.unwrap_or_else(|| self.filter(rng, table)).into_option();
        let index = (!shape.indexes.is_empty() && details.index_projection.draw(rng))
            .then(|| rng.pick(&shape.indexes));
        let mut columns: Vec<usize> = match index {
            Some(index) => index.parts.iter().map(|part| part.column).collect(),
            None => (0..shape.columns.len()).collect(),
        };
        if index.is_none() && columns.len() > 1 && rng.ratio(1, 4) {
            columns.remove(rng.below(columns.len()));
        }
        let hints = self.hint(rng, table, filter.as_ref());
        let mut query = Query::of(self.read(table, &columns, filter, hints));
        if !shape.indexes.is_empty() && details.order_by_index.draw(rng) {
            let index = rng.pick(&shape.indexes);
            query.order_by = self.order(rng, table, index);
            query.limit = self.limit(rng, table, index);
        }
        query
    }

    /// ORDER BY an index, all up or all down.
    pub fn order(&self, rng: &mut Rng, table: usize, index: &Index) -> Vec<OrderItem> {
        let direction = if rng.ratio(1, 2) { Some(Direction::Desc) } else { None };
        let item = |at: usize| OrderItem {
            expr: Expr::column(&self.table(table).columns[at].name),
            direction,
            nulls: None,
        };
        index.parts.iter().map(|part| item(part.column)).collect()
    }

    /// LIMIT, only where the order leaves no choice.
    pub fn limit(&self, rng: &mut Rng, table: usize, index: &Index) -> Option<Limit> {
        let shape = self.table(table);
        let certain = index.kind != model::schema::KeyKind::Plain
            && index.parts.iter().all(|part| !shape.columns[part.column].nullable);
        let drawn = certain && self.profile.details.limit.draw(rng);
        drawn.then(|| Limit { count: Expr::int(rng.between(1, 3) as i64), offset: None })
    }

    /// SELECT of these columns.
    pub(super) fn read(
        &self,
        table: usize,
        columns: &[usize],
        filter: Option<Expr>,
        hints: Vec<model::sql::IndexHint>,
    ) -> Select {
        let shape = self.table(table);
        let item =
            |&at: &usize| SelectItem::Expr { expr: Expr::column(&shape.columns[at].name), alias: None };
        let first = TableFactor::Table { name: shape.name.as_str().into(), alias: None, hints };
        Select {
            items: columns.iter().map(item).collect(),
            from: vec![TableRef { first, joins: Vec::new() }],
            filter,
            ..Select::default()
        }
    }

    /// What a locking read locks; nothing where there are no such reads.
    fn locks(&self, rng: &mut Rng) -> Vec<Lock> {
        let (caps, details) = (self.caps, &self.profile.details);
        if !caps.clauses.locking_reads {
            return Vec::new();
        }
        let strength = match caps.share {
            Some(share) if details.share.draw(rng) => share,
            _ => LockStrength::Update,
        };
        let strength = match strength {
            LockStrength::Update if caps.clauses.key_locks && rng.ratio(1, 6) => LockStrength::NoKeyUpdate,
            LockStrength::Share if caps.clauses.key_locks && rng.ratio(1, 6) => LockStrength::KeyShare,
            other => other,
        };
        let may_wait = strength == LockStrength::Update || caps.share_waits;
        let waits: Vec<LockWait> =
            [(caps.nowait, LockWait::Nowait), (caps.skip_locked, LockWait::SkipLocked)]
                .into_iter()
                .filter(|(has, _)| *has && may_wait)
                .map(|(_, wait)| wait)
                .collect();
        let wait = (!waits.is_empty() && details.lock_wait.draw(rng)).then(|| rng.pick(&waits).clone());
        vec![Lock { strength, of: Vec::new(), wait }]
    }
}
