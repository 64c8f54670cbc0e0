//! The same seed gives the same cases, byte for byte, on every machine. Whoever changes these hashes changes what every seed
//! means, and does so on purpose: `UPDATE_EXPECT=1 cargo test -p isopod-generate --test same_for_ever`, once without and once
//! with `--release`.

use expect_test::expect;
use generate::{Digest, Generator};
use model::{Product, Seed, casefile};

/// The hash that `isopod generate --dialect D --cases N --hash` prints.
fn hash(product: Product, cases: u64) -> String {
    let mut generator = Generator::new(
        Seed(0x150d_0000_0001),
        product,
        &dialect::newest(product),
        dialect::of(product).levels,
    );
    let mut digest = Digest::default();
    for number in 0..cases {
        digest.add(&casefile::print(&generator.case(number).case).unwrap());
    }
    format!("{product} {digest}")
}

const PRODUCTS: [Product; 4] = [Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite];

#[test]
fn the_first_cases_of_a_seed() {
    let hashes = PRODUCTS.map(|product| hash(product, 200));
    expect![[r#"
        mysql 44854d639cfa5605
        mariadb fb2369e8582e487b
        postgres 8379676301305c7a
        sqlite 7c166bda49dd9ff2"#]]
    .assert_eq(&hashes.join("\n"));
}

/// As many as make every rare thing happen; too slow without optimization.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimization; CI runs it with --release")]
fn ten_thousand_cases_of_a_seed() {
    let hashes = PRODUCTS.map(|product| hash(product, 10_000));
    expect![[r#"
        mysql a281f1b49b6a6059
        mariadb ad594f765d63e7ab
        postgres 6872c4b72035904f
        sqlite 283f25289d35d5d6"#]]
    .assert_eq(&hashes.join("\n"));
}
