//! Reading SELECT.

use model::sql::{
    IndexHint, Join, JoinCondition, JoinKind, Keyword, Limit, Lock, LockStrength, LockWait, ObjectName,
    Offset, OrderItem, Query, QueryPart, Select, SelectItem, TableFactor, TableRef,
};

use super::{
    parse::{ParseResult, Parser},
    token::TokenKind,
};

impl Parser<'_> {
    /// A query, from its SELECT to its locks.
    pub fn query(&mut self) -> ParseResult<Query> {
        let first = self.query_part()?;
        let mut rest = Vec::new();
        while let Some(op) = self.keyword() {
            let quantifier = self.keyword();
            rest.push((op, quantifier, self.query_part()?));
        }
        let order_by = self.order_by()?;
        let limit = self.limit()?;
        let locks = self.locks()?;
        Ok(Query { first, rest, order_by, limit, locks })
    }

    fn query_part(&mut self) -> ParseResult<QueryPart> {
        if self.is_symbol("(") {
            self.needs(self.rules.clauses.paren_queries, "query in parentheses")?;
            let query = self.parens(|p| p.nested(Self::query))?;
            return Ok(QueryPart::Paren(Box::new(query)));
        }
        self.select().map(|s| QueryPart::Select(Box::new(s)))
    }

    fn select(&mut self) -> ParseResult<Select> {
        self.expect("SELECT")?;
        let hint =
            self.peek(0).filter(|token| token.kind == TokenKind::Hint).map(|token| token.text.to_string());
        self.skip(usize::from(hint.is_some()));
        let quantifier = self.keyword();
        let no_cache = self.rules.clauses.sql_no_cache && self.eat("SQL_NO_CACHE");
        let items = self.list(Self::select_item)?;
        let from = self.listed("FROM", Self::table_ref)?;
        let filter = self.filter()?;
        let group_by = self.listed("GROUP BY", Self::expr)?;
        let having = self.optional("HAVING", Self::expr)?;
        Ok(Select { hint, quantifier, no_cache, items, from, filter, group_by, having })
    }

    /// One thing to select; RETURNING has the same.
    pub fn select_item(&mut self) -> ParseResult<SelectItem> {
        if self.eat_symbol("*") {
            return Ok(SelectItem::Star);
        }
        if self.is_ident_at(0) && self.is_symbol_at(1, ".") {
            let schema = usize::from(self.is_symbol_at(3, ".")) * 2;
            if self.is_symbol_at(2 + schema, "*") {
                let mut parts = self.dotted()?;
                self.skip(2);
                let name = parts.pop().unwrap_or_default();
                return Ok(SelectItem::TableStar(ObjectName { schema: parts.pop(), name }));
            }
        }
        let expr = self.expr()?;
        Ok(SelectItem::Expr { expr, alias: self.alias()? })
    }

    /// WHERE, or nothing.
    pub fn filter(&mut self) -> ParseResult<Option<model::sql::Expr>> {
        self.optional("WHERE", Self::expr)
    }

    /// A table with its joins.
    pub fn table_ref(&mut self) -> ParseResult<TableRef> {
        let first = self.table_factor()?;
        let mut joins = Vec::new();
        while let Some(kind) = self.join_kind()? {
            let table = self.table_factor()?;
            let condition = if self.eat("ON") {
                Some(JoinCondition::On(self.expr()?))
            } else if self.eat("USING") {
                Some(JoinCondition::Using(self.paren_list(Self::ident)?))
            } else {
                None
            };
            joins.push(Join { kind, table, condition });
        }
        Ok(TableRef { first, joins })
    }

    fn join_kind(&mut self) -> ParseResult<Option<JoinKind>> {
        let kind = self.keyword();
        match kind {
            Some(JoinKind::Full | JoinKind::FullOuter) => {
                self.needs(self.rules.clauses.full_join, "FULL JOIN")?;
            }
            Some(JoinKind::Straight) => self.needs(self.rules.clauses.straight_join, "STRAIGHT_JOIN")?,
            _ => {}
        }
        Ok(kind)
    }

    /// One table of FROM, UPDATE or DELETE.
    pub fn table_factor(&mut self) -> ParseResult<TableFactor> {
        if self.is_symbol("(") {
            return self.nested(|p| {
                if p.is_word_at(1, "SELECT") {
                    let query = Box::new(p.parens(Self::query)?);
                    return Ok(TableFactor::Derived { query, alias: p.alias()? });
                }
                Ok(TableFactor::Paren(Box::new(p.parens(Self::table_ref)?)))
            });
        }
        let name = self.object()?;
        let alias = self.alias()?;
        let mut hints = Vec::new();
        while let Some(hint) = self.index_hint()? {
            hints.push(hint);
        }
        Ok(TableFactor::Table { name, alias, hints })
    }

    fn index_hint(&mut self) -> ParseResult<Option<IndexHint>> {
        if self.rules.clauses.indexed_by {
            if self.eat("INDEXED BY") {
                return self.ident().map(|name| Some(IndexHint::IndexedBy(name)));
            }
            return Ok(self.eat("NOT INDEXED").then_some(IndexHint::NotIndexed));
        }
        if !self.rules.clauses.index_hints {
            return Ok(None);
        }
        let Some(action) = self.keyword() else { return Ok(None) };
        let Some(word) = self.keyword() else { return self.refuse("INDEX or KEY") };
        let scope = self.keyword();
        let names = if self.empty_parens(true, "")? {
            Vec::new()
        } else {
            // PRIMARY is reserved and names an index all the same.
            self.paren_list(|p| if p.is("PRIMARY") { p.any_word() } else { p.ident() })?
        };
        Ok(Some(IndexHint::Names { action, word, scope, names }))
    }

    /// ORDER BY, or nothing.
    pub fn order_by(&mut self) -> ParseResult<Vec<OrderItem>> {
        self.listed("ORDER BY", |p| {
            let expr = p.expr()?;
            let direction = p.keyword();
            let nulls = p.keyword();
            if nulls.is_some() {
                p.needs(p.rules.clauses.nulls_order, "NULLS FIRST")?;
            }
            Ok(OrderItem { expr, direction, nulls })
        })
    }

    /// LIMIT, or nothing.
    pub fn limit(&mut self) -> ParseResult<Option<Limit>> {
        if !self.eat("LIMIT") {
            return Ok(None);
        }
        let first = self.expr()?;
        if self.eat("OFFSET") {
            let offset = Some(Offset::After(self.expr()?));
            return Ok(Some(Limit { count: first, offset }));
        }
        if self.is_symbol(",") {
            self.needs(self.rules.clauses.limit_comma, "LIMIT with a comma")?;
            self.skip(1);
            return Ok(Some(Limit { count: self.expr()?, offset: Some(Offset::Before(first)) }));
        }
        Ok(Some(Limit { count: first, offset: None }))
    }

    fn locks(&mut self) -> ParseResult<Vec<Lock>> {
        let clauses = &self.rules.clauses;
        let mut locks = Vec::new();
        if !clauses.locking_reads {
            return Ok(locks);
        }
        while let Some(strength) = self.keyword::<LockStrength>() {
            let old = strength == LockStrength::InShareMode;
            let has = match strength {
                LockStrength::Update => true,
                LockStrength::Share => clauses.for_share,
                LockStrength::NoKeyUpdate | LockStrength::KeyShare => clauses.key_locks,
                LockStrength::InShareMode => clauses.in_share_mode,
            };
            self.needs(has, strength.sql())?;
            let of = if !old && clauses.for_share { self.listed("OF", Self::ident)? } else { Vec::new() };
            let may_wait = !old || clauses.lock_wait_seconds;
            let wait = if may_wait && self.eat("NOWAIT") {
                Some(LockWait::Nowait)
            } else if may_wait && self.eat("SKIP LOCKED") {
                Some(LockWait::SkipLocked)
            } else if clauses.lock_wait_seconds && self.eat("WAIT") {
                Some(LockWait::Seconds(self.number()?))
            } else {
                None
            };
            locks.push(Lock { strength, of, wait });
        }
        Ok(locks)
    }
}
