//! Writing CREATE TABLE, CREATE INDEX and ALTER TABLE.

use model::sql::{
    AlterTable, ColumnOption, Constraint, CreateIndex, CreatePartition, CreateTable, IndexColumn, Keyword,
    OptionValue, PartitionBy, Partitioning, References, TableColumn, TableConstraint, TableItem, TableOption,
};

use super::print::Out;

impl Out {
    pub fn create_table(&mut self, create: &CreateTable) {
        self.kw("CREATE");
        self.kw_if(create.temporary, "TEMPORARY");
        self.kw("TABLE");
        self.kw_if(create.if_not_exists, "IF NOT EXISTS");
        self.object(&create.name);
        self.paren_list(&create.items, |out, item| match item {
            TableItem::Column(column) => out.table_column(column),
            TableItem::Constraint(constraint) => out.table_constraint(constraint),
        });
        if self.rules.clauses.sqlite_ddl {
            self.list(&create.options, Out::table_option);
        } else {
            create.options.iter().for_each(|o| self.table_option(o));
        }
        create.partition.iter().for_each(|p| self.partitioning(p));
    }

    fn partitioning(&mut self, partitioning: &Partitioning) {
        self.kw("PARTITION BY");
        match &partitioning.by {
            PartitionBy::Hash(expr) => self.after("HASH", expr, Out::paren_expr),
            PartitionBy::Key(columns) => {
                self.kw("KEY");
                self.paren_list(columns, Out::ident);
            }
        }
        self.optional("PARTITIONS", &partitioning.count, |out, count| out.exact(count));
    }

    /// `CREATE TABLE ... PARTITION OF`.
    pub fn create_partition(&mut self, partition: &CreatePartition) {
        self.after("CREATE TABLE", &partition.name, Out::object);
        self.after("PARTITION OF", &partition.of, Out::object);
        self.kw("FOR VALUES WITH");
        self.paren_list(
            &[("MODULUS", &partition.modulus), ("REMAINDER", &partition.remainder)],
            |out, (word, number)| out.after(word, number.as_str(), Out::exact),
        );
    }

    fn table_column(&mut self, column: &TableColumn) {
        self.ident(&column.name);
        column.ty.iter().for_each(|ty| self.type_name(ty));
        column.options.iter().for_each(|o| self.column_option(o));
    }

    fn column_option(&mut self, option: &ColumnOption) {
        match option {
            ColumnOption::Name(name) => self.after("CONSTRAINT", name, Out::ident),
            ColumnOption::NotNull => self.kw("NOT NULL"),
            ColumnOption::Null => self.kw("NULL"),
            ColumnOption::Default(value) => self.after("DEFAULT", value, Out::simple_value),
            ColumnOption::OnUpdate(value) => self.after("ON UPDATE", value, Out::simple_value),
            ColumnOption::Identity { always } => {
                self.kw("GENERATED");
                self.kw(if *always { "ALWAYS" } else { "BY DEFAULT" });
                self.kw("AS IDENTITY");
            }
            ColumnOption::AutoIncrement => self.kw("AUTO_INCREMENT"),
            ColumnOption::Autoincrement => self.kw("AUTOINCREMENT"),
            ColumnOption::PrimaryKey(direction) => {
                self.kw("PRIMARY KEY");
                self.keyword(*direction);
            }
            ColumnOption::Key => self.kw("KEY"),
            ColumnOption::Unique { key } => {
                self.kw("UNIQUE");
                self.kw_if(*key, "KEY");
            }
            ColumnOption::Check(expr) => self.after("CHECK", expr, Out::paren_expr),
            ColumnOption::Collate(name) => self.after("COLLATE", name, Out::ident),
            ColumnOption::CharacterSet(name) => self.after("CHARACTER SET", name, Out::ident),
            ColumnOption::Comment(text) => self.after("COMMENT", text, Out::literal),
            ColumnOption::References(references) => self.references(references),
            ColumnOption::Generated { words, expr, storage } => {
                self.kw_if(*words, "GENERATED ALWAYS");
                self.after("AS", expr, Out::paren_expr);
                storage.iter().for_each(|word| self.exact(word));
            }
        }
    }

    fn references(&mut self, references: &References) {
        self.kw("REFERENCES");
        self.object(&references.table);
        if !references.columns.is_empty() {
            self.paren_list(&references.columns, Out::ident);
        }
        for action in &references.actions {
            self.kw(if action.on_update { "ON UPDATE" } else { "ON DELETE" });
            self.kw(action.action.sql());
        }
    }

    fn table_constraint(&mut self, constraint: &TableConstraint) {
        self.optional("CONSTRAINT", &constraint.name, Out::ident);
        match &constraint.kind {
            Constraint::PrimaryKey(columns) => {
                self.kw("PRIMARY KEY");
                self.paren_list(columns, Out::index_column);
            }
            Constraint::Unique { word, index, columns } => {
                self.kw("UNIQUE");
                self.keyword(*word);
                index.iter().for_each(|name| self.ident(name));
                self.paren_list(columns, Out::index_column);
            }
            Constraint::Index { word, index, columns } => {
                self.kw(word.sql());
                index.iter().for_each(|name| self.ident(name));
                self.paren_list(columns, Out::index_column);
            }
            Constraint::Check(expr) => self.after("CHECK", expr, Out::paren_expr),
            Constraint::ForeignKey { index, columns, references } => {
                self.kw("FOREIGN KEY");
                index.iter().for_each(|name| self.ident(name));
                self.paren_list(columns, Out::ident);
                self.references(references);
            }
        }
    }

    pub fn alter_table(&mut self, alter: &AlterTable) {
        self.after("ALTER TABLE", &alter.table, Out::object);
        self.list(&alter.added, |out, constraint| out.after("ADD", constraint, Out::table_constraint));
    }

    fn index_column(&mut self, column: &IndexColumn) {
        self.ident(&column.name);
        if let Some(length) = &column.length {
            self.open_call();
            self.exact(length);
            self.symbol(")");
        }
        self.keyword(column.direction);
    }

    fn table_option(&mut self, option: &TableOption) {
        option.words.iter().for_each(|w| self.exact(w));
        if option.equals {
            self.glue();
            self.symbol("=");
            self.glue();
        }
        option.value.iter().for_each(|v| self.option_value(v));
    }

    /// A word or a constant.
    pub fn option_value(&mut self, value: &OptionValue) {
        match value {
            OptionValue::Word(word) => self.word(word),
            OptionValue::Literal(literal) => self.literal(literal),
        }
    }

    pub fn create_index(&mut self, create: &CreateIndex) {
        self.kw("CREATE");
        self.kw_if(create.unique, "UNIQUE");
        self.kw("INDEX");
        self.kw_if(create.if_not_exists, "IF NOT EXISTS");
        self.object(&create.name);
        self.kw("ON");
        self.object(&create.table);
        self.optional("USING", &create.using, Out::ident);
        self.paren_list(&create.columns, Out::index_column);
        self.filter(&create.filter);
    }
}
