//! Statements that change the schema.

use super::{Direction, Expr, Ident, Literal, ObjectName, keyword::keywords};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTable {
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: ObjectName,
    /// Columns and constraints, in written order.
    pub items: Vec<TableItem>,
    /// What stands after the closing parenthesis.
    pub options: Vec<TableOption>,
    /// How its rows are dealt over partitions.
    pub partition: Option<Partitioning>,
}

/// `PARTITION BY HASH (a) PARTITIONS 3`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    pub by: PartitionBy,
    /// Over how many; PostgreSQL names its partitions one by one instead, by [`CreatePartition`].
    pub count: Option<String>,
}

/// How rows are dealt over partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionBy {
    /// `HASH (a)`
    Hash(Expr),
    /// `KEY (a, b)`
    Key(Vec<Ident>),
}

/// PostgreSQL's `CREATE TABLE t_0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatePartition {
    pub name: ObjectName,
    /// The table whose rows it holds.
    pub of: ObjectName,
    /// The number of partitions.
    pub modulus: String,
    /// Which one it is, from 0.
    pub remainder: String,
}

/// A line of CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableItem {
    Column(TableColumn),
    /// A key or another constraint.
    Constraint(TableConstraint),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    pub name: Ident,
    /// Its type; SQLite can do without.
    pub ty: Option<TypeName>,
    /// What else is said about it, in written order.
    pub options: Vec<ColumnOption>,
}

/// A type, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `INT`, or `DOUBLE PRECISION` as two words.
    pub words: Vec<String>,
    /// In parentheses: lengths, or the values of an ENUM.
    pub args: Vec<Literal>,
    /// After them: `UNSIGNED`, `ZEROFILL`.
    pub suffix: Vec<String>,
}

impl TypeName {
    /// A type of one word.
    pub fn new(word: &str) -> TypeName {
        TypeName { words: vec![word.to_string()], args: Vec::new(), suffix: Vec::new() }
    }
}

/// What is said about a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnOption {
    /// `CONSTRAINT name`, which names the option after it.
    Name(Ident),
    NotNull,
    Null,
    /// `DEFAULT x`
    Default(Expr),
    /// `ON UPDATE x`
    OnUpdate(Expr),
    /// `AUTO_INCREMENT`
    AutoIncrement,
    Autoincrement,
    /// `PRIMARY KEY [ASC]`
    PrimaryKey(Option<Direction>),
    /// `KEY`, which means the primary key here
    Key,
    /// `UNIQUE [KEY]`
    Unique {
        /// Was `KEY` written?
        key: bool,
    },
    /// `CHECK (x)`
    Check(Expr),
    /// `COLLATE name`
    Collate(Ident),
    /// `CHARACTER SET name`
    CharacterSet(Ident),
    /// `COMMENT 'text'`
    Comment(Literal),
    /// `REFERENCES t (a)`
    References(References),
    /// `GENERATED ALWAYS AS IDENTITY`
    Identity {
        /// `ALWAYS`? Otherwise `BY DEFAULT`.
        always: bool,
    },
    /// `[GENERATED ALWAYS] AS (x) [STORED]`
    Generated {
        /// Was `GENERATED ALWAYS` written?
        words: bool,
        /// The value.
        expr: Expr,
        /// `VIRTUAL`, `STORED` or `PERSISTENT`, as written.
        storage: Option<String>,
    },
}

/// `REFERENCES t (a) ON DELETE CASCADE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    pub table: ObjectName,
    pub columns: Vec<Ident>,
    /// What happens, in written order.
    pub actions: Vec<ForeignKeyAction>,
}

/// `ON DELETE CASCADE`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForeignKeyAction {
    /// `ON UPDATE`? Otherwise `ON DELETE`.
    pub on_update: bool,
    pub action: Action,
}

/// A constraint of a whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableConstraint {
    /// After `CONSTRAINT`.
    pub name: Option<Ident>,
    pub kind: Constraint,
}

/// What a constraint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// `PRIMARY KEY (a)`
    PrimaryKey(Vec<IndexColumn>),
    /// `UNIQUE KEY i (a)`
    Unique {
        /// KEY or INDEX after UNIQUE.
        word: Option<IndexWord>,
        index: Option<Ident>,
        columns: Vec<IndexColumn>,
    },
    /// `KEY i (a)`
    Index {
        /// KEY or INDEX.
        word: IndexWord,
        index: Option<Ident>,
        columns: Vec<IndexColumn>,
    },
    /// `CHECK (x)`
    Check(Expr),
    /// `FOREIGN KEY (a) REFERENCES t (b)`
    ForeignKey {
        /// A name before the columns.
        index: Option<Ident>,
        columns: Vec<Ident>,
        /// What they refer to.
        references: References,
    },
}

/// A column of an index: `a(10) DESC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The column.
    pub name: Ident,
    /// Only so many characters of it.
    pub length: Option<String>,
    /// ASC or DESC.
    pub direction: Option<Direction>,
}

impl From<&str> for IndexColumn {
    fn from(name: &str) -> IndexColumn {
        IndexColumn { name: name.into(), length: None, direction: None }
    }
}

/// `ENGINE = InnoDB`, `WITHOUT ROWID`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOption {
    /// Its words, as written: `ENGINE`, `DEFAULT CHARSET`.
    pub words: Vec<String>,
    /// Was `=` written?
    pub equals: bool,
    pub value: Option<OptionValue>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    Word(Ident),
    /// A number or a string.
    Literal(Literal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateIndex {
    pub unique: bool,
    pub if_not_exists: bool,
    pub name: ObjectName,
    pub table: ObjectName,
    /// `USING btree`.
    pub using: Option<Ident>,
    pub columns: Vec<IndexColumn>,
    /// WHERE: only these rows are in it.
    pub filter: Option<Expr>,
}

/// `ALTER TABLE t ADD UNIQUE KEY i (a), ADD KEY j (b)`: keys and constraints of a table that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterTable {
    pub table: ObjectName,
    /// Each behind an ADD of its own.
    pub added: Vec<TableConstraint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropTable {
    pub if_exists: bool,
    /// The tables.
    pub names: Vec<ObjectName>,
    /// What happens to what depends on them.
    pub behaviour: Option<DropBehaviour>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIndex {
    pub if_exists: bool,
    /// The index.
    pub name: ObjectName,
    /// After ON.
    pub table: Option<ObjectName>,
    /// What happens to what depends on it.
    pub behaviour: Option<DropBehaviour>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncate {
    /// Was `TABLE` written?
    pub table_word: bool,
    /// The tables; one, except in PostgreSQL.
    pub names: Vec<ObjectName>,
    /// `RESTART IDENTITY` (`Some(true)`) or `CONTINUE IDENTITY`.
    pub restart_identity: Option<bool>,
    /// What happens to tables that refer to it.
    pub behaviour: Option<DropBehaviour>,
}

keywords! {
    /// What happens to rows that refer to one that goes away.
    pub enum Action {
        Cascade = "CASCADE",
        Restrict = "RESTRICT",
        SetNull = "SET NULL",
        SetDefault = "SET DEFAULT",
        NoAction = "NO ACTION",
    }

    /// INDEX or KEY: the same thing.
    pub enum IndexWord {
        Index = "INDEX",
        Key = "KEY",
    }

    /// What happens to what depends on something that is dropped.
    pub enum DropBehaviour {
        Cascade = "CASCADE",
        Restrict = "RESTRICT",
    }
}
