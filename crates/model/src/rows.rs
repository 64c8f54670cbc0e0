//! A result set: one buffer of bytes, and where each cell ends.
//!
//! Rows are compared as multisets of WHOLE rows. Sorting cells instead, as earlier tools did, would miss a
//! swap of two values between rows.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::value::{Kind, Value, unhex};

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The server's own name or number of the type, for people.
    #[serde(rename = "type")]
    pub type_name: String,
}

const NULL: u32 = u32::MAX;

/// A result set as the server sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSet {
    columns: Vec<Column>,
    /// For each cell its start and end in `bytes`, or [`NULL`] twice.
    cells: Vec<(u32, u32)>,
    bytes: Vec<u8>,
    /// How many rows there are if there are no columns: PostgreSQL's `SELECT FROM t`.
    bare: usize,
}

impl RowSet {
    /// An empty result with these columns.
    pub fn new(columns: Vec<Column>) -> RowSet {
        RowSet { columns, cells: Vec::new(), bytes: Vec::new(), bare: 0 }
    }

    /// Appends a row to a result without columns.
    pub fn push_bare(&mut self) {
        self.bare += 1;
    }

    /// Appends one cell. A row is complete after as many cells as there are columns.
    pub fn push(&mut self, cell: Option<&[u8]>) {
        match cell {
            None => self.cells.push((NULL, NULL)),
            Some(bytes) => {
                let start = self.bytes.len() as u32;
                self.bytes.extend_from_slice(bytes);
                self.cells.push((start, self.bytes.len() as u32));
            }
        }
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub fn len(&self) -> usize {
        if self.columns.is_empty() { self.bare } else { self.cells.len() / self.columns.len() }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of one cell; none if it is NULL, or not there.
    #[inline]
    pub fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        let cell = self.cells.get(row * self.columns.len() + column)?;
        if column < self.columns.len() { self.bytes_of(*cell) } else { None }
    }

    #[inline]
    fn bytes_of(&self, (start, end): (u32, u32)) -> Option<&[u8]> {
        (start != NULL).then(|| &self.bytes[start as usize..end as usize])
    }

    /// One cell with its kind; NULL where there is none.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        let kind = self.columns.get(column).map_or(Kind::Text, |column| column.kind);
        Value { kind, bytes: self.cell(row, column) }
    }

    /// One row's cells.
    #[inline]
    pub fn row(&self, row: usize) -> impl Iterator<Item = Value<'_>> {
        let start = row * self.columns.len();
        let cells = &self.cells[start..start + self.columns.len()];
        self.columns
            .iter()
            .zip(cells)
            .map(|(column, cell)| Value { kind: column.kind, bytes: self.bytes_of(*cell) })
    }

    /// One row for people: `(1, 'a', NULL)`.
    pub fn row_text(&self, row: usize) -> String {
        let cells: Vec<String> = self.row(row).map(|value| value.to_string()).collect();
        format!("({})", cells.join(", "))
    }

    /// Every row for people, in the server's order.
    pub fn texts(&self) -> Vec<String> {
        (0..self.len()).map(|row| self.row_text(row)).collect()
    }

    /// These of the rows, in this order.
    pub fn only(&self, rows: &[usize]) -> RowSet {
        let mut some = RowSet::new(self.columns.clone());
        for &row in rows {
            (0..self.columns.len()).for_each(|column| some.push(self.cell(row, column)));
        }
        some
    }

    /// Do both hold the same rows, each as often, in any order?
    pub fn same_rows(&self, other: &RowSet) -> bool {
        self.len() == other.len() && self.counted() == other.counted()
    }

    fn counted(&self) -> BTreeMap<Vec<Option<&[u8]>>, usize> {
        let mut counts = BTreeMap::new();
        for row in 0..self.len() {
            let cells = (0..self.columns.len()).map(|column| self.cell(row, column)).collect();
            *counts.entry(cells).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() { f.write_str("no rows") } else { f.write_str(&self.texts().join(" ")) }
    }
}

