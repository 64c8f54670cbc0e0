//! Each strategy, forced by a profile, on every product: it finds room often enough, its pairs are statements of two sessions on one
//! table, and all 13 pairs of Fucci's Table 2 are made.

use std::collections::{BTreeMap, BTreeSet};

use eval::Datum;
use generate::{Generator, Profile, Schema, Strategy, schema::Table};
use model::{
    Product, Seed, Version,
    schema::KeyKind,
    sql::{Action, Statement},
};

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

/// The tables and statements that reports of cascades, ordered changes and REPLACE need: MDEV-15199, MDEV-35955, MDEV-35115.
#[test]
fn the_shapes_that_known_reports_need_are_drawn() {
    let product = Product::Mariadb;
    let wide2 = Profile::named("wide2").unwrap();
    let levels = dialect::of(product).levels;
    let mut generator = Generator::with(Seed(23), product, &version(product), levels, wide2);
    let (mut triangles, mut both_changed, mut late) = (0, 0, 0);
    for number in 0..100 {
        let schema = generator.schema(number);
        triangles += u32::from(deletes_and_sets_null(schema));
        late += u32::from(schema.tables.iter().any(null_first_then_late));
        for set in 0..20 {
            let (_, set) = generator.set(number * 20 + set);
            let scripts = set.scripts.iter().flat_map(|script| &script.statements);
            both_changed += scripts.filter(|statement| changes_both_in_order(statement)).count();
        }
    }
    assert!(triangles >= 3 && late >= 5 && both_changed >= 30, "{triangles} {late} {both_changed}");
}

/// A row of the third table is deleted by one way from the first and set to NULL by the other.
fn deletes_and_sets_null(schema: &Schema) -> bool {
    schema.tables.iter().any(|table| {
        let Some(corner) = schema.corner(table) else { return false };
        let middle = &schema.tables[corner.through.table];
        let closed = |row: &Vec<Datum>| {
            middle.rows.iter().any(|other| {
                other[corner.through.referred[0]] == row[corner.through.columns[0]]
                    && other[corner.onward.columns[0]] == row[corner.direct.columns[0]]
            })
        };
        corner.direct.on_delete == Some(Action::Cascade)
            && corner.onward.on_delete == Some(Action::Cascade)
            && corner.through.on_delete == Some(Action::SetNull)
            && table.rows.iter().any(closed)
    })
}

/// A UNIQUE key without NULL is made after one that lets NULL in.
fn null_first_then_late(table: &Table) -> bool {
    let unique = |late: bool, nullable: bool| {
        table.indexes.iter().any(|index| {
            index.kind == KeyKind::Unique
                && index.late == late
                && index.parts.iter().any(|part| table.columns[part.column].nullable) == nullable
        })
    };
    unique(false, true) && unique(true, false)
}

fn changes_both_in_order(statement: &Statement) -> bool {
    let Statement::Update(update) = statement else { return false };
    let tables: BTreeSet<String> = update
        .assignments
        .iter()
        .filter_map(|set| set.column.table.as_ref())
        .map(|table| format!("{table:?}"))
        .collect();
    tables.len() == 2 && update.order_by.len() >= 3 && update.limit.is_some()
}
