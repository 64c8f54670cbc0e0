//! The one reader of CREATE TABLE and its kin: tables with their columns, keys, checks, foreign keys and partitions, and which
//! statements fill them.
//!
//! Expressions stay trees: whoever computes with them knows more of values than this. Names are those that the server has: what
//! PostgreSQL folds is folded here.

use model::{
    Product,
    schema::KeyKind,
    sql::{
        Action, AlterTable, ColumnOption, Constraint, CreateIndex, CreateTable, Direction, Expr, Ident,
        IndexColumn, Insert, Literal, OptionValue, Partitioning, Quote, References, Statement, TableColumn,
        TableConstraint, TableItem, TableOption, TypeName,
    },
};

use super::{rules::Rules, stored_type::StoredType, words::ReservedWords};

/// PostgreSQL's types that count up.
static SERIALS: ReservedWords = ReservedWords::new("BIGSERIAL SERIAL SERIAL2 SERIAL4 SERIAL8 SMALLSERIAL");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pub product: Product,
    /// In the order in which they are created.
    pub tables: Vec<TableDefinition>,
    pub insertions: Vec<Insertion>,
}

/// A statement that fills a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    pub table: usize,
    /// Which statement of the setup it is.
    pub statement: usize,
    pub insert: Insert,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    pub name: String,
    pub columns: Vec<ColumnDefinition>,
    /// Keys and indexes as written, those of CREATE INDEX and ALTER TABLE last.
    pub keys: Vec<KeyDefinition>,
    pub checks: Vec<Expr>,
    /// Those that begin here.
    pub foreign_keys: Vec<ForeignKey>,
    /// Does a foreign key begin or end here? Then rows change without a statement that names the table.
    pub joined: bool,
    pub partitioning: Option<Partitioning>,
    /// Is it kept by an engine that is not the product's own?
    pub other_engine: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    pub name: String,
    pub type_name: Option<TypeName>,
    pub stored: StoredType,
    pub nullable: bool,
    pub default: Option<Expr>,
    pub generated: Option<GeneratedColumn>,
    /// Does it count up by itself?
    pub counts: bool,
    /// Is it set at every change?
    pub on_update: bool,
    /// Does it get values that nobody writes, by any of these?
    pub own_values: bool,
    pub collation: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedColumn {
    pub expr: Expr,
    /// Is it computed whenever it is read?
    pub is_virtual: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDefinition {
    /// None for the primary key and where the server makes the name.
    pub name: Option<String>,
    pub kind: KeyKind,
    pub columns: Vec<usize>,
    /// Which of them go down.
    pub descending: Vec<bool>,
    /// Does it hold only the beginning of a column?
    pub prefix: bool,
    /// Does it hold only some rows?
    pub partial: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub columns: Vec<usize>,
    /// None if that is not created before.
    pub parent: Option<usize>,
    /// The columns of the parent; empty if they cannot be told.
    pub keys: Vec<usize>,
    pub on_update: Action,
    pub on_delete: Action,
    /// Is it written at its column? MySQL reads that and does nothing.
    pub inline: bool,
}

impl Schema {
    pub(super) fn new(product: Product) -> Schema {
        Schema { product, tables: Vec::new(), insertions: Vec::new() }
    }

    /// A table by its name, without regard to case.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// Takes up a statement of the setup, or says why it is none that makes or fills tables.
    pub(super) fn add(&mut self, number: usize, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::CreateTable(create) if create.temporary => Err("a temporary table".to_string()),
            Statement::CreateTable(create) => self.create(create),
            // Its rows are those of the table that it is a part of.
            Statement::CreatePartition(create) => self.position(&create.of.name).map(|_| ()),
            Statement::CreateIndex(create) => self.index(create),
            Statement::AlterTable(alter) => self.alter(alter),
            Statement::Insert(insert) => {
                let table = self.position(&insert.table.name)?;
                self.insertions.push(Insertion { table, statement: number, insert: insert.clone() });
                Ok(())
            }
            Statement::Pragma(_) => Ok(()),
            _ => Err("neither CREATE TABLE, CREATE INDEX, ALTER TABLE ... ADD nor INSERT".to_string()),
        }
    }

    /// The table that a name means.
    pub(super) fn position(&self, ident: &Ident) -> Result<usize, String> {
        let name = self.name(ident);
        let names = self.tables.iter().map(|table| table.name.as_str());
        find(self.rules(), names, &name).ok_or_else(|| format!("table {name} is not created before it"))
    }

    fn rules(&self) -> &'static Rules {
        Rules::of(self.product)
    }

    /// A name as the server has it.
    fn name(&self, ident: &Ident) -> String {
        if self.rules().folds_names && ident.quote == Quote::Bare {
            ident.name.to_ascii_lowercase()
        } else {
            ident.name.clone()
        }
    }

    fn create(&mut self, create: &CreateTable) -> Result<(), String> {
        let mut table = TableDefinition {
            name: self.name(&create.name.name),
            columns: Vec::new(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            joined: false,
            partitioning: create.partition.clone(),
            other_engine: create.options.iter().any(other_engine),
        };
        for item in &create.items {
            if let TableItem::Column(column) = item {
                self.column(&mut table, column);
            }
        }
        for item in &create.items {
            match item {
                TableItem::Column(column) => self.column_keys(&mut table, column)?,
                TableItem::Constraint(constraint) => self.constraint(&mut table, constraint)?,
            }
        }
        self.note_primary(&mut table, create);
        for column in &mut table.columns {
            column.own_values |= column.counts || column.on_update || column.generated.is_some();
        }
        self.tables.push(table);
        Ok(())
    }

    fn constraint(
        &mut self,
        table: &mut TableDefinition,
        constraint: &TableConstraint,
    ) -> Result<(), String> {
        match &constraint.kind {
            Constraint::PrimaryKey(columns) => {
                table.keys.push(self.key(table, None, KeyKind::Primary, columns)?);
            }
            Constraint::Unique { index, columns, .. } => {
                let name = index.as_ref().or(constraint.name.as_ref());
                table.keys.push(self.key(table, name, KeyKind::Unique, columns)?);
            }
            Constraint::Index { index, columns, .. } => {
                table.keys.push(self.key(table, index.as_ref(), KeyKind::Plain, columns)?);
            }
            Constraint::Check(expr) => table.checks.push(expr.clone()),
            Constraint::ForeignKey { columns, references, .. } => {
                self.refer(table, columns, references, false)?;
            }
        }
        Ok(())
    }

    fn alter(&mut self, alter: &AlterTable) -> Result<(), String> {
        let at = self.position(&alter.table.name)?;
        let mut table = self.tables[at].clone();
        for constraint in &alter.added {
            self.constraint(&mut table, constraint)?;
            if let Constraint::PrimaryKey(columns) = &constraint.kind {
                for column in self.columns(&table, columns.iter().map(|column| &column.name))? {
                    table.columns[column].nullable = false;
                }
            }
        }
        self.tables[at] = table;
        Ok(())
    }

    fn column(&self, table: &mut TableDefinition, column: &TableColumn) {
        let clauses = &self.rules().clauses;
        let serial = column.ty.as_ref().is_some_and(|ty| match &ty.words[..] {
            // Shorthand of MySQL for BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
            [word] if clauses.mysql_ddl => word.eq_ignore_ascii_case("SERIAL"),
            // Shorthand of PostgreSQL for a whole number NOT NULL with a sequence.
            [word] if clauses.postgres_ddl => SERIALS.has(word),
            _ => false,
        });
        let mut read = ColumnDefinition {
            name: self.name(&column.name),
            stored: column.ty.as_ref().map_or(StoredType::Other, |ty| StoredType::of(self.product, ty)),
            type_name: column.ty.clone(),
            nullable: !serial,
            default: None,
            generated: None,
            counts: serial,
            on_update: false,
            own_values: false,
            collation: None,
        };
        for option in &column.options {
            match option {
                ColumnOption::NotNull => read.nullable = false,
                ColumnOption::Default(expr) => read.default = Some(expr.clone()),
                ColumnOption::OnUpdate(_) => read.on_update = true,
                ColumnOption::AutoIncrement | ColumnOption::Autoincrement => read.counts = true,
                ColumnOption::Identity { .. } => (read.nullable, read.counts) = (false, true),
                ColumnOption::Generated { expr, storage, .. } => {
                    let is_virtual = storage.as_ref().is_none_or(|word| word.eq_ignore_ascii_case("VIRTUAL"));
                    read.generated = Some(GeneratedColumn { expr: expr.clone(), is_virtual });
                }
                ColumnOption::Collate(name) => read.collation = Some(name.name.clone()),
                ColumnOption::Check(expr) => table.checks.push(expr.clone()),
                ColumnOption::Name(_)
                | ColumnOption::Null
                | ColumnOption::PrimaryKey(_)
                | ColumnOption::Key
                | ColumnOption::Unique { .. }
                | ColumnOption::References(_)
                | ColumnOption::CharacterSet(_)
                | ColumnOption::Comment(_) => {}
            }
        }
        table.columns.push(read);
    }

    fn column_keys(&mut self, table: &mut TableDefinition, column: &TableColumn) -> Result<(), String> {
        let part = [IndexColumn { name: column.name.clone(), length: None, direction: None }];
        let serial = |ty: &TypeName| matches!(&ty.words[..], [word] if word.eq_ignore_ascii_case("SERIAL"));
        if self.rules().clauses.mysql_ddl && column.ty.as_ref().is_some_and(serial) {
            table.keys.push(self.key(table, None, KeyKind::Unique, &part)?);
        }
        for option in &column.options {
            match option {
                ColumnOption::PrimaryKey(_) | ColumnOption::Key => {
                    table.keys.push(self.key(table, None, KeyKind::Primary, &part)?);
                }
                ColumnOption::Unique { .. } => {
                    table.keys.push(self.key(table, None, KeyKind::Unique, &part)?);
                }
                ColumnOption::References(references) => {
                    self.refer(table, std::slice::from_ref(&column.name), references, true)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// No column of a primary key is NULL, except in SQLite's ordinary tables.
    fn note_primary(&self, table: &mut TableDefinition, create: &CreateTable) {
        let sqlite = self.rules().clauses.sqlite_ddl;
        let strict = !sqlite || create.options.iter().any(|o| o.words[0].eq_ignore_ascii_case("WITHOUT"));
        let Some(primary) = table.keys.iter().find(|key| key.kind == KeyKind::Primary) else { return };
        for &at in &primary.columns {
            let column = &mut table.columns[at];
            let whole = |ty: &TypeName| {
                matches!(&ty.words[..], [word] if word.eq_ignore_ascii_case("INTEGER")) && ty.args.is_empty()
            };
            let rowid = !strict && primary.columns.len() == 1 && column.type_name.as_ref().is_some_and(whole);
            column.nullable &= !(strict || rowid);
            column.counts |= rowid;
            // It lets NULL in, and counts such a column up by itself if it is alone and a whole number.
            column.own_values |= sqlite;
        }
    }

    fn key(
        &self,
        table: &TableDefinition,
        name: Option<&Ident>,
        kind: KeyKind,
        columns: &[IndexColumn],
    ) -> Result<KeyDefinition, String> {
        Ok(KeyDefinition {
            name: name.map(|name| self.name(name)),
            kind,
            columns: self.columns(table, columns.iter().map(|column| &column.name))?,
            descending: columns.iter().map(|column| column.direction == Some(Direction::Desc)).collect(),
            prefix: columns.iter().any(|column| column.length.is_some()),
            partial: false,
        })
    }

    fn columns<'i>(
        &self,
        table: &TableDefinition,
        names: impl Iterator<Item = &'i Ident>,
    ) -> Result<Vec<usize>, String> {
        let position = |ident: &Ident| {
            let name = self.name(ident);
            let names = table.columns.iter().map(|column| column.name.as_str());
            find(self.rules(), names, &name)
                .ok_or_else(|| format!("column {name} is not in table {}", table.name))
        };
        names.map(position).collect()
    }

    fn refer(
        &mut self,
        table: &mut TableDefinition,
        columns: &[Ident],
        references: &References,
        inline: bool,
    ) -> Result<(), String> {
        let own = self.name(&references.table.name) == table.name;
        // A table that refers to itself as it is made comes next.
        let parent = self.position(&references.table.name).ok().or(own.then_some(self.tables.len()));
        let keys = {
            let to = if own { Some(&*table) } else { parent.map(|parent| &self.tables[parent]) };
            match (to, references.columns.is_empty()) {
                (Some(to), true) => {
                    let primary = to.keys.iter().find(|key| key.kind == KeyKind::Primary);
                    primary.map(|key| key.columns.clone()).unwrap_or_default()
                }
                (Some(to), false) => self.columns(to, references.columns.iter()).unwrap_or_default(),
                (None, _) => Vec::new(),
            }
        };
        let action = |update: bool| {
            let of = references.actions.iter().find(|action| action.on_update == update);
            of.map_or(Action::NoAction, |action| action.action)
        };
        let (on_update, on_delete) = (action(true), action(false));
        let columns = self.columns(table, columns.iter())?;
        table.foreign_keys.push(ForeignKey { columns, parent, keys, on_update, on_delete, inline });
        table.joined = true;
        if let Some(parent) = parent.filter(|_| !own) {
            self.tables[parent].joined = true;
        }
        Ok(())
    }

    fn index(&mut self, create: &CreateIndex) -> Result<(), String> {
        let at = self.position(&create.table.name)?;
        let kind = if create.unique { KeyKind::Unique } else { KeyKind::Plain };
        let key = self.key(&self.tables[at], Some(&create.name.name), kind, &create.columns)?;
        self.tables[at].keys.push(KeyDefinition { partial: create.filter.is_some(), ..key });
        Ok(())
    }
}

impl TableDefinition {
    /// A column by its name, without regard to case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// What must be unique for all rows.
    pub fn uniques(&self) -> impl Iterator<Item = &KeyDefinition> {
        self.keys.iter().filter(|key| key.kind != KeyKind::Plain && !key.partial)
    }

    /// Does a key name every row: a primary key, or a unique one without NULL?
    pub fn has_solid_key(&self) -> bool {
        self.uniques().any(|key| {
            let filled = |&column: &usize| !self.columns[column].nullable;
            key.kind == KeyKind::Primary || !key.prefix && key.columns.iter().all(filled)
        })
    }
}

/// Where names are folded, they are told apart by case; elsewhere only if both are there.
fn find<'n>(rules: &Rules, mut names: impl Iterator<Item = &'n str> + Clone, name: &str) -> Option<usize> {
    let alike = names.clone().position(|known| known.eq_ignore_ascii_case(name));
    names.position(|known| known == name).or(alike.filter(|_| !rules.folds_names))
}

/// `ENGINE = MyISAM`, which knows no transactions.
fn other_engine(option: &TableOption) -> bool {
    let engine = option.words.iter().any(|word| word.eq_ignore_ascii_case("ENGINE"));
    engine
        && match &option.value {
            Some(OptionValue::Word(word)) => !word.name.eq_ignore_ascii_case("InnoDB"),
            Some(OptionValue::Literal(Literal::Text(text))) => {
                !text.trim_matches(['\'', '"']).eq_ignore_ascii_case("InnoDB")
            }
            Some(OptionValue::Literal(_)) | None => true,
        }
}
