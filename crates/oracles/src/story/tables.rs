//! The tables of a setup as a judge needs them: columns with their types and defaults, and what must be unique.
//!
//! Only setups that create tables and indexes and insert constants are read; about any other nothing is said.

use dialect::{ParsedSetup, SqlFamily};
use model::{
    Product, Reason,
    sql::{
        ColumnOption, Constraint, CreateTable, Expr, IndexColumn, Insert, Statement, TableColumn, TableItem,
        TypeName,
    },
};

/// Names are compared without regard to case: too alike is harmless here, because then nothing is found.
pub fn alike(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// What a setup makes.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The tables, in order.
    pub all: Vec<Table>,
    /// The statements that fill them.
    pub inserts: Vec<Insert>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// What must be unique in it.
    pub keys: Vec<Key>,
    /// Does a foreign key begin or end here? Then rows change without a statement that names the table.
    pub foreign_keys: bool,
    /// Is it kept by an engine that is not the product's own?
    pub foreign_engine: bool,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// May it hold NULL?
    pub nullable: bool,
    /// What it holds where nothing is said; none without DEFAULT.
    pub default: Option<Expr>,
    /// Does it get values that nobody writes (generated, counted up, set at every change)?
    pub own_values: bool,
}

/// What must be unique: no two rows have the same in all of these columns, unless one is NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The primary key?
    pub primary: bool,
    /// Its columns, by index.
    pub columns: Vec<usize>,
}

/// A type, as far as it says how a constant comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number between these.
    Int(i128, i128),
    /// Digits in all, and behind the point.
    Decimal(u32, u32),
    /// Characters, at most so many.
    Text(usize),
    /// Characters, padded with blanks.
    Padded(usize),
    /// Bytes.
    Bytes,
    /// TRUE and FALSE as values of their own.
    Bool,
    /// A date.
    Date,
    /// A date and a time, in whole seconds.
    DateTime,
    /// Anything else. Two different values of it may be written alike.
    Other,
}

impl Tables {
    /// Reads a setup; the reason why not has a name that can be counted.
    pub fn read(setup: &ParsedSetup) -> Result<Tables, Reason> {
        let mut tables = Tables::default();
        for tree in setup.trees() {
            match tree {
                Some(Statement::CreateTable(create)) if !create.temporary => {
                    tables.create(setup.product, create);
                }
                Some(Statement::CreateIndex(index)) => {
                    if let (true, None, Some(at)) =
                        (index.unique, &index.filter, tables.find(&index.table.name.name))
                    {
                        tables.all[at].add_key(false, &index.columns);
                    }
                }
                // Its rows are those of the table that it is a part of.
                Some(Statement::CreatePartition(_)) => {}
                Some(Statement::Insert(insert)) => tables.inserts.push(insert.clone()),
                Some(_) | None => return Err(Reason::SetupNotRead),
            }
        }
        Ok(tables)
    }

    /// A table by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|table| alike(&table.name, name))
    }

    fn create(&mut self, product: Product, create: &CreateTable) {
        let mut table = Table {
            name: create.name.name.name.clone(),
            columns: Vec::new(),
            keys: Vec::new(),
            foreign_keys: false,
            foreign_engine: create.options.iter().any(foreign_engine),
        };
        let mut refers = Vec::new();
        for item in &create.items {
            match item {
                TableItem::Column(column) => {
                    table.column_of(product, column);
                    let references = column.options.iter().filter_map(|option| match option {
                        ColumnOption::References(references) => Some(references.table.name.name.clone()),
                        _ => None,
                    });
                    refers.extend(references);
                }
                TableItem::Constraint(constraint) => match &constraint.kind {
                    Constraint::PrimaryKey(columns) => table.add_key(true, columns),
                    Constraint::Unique { columns, .. } => table.add_key(false, columns),
                    Constraint::ForeignKey { references, .. } => {
                        refers.push(references.table.name.name.clone())
                    }
                    Constraint::Index { .. } | Constraint::Check(_) => {}
                },
            }
        }
        let primary: Vec<usize> =
            table.keys.iter().filter(|key| key.primary).flat_map(|key| key.columns.clone()).collect();
        for column in primary {
            match dialect::of(product).family {
                // It lets NULL in, and counts such a column up by itself if it is alone and a whole number.
                SqlFamily::Sqlite => table.columns[column].own_values = true,
                SqlFamily::Mysql | SqlFamily::Postgres => table.columns[column].nullable = false,
            }
        }
        table.foreign_keys = !refers.is_empty();
        for name in refers {
            if let Some(at) = self.find(&name) {
                self.all[at].foreign_keys = true;
            }
        }
        self.all.push(table);
    }
}

