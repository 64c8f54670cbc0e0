//! UPDATEs whose assignments may be carried out in some other order than the one in which they are written.
//!
//! MySQL's manual promises the order from left to right for one table, "generally", and none for several. A query in WHERE makes one table
//! several: MySQL 8.0 and later, and MariaDB from 11.1 on, may turn it into a join.
//!
//! ```text
//! UPDATE u SET b = 1, a = b WHERE a IN (SELECT a FROM t)      a becomes 1, or what b was
//! ```

use model::sql::{Expr, Update};

/// Does what such an UPDATE writes depend on that order?
pub fn in_some_order(update: &Update) -> bool {
    if update.assignments.len() < 2 {
        return false;
    }
    let joined = update.tables.len() > 1 || update.tables.iter().any(|table| !table.joins.is_empty());
    let asks = || update.filter.as_ref().is_some_and(|filter| ReadColumns::of(filter).queries);
    (joined || asks())
        && update.assignments.iter().enumerate().any(|(at, one)| {
            let before = update.assignments[..at].iter().map(|other| &other.column.name.name);
            let read = ReadColumns::of(&one.value);
            before.into_iter().any(|set| read.columns.iter().any(|column| column.eq_ignore_ascii_case(set)))
        })
}

/// What an expression reads.
struct ReadColumns<'e> {
    columns: Vec<&'e str>,
    queries: bool,
}

impl<'e> ReadColumns<'e> {
    fn of(expr: &'e Expr) -> ReadColumns<'e> {
        let mut columns = Vec::new();
        expr.for_each_expr(|expr| {
            if let Expr::Column(column) = expr {
                columns.push(column.name.name.as_str());
            }
        });
        ReadColumns { columns, queries: expr.has_query() }
    }
}

#[cfg(test)]
mod tests {
    use dialect::sql::{Parsed, parse};
    use model::{Product, sql::Statement};

    use super::*;

    #[test]
    fn only_what_reads_what_was_set_and_may_be_a_join() {
        let told = |text: &str| match parse(Product::Mysql, text) {
            Parsed::Tree(Statement::Update(update)) => in_some_order(&update),
            other => panic!("{other:?}"),
        };
        assert!(told("UPDATE u SET b = 1, a = b WHERE a IN (SELECT a FROM t)"));
        assert!(told("UPDATE u JOIN t ON u.a = t.a SET u.b = 1, u.c = b + 1"));
        assert!(!told("UPDATE u SET b = 1, a = b WHERE a > 0"));
        assert!(!told("UPDATE u SET a = b, b = 1 WHERE a IN (SELECT a FROM t)"));
        assert!(!told("UPDATE u SET a = b WHERE a IN (SELECT a FROM t)"));
    }
}
