//! What a column of a result holds: from the number of its type to a [`Kind`] and to the name that SQL has for it. The
//! values are left as the server wrote them, but for `bytea`, whose hexadecimal digits are read back to bytes.

use std::borrow::Cow;

use model::{Kind, rows::Column};

/// The type `bytea`.
const BYTEA: u32 = 17;

/// A column by its name and the number of its type.
pub fn column(name: &str, oid: u32) -> Column {
    let (kind, type_name) = kind(oid);
    Column { name: name.to_string(), kind, type_name }
}

/// The numbers of the built-in types never change; those that users make have others in each database.
fn kind(oid: u32) -> (Kind, String) {
    let (kind, name) = match oid {
        16 => (Kind::Other, "BOOLEAN"),
        BYTEA => (Kind::Bytes, "BYTEA"),
        18 => (Kind::Text, "\"char\""),
        19 => (Kind::Text, "NAME"),
        20 => (Kind::Integer, "BIGINT"),
        21 => (Kind::Integer, "SMALLINT"),
        23 => (Kind::Integer, "INTEGER"),
        // A literal without a type comes as text since version 10.
        25 | 705 => (Kind::Text, "TEXT"),
        26 => (Kind::Integer, "OID"),
        27 => (Kind::Other, "TID"),
        28 => (Kind::Integer, "XID"),
        29 => (Kind::Integer, "CID"),
        114 => (Kind::Json, "JSON"),
        142 => (Kind::Text, "XML"),
        700 => (Kind::Float, "REAL"),
        701 => (Kind::Float, "DOUBLE PRECISION"),
        790 => (Kind::Other, "MONEY"),
        869 => (Kind::Other, "INET"),
        1007 => (Kind::Other, "INTEGER[]"),
        1009 => (Kind::Other, "TEXT[]"),
        1016 => (Kind::Other, "BIGINT[]"),
        1042 => (Kind::Text, "CHAR"),
        1043 => (Kind::Text, "VARCHAR"),
        1082 => (Kind::Time, "DATE"),
        1083 => (Kind::Time, "TIME"),
        1114 => (Kind::Time, "TIMESTAMP"),
        1184 => (Kind::Time, "TIMESTAMPTZ"),
        1186 => (Kind::Time, "INTERVAL"),
        1266 => (Kind::Time, "TIMETZ"),
        // Written as digits, 0 and 1, and not as bytes.
        1560 => (Kind::Other, "BIT"),
        1562 => (Kind::Other, "BIT VARYING"),
        1700 => (Kind::Decimal, "NUMERIC"),
        2205 => (Kind::Other, "REGCLASS"),
        2278 => (Kind::Other, "VOID"),
        2950 => (Kind::Other, "UUID"),
        3802 => (Kind::Json, "JSONB"),
        3904 => (Kind::Other, "INT4RANGE"),
        5069 => (Kind::Integer, "XID8"),
        other => return (Kind::Other, format!("type {other}")),
    };
    (kind, name.to_string())
}

/// A cell as it is kept.
pub fn cell(kind: Kind, bytes: &[u8]) -> Cow<'_, [u8]> {
    match (kind, bytes.strip_prefix(b"\\x")) {
        (Kind::Bytes, Some(digits)) => unhex(digits).map_or(Cow::Borrowed(bytes), Cow::Owned),
        _ => Cow::Borrowed(bytes),
    }
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = digits.as_chunks::<2>();
    let whole = rest.is_empty();
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect::<Option<_>>()
        .filter(|_| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_named_as_sql_names_it() {
        let shown = |oid| {
            let column = column("a", oid);
            (column.kind, column.type_name)
        };
        assert_eq!(shown(23), (Kind::Integer, "INTEGER".into()));
        assert_eq!(shown(1700), (Kind::Decimal, "NUMERIC".into()));
        assert_eq!(shown(123_456), (Kind::Other, "type 123456".into()));
    }

    #[test]
    fn bytea_is_read_back_to_bytes() {
        assert_eq!(*cell(Kind::Bytes, b"\\x00fF"), [0x00, 0xff]);
        assert!(cell(Kind::Bytes, b"\\x").is_empty());
        for strange in ["\\x0", "\\x0g", "abc", "\\\\"] {
            assert_eq!(*cell(Kind::Bytes, strange.as_bytes()), *strange.as_bytes());
        }
        assert_eq!(*cell(Kind::Text, b"\\x00"), *b"\\x00");
    }
}
