//! The tables of a case in a scratch schema: how they are made, filled and read there.
//!
//! There are two scratch schemas. In one the tables are exactly those of the case; queries run there. In the other they have one more
//! column at the end, which nobody but us writes: it says which row is which after a statement has changed some. Where the
//! server can, that column is invisible; elsewhere statements that would meet it are not run there.

use dialect::{
    ParsedSetup,
    sql::schema::{ColumnDefinition, KeyDefinition, Schema},
};
use model::{
    Product, Reason, RowSet, ServerInfo, TableFixture, Value,
    schema::KeyKind,
    sql::{Statement, StatementClass, TableColumn, TableItem, TypeName},
};

use super::version_chains::{RowData, VisibleRow};

/// The scratch schema whose tables are those of the case.
pub const PLAIN: usize = 0;
/// The scratch schema whose tables have one more column.
pub const MARKED: usize = 1;

/// The column that says which row is which.
pub const MARK: &str = "isopod_row";

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    quoted: String,
    columns: Vec<Column>,
    /// The columns of its primary key.
    primary: Vec<usize>,
    /// Tables that foreign keys join have the same number.
    pub group: usize,
    /// Does it count rows up by itself?
    pub counts: bool,
    inserts: Vec<String>,
}

#[derive(Clone, Debug)]
struct Column {
    quoted: String,
    /// Its value follows from others, and cannot be written.
    generated: bool,
    /// What gives its exact value, if what is shown is not exact.
    exact: Option<String>,
}

/// All tables of a setup.
#[derive(Clone, Debug)]
pub struct ScratchTables {
    product: Product,
    /// The tables, in order.
    pub tables: Vec<Table>,
    /// Makes them: as they are, and with one more column.
    pub build: [Vec<String>; 2],
    /// Does `SELECT *` not show that column?
    pub invisible: bool,
}

impl ScratchTables {
    /// Reads a setup; the reason why not has a name that can be counted.
    pub fn read(server: &ServerInfo, setup: &ParsedSetup) -> Result<ScratchTables, Reason> {
        let product = server.product;
        let data = setup.data.as_ref().map_err(|_| setup.unread())?;
        if data.ddl.iter().any(|text| moves(text)) {
            return Err(Reason::OwnValues);
        }
        let schema = setup.schema.as_ref().map_err(|_| setup.unread())?;
        let tables = tables(setup, schema);
        let invisible = invisible(server);
        let mut marked = data.ddl.clone();
        if dialect::of(product).tables.alter {
            let how = if invisible { "BIGINT NULL INVISIBLE" } else { "BIGINT NULL" };
            let add = |table: &Table| format!("ALTER TABLE {} ADD COLUMN {MARK} {how}", table.quoted);
            marked.extend(tables.iter().map(add));
        } else {
            let ddl = setup.trees().flatten().filter(|tree| tree.class() == StatementClass::Ddl);
            marked = ddl.map(|tree| dialect::sql::print(product, &with_mark(tree.clone()))).collect();
        }
        Ok(ScratchTables { product, tables, build: [data.ddl.clone(), marked], invisible })
    }

    /// A table by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// The tables as the setup fills them.
    pub fn beginning(&self) -> Vec<TableFixture> {
        let fixture = |table: &Table| TableFixture {
            name: table.name.clone(),
            fill: table.inserts.clone(),
            read: self.query(table, PLAIN),
        };
        self.tables.iter().map(fixture).collect()
    }

    /// A table that holds this view.
    pub fn fixture(&self, at: usize, view: &[VisibleRow], schema: usize) -> Result<TableFixture, Reason> {
        let table = &self.tables[at];
        let mut names: Vec<&str> = Vec::new();
        names.extend(table.columns.iter().filter(|column| !column.generated).map(|c| c.quoted.as_str()));
        if schema == MARKED {
            names.push(MARK);
        }
        let rows: Vec<String> =
            view.iter().map(|row| self.row(table, row, schema)).collect::<Result<_, _>>()?;
        let insert =
            format!("INSERT INTO {} ({}) VALUES {}", table.quoted, names.join(", "), rows.join(", "));
        let fill = if rows.is_empty() { Vec::new() } else { vec![insert] };
        Ok(TableFixture { name: table.name.clone(), fill, read: self.query(table, schema) })
    }

