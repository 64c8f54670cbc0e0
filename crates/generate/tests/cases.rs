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

/// Indexes that are made after the rows keep a setup from being data; all of it is understood all the same.
#[test]
fn every_setup_of_the_default_profile_is_read() {
    for (product, version) in SERVERS {
        let mut generator = generator(product, version, "wide2");
        for schema in 0..60 {
            let number = schema * generator.cases_per_schema();
            let late = generator.case(number).features.contains(&"table:late-index");
            let parsed = dialect::ParsedCase::new(product, generator.case(number).case);
            let setup = &parsed.parsed_setup;
            assert!(setup.schema.is_ok(), "{product}@{version}: {:?}", setup.schema);
            assert!(setup.data.is_ok() || late, "{product}@{version}: {:#?}", setup.texts);
        }
    }
}

#[test]
fn what_is_printed_reads_back_as_it_was() {
    for (product, version) in SERVERS {
        let mut generator = generator(product, version, "wide2");
        for number in (0..1200).step_by(7) {
            let (_, set) = generator.set(number);
            for statement in set.scripts.iter().flat_map(|script| &script.statements) {
                let text = dialect::sql::print(product, statement);
                let read = dialect::sql::parse(product, &text).tree().map(|tree| tree.without_parens());
                assert_eq!(read, Some(statement.without_parens()), "{product}@{version}: {text}");
            }
        }
    }
}

#[test]
fn long_rows_are_long_and_read_back() {
    for (product, version) in SERVERS {
        let mut generator = generator(product, version, "pages");
        for schema in 0..5 {
            let made = generator.case(schema * generator.cases_per_schema());
            assert!(made.features.contains(&"table:long-rows"));
            assert!(dialect::sql::setup(product, &made.case.setup.statements).is_ok());
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

#[test]
fn every_feature_that_a_server_has_occurs() {
    for (product, version) in SERVERS {
        let mut generator = generator(product, version, "wide2");
        let mut seen = std::collections::BTreeSet::new();
        // A few sets of each schema: what is rare is rare by schema, and by set.
        for schema in 0..800 {
            let (first, all) = (schema * generator.cases_per_schema(), generator.cases_per_schema());
            for place in 0..4 {
                seen.extend(generator.case(first + place * all / 4).features);
            }
        }
        let caps = dialect::capabilities(product, &version.parse().unwrap());
        let possible = generate::features::possible(&caps);
        let missing: Vec<_> = possible.iter().filter(|name| !seen.contains(*name)).collect();
        assert!(missing.is_empty(), "{product}@{version} never has {missing:?}");
        let unknown: Vec<_> = seen.iter().filter(|name| !generate::features::ALL.contains(name)).collect();
        assert!(
            unknown.is_empty(),
            "{product}@{version} has features without a place in the list: {unknown:?}"
        );
        let beyond: Vec<_> = seen.iter().filter(|name| !possible.contains(name)).collect();
        assert!(beyond.is_empty(), "{product}@{version} has what it cannot have: {beyond:?}");
    }
}

#[test]
fn the_list_of_features_is_sorted() {
    assert!(generate::features::ALL.is_sorted());
}