/// `ENGINE = MyISAM`, which knows no transactions.
fn foreign_engine(option: &model::sql::TableOption) -> bool {
    use model::sql::{Literal, OptionValue};
    let engine = option.words.iter().any(|word| alike(word, "ENGINE"));
    engine
        && match &option.value {
            Some(OptionValue::Word(word)) => !alike(&word.name, "InnoDB"),
            Some(OptionValue::Literal(Literal::Text(text))) => {
                !alike(text.trim_matches(['\'', '"']), "InnoDB")
            }
            Some(OptionValue::Literal(_)) | None => true,
        }
}

impl Table {
    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| alike(&column.name, name))
    }

    fn add_key(&mut self, primary: bool, columns: &[IndexColumn]) {
        let columns: Option<Vec<usize>> =
            columns.iter().map(|column| self.column(&column.name.name)).collect();
        if let Some(columns) = columns {
            self.keys.push(Key { primary, columns });
        }
    }

    fn column_of(&mut self, product: Product, column: &TableColumn) {
        let ty = column.ty.as_ref().map_or(Type::Other, |ty| Type::read(product, ty));
        let serial = column
            .ty
            .as_ref()
            .is_some_and(|ty| ty.words.iter().any(|word| word.to_ascii_uppercase().contains("SERIAL")));
        let at = self.columns.len();
        let mut read = Column {
            name: column.name.name.clone(),
            ty,
            nullable: !serial,
            default: None,
            own_values: serial,
        };
        let key = |primary| Key { primary, columns: vec![at] };
        for option in &column.options {
            match option {
                ColumnOption::NotNull => read.nullable = false,
                ColumnOption::Default(expr) => read.default = Some(expr.clone()),
                ColumnOption::OnUpdate(_)
                | ColumnOption::AutoIncrement
                | ColumnOption::Autoincrement
                | ColumnOption::Identity { .. }
                | ColumnOption::Generated { .. } => read.own_values = true,
                ColumnOption::PrimaryKey(_) | ColumnOption::Key => self.keys.push(key(true)),
                ColumnOption::Unique { .. } => self.keys.push(key(false)),
                ColumnOption::Name(_)
                | ColumnOption::Null
                | ColumnOption::Check(_)
                | ColumnOption::Collate(_)
                | ColumnOption::CharacterSet(_)
                | ColumnOption::Comment(_)
                | ColumnOption::References(_) => {}
            }
        }
        self.columns.push(read);
    }
}

impl Type {
    fn read(product: Product, ty: &TypeName) -> Type {
        let words: Vec<String> = ty.words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let number = |i: usize| match ty.args.get(i) {
            Some(model::sql::Literal::Number(text)) => text.parse::<u32>().ok(),
            Some(_) | None => None,
        };
        let unsigned = ty.suffix.iter().any(|word| alike(word, "UNSIGNED"));
        let int = |bits: u32| match unsigned {
            true => Type::Int(0, (1 << bits) - 1),
            false => Type::Int(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        };
        let plain = ty.suffix.iter().all(|word| alike(word, "UNSIGNED") || alike(word, "SIGNED"));
        if !plain {
            return Type::Other;
        }
        let family = dialect::of(product).family;
        let (postgres, sqlite) = (family == SqlFamily::Postgres, family == SqlFamily::Sqlite);
        match words[..] {
            // SQLite takes any whole number of 64 bits, whatever the column is called.
            ["TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "INTEGER" | "BIGINT"] if sqlite => int(64),
            ["TINYINT" | "INT1"] => int(8),
            ["SMALLINT" | "INT2"] if postgres || words[0] == "SMALLINT" => int(16),
            ["MEDIUMINT"] => int(24),
            ["INT" | "INTEGER" | "INT4"] => int(32),
            ["BIGINT" | "INT8"] => int(64),
            ["BOOL" | "BOOLEAN"] if postgres => Type::Bool,
            ["BOOL" | "BOOLEAN"] if !sqlite => int(8),
            ["DECIMAL" | "NUMERIC" | "DEC"] if !sqlite && !ty.args.is_empty() => {
                Type::Decimal(number(0).unwrap_or(0), number(1).unwrap_or(0))
            }
            ["CHAR" | "CHARACTER"] if !sqlite => Type::Padded(number(0).unwrap_or(1) as usize),
            ["VARCHAR" | "CHAR"] if sqlite => Type::Text(usize::MAX),
            ["VARCHAR"] => Type::Text(number(0).map_or(usize::MAX, |n| n as usize)),
            ["TEXT"] => Type::Text(if postgres || sqlite { usize::MAX } else { 16_000 }),
            ["BLOB" | "BYTEA" | "BINARY" | "VARBINARY"] => Type::Bytes,
            ["DATE"] if !sqlite => Type::Date,
            ["DATETIME"] if !sqlite && ty.args.is_empty() => Type::DateTime,
            ["TIMESTAMP"] if postgres => Type::DateTime,
            _ => Type::Other,
        }
    }

    /// Are two values that are written alike the same value? Not so for floating point, of which few digits are shown.
    pub fn shows_all(self) -> bool {
        self != Type::Other
    }
}
