//! The same seed gives the same cases, byte for byte, on every machine. Whoever changes these hashes changes what every seed
//! means, and does so on purpose: `UPDATE_EXPECT=1 cargo test -p isopod-generate --test same_for_ever`, once without and once
//! with `--release`.

use expect_test::expect;
use generate::{Digest, Generator, Profile};
use model::{Product, Seed, casefile};

/// The hash that `isopod generate --dialect D --profile P --cases N --hash` prints.
fn hash(profile: &str, product: Product, cases: u64) -> String {
    let mut generator = Generator::with(
        Seed(0x150d_0000_0001),
        product,
        &dialect::newest(product),
        dialect::of(product).levels,
        Profile::named(profile).unwrap(),
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
    let hashes = PRODUCTS.map(|product| hash("wide", product, 200));
    expect![[r#"
        mysql 6db33cef7279c237
        mariadb 7fec555b150d4a65
        postgres 016c41932ed82faa
        sqlite eed24d75375947cf"#]]
    .assert_eq(&hashes.join("\n"));
}

#[test]
fn the_first_cases_of_a_seed_by_the_default_profile() {
    let hashes = PRODUCTS.map(|product| hash("wide2", product, 200));
    expect![[r#"
        mysql 8850270e3b474dad
        mariadb 21eaa548ff85e68f
        postgres 42598ce8951864e4
        sqlite 99b088a59e5cce17"#]]
    .assert_eq(&hashes.join("\n"));
}

/// As many as make every rare thing happen; too slow without optimization.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimization; CI runs it with --release")]
fn ten_thousand_cases_of_a_seed() {
    let hashes = PRODUCTS.map(|product| hash("wide", product, 10_000));
    expect![[r#"
        mysql 1532727ca275630a
        mariadb b61bf0bed0b00a2d
        postgres 85b84464594f2049
        sqlite a010e01de5a6c15a"#]]
    .assert_eq(&hashes.join("\n"));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimization; CI runs it with --release")]
fn ten_thousand_cases_of_a_seed_by_the_default_profile() {
    let hashes = PRODUCTS.map(|product| hash("wide2", product, 10_000));
    expect![[r#"
        mysql 4e85813354a6c756
        mariadb 49b266167f5438c8
        postgres 82b50bcaeed68e2c
        sqlite fd9eed09deb3893e"#]]
    .assert_eq(&hashes.join("\n"));
}
