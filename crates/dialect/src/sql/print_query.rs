//! Writing SELECT.

use model::sql::{
    Expr, IndexHint, Join, JoinCondition, Keyword, Limit, Lock, LockWait, Offset, OrderItem, Query,
    QueryPart, Select, SelectItem, TableFactor, TableRef,
};

use super::print::Out;

impl Out {
    /// A whole query.
    pub fn query(&mut self, query: &Query) {
        self.query_part(&query.first);
        for (op, quantifier, part) in &query.rest {
            self.kw(op.sql());
            self.keyword(*quantifier);
            self.query_part(part);
        }
        self.order_by(&query.order_by);
        self.limit(&query.limit);
        query.locks.iter().for_each(|lock| self.lock(lock));
    }

    /// A query in parentheses.
    pub fn paren_query(&mut self, query: &Query) {
        self.parens(|out| out.query(query));
    }

    fn query_part(&mut self, part: &QueryPart) {
        match part {
            QueryPart::Select(select) => self.select(select),
            QueryPart::Paren(query) => self.paren_query(query),
        }
    }

    fn select(&mut self, select: &Select) {
        self.kw("SELECT");
        select.hint.iter().for_each(|hint| self.exact(hint));
        self.keyword(select.quantifier);
        self.kw_if(select.no_cache, "SQL_NO_CACHE");
        self.list(&select.items, Out::select_item);
        self.listed("FROM", &select.from, Out::table_ref);
        self.filter(&select.filter);
        self.listed("GROUP BY", &select.group_by, Out::expr);
        self.optional("HAVING", &select.having, Out::expr);
    }

    /// One thing to select.
    pub fn select_item(&mut self, item: &SelectItem) {
        match item {
            SelectItem::Star => self.symbol("*"),
            SelectItem::TableStar(name) => {
                self.object(name);
                self.symbol(".");
                self.symbol("*");
            }
            SelectItem::Expr { expr, alias } => {
                self.expr(expr);
                self.alias(alias);
            }
        }
    }

    /// WHERE, or nothing.
    pub fn filter(&mut self, filter: &Option<Expr>) {
        self.optional("WHERE", filter, Out::expr);
    }

    /// A table with its joins.
    pub fn table_ref(&mut self, table: &TableRef) {
        self.table_factor(&table.first);
        table.joins.iter().for_each(|join| self.join(join));
    }

    fn join(&mut self, join: &Join) {
        self.kw(join.kind.sql());
        self.table_factor(&join.table);
        match &join.condition {
            Some(JoinCondition::On(expr)) => self.after("ON", expr, Out::expr),
            Some(JoinCondition::Using(columns)) => {
                self.kw("USING");
                self.paren_list(columns, Out::ident);
            }
            None => {}
        }
    }

    pub fn table_factor(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table { name, alias, hints } => {
                self.object(name);
                self.alias(alias);
                hints.iter().for_each(|hint| self.index_hint(hint));
            }
            TableFactor::Derived { query, alias } => {
                self.paren_query(query);
                self.alias(alias);
            }
            TableFactor::Paren(inner) => self.parens(|out| out.table_ref(inner)),
        }
    }

    fn index_hint(&mut self, hint: &IndexHint) {
        match hint {
            IndexHint::Names { action, word, scope, names } => {
                self.kw(action.sql());
                self.kw(word.sql());
                self.keyword(*scope);
                self.paren_list(names, |out, name| {
                    if name.name.eq_ignore_ascii_case("PRIMARY") { out.word(name) } else { out.ident(name) }
                });
            }
            IndexHint::IndexedBy(name) => self.after("INDEXED BY", name, Out::ident),
            IndexHint::NotIndexed => self.kw("NOT INDEXED"),
        }
    }

    /// ORDER BY, or nothing.
    pub fn order_by(&mut self, items: &[OrderItem]) {
        self.listed("ORDER BY", items, |out, item| {
            out.expr(&item.expr);
            out.keyword(item.direction);
            out.keyword(item.nulls);
        });
    }

    /// LIMIT, or nothing.
    pub fn limit(&mut self, limit: &Option<Limit>) {
        let Some(limit) = limit else { return };
        self.kw("LIMIT");
        if let Some(Offset::Before(offset)) = &limit.offset {
            self.expr(offset);
            self.symbol(",");
        }
        self.expr(&limit.count);
        if let Some(Offset::After(offset)) = &limit.offset {
            self.after("OFFSET", offset, Out::expr);
        }
    }

    fn lock(&mut self, lock: &Lock) {
        self.kw(lock.strength.sql());
        self.listed("OF", &lock.of, Out::ident);
        match &lock.wait {
            Some(LockWait::Nowait) => self.kw("NOWAIT"),
            Some(LockWait::SkipLocked) => self.kw("SKIP LOCKED"),
            Some(LockWait::Seconds(seconds)) => self.after("WAIT", seconds.as_str(), Out::exact),
            None => {}
        }
    }
}
