//! What a column of a result holds: from the type code, the character set and the flags on the wire to a
//! [`Kind`] and to the name that SQL has for the type. The values themselves are never touched.

use model::{Kind, rows::Column};

use super::wire::{Cursor, Malformed};

const BINARY: u16 = 63;
const UNSIGNED: u16 = 32;
const ENUM: u16 = 256;
const SET: u16 = 2048;

/// Reads a column definition.
pub fn column(payload: &[u8]) -> Result<Column, Malformed> {
    let mut cursor = Cursor(payload);
    for _catalog_schema_table_original in 0..4 {
        cursor.string()?;
    }
    let name = String::from_utf8_lossy(cursor.string()?).into_owned();
    cursor.string()?; // the name in the table
    cursor.packed()?; // the length of what follows
    let charset = cursor.short()?;
    cursor.number(4)?; // the widest value
    let code = cursor.byte()?;
    let flags = cursor.short()?;
    let (kind, type_name) = kind(code, charset, flags);
    let unsigned = flags & UNSIGNED != 0 && matches!(kind, Kind::Integer | Kind::Decimal | Kind::Float);
    let type_name = if unsigned { format!("{type_name} UNSIGNED") } else { type_name };
    Ok(Column { name, kind, type_name })
}

fn kind(code: u8, charset: u16, flags: u16) -> (Kind, String) {
    let binary = charset == BINARY;
    let text = |bytes: &'static str, characters: &'static str| {
        if binary { (Kind::Bytes, bytes) } else { (Kind::Text, characters) }
    };
    let (kind, name) = match code {
        0 | 246 => (Kind::Decimal, "DECIMAL"),
        1 => (Kind::Integer, "TINYINT"),
        2 => (Kind::Integer, "SMALLINT"),
        3 => (Kind::Integer, "INT"),
        4 => (Kind::Float, "FLOAT"),
        5 => (Kind::Float, "DOUBLE"),
        6 => (Kind::Other, "NULL"),
        7 | 17 => (Kind::Time, "TIMESTAMP"),
        8 => (Kind::Integer, "BIGINT"),
        9 => (Kind::Integer, "MEDIUMINT"),
        10 | 14 => (Kind::Time, "DATE"),
        11 | 19 => (Kind::Time, "TIME"),
        12 | 18 => (Kind::Time, "DATETIME"),
        13 => (Kind::Time, "YEAR"),
        16 => (Kind::Bit, "BIT"),
        242 => (Kind::Bytes, "VECTOR"),
        245 => (Kind::Json, "JSON"),
        // On the wire ENUM and SET are strings with a flag.
        247 => (Kind::Text, "ENUM"),
        248 => (Kind::Text, "SET"),
        253 | 254 if flags & ENUM != 0 => (Kind::Text, "ENUM"),
        253 | 254 if flags & SET != 0 => (Kind::Text, "SET"),
        // The four sizes cannot be told apart: servers send one code for all.
        249..=252 => text("BLOB", "TEXT"),
        15 | 253 => text("VARBINARY", "VARCHAR"),
        254 => text("BINARY", "CHAR"),
        255 => (Kind::Bytes, "GEOMETRY"),
        other => return (Kind::Other, format!("type {other}")),
    };
    (kind, name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(charset: u16, code: u8, flags: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in ["def", "s", "t", "t", "a", "a"] {
            bytes.push(part.len() as u8);
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes.push(12);
        bytes.extend_from_slice(&charset.to_le_bytes());
        bytes.extend_from_slice(&[11, 0, 0, 0, code]);
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(&[0, 0, 0]);
        bytes
    }

    #[test]
    fn a_type_is_named_as_sql_names_it() {
        let shown = |charset, code, flags| {
            let column = column(&definition(charset, code, flags)).unwrap();
            (column.kind, column.type_name)
        };
        assert_eq!(shown(63, 3, 0), (Kind::Integer, "INT".into()));
        assert_eq!(shown(63, 8, 32), (Kind::Integer, "BIGINT UNSIGNED".into()));
        assert_eq!(shown(45, 253, 0), (Kind::Text, "VARCHAR".into()));
        assert_eq!(shown(63, 253, 128), (Kind::Bytes, "VARBINARY".into()));
        assert_eq!(shown(45, 254, 256), (Kind::Text, "ENUM".into()));
        assert_eq!(shown(63, 13, 32), (Kind::Time, "YEAR".into()));
        assert_eq!(shown(63, 99, 0), (Kind::Other, "type 99".into()));
    }

    #[test]
    fn a_short_definition_is_malformed() {
        let whole = definition(63, 3, 0);
        assert!((0..whole.len() - 3).all(|length| column(&whole[..length]).is_err()));
    }
}