    /// One row as constants.
    fn row(&self, table: &Table, row: &VisibleRow, schema: usize) -> Result<String, Reason> {
        let mut cells = Vec::new();
        let mut exact = table.columns.len();
        for (at, column) in table.columns.iter().enumerate() {
            let from = if column.exact.is_some() { exact } else { at };
            exact += usize::from(column.exact.is_some());
            if !column.generated {
                cells.push(
                    String::from_utf8(row.data[from + kinds(table)].clone().unwrap_or_default())
                        .map_err(|_| Reason::StrangeBytes)?,
                );
            }
        }
        if schema == MARKED {
            cells.push(row.id.to_string());
        }
        Ok(format!("({})", cells.join(", ")))
    }

    /// What reads a table: its columns as they are shown, which row it is, and exact values.
    fn query(&self, table: &Table, schema: usize) -> String {
        let mark = if schema == MARKED { MARK } else { "NULL" };
        let exact: String = table
            .columns
            .iter()
            .filter_map(|column| column.exact.as_ref())
            .map(|e| format!(", {e}"))
            .collect();
        let star = if schema == MARKED && !self.invisible {
            table.columns.iter().map(|c| c.quoted.as_str()).collect::<Vec<_>>().join(", ")
        } else {
            "*".to_string()
        };
        // The star must come first, and PostgreSQL's quotation marks are those of names.
        format!("SELECT {star}, {mark} AS {MARK}{exact} FROM {}", table.quoted)
    }

    /// The rows that were read: which row each is, none for a new one, and what it holds.
    pub fn rows(&self, at: usize, read: &RowSet) -> Result<Vec<(Option<u64>, RowData)>, Reason> {
        let table = &self.tables[at];
        let shown = table.columns.len();
        let extra = table.columns.iter().filter(|column| column.exact.is_some()).count();
        if read.columns().len() != shown + 1 + extra {
            return Err(Reason::ScratchColumns);
        }
        let mut rows = Vec::new();
        for row in 0..read.len() {
            let id = read.cell(row, shown).and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse().ok());
            let mut cells: Vec<Option<Vec<u8>>> =
                (0..shown).map(|column| read.cell(row, column).map(<[u8]>::to_vec)).collect();
            // Behind them the constants that write them again.
            for column in (0..shown).chain(shown + 1..shown + 1 + extra) {
                let raw = column > shown && dialect::of(self.product).tables.constant_of.is_some();
                let text = match read.cell(row, column) {
                    Some(bytes) if raw => {
                        String::from_utf8(bytes.to_vec()).map_err(|_| Reason::StrangeBytes)?
                    }
                    Some(_) | None => constant(self.product, &read.value(row, column))?,
                };
                cells.push(Some(text.into_bytes()));
            }
            rows.push((id, RowData::new(cells)));
        }
        Ok(rows)
    }

    /// The cells of a row as `SELECT *` shows them.
    pub fn shown<'a>(&self, at: usize, data: &'a RowData) -> &'a [Option<Vec<u8>>] {
        &data[..self.tables[at].columns.len()]
    }

    /// What a row has in its primary key; none without one.
    pub fn key(&self, at: usize, data: &RowData) -> Option<Vec<Option<Vec<u8>>>> {
        let primary = &self.tables[at].primary;
        (!primary.is_empty()).then(|| primary.iter().map(|column| data[*column].clone()).collect())
    }
}

/// Where the constants of a row begin.
fn kinds(table: &Table) -> usize {
    table.columns.len()
}

/// A value as a constant.
fn constant(product: Product, value: &Value<'_>) -> Result<String, Reason> {
    use model::Kind;
    let Some(bytes) = value.bytes else { return Ok("NULL".to_string()) };
    let text = || std::str::from_utf8(bytes).map_err(|_| Reason::StrangeBytes);
    Ok(match value.kind {
        Kind::Integer | Kind::Decimal | Kind::Float => text()?.to_string(),
        Kind::Text | Kind::Time | Kind::Json | Kind::Other => dialect::sql::text_literal(product, text()?),
        Kind::Bytes | Kind::Bit => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{hex}'")
        }
    })
}

