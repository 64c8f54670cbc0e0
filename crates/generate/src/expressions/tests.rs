//! Every expression reads back as it was made, and a seed always means the same ones.

use model::{
    Product, Seed, Version,
    sql::{Expr, QueryPart, SelectItem, Statement},
};

use super::*;

const TYPES: [SqlType; 12] = [
    SqlType::Int { bits: 32, unsigned: false },
    SqlType::Int { bits: 8, unsigned: false },
    SqlType::Int { bits: 64, unsigned: false },
    SqlType::Decimal { precision: 10, scale: 2 },
    SqlType::Float,
    SqlType::Double,
    SqlType::Char(4),
    SqlType::Varchar(8),
    SqlType::Blob,
    SqlType::Bool,
    SqlType::Date,
    SqlType::DateTime,
];

fn every(product: Product, mut visit: impl FnMut(&Expr)) {
    let version = Version(vec![9, 9]);
    let mut rng = Seed(3).rng("expressions", 0);
    let pools: Vec<Vec<Datum>> =
        TYPES.iter().map(|ty| (0..4).map(|_| constants::datum(&mut rng, product, ty)).collect()).collect();
    let names: Vec<String> = (0..TYPES.len()).map(|i| format!("c{i}")).collect();
    let columns: Vec<ExprColumn> = TYPES
        .iter()
        .zip(&pools)
        .zip(&names)
        .map(|((ty, pool), name)| ExprColumn { table: None, name, ty: ty.clone(), nullable: true, pool })
        .collect();
    let made = Expressions { product, version: &version, columns: &columns, weights: Weights::default() };
    for depth in 0..4 {
        for _ in 0..400 {
            visit(&made.condition(&mut rng, depth));
            let ty = rng.pick(&TYPES).clone();
            visit(&made.value(&mut rng, &ty, depth));
            visit(&made.any_value(&mut rng, &ty, depth));
        }
    }
}

fn read(product: Product, text: &str) -> Option<Expr> {
    let Statement::Query(query) = dialect::sql::parse(product, &format!("SELECT {text}")).tree()? else {
        return None;
    };
    let QueryPart::Select(mut select) = query.first else { return None };
    match select.items.pop()? {
        SelectItem::Expr { expr, .. } => Some(expr),
        SelectItem::Star | SelectItem::TableStar(_) => None,
    }
}

#[test]
fn what_is_printed_reads_back_as_it_was() {
    for product in [Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite] {
        every(product, |expr| {
            let text = dialect::sql::print_expr(product, expr);
            assert_eq!(read(product, &text).as_ref(), Some(expr), "{product}: {text}");
        });
    }
}
