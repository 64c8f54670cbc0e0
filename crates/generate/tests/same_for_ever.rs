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
        postgres cf958e8fd0303138
        sqlite 7c166bda49dd9ff2"#]]
    .assert_eq(&hashes.join("\n"));
}

/// As many as make every rare thing happen; too slow without optimization.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimization; CI runs it with --release")]
fn ten_thousand_cases_of_a_seed() {
    let hashes = PRODUCTS.map(|product| hash(product, 10_000));
    expect![[r#"
        mysql ff8f70d60220cba6
        mariadb 4298ea5610b06b78
        postgres 79bf95b5601b7d56
        sqlite 139a3db283354608"#]]
    .assert_eq(&hashes.join("\n"));
}
