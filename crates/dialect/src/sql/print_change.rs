//! Writing INSERT, REPLACE, UPDATE and DELETE.

use model::sql::{
    Assignment, Conflict, ConflictAction, Delete, Insert, InsertModifier, InsertSource, Keyword, SelectItem,
    Update,
};

use super::print::Out;

impl Out {
    /// `INSERT` or `REPLACE`.
    pub fn insert(&mut self, insert: &Insert) {
        self.kw(insert.verb.sql());
        self.modifier(insert.modifier);
        self.kw_if(insert.into, "INTO");
        self.object(&insert.table);
        if let Some(columns) = &insert.columns {
            self.paren_list(columns, Out::ident);
        }
        match &insert.source {
            InsertSource::Values { word, rows } => {
                self.kw(word.sql());
                self.list(rows, |out, row| out.paren_list(row, Out::expr));
            }
            InsertSource::Query(query) => self.query(query),
            InsertSource::Set(list) => self.listed("SET", list, Out::assignment),
            InsertSource::DefaultValues => self.kw("DEFAULT VALUES"),
        }
        self.listed("ON DUPLICATE KEY UPDATE", &insert.on_duplicate, Out::assignment);
        insert.on_conflict.iter().for_each(|c| self.conflict(c));
        self.returning(&insert.returning);
    }

    fn modifier(&mut self, modifier: Option<InsertModifier>) {
        match modifier {
            Some(InsertModifier::Ignore) => self.kw("IGNORE"),
            Some(InsertModifier::Or(resolution)) => {
                self.kw("OR");
                self.kw(resolution.sql());
            }
            None => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.column(&assignment.column);
        self.symbol("=");
        self.expr(&assignment.value);
    }

    fn conflict(&mut self, conflict: &Conflict) {
        self.kw("ON CONFLICT");
        if !conflict.target.is_empty() {
            self.paren_list(&conflict.target, Out::ident);
        }
        match &conflict.action {
            ConflictAction::Nothing => self.kw("DO NOTHING"),
            ConflictAction::Update { assignments, filter } => {
                self.kw("DO UPDATE SET");
                self.list(assignments, Out::assignment);
                self.filter(filter);
            }
        }
    }

    fn returning(&mut self, items: &[SelectItem]) {
        self.listed("RETURNING", items, Out::select_item);
    }

    pub fn update(&mut self, update: &Update) {
        self.kw("UPDATE");
        self.modifier(update.modifier);
        self.list(&update.tables, Out::table_ref);
        self.kw("SET");
        self.list(&update.assignments, Out::assignment);
        self.listed("FROM", &update.from, Out::table_ref);
        self.filter(&update.filter);
        self.returning(&update.returning);
        self.order_by(&update.order_by);
        self.limit(&update.limit);
    }

    pub fn delete(&mut self, delete: &Delete) {
        self.kw("DELETE");
        self.kw_if(delete.ignore, "IGNORE");
        self.kw("FROM");
        self.table_factor(&delete.table);
        self.listed("USING", &delete.using, Out::table_ref);
        self.filter(&delete.filter);
        // SQLite has it before ORDER BY, MariaDB at the end.
        let early = self.rules.clauses.update_returning;
        if early {
            self.returning(&delete.returning);
        }
        self.order_by(&delete.order_by);
        self.limit(&delete.limit);
        if !early {
            self.returning(&delete.returning);
        }
    }
}
