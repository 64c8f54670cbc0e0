//! Reading CREATE, ALTER, DROP and TRUNCATE.

use model::sql::{
    AlterTable, ColumnOption, Constraint, CreateIndex, CreatePartition, CreateTable, DropBehaviour,
    DropIndex, DropTable, ForeignKeyAction, Ident, IndexColumn, ObjectName, PartitionBy, Partitioning,
    References, Statement, TableColumn, TableConstraint, TableItem, TableOption, Truncate, TypeName,
};

use super::{
    parse::{ParseResult, Parser},
    words::ReservedWords,
};

/// Table options of MySQL and MariaDB that have one value.
static OPTIONS: ReservedWords = ReservedWords::new(
    "ENGINE AUTO_INCREMENT AVG_ROW_LENGTH CHARSET CHECKSUM COLLATE COMMENT COMPRESSION \
    DELAY_KEY_WRITE ENCRYPTION KEY_BLOCK_SIZE MAX_ROWS MIN_ROWS PACK_KEYS PAGE_COMPRESSED ROW_FORMAT \
    STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES",
);

impl Parser<'_> {
    pub fn create(&mut self) -> ParseResult<Statement> {
        self.expect("CREATE")?;
        let temporary = self.eat("TEMPORARY");
        if self.eat("TABLE") {
            return self.create_table(temporary);
        }
        let unique = self.eat("UNIQUE");
        if temporary || !self.eat("INDEX") {
            return self.refuse("TABLE or INDEX");
        }
        let if_not_exists = self.if_for_index("IF NOT EXISTS")?;
        let name = self.object()?;
        self.expect("ON")?;
        let table = self.object()?;
        let postgres = self.rules.clauses.postgres_ddl;
        let using = if postgres && self.eat("USING") { Some(self.ident()?) } else { None };
        let columns = self.paren_list(Self::index_column)?;
        let filter = if postgres { self.filter()? } else { None };
        let index = CreateIndex { unique, if_not_exists, name, table, using, columns, filter };
        Ok(Statement::CreateIndex(index))
    }

    fn if_for_index(&mut self, words: &str) -> ParseResult<bool> {
        let found = self.eat(words);
        self.needs(!found || self.rules.clauses.index_if_exists, &format!("{words} for indexes"))?;
        Ok(found)
    }

    fn create_table(&mut self, temporary: bool) -> ParseResult<Statement> {
        let if_not_exists = self.eat("IF NOT EXISTS");
        let name = self.object()?;
        if self.rules.clauses.postgres_ddl && !temporary && !if_not_exists && self.eat("PARTITION OF") {
            return self.create_partition(name).map(Statement::CreatePartition);
        }
        let items = self.paren_list(Self::table_item)?;
        let options = self.table_options()?;
        let partition = self.partitioning()?;
        Ok(Statement::CreateTable(CreateTable { temporary, if_not_exists, name, items, options, partition }))
    }

    /// `PARTITION BY ...`, or nothing.
    fn partitioning(&mut self) -> ParseResult<Option<Partitioning>> {
        let mysql = self.rules.clauses.mysql_ddl;
        if !(mysql || self.rules.clauses.postgres_ddl) || !self.eat("PARTITION BY") {
            return Ok(None);
        }
        let by = if self.eat("HASH") {
            PartitionBy::Hash(self.parens(Self::expr)?)
        } else if mysql && self.eat("KEY") {
            PartitionBy::Key(self.paren_list(Self::ident)?)
        } else {
            return self.refuse("a way to partition that we know");
        };
        let count = if mysql && self.eat("PARTITIONS") { Some(self.number()?) } else { None };
        Ok(Some(Partitioning { by, count }))
    }

    /// What follows PARTITION OF.
    fn create_partition(&mut self, name: ObjectName) -> ParseResult<CreatePartition> {
        let of = self.object()?;
        self.expect("FOR VALUES WITH")?;
        self.parens(|p| {
            p.expect("MODULUS")?;
            let modulus = p.number()?;
            p.expect_symbol(",")?;
            p.expect("REMAINDER")?;
            Ok(CreatePartition { name, of, modulus, remainder: p.number()? })
        })
    }

    fn table_item(&mut self) -> ParseResult<TableItem> {
        let begins = ["CONSTRAINT", "PRIMARY KEY", "UNIQUE", "CHECK", "FOREIGN KEY"];
        let index = self.rules.clauses.mysql_ddl && (self.is("KEY") || self.is("INDEX"));
        if index || begins.iter().any(|w| self.is(w)) {
            return self.table_constraint().map(TableItem::Constraint);
        }
        let name = self.ident()?;
        let typeless = self.rules.clauses.sqlite_ddl && !self.is_ident_at(0);
        let ty = if typeless { None } else { Some(self.type_name()?) };
        let mut options = Vec::new();
        while let Some(option) = self.column_option()? {
            options.push(option);
        }
        Ok(TableItem::Column(TableColumn { name, ty, options }))
    }

    /// A type, in a column or in CAST.
    pub fn type_name(&mut self) -> ParseResult<TypeName> {
        let postgres = self.rules.clauses.postgres_ddl;
        if postgres && !self.is_ident_at(0) {
            return self.refuse("a type");
        }
        let mut words = vec![self.bare_word()?];
        if postgres && self.goes_on(&words[0]) {
            return self.refuse("a type that we read to its end");
        }
        let mut suffix = Vec::new();
        if self.rules.clauses.sqlite_ddl {
            // Any run of words is a type here.
            while self.is_ident_at(0) && !self.is("GENERATED") {
                words.push(self.bare_word()?);
            }
        } else {
            let more: &[&str] = match words[0].to_ascii_uppercase().as_str() {
                "DOUBLE" => &["PRECISION"],
                "CHAR" | "CHARACTER" => &["VARYING"],
                "BIT" | "NCHAR" if postgres => &["VARYING"],
                "SIGNED" | "UNSIGNED" if !postgres => &["INTEGER", "INT"],
                _ => &[],
            };
            if more.iter().any(|w| self.is(w)) {
                words.push(self.bare_word()?);
            }
        }
        let args = if self.is_symbol("(") {
            self.paren_list(|p| p.constant().map_or_else(|| p.refuse("a constant"), Ok))?
        } else {
            Vec::new()
        };
        if self.rules.clauses.mysql_ddl {
            while ["UNSIGNED", "SIGNED", "ZEROFILL"].iter().any(|w| self.is(w)) {
                suffix.push(self.bare_word()?);
            }
        }
        let is_time =
            words.len() == 1 && ["TIME", "TIMESTAMP"].iter().any(|w| w.eq_ignore_ascii_case(&words[0]));
        if postgres && is_time && (self.is("WITH TIME ZONE") || self.is("WITHOUT TIME ZONE")) {
            for _ in 0..3 {
                suffix.push(self.bare_word()?);
            }
        }
        Ok(TypeName { words, args, suffix })
    }

    /// Does one of PostgreSQL's types go on with words that could be taken for an alias behind it?
    fn goes_on(&self, word: &str) -> bool {
        let fields = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];
        match word.to_ascii_uppercase().as_str() {
            "INTERVAL" => fields.iter().any(|field| self.is(field)),
            "NATIONAL" => true,
            _ => false,
        }
    }

    fn column_option(&mut self) -> ParseResult<Option<ColumnOption>> {
        let mysql = self.rules.clauses.mysql_ddl;
        let option = if self.eat("CONSTRAINT") {
            ColumnOption::Name(self.ident()?)
        } else if self.eat("NOT NULL") {
            ColumnOption::NotNull
        } else if self.eat("NULL") {
            ColumnOption::Null
        } else if self.eat("DEFAULT") {
            ColumnOption::Default(self.simple_value()?)
        } else if mysql && self.eat("ON UPDATE") {
            ColumnOption::OnUpdate(self.simple_value()?)
        } else if mysql && self.eat("AUTO_INCREMENT") {
            ColumnOption::AutoIncrement
        } else if self.rules.clauses.sqlite_ddl && self.eat("AUTOINCREMENT") {
            ColumnOption::Autoincrement
        } else if self.eat("PRIMARY KEY") {
            ColumnOption::PrimaryKey(if self.rules.clauses.sqlite_ddl { self.keyword() } else { None })
        } else if mysql && self.eat("KEY") {
            ColumnOption::Key
        } else if self.eat("UNIQUE") {
            ColumnOption::Unique { key: mysql && self.eat("KEY") }
        } else if self.eat("CHECK") {
            ColumnOption::Check(self.parens(Self::expr)?)
        } else if self.eat("COLLATE") {
            ColumnOption::Collate(self.ident()?)
        } else if mysql && self.eat("CHARACTER SET") {
            ColumnOption::CharacterSet(self.ident()?)
        } else if mysql && self.eat("COMMENT") {
            match self.constant() {
                Some(text) => ColumnOption::Comment(text),
                None => return self.refuse("a string"),
            }
        } else if self.is("REFERENCES") {
            ColumnOption::References(self.references()?)
        } else if self.rules.clauses.postgres_ddl && self.eat("GENERATED ALWAYS AS IDENTITY") {
            ColumnOption::Identity { always: true }
        } else if self.rules.clauses.postgres_ddl && self.eat("GENERATED BY DEFAULT AS IDENTITY") {
            ColumnOption::Identity { always: false }
        } else if self.is("GENERATED ALWAYS AS") || self.is("AS") {
            let words = self.eat("GENERATED ALWAYS");
            self.expect("AS")?;
            let expr = self.parens(Self::expr)?;
            let stored = ["VIRTUAL", "STORED", "PERSISTENT"].iter().any(|w| self.is(w));
            let storage = if stored { Some(self.bare_word()?) } else { None };
            ColumnOption::Generated { words, expr, storage }
        } else {
            return Ok(None);
        };
        Ok(Some(option))
    }

    fn references(&mut self) -> ParseResult<References> {
        self.expect("REFERENCES")?;
        let table = self.object()?;
        let columns = if self.is_symbol("(") { self.paren_list(Self::ident)? } else { Vec::new() };
        let mut actions = Vec::new();
        while let Some(on_update) = self.choice(&[("ON DELETE", false), ("ON UPDATE", true)]) {
            let Some(action) = self.keyword() else { return self.refuse("what happens to referring rows") };
            actions.push(ForeignKeyAction { on_update, action });
        }
        Ok(References { table, columns, actions })
    }

    fn table_constraint(&mut self) -> ParseResult<TableConstraint> {
        let name = self.optional("CONSTRAINT", Self::ident)?;
        let kind = if self.eat("PRIMARY KEY") {
            Constraint::PrimaryKey(self.paren_list(Self::index_column)?)
        } else if self.eat("UNIQUE") {
            let word = if self.rules.clauses.mysql_ddl { self.keyword() } else { None };
            let index = self.index_name()?;
            Constraint::Unique { word, index, columns: self.paren_list(Self::index_column)? }
        } else if self.eat("CHECK") {
            Constraint::Check(self.parens(Self::expr)?)
        } else if self.eat("FOREIGN KEY") {
            let index = self.index_name()?;
            let columns = self.paren_list(Self::ident)?;
            Constraint::ForeignKey { index, columns, references: self.references()? }
        } else if let (None, Some(word)) = (&name, self.keyword()) {
            let index = self.index_name()?;
            Constraint::Index { word, index, columns: self.paren_list(Self::index_column)? }
        } else {
            return self.refuse("a constraint");
        };
        Ok(TableConstraint { name, kind })
    }

    fn index_name(&mut self) -> ParseResult<Option<Ident>> {
        if self.rules.clauses.mysql_ddl && !self.is_symbol("(") { self.ident().map(Some) } else { Ok(None) }
    }

    fn index_column(&mut self) -> ParseResult<IndexColumn> {
        let name = self.ident()?;
        let has_length = self.rules.clauses.mysql_ddl && self.is_symbol("(");
        let length = if has_length { Some(self.parens(Self::number)?) } else { None };
        Ok(IndexColumn { name, length, direction: self.keyword() })
    }

    fn table_options(&mut self) -> ParseResult<Vec<TableOption>> {
        let mut options = Vec::new();
        if self.rules.clauses.postgres_ddl {
            return Ok(options);
        }
        if self.rules.clauses.sqlite_ddl {
            while self.is("WITHOUT ROWID") || self.is("STRICT") {
                let mut words = vec![self.bare_word()?];
                if self.is("ROWID") {
                    words.push(self.bare_word()?);
                }
                options.push(TableOption { words, equals: false, value: None });
                if !self.eat_symbol(",") {
                    break;
                }
            }
            return Ok(options);
        }
        while self.peek(0).is_some() && !self.is("PARTITION BY") {
            let mut words = Vec::new();
            if self.is("DEFAULT") {
                words.push(self.bare_word()?);
            }
            if self.is("CHARACTER SET") {
                words.push(self.bare_word()?);
            } else if !self.peek(0).is_some_and(|t| OPTIONS.has(t.text)) {
                return self.refuse("a table option that we know");
            }
            words.push(self.bare_word()?);
            let equals = self.eat_symbol("=");
            options.push(TableOption { words, equals, value: Some(self.option_value()?) });
        }
        Ok(options)
    }

    /// ALTER TABLE, as far as it adds keys and constraints.
    pub fn alter(&mut self) -> ParseResult<Statement> {
        let clauses = &self.rules.clauses;
        self.needs(clauses.mysql_ddl || clauses.postgres_ddl, "ALTER TABLE ... ADD of a constraint")?;
        self.expect("ALTER TABLE")?;
        let table = self.object()?;
        let added = self.list(|p| {
            p.expect("ADD")?;
            p.table_constraint()
        })?;
        Ok(Statement::AlterTable(AlterTable { table, added }))
    }

    pub fn drop(&mut self) -> ParseResult<Statement> {
        self.expect("DROP")?;
        if self.eat("TABLE") {
            let if_exists = self.eat("IF EXISTS");
            let names = self.list(Self::object)?;
            return Ok(Statement::DropTable(DropTable { if_exists, names, behaviour: self.behaviour() }));
        }
        self.expect("INDEX")?;
        let if_exists = self.if_for_index("IF EXISTS")?;
        let name = self.object()?;
        let on = !self.rules.clauses.postgres_ddl && self.eat("ON");
        let table = if on { Some(self.object()?) } else { None };
        Ok(Statement::DropIndex(DropIndex { if_exists, name, table, behaviour: self.behaviour() }))
    }

    /// CASCADE or RESTRICT, or nothing.
    fn behaviour(&mut self) -> Option<DropBehaviour> {
        if self.rules.clauses.postgres_ddl { self.keyword() } else { None }
    }

    pub fn truncate(&mut self) -> ParseResult<Statement> {
        let postgres = self.rules.clauses.postgres_ddl;
        self.needs(self.rules.clauses.mysql_ddl || postgres, "TRUNCATE")?;
        self.expect("TRUNCATE")?;
        let table_word = self.eat("TABLE");
        let names = if postgres { self.list(Self::object)? } else { vec![self.object()?] };
        let identity = [("RESTART IDENTITY", true), ("CONTINUE IDENTITY", false)];
        let restart_identity = if postgres { self.choice(&identity) } else { None };
        let behaviour = self.behaviour();
        Ok(Statement::Truncate(Truncate { table_word, names, restart_identity, behaviour }))
    }
}
