//! A setup as data: its tables with their columns and keys, and the statements that fill them.
//!
//! A setup is data if its tables can be emptied and filled again without making them anew. So it may only
//! create tables and indexes and insert constants, and whatever concerns a table's schema comes before its
//! first row. Everything else is refused with the reason, and such a setup is run anew each time.

use model::{
    Product,
    schema::{ColumnDef, Key, KeyKind, SetupData, Table},
    sql::{
        ColumnOption, Constraint, CreateIndex, CreateTable, Expr, Ident, IndexColumn, Insert, InsertSource,
        Quote, Statement, TableColumn, TableItem, TypeName,
    },
};

use super::{Opaque, facts, print::Out, rules::Rules, try_parse, words::ReservedWords};

/// PostgreSQL's types that count up.
static SERIALS: ReservedWords = ReservedWords::new("BIGSERIAL SERIAL SERIAL2 SERIAL4 SERIAL8 SMALLSERIAL");

/// Understands a setup as data, or says why it is none. The reason counts statements from 1.
pub fn setup(product: Product, statements: &[String]) -> Result<SetupData, Opaque> {
    let rules = Rules::of(product);
    let mut reader = Reader { rules, data: SetupData::default(), filled: Vec::new() };
    for (i, text) in statements.iter().enumerate() {
        let number = i + 1;
        let named = |o: Opaque| Opaque { reason: format!("statement {number}: {}", o.reason), at: o.at };
        let statement = try_parse(rules, text).map_err(named)?;
        reader.statement(text, &statement).map_err(|reason| named(Opaque { reason, at: 0 }))?;
    }
    Ok(reader.data)
}

struct Reader {
    rules: &'static Rules,
    data: SetupData,
    /// Tables that have rows already, by position.
    filled: Vec<usize>,
}

impl Reader {
    fn statement(&mut self, text: &str, statement: &Statement) -> Result<(), String> {
        if facts(statement).names_schema() {
            return Err("it names a database".to_string());
        }
        match statement {
            Statement::CreateTable(create) => {
                let table = self.table(create)?;
                self.data.tables.push(table);
                self.data.ddl.push(text.to_string());
                Ok(())
            }
            // Its rows are those of the table that it is a part of.
            Statement::CreatePartition(create) => {
                self.position(&self.name(&create.of.name))?;
                self.data.ddl.push(text.to_string());
                Ok(())
            }
            Statement::CreateIndex(create) => {
                self.index(create)?;
                self.data.ddl.push(text.to_string());
                Ok(())
            }
            Statement::Insert(insert) => {
                self.insert(insert, statement)?;
                self.data.inserts.push(text.to_string());
                Ok(())
            }
            _ => Err("neither CREATE TABLE, CREATE INDEX nor INSERT".to_string()),
        }
    }

    fn position(&self, name: &str) -> Result<usize, String> {
        let tables = &self.data.tables;
        let exact = tables.iter().position(|t| t.name == name);
        let alike = || tables.iter().position(|t| t.name.eq_ignore_ascii_case(name));
        let found = if self.rules.folds_names { exact } else { exact.or_else(alike) };
        found.ok_or_else(|| format!("table {name} is not created before it"))
    }

    fn table(&mut self, create: &CreateTable) -> Result<Table, String> {
        if create.temporary {
            return Err("a temporary table".to_string());
        }
        let name = self.name(&create.name.name);
        let mut table = Table { name, columns: Vec::new(), keys: Vec::new(), foreign_keys: false };
        for item in &create.items {
            match item {
                TableItem::Column(column) => self.column(&mut table, column),
                TableItem::Constraint(constraint) => match &constraint.kind {
                    Constraint::PrimaryKey(columns) => {
                        self.add_key(&mut table, None, KeyKind::Primary, columns)
                    }
                    Constraint::Unique { index, columns, .. } => {
                        let name = index.as_ref().or(constraint.name.as_ref());
                        self.add_key(&mut table, name.map(|n| self.name(n)), KeyKind::Unique, columns);
                    }
                    Constraint::Index { index, columns, .. } => {
                        let name = index.as_ref().map(|n| self.name(n));
                        self.add_key(&mut table, name, KeyKind::Plain, columns);
                    }
                    Constraint::Check(_) => {}
                    Constraint::ForeignKey { references, .. } => {
                        table.foreign_keys = true;
                        self.refer(&references.table.name);
                    }
                },
            }
        }
        // The primary key goes first, and none of its columns is NULL, except in SQLite's ordinary tables.
        table.keys.sort_by_key(|key| key.kind != KeyKind::Primary);
        let strict = !self.rules.clauses.sqlite_ddl
            || create.options.iter().any(|o| o.words[0].eq_ignore_ascii_case("WITHOUT"));
        if let Some(primary) = table.keys.first().filter(|k| k.kind == KeyKind::Primary) {
            for column in &mut table.columns {
                let alike =
                    |name: &String| !self.rules.folds_names && name.eq_ignore_ascii_case(&column.name);
                let within = primary.columns.iter().any(|name| *name == column.name || alike(name));
                let rowid =
                    !strict && primary.columns.len() == 1 && column.type_text.eq_ignore_ascii_case("INTEGER");
                column.nullable &= !(within && (strict || rowid));
                column.auto_increment |= within && rowid;
            }
        }
        Ok(table)
    }

