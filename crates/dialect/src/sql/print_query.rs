//! Writing SELECT.

use model::sql::{
    Direction, Expr, HintAction, HintScope, IndexHint, IndexWord, Join, JoinCondition, JoinKind, Limit, Lock,
    LockStrength, LockWait, Nulls, Offset, OrderItem, Query, QueryPart, Select, SelectItem, SetOp,
    TableFactor, TableRef,
};

use super::print::Out;

impl Out {
    /// A whole query.
    pub fn query(&mut self, query: &Query) {
        self.query_part(&query.first);
        for (op, quantifier, part) in &query.rest {
            self.kw(match op {
                SetOp::Union => "UNION",
                SetOp::Except => "EXCEPT",
                SetOp::Intersect => "INTERSECT",
            });
            self.quantifier(*quantifier);
            self.query_part(part);
        }
        self.order_by(&query.order_by);
        self.limit(&query.limit);
        query.locks.iter().for_each(|lock| self.lock(lock));
    }

    /// A query in parentheses.
    pub fn paren_query(&mut self, query: &Query) {
        self.symbol("(");
        self.query(query);
        self.symbol(")");
    }

    fn query_part(&mut self, part: &QueryPart) {
        match part {
            QueryPart::Select(select) => self.select(select),
            QueryPart::Paren(query) => self.paren_query(query),
        }
    }

    fn select(&mut self, select: &Select) {
        self.kw("SELECT");
        if let Some(hint) = &select.hint {
            self.exact(hint);
        }
        self.quantifier(select.quantifier);
        self.list(&select.items, Out::select_item);
        if !select.from.is_empty() {
            self.kw("FROM");
            self.list(&select.from, Out::table_ref);
        }
        self.filter(&select.filter);
        if !select.group_by.is_empty() {
            self.kw("GROUP BY");
            self.list(&select.group_by, Out::expr);
        }
        if let Some(having) = &select.having {
            self.kw("HAVING");
            self.expr(having);
        }
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
        if let Some(filter) = filter {
            self.kw("WHERE");
            self.expr(filter);
        }
    }

    /// A table with its joins.
    pub fn table_ref(&mut self, table: &TableRef) {
        self.table_factor(&table.first);
        table.joins.iter().for_each(|join| self.join(join));
    }

    fn join(&mut self, join: &Join) {
        self.kw(match join.kind {
            JoinKind::Plain => "JOIN",
            JoinKind::Inner => "INNER JOIN",
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::Left => "LEFT JOIN",
            JoinKind::LeftOuter => "LEFT OUTER JOIN",
            JoinKind::Right => "RIGHT JOIN",
            JoinKind::RightOuter => "RIGHT OUTER JOIN",
            JoinKind::Full => "FULL JOIN",
            JoinKind::FullOuter => "FULL OUTER JOIN",
            JoinKind::Straight => "STRAIGHT_JOIN",
            JoinKind::Natural => "NATURAL JOIN",
            JoinKind::NaturalLeft => "NATURAL LEFT JOIN",
        });
        self.table_factor(&join.table);
        match &join.condition {
            Some(JoinCondition::On(expr)) => {
                self.kw("ON");
                self.expr(expr);
            }
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
            TableFactor::Paren(inner) => {
                self.symbol("(");
                self.table_ref(inner);
                self.symbol(")");
            }
        }
    }

    fn index_hint(&mut self, hint: &IndexHint) {
        match hint {
            IndexHint::Names { action, word, scope, names } => {
                self.kw(match action {
                    HintAction::Use => "USE",
                    HintAction::Force => "FORCE",
                    HintAction::Ignore => "IGNORE",
                });
                self.index_word(*word);
                match scope {
                    Some(HintScope::Join) => self.kw("FOR JOIN"),
                    Some(HintScope::OrderBy) => self.kw("FOR ORDER BY"),
                    Some(HintScope::GroupBy) => self.kw("FOR GROUP BY"),
                    None => {}
                }
                self.paren_list(names, |out, name| {
                    if name.name.eq_ignore_ascii_case("PRIMARY") { out.word(name) } else { out.ident(name) }
                });
            }
            IndexHint::IndexedBy(name) => {
                self.kw("INDEXED BY");
                self.ident(name);
            }
            IndexHint::NotIndexed => self.kw("NOT INDEXED"),
        }
    }

    /// INDEX or KEY.
    pub fn index_word(&mut self, word: IndexWord) {
        match word {
            IndexWord::Index => self.kw("INDEX"),
            IndexWord::Key => self.kw("KEY"),
        }
    }

    /// ORDER BY, or nothing.
    pub fn order_by(&mut self, items: &[OrderItem]) {
        if items.is_empty() {
            return;
        }
        self.kw("ORDER BY");
        self.list(items, |out, item| {
            out.expr(&item.expr);
            out.direction(item.direction);
            match item.nulls {
                Some(Nulls::First) => out.kw("NULLS FIRST"),
                Some(Nulls::Last) => out.kw("NULLS LAST"),
                None => {}
            }
        });
    }

    /// ASC or DESC, or nothing.
    pub fn direction(&mut self, direction: Option<Direction>) {
        match direction {
            Some(Direction::Asc) => self.kw("ASC"),
            Some(Direction::Desc) => self.kw("DESC"),
            None => {}
        }
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
            self.kw("OFFSET");
            self.expr(offset);
        }
    }

    fn lock(&mut self, lock: &Lock) {
        self.kw(match lock.strength {
            LockStrength::Update => "FOR UPDATE",
            LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            LockStrength::Share => "FOR SHARE",
            LockStrength::KeyShare => "FOR KEY SHARE",
            LockStrength::InShareMode => "LOCK IN SHARE MODE",
        });
        if !lock.of.is_empty() {
            self.kw("OF");
            self.list(&lock.of, Out::ident);
        }
        match &lock.wait {
            Some(LockWait::Nowait) => self.kw("NOWAIT"),
            Some(LockWait::SkipLocked) => self.kw("SKIP LOCKED"),
            Some(LockWait::Seconds(seconds)) => {
                self.kw("WAIT");
                self.exact(seconds);
            }
            None => {}
        }
    }
}
