//! A random table with rows for expressions to range over.

use dialect::SqlFamily;
use eval::{Column, Datum};
use execute::{ConnectError, Session, ask::must};
use generate::expressions::{ExprColumn, constants};
use model::{Product, Rng, Seed, SqlType};

pub struct World {
    product: Product,
    columns: Vec<(String, SqlType)>,
    /// Is `id` a key?
    keyed: bool,
    /// The rows, without their id, which is their place.
    pub rows: Vec<Vec<Datum>>,
    pools: Vec<Vec<Datum>>,
}

const ROWS: usize = 8;
const COLUMNS: usize = 11;

impl World {
    /// Table number `number` of a seed.
    pub fn new(seed: Seed, number: u64, product: Product) -> World {
        let mut rng = seed.rng("expression tables", number);
        let mut types = types(product);
        rng.shuffle(&mut types);
        types.truncate(COLUMNS);
        let columns: Vec<(String, SqlType)> =
            types.into_iter().enumerate().map(|(i, ty)| (format!("c{i}"), ty)).collect();
        let rows: Vec<Vec<Datum>> =
            (0..ROWS).map(|_| columns.iter().map(|(_, ty)| cell(&mut rng, product, ty)).collect()).collect();
        let pools = (0..columns.len())
            .map(|i| rows.iter().map(|row| row[i].clone()).filter(|datum| !datum.is_null()).collect())
            .collect();
        World { product, columns, keyed: number.is_multiple_of(2), rows, pools }
    }

    /// As the evaluator wants them.
    pub fn columns(&self) -> Vec<Column> {
        let of = |(name, ty): &(String, SqlType)| Column {
            table: None,
            name: name.clone(),
            ty: ty.clone(),
            collation: None,
        };
        self.columns.iter().map(of).collect()
    }

    /// As the generator wants them.
    pub fn named(&self) -> Vec<ExprColumn<'_>> {
        self.columns
            .iter()
            .zip(&self.pools)
            .map(|((name, ty), pool)| ExprColumn { table: None, name, ty: ty.clone(), nullable: true, pool })
            .collect()
    }

    pub fn create(&self, session: &mut dyn Session) -> Result<(), ConnectError> {
        must(session, "DROP TABLE IF EXISTS t")?;
        let key = if self.keyed { " PRIMARY KEY" } else { "" };
        let columns: Vec<String> =
            self.columns.iter().map(|(name, ty)| format!("{name} {}", spelled(self.product, ty))).collect();
        must(session, &format!("CREATE TABLE t(id INT{key}, {})", columns.join(", ")))?;
        for (id, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .map(|datum| dialect::sql::print_expr(self.product, &datum.literal(self.product)))
                .collect();
            must(session, &format!("INSERT INTO t VALUES ({id}, {})", cells.join(", ")))?;
        }
        Ok(())
    }

    pub fn drop(&self, session: &mut dyn Session) -> Result<(), ConnectError> {
        must(session, "DROP TABLE t").map(drop)
    }

    /// The values of the columns that a text names, for people: `c1 INT = 5`.
    pub fn about(&self, text: &str, row: Option<usize>) -> String {
        let word = |name: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name);
        let named = self.columns.iter().enumerate().filter(|(_, (name, _))| word(name));
        let shown = named.map(|(i, (name, ty))| {
            let ty = spelled(self.product, ty);
            match row {
                Some(row) => {
                    let value =
                        dialect::sql::print_expr(self.product, &self.rows[row][i].literal(self.product));
                    format!("{name} {ty} = {value}")
                }
                None => format!("{name} {ty}"),
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

fn cell(rng: &mut Rng, product: Product, ty: &SqlType) -> Datum {
    if rng.ratio(1, 6) { Datum::Null } else { constants::datum(rng, product, ty) }
}

/// Every type that the product has.
fn types(product: Product) -> Vec<SqlType> {
    let int = |bits, unsigned| SqlType::Int { bits, unsigned };
    let mut types = vec![
        int(16, false),
        int(32, false),
        int(64, false),
        SqlType::Decimal { precision: 10, scale: 2 },
        SqlType::Decimal { precision: 5, scale: 1 },
        SqlType::Float,
        SqlType::Double,
        SqlType::Char(4),
        SqlType::Varchar(8),
        SqlType::Text,
        SqlType::Blob,
        SqlType::Bool,
        SqlType::Date,
        SqlType::DateTime,
    ];
    if dialect::of(product).family == SqlFamily::Mysql {
        types.extend([
            int(8, false),
            int(8, true),
            int(16, true),
            int(24, false),
            int(24, true),
            int(32, true),
            int(64, true),
        ]);
    }
    types
}

/// How a type is written.
fn spelled(product: Product, ty: &SqlType) -> String {
    let postgres = dialect::of(product).family == SqlFamily::Postgres;
    match ty {
        SqlType::Int { bits, unsigned } => {
            let name = match bits {
                8 => "TINYINT",
                16 => "SMALLINT",
                24 => "MEDIUMINT",
                32 => "INT",
                _ => "BIGINT",
            };
            format!("{name}{}", if *unsigned { " UNSIGNED" } else { "" })
        }
        SqlType::Decimal { precision, scale } => format!("DECIMAL({precision}, {scale})"),
        SqlType::Float => if postgres { "REAL" } else { "FLOAT" }.to_string(),
        SqlType::Double => if postgres { "DOUBLE PRECISION" } else { "DOUBLE" }.to_string(),
        SqlType::Char(n) => format!("CHAR({n})"),
        SqlType::Varchar(n) => format!("VARCHAR({n})"),
        SqlType::Text => "TEXT".to_string(),
        SqlType::Blob => if postgres { "BYTEA" } else { "BLOB" }.to_string(),
        SqlType::Bool => "BOOLEAN".to_string(),
        SqlType::Date => "DATE".to_string(),
        SqlType::DateTime => if postgres { "TIMESTAMP" } else { "DATETIME" }.to_string(),
    }
}
