//! Each strategy, forced by a profile, on every product: it finds room often enough, its pairs are statements of two sessions on one
//! table, and all 13 pairs of Fucci's Table 2 are made.

use std::collections::BTreeMap;

use generate::{Generator, Profile, Strategy};
use model::{Product, Seed, Version, sql::Statement};

fn version(product: Product) -> Version {
    match product {
        Product::Mariadb => "10.11.19".parse().expect("a version"),
        other => dialect::newest(other),
    }
}

fn forced(strategy: Strategy) -> Profile {
    let mut profile = Profile::named("wide2").unwrap();
    profile.strategies.values_mut().for_each(|weight| *weight = 0);
    profile.strategies.insert(strategy.name().to_string(), 1);
    profile
}

#[test]
fn every_strategy_finds_room_on_every_product() {
    for product in Product::ALL {
        let levels = dialect::of(product).levels;
        for strategy in Strategy::all() {
            let mut generator =
                Generator::with(Seed(21), product, &version(product), levels, forced(strategy));
            let mut used = 0;
            // From many schemas: a set in twenty.
            for number in (0..2000).step_by(20) {
                let (_, set) = generator.set(number);
                used += u32::from(set.strategy == strategy);
                for pair in &set.pairs {
                    assert_ne!(pair.first.session, pair.second.session);
                    for place in [pair.first, pair.second] {
                        let statement = &set.scripts[place.session].statements[place.index];
                        let acts = matches!(
                            statement,
                            Statement::Query(_)
                                | Statement::Insert(_)
                                | Statement::Update(_)
                                | Statement::Delete(_)
                        );
                        assert!(acts, "{strategy:?}: {statement:?}");
                    }
                }
            }
            let caps = dialect::capabilities(product, &version(product));
            let (room, least) = match strategy.name() {
                "parent-child" => (caps.foreign_keys, 15),
                // One schema in six has it.
                "cascade-triangle" => (caps.foreign_keys, 5),
                "replace-two" => (caps.clauses.replace, 15),
                _ => (true, 15),
            };
            assert!(!room || used >= least, "{product} {}: {used} of 100 sets", strategy.name());
        }
    }
}

#[test]
fn what_strategies_make_can_be_read_again() {
    for product in Product::ALL {
        let levels = dialect::of(product).levels;
        for strategy in Strategy::all() {
            let mut generator =
                Generator::with(Seed(22), product, &version(product), levels, forced(strategy));
            for number in (0..4000).step_by(200) {
                for step in &generator.case(number).case.steps {
                    let parsed = dialect::sql::parse(product, &step.sql);
                    assert!(
                        parsed.clone().tree().is_some(),
                        "{product} {}: {} {parsed:?}",
                        strategy.name(),
                        step.sql
                    );
                }
            }
        }
    }
}

#[test]
fn all_thirteen_pairs_of_table_2_are_made() {
    let levels = dialect::of(Product::Mysql).levels;
    let version = version(Product::Mysql);
    let mut generator =
        Generator::with(Seed(23), Product::Mysql, &version, levels, forced(Strategy::named("ctc").unwrap()));
    let mut pairs: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..400 {
        generator.set(number).1.features.iter().for_each(|name| *pairs.entry(name).or_default() += 1);
    }
    assert_eq!(pairs.len(), 13, "{pairs:?}");
    assert!(pairs.values().all(|&count| count >= 10), "{pairs:?}");
}