/// Does it have columns that a star does not show?
fn invisible(server: &ServerInfo) -> bool {
    let since = dialect::of(server.product).tables.invisible_columns;
    since.is_some_and(|since| server.version.since(since))
}

/// Does a definition make values that depend on the clock?
fn moves(ddl: &str) -> bool {
    let upper = ddl.to_ascii_uppercase();
    ["CURRENT_", "NOW(", "LOCALTIME", "UUID", "RAND(", "RANDOM("].iter().any(|word| upper.contains(word))
}

fn with_mark(mut tree: Statement) -> Statement {
    if let Statement::CreateTable(create) = &mut tree {
        let column =
            TableColumn { name: MARK.into(), ty: Some(TypeName::new("BIGINT")), options: Vec::new() };
        let after = create.items.iter().rposition(|item| matches!(item, TableItem::Column(_)));
        create.items.insert(after.map_or(0, |at| at + 1), TableItem::Column(column));
    }
    tree
}

fn tables(setup: &ParsedSetup, schema: &Schema) -> Vec<Table> {
    let dialect = dialect::of(schema.product);
    let column = |column: &ColumnDefinition| {
        let quoted = dialect.quoted(&column.name);
        let float = column.type_name.as_ref().and_then(|ty| ty.words.first());
        let exact = match dialect.tables.constant_of {
            Some(constant) => Some(constant.replace("{}", &quoted)),
            // Six digits are shown of it.
            None => float
                .is_some_and(|word| word.to_ascii_uppercase().starts_with("FLOAT"))
                .then(|| format!("{quoted} + 0e0")),
        };
        Column { quoted, generated: column.generated.is_some(), exact }
    };
    let mut all: Vec<Table> = Vec::new();
    for table in &schema.tables {
        // Without a primary key the first one that is unique and has no NULL takes its place.
        let whole = |key: &&KeyDefinition| key.columns.iter().all(|at| !table.columns[*at].nullable);
        let primary = |key: &&KeyDefinition| key.kind == KeyKind::Primary;
        let key = table.uniques().find(primary).or_else(|| table.uniques().find(whole));
        all.push(Table {
            name: table.name.clone(),
            quoted: dialect.quoted(&table.name),
            columns: table.columns.iter().map(column).collect(),
            primary: key.map(|key| key.columns.clone()).unwrap_or_default(),
            // All tables with foreign keys are one group: too large is harmless.
            group: if table.joined { 0 } else { all.len() + 1 },
            counts: table.columns.iter().any(|column| column.counts),
            inserts: Vec::new(),
        });
    }
    for insertion in &schema.insertions {
        all[insertion.table].inserts.push(setup.texts[insertion.statement].clone());
    }
    all
}

#[cfg(test)]
mod tests {
    use model::Case;

    use super::*;

    fn read(setup: &[&str]) -> Result<ScratchTables, Reason> {
        let mut case = Case::default();
        case.setup.statements = setup.iter().map(ToString::to_string).collect();
        let server = ServerInfo::bare(Product::Mariadb, "10.11.19".parse().unwrap());
        ScratchTables::read(&server, &dialect::ParsedCase::new(Product::Mariadb, case).parsed_setup)
    }

    #[test]
    fn an_index_that_is_made_after_the_rows_makes_no_other_table() {
        let late = ["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 2)"];
        let index = "ALTER TABLE t ADD UNIQUE KEY t_i1 (b)";
        let scratch = read(&[late[0], late[1], index]).unwrap();
        assert_eq!(scratch.build[PLAIN], [late[0], index]);
        assert_eq!(scratch.tables[0].inserts, [late[1]]);
        assert!(read(&[late[0], "INSERT INTO t SELECT a, b FROM t", index]).is_err());
    }
}
