//! Writing CREATE TABLE and CREATE INDEX.

use model::sql::{
    Action, ColumnOption, Constraint, CreateIndex, CreatePartition, CreateTable, DropBehaviour, IndexColumn,
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
            PartitionBy::Hash(expr) => {
                self.kw("HASH");
                self.symbol("(");
                self.expr(expr);
                self.symbol(")");
            }
            PartitionBy::Key(columns) => {
                self.kw("KEY");
                self.paren_list(columns, Out::ident);
            }
        }
        if let Some(count) = &partitioning.count {
            self.kw("PARTITIONS");
            self.exact(count);
        }
    }

    /// `CREATE TABLE ... PARTITION OF`.
    pub fn create_partition(&mut self, partition: &CreatePartition) {
        self.kw("CREATE TABLE");
        self.object(&partition.name);
        self.kw("PARTITION OF");
        self.object(&partition.of);
        self.kw("FOR VALUES WITH");
        self.symbol("(");
        self.kw("MODULUS");
        self.exact(&partition.modulus);
        self.symbol(",");
        self.kw("REMAINDER");
        self.exact(&partition.remainder);
        self.symbol(")");
    }

    fn table_column(&mut self, column: &TableColumn) {
        self.ident(&column.name);
        column.ty.iter().for_each(|ty| self.type_name(ty));
        column.options.iter().for_each(|o| self.column_option(o));
    }

    fn column_option(&mut self, option: &ColumnOption) {
        match option {
            ColumnOption::Name(name) => {
                self.kw("CONSTRAINT");
                self.ident(name);
            }
            ColumnOption::NotNull => self.kw("NOT NULL"),
            ColumnOption::Null => self.kw("NULL"),
            ColumnOption::Default(value) => {
                self.kw("DEFAULT");
                self.simple_value(value);
            }
            ColumnOption::OnUpdate(value) => {
                self.kw("ON UPDATE");
                self.simple_value(value);
            }
            ColumnOption::Identity { always } => {
                self.kw("GENERATED");
                self.kw(if *always { "ALWAYS" } else { "BY DEFAULT" });
                self.kw("AS IDENTITY");
            }
            ColumnOption::AutoIncrement => self.kw("AUTO_INCREMENT"),
            ColumnOption::Autoincrement => self.kw("AUTOINCREMENT"),
            ColumnOption::PrimaryKey(direction) => {
                self.kw("PRIMARY KEY");
                self.direction(*direction);
            }
            ColumnOption::Key => self.kw("KEY"),
            ColumnOption::Unique { key } => {
                self.kw("UNIQUE");
                self.kw_if(*key, "KEY");
            }
            ColumnOption::Check(expr) => {
                self.kw("CHECK");
                self.paren_list(std::slice::from_ref(expr), Out::expr);
            }
            ColumnOption::Collate(name) => {
                self.kw("COLLATE");
                self.ident(name);
            }
            ColumnOption::CharacterSet(name) => {
                self.kw("CHARACTER SET");
                self.ident(name);
            }
            ColumnOption::Comment(text) => {
                self.kw("COMMENT");
                self.literal(text);
            }
            ColumnOption::References(references) => self.references(references),
            ColumnOption::Generated { words, expr, storage } => {
                self.kw_if(*words, "GENERATED ALWAYS");
                self.kw("AS");
                self.paren_list(std::slice::from_ref(expr), Out::expr);
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
            self.kw(match action.action {
                Action::Cascade => "CASCADE",
                Action::Restrict => "RESTRICT",
                Action::SetNull => "SET NULL",
                Action::SetDefault => "SET DEFAULT",
                Action::NoAction => "NO ACTION",
            });
        }
    }

    fn table_constraint(&mut self, constraint: &TableConstraint) {
        if let Some(name) = &constraint.name {
            self.kw("CONSTRAINT");
            self.ident(name);
        }
        match &constraint.kind {
            Constraint::PrimaryKey(columns) => {
                self.kw("PRIMARY KEY");
                self.paren_list(columns, Out::index_column);
            }
            Constraint::Unique { word, index, columns } => {
                self.kw("UNIQUE");
                word.iter().for_each(|w| self.index_word(*w));
                index.iter().for_each(|name| self.ident(name));
                self.paren_list(columns, Out::index_column);
            }
            Constraint::Index { word, index, columns } => {
                self.index_word(*word);
                index.iter().for_each(|name| self.ident(name));
                self.paren_list(columns, Out::index_column);
            }
            Constraint::Check(expr) => {
                self.kw("CHECK");
                self.paren_list(std::slice::from_ref(expr), Out::expr);
            }
            Constraint::ForeignKey { index, columns, references } => {
                self.kw("FOREIGN KEY");
                index.iter().for_each(|name| self.ident(name));
                self.paren_list(columns, Out::ident);
                self.references(references);
            }
        }
    }

    fn index_column(&mut self, column: &IndexColumn) {
        self.ident(&column.name);
        if let Some(length) = &column.length {
            self.open_call();
            self.exact(length);
            self.symbol(")");
        }
        self.direction(column.direction);
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
        if let Some(method) = &create.using {
            self.kw("USING");
            self.ident(method);
        }
        self.paren_list(&create.columns, Out::index_column);
        self.filter(&create.filter);
    }

    /// CASCADE or RESTRICT, or nothing.
    pub fn behaviour(&mut self, behaviour: Option<DropBehaviour>) {
        match behaviour {
            Some(DropBehaviour::Cascade) => self.kw("CASCADE"),
            Some(DropBehaviour::Restrict) => self.kw("RESTRICT"),
            None => {}
        }
    }
}
