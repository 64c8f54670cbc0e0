//! What every generated case must be, for every dialect: understood to the last statement, and the same for ever.

use generate::{Generator, Profile};
use model::{Product, Seed, Version};

/// The products and versions that are generated for here.
const SERVERS: [(Product, &str); 7] = [
    (Product::Mysql, "5.6"),
    (Product::Mysql, "9.7"),
    (Product::Mariadb, "10.5"),
    (Product::Mariadb, "10.11"),
    (Product::Mariadb, "11.8"),
    (Product::Postgres, "18"),
    (Product::Sqlite, "3.50"),
];

fn generator(product: Product, version: &str, profile: &str) -> Generator {
    let version: Version = version.parse().unwrap();
    let profile = Profile::named(profile).unwrap();
    Generator::with(Seed(7), product, &version, dialect::of(product).levels, profile)
}

#[test]
fn every_setup_is_data_and_every_step_has_a_tree() {
    for (product, version) in SERVERS {
        for profile in ["wide", "core"] {
            let mut generator = generator(product, version, profile);
            for schema in 0..40 {
                let cases = generator.cases_per_schema();
                // The sets of a schema share it: a few of them are enough.
                for number in (schema * cases..).step_by(30).take(4) {
                    let made = generator.case(number);
                    let setup = dialect::sql::setup(product, &made.case.setup.statements);
                    assert!(
                        setup.is_ok(),
                        "{product}@{version}: {setup:?}\n{:#?}",
                        made.case.setup.statements
                    );
                    for step in &made.case.steps {
                        let parsed = dialect::sql::parse(product, &step.sql);
                        assert!(
                            parsed.clone().tree().is_some(),
                            "{product}@{version}: {}\n{parsed:?}",
                            step.sql
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_case_does_not_depend_on_those_before_it() {
    let mut one = generator(Product::Mysql, "9.7", "wide");
    let mut other = generator(Product::Mysql, "9.7", "wide");
    let forward: Vec<_> = (0..43).map(|n| one.case(n * 7).case).collect();
    let mut backward: Vec<_> = (0..43).rev().map(|n| other.case(n * 7).case).collect();
    backward.reverse();
    assert_eq!(forward, backward);
}