/// The JSON form: columns, and each row as an array of strings or nulls. Bytes that are not UTF-8 are
/// written as `{"hex": "00ff"}`, so that nothing is lost.
#[derive(Serialize, Deserialize)]
struct Plain {
    columns: Vec<Column>,
    rows: Vec<Vec<Option<Cell>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Hex { hex: String },
}

impl Serialize for RowSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cell = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_string()),
            Err(_) => Cell::Hex { hex: bytes.iter().map(|byte| format!("{byte:02x}")).collect() },
        };
        let rows = (0..self.len())
            .map(|row| (0..self.columns.len()).map(|column| self.cell(row, column).map(cell)).collect())
            .collect();
        Plain { columns: self.columns.clone(), rows }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RowSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let plain = Plain::deserialize(deserializer)?;
        let mut rows = RowSet::new(plain.columns);
        for row in plain.rows {
            if row.len() != rows.columns.len() {
                return Err(D::Error::custom("a row has more or fewer cells than there are columns"));
            }
            if row.is_empty() {
                rows.push_bare();
            }
            for cell in row {
                match cell {
                    None => rows.push(None),
                    Some(Cell::Text(text)) => rows.push(Some(text.as_bytes())),
                    Some(Cell::Hex { hex }) => {
                        rows.push(Some(&unhex(&hex).ok_or_else(|| D::Error::custom("bad hex"))?))
                    }
                }
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(rows: &[[Option<&str>; 2]]) -> RowSet {
        let column = |name: &str| Column { name: name.into(), kind: Kind::Integer, type_name: "INT".into() };
        let mut set = RowSet::new(vec![column("a"), column("b")]);
        rows.iter().flatten().for_each(|cell| set.push(cell.map(str::as_bytes)));
        set
    }

    #[test]
    fn order_does_not_count_but_multiplicity_does() {
        let one = set(&[[Some("1"), None], [Some("2"), Some("3")]]);
        assert!(one.same_rows(&set(&[[Some("2"), Some("3")], [Some("1"), None]])));
        assert!(!one.same_rows(&set(&[[Some("1"), None], [Some("1"), None]])));
    }

    #[test]
    fn cells_swapped_between_rows_are_another_result() {
        let one = set(&[[Some("1"), Some("2")], [Some("3"), Some("4")]]);
        assert!(!one.same_rows(&set(&[[Some("1"), Some("4")], [Some("3"), Some("2")]])));
    }

    #[test]
    fn a_cell_that_is_not_there_is_none() {
        let one = set(&[[Some("1"), Some("2")], [Some("3"), Some("4")]]);
        assert_eq!(one.cell(1, 1), Some(&b"4"[..]));
        for (row, column) in [(2, 0), (0, 2), (1, 2), (usize::MAX / 2, 1), (0, usize::MAX)] {
            assert_eq!(one.cell(row, column), None, "{row}, {column}");
            assert!(one.value(row, column).bytes.is_none());
        }
        assert_eq!(RowSet::default().cell(0, 0), None);
    }

    #[test]
    fn rows_without_columns_are_rows() {
        let mut rows = RowSet::new(Vec::new());
        assert_eq!(rows.to_string(), "no rows");
        rows.push_bare();
        rows.push_bare();
        assert_eq!((rows.len(), rows.to_string().as_str()), (2, "() ()"));
        let json = serde_json::to_string(&rows).unwrap();
        assert_eq!(serde_json::from_str::<RowSet>(&json).unwrap(), rows);
        assert!(!rows.same_rows(&RowSet::new(Vec::new())));
    }

    #[test]
    fn json_keeps_every_byte() {
        let mut rows =
            RowSet::new(vec![Column { name: "b".into(), kind: Kind::Bytes, type_name: "BLOB".into() }]);
        rows.push(Some(&[0x00, 0xff]));
        rows.push(None);
        let json = serde_json::to_string(&rows).unwrap();
        assert_eq!(serde_json::from_str::<RowSet>(&json).unwrap(), rows);
        assert_eq!(rows.texts(), ["(x'00ff')", "(NULL)"]);
    }
}
