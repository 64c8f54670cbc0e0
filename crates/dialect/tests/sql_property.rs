//! Random trees without parentheses come back from their own text, and no text makes the parser stumble.

mod trees;

use dialect::sql::{Parsed, parse, print, split_tokens};
use model::Product;
use proptest::prelude::*;

fn round_trip(product: Product, tree: &model::sql::Statement) -> Result<(), TestCaseError> {
    let text = print(product, tree);
    match parse(product, &text) {
        Parsed::Tree(again) => {
            prop_assert_eq!(&again.without_parens(), tree, "{}: {}", product, text);
            prop_assert_eq!(
                split_tokens(product, &print(product, &again)),
                split_tokens(product, &text),
                "{}",
                product
            );
        }
        Parsed::Opaque(why) => prop_assert!(false, "{product}: {text}: {why}"),
    }
    Ok(())
}

/// A text of words and marks that have meanings, most of it nonsense.
fn soup() -> impl Strategy<Value = String> {
    let words = "SELECT a , ( ) FROM t WHERE = + - * NOT IN AND OR BETWEEN LIKE IS NULL CASE WHEN THEN END 1 'x' \
        INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INT PRIMARY KEY BEGIN COMMIT . ; -- /* */ ` \" @x ON JOIN \
        UNION ORDER BY LIMIT FOR SHARE LOCK DEFAULT EXISTS CAST AS COUNT( COLLATE ! ~ || <=> 0x1 :: ~ E'\\'' $$ RETURNING USING ü \\ #";
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    prop::collection::vec(prop::sample::select(words), 0..25).prop_map(|w| w.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mysql(tree in trees::statement(Product::Mysql)) {
        round_trip(Product::Mysql, &tree)?;
    }

    #[test]
    fn mariadb(tree in trees::statement(Product::Mariadb)) {
        round_trip(Product::Mariadb, &tree)?;
    }

    #[test]
    fn postgres(tree in trees::statement(Product::Postgres)) {
        round_trip(Product::Postgres, &tree)?;
    }

    #[test]
    fn sqlite(tree in trees::statement(Product::Sqlite)) {
        round_trip(Product::Sqlite, &tree)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        for product in Product::ALL {
            parse(product, &text);
        }
    }

    #[test]
    fn what_is_read_prints_to_itself(text in soup()) {
        for product in Product::ALL {
            if let Parsed::Tree(tree) = parse(product, &text) {
                let again = parse(product, &print(product, &tree));
                prop_assert_eq!(again, Parsed::Tree(tree));
            }
        }
    }
}
