//! Reading INSERT, REPLACE, UPDATE and DELETE.

use model::sql::{
    Assignment, Conflict, ConflictAction, Delete, Insert, InsertModifier, InsertSource, InsertVerb,
    Returning, TableFactor, TableRef, Update, ValuesWord,
};

use super::parse::{ParseResult, Parser};

impl Parser<'_> {
    /// `INSERT` or `REPLACE`.
    pub fn insert(&mut self) -> ParseResult<Insert> {
        let Some(verb) = self.keyword() else { return self.refuse("INSERT") };
        self.needs(verb == InsertVerb::Insert || self.rules.clauses.replace, "REPLACE")?;
        let modifier = self.modifier()?;
        let into = self.eat("INTO");
        let table = self.object()?;
        let columns = if self.is_symbol("(") && !self.is_query() { Some(self.column_list()?) } else { None };
        let source = self.insert_source()?;
        let mut on_duplicate = Vec::new();
        if self.clause("ON DUPLICATE KEY UPDATE", self.rules.clauses.mysql_changes)? {
            on_duplicate = self.list(Self::assignment)?;
        }
        let mut on_conflict = Vec::new();
        while self.clause("ON CONFLICT", self.rules.clauses.on_conflict)? {
            on_conflict.push(self.conflict()?);
        }
        let returning = self.returning(self.rules.clauses.returning)?;
        Ok(Insert { verb, modifier, into, table, columns, source, on_duplicate, on_conflict, returning })
    }

    /// IGNORE, or OR and what to do.
    fn modifier(&mut self) -> ParseResult<Option<InsertModifier>> {
        if self.rules.clauses.mysql_changes && self.eat("IGNORE") {
            return Ok(Some(InsertModifier::Ignore));
        }
        if !self.is("OR") {
            return Ok(None);
        }
        self.needs(self.rules.clauses.sqlite_changes, "OR here")?;
        self.skip(1);
        match self.keyword() {
            Some(resolution) => Ok(Some(InsertModifier::Or(resolution))),
            None => self.refuse("what to do about a conflict"),
        }
    }

    /// `(a, b)`, or `()`, which MySQL takes.
    fn column_list(&mut self) -> ParseResult<Vec<model::sql::Ident>> {
        if self.empty_parens(self.rules.clauses.mysql_changes, "empty column list")? {
            return Ok(Vec::new());
        }
        self.paren_list(Self::ident)
    }

    fn insert_source(&mut self) -> ParseResult<InsertSource> {
        let clauses = &self.rules.clauses;
        if self.eat("DEFAULT VALUES") {
            self.needs(clauses.on_conflict, "DEFAULT VALUES")?;
            return Ok(InsertSource::DefaultValues);
        }
        if self.is("SET") {
            self.needs(clauses.mysql_changes, "INSERT ... SET")?;
            self.skip(1);
            return self.list(Self::assignment).map(InsertSource::Set);
        }
        let word = if self.eat("VALUES") {
            ValuesWord::Values
        } else if clauses.mysql_changes && self.eat("VALUE") {
            ValuesWord::Value
        } else if self.is_query() {
            return self.query().map(|q| InsertSource::Query(Box::new(q)));
        } else {
            return self.refuse("VALUES or SELECT");
        };
        let rows = self.list(|p| {
            if p.empty_parens(p.rules.clauses.mysql_changes, "empty row")? {
                return Ok(Vec::new());
            }
            p.paren_list(Self::expr)
        })?;
        Ok(InsertSource::Values { word, rows })
    }

    fn assignment(&mut self) -> ParseResult<Assignment> {
        let column = self.column()?;
        // PostgreSQL would take the table for a column and the column for a field.
        let fits = column.table.is_none() || !self.rules.clauses.bare_assignments;
        self.needs(fits, "table before a column that is assigned")?;
        self.expect_symbol("=")?;
        Ok(Assignment { column, value: self.expr()? })
    }

    fn conflict(&mut self) -> ParseResult<Conflict> {
        let target = if self.is_symbol("(") { self.paren_list(Self::ident)? } else { Vec::new() };
        self.expect("DO")?;
        if self.eat("NOTHING") {
            return Ok(Conflict { target, action: ConflictAction::Nothing });
        }
        self.expect("UPDATE SET")?;
        let assignments = self.list(Self::assignment)?;
        let filter = self.filter()?;
        Ok(Conflict { target, action: ConflictAction::Update { assignments, filter } })
    }

    fn returning(&mut self, has: bool) -> ParseResult<Returning> {
        if !self.is("RETURNING") {
            return Ok(Vec::new());
        }
        self.needs(has, "RETURNING here")?;
        self.skip(1);
        self.list(Self::select_item)
    }

    pub fn update(&mut self) -> ParseResult<Update> {
        self.expect("UPDATE")?;
        let modifier = self.modifier()?;
        let tables = self.list(Self::table_ref)?;
        tables.iter().try_for_each(|t| self.changed_table(&t.first))?;
        if tables.len() > 1 || tables.iter().any(|t| !t.joins.is_empty()) {
            self.needs(self.rules.clauses.mysql_changes, "update of several tables")?;
        }
        self.expect("SET")?;
        let assignments = self.list(Self::assignment)?;
        let from = self.other_tables(self.rules.clauses.update_from, "FROM")?;
        let filter = self.filter()?;
        // SQLite wants RETURNING before ORDER BY and LIMIT; MariaDB's comes last and has no such clause here.
        let returning = self.returning(self.rules.clauses.update_returning)?;
        self.unordered()?;
        let order_by = self.order_by()?;
        let limit = self.limit()?;
        Ok(Update { modifier, tables, assignments, from, filter, order_by, limit, returning })
    }

    /// Tables that are read beside the one that is changed, after this word; or nothing.
    fn other_tables(&mut self, has: bool, word: &str) -> ParseResult<Vec<TableRef>> {
        if has && self.eat(word) { self.list(Self::table_ref) } else { Ok(Vec::new()) }
    }

    /// Refuses ORDER BY and LIMIT where the dialect has them not.
    fn unordered(&self) -> ParseResult<()> {
        let ordered = self.is("ORDER BY") || self.is("LIMIT");
        self.needs(!ordered || self.rules.clauses.ordered_changes, "ORDER BY or LIMIT here")
    }

    /// SQLite's UPDATE and DELETE want AS before an alias, which tells `UPDATE IGNORE t` from an alias `t`.
    fn changed_table(&self, table: &TableFactor) -> ParseResult<()> {
        let bare = matches!(table, TableFactor::Table { alias: Some(alias), .. } if !alias.as_word);
        self.needs(!(bare && self.rules.clauses.sqlite_changes), "alias without AS here")
    }

    /// `DELETE FROM`.
    pub fn delete(&mut self) -> ParseResult<Delete> {
        self.expect("DELETE")?;
        let ignore = self.rules.clauses.mysql_changes && self.eat("IGNORE");
        self.expect("FROM")?;
        let table = self.table_factor()?;
        self.changed_table(&table)?;
        let using = self.other_tables(self.rules.clauses.delete_using, "USING")?;
        let filter = self.filter()?;
        let early = self.rules.clauses.update_returning;
        let mut returning = if early { self.returning(true)? } else { Vec::new() };
        self.unordered()?;
        let order_by = self.order_by()?;
        let limit = self.limit()?;
        if !early {
            returning = self.returning(self.rules.clauses.returning)?;
        }
        Ok(Delete { ignore, table, using, filter, order_by, limit, returning })
    }
}