    fn column(&mut self, table: &mut Table, column: &TableColumn) {
        let name = self.name(&column.name);
        let own = [IndexColumn { name: column.name.clone(), length: None, direction: None }];
        let type_text = column.ty.as_ref().map(|ty| self.type_text(ty)).unwrap_or_default();
        let mut def = ColumnDef { name, type_text, nullable: true, auto_increment: false };
        if def.type_text.eq_ignore_ascii_case("SERIAL") && self.rules.clauses.mysql_ddl {
            // Shorthand of MySQL for BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
            def.nullable = false;
            def.auto_increment = true;
            self.add_key(table, None, KeyKind::Unique, &own);
        }
        if SERIALS.has(&def.type_text) && self.rules.clauses.postgres_ddl {
            // Shorthand of PostgreSQL for a whole number NOT NULL with a sequence.
            def.nullable = false;
            def.auto_increment = true;
        }
        for option in &column.options {
            match option {
                ColumnOption::NotNull => def.nullable = false,
                ColumnOption::AutoIncrement | ColumnOption::Autoincrement => def.auto_increment = true,
                ColumnOption::Identity { .. } => {
                    def.nullable = false;
                    def.auto_increment = true;
                }
                ColumnOption::PrimaryKey(_) | ColumnOption::Key => {
                    self.add_key(table, None, KeyKind::Primary, &own)
                }
                ColumnOption::Unique { .. } => self.add_key(table, None, KeyKind::Unique, &own),
                ColumnOption::References(references) => {
                    table.foreign_keys = true;
                    self.refer(&references.table.name);
                }
                ColumnOption::Name(_)
                | ColumnOption::Null
                | ColumnOption::Default(_)
                | ColumnOption::OnUpdate(_)
                | ColumnOption::Check(_)
                | ColumnOption::Collate(_)
                | ColumnOption::CharacterSet(_)
                | ColumnOption::Comment(_)
                | ColumnOption::Generated { .. } => {}
            }
        }
        table.columns.push(def);
    }

    /// A name as the server has it.
    fn name(&self, ident: &Ident) -> String {
        if self.rules.folds_names && ident.quote == Quote::Bare {
            ident.name.to_ascii_lowercase()
        } else {
            ident.name.clone()
        }
    }

    fn key(&self, name: Option<String>, kind: KeyKind, columns: &[IndexColumn]) -> Key {
        Key { name, kind, columns: columns.iter().map(|c| self.name(&c.name)).collect() }
    }

    fn add_key(&self, table: &mut Table, name: Option<String>, kind: KeyKind, columns: &[IndexColumn]) {
        table.keys.push(self.key(name, kind, columns));
    }

    fn type_text(&self, ty: &TypeName) -> String {
        let mut out = Out::new(self.rules);
        out.type_name(ty);
        out.text()
    }

    /// Marks the table that a foreign key refers to.
    fn refer(&mut self, name: &Ident) {
        if let Ok(at) = self.position(&self.name(name)) {
            self.data.tables[at].foreign_keys = true;
        }
    }

    fn index(&mut self, create: &CreateIndex) -> Result<(), String> {
        let at = self.position(&self.name(&create.table.name))?;
        if self.filled.contains(&at) {
            return Err("an index is created after rows are inserted".to_string());
        }
        let kind = if create.unique { KeyKind::Unique } else { KeyKind::Plain };
        let key = self.key(Some(self.name(&create.name.name)), kind, &create.columns);
        // What holds only for some rows is no key of the table.
        if create.filter.is_none() {
            self.data.tables[at].keys.push(key);
        }
        Ok(())
    }

    fn insert(&mut self, insert: &Insert, statement: &Statement) -> Result<(), String> {
        match &insert.source {
            InsertSource::Values { .. } | InsertSource::Set(_) | InsertSource::DefaultValues => {}
            InsertSource::Query(_) => return Err("it inserts what a query gives".to_string()),
        }
        let mut constant = true;
        statement.for_each_expr(|expr| constant &= !is_free(expr));
        if !constant {
            return Err("it inserts more than constants".to_string());
        }
        let at = self.position(&self.name(&insert.table.name))?;
        if !self.filled.contains(&at) {
            self.filled.push(at);
        }
        Ok(())
    }
}

/// Is it more than a constant, whatever stands inside it?
fn is_free(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Variable(_)
            | Expr::BareFunction(_)
            | Expr::Function { .. }
            | Expr::Subquery(_)
            | Expr::Exists(_)
    )
}
