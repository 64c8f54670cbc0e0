//! The swarm of settings: what a server is started with, drawn anew for each start. Off unless somebody asks for it; what was
//! drawn becomes part of the target, so that it is recorded and replayed with it.
//!
//! Only what keeps our statements valid and their trees true is drawn: no log of statements, which refuses every change at READ
//! COMMITTED, and no sql_mode that reads a text differently.

use model::{Product, Rng, Seed, Version, target::Settings};

/// The settings of start number `number`. Half of those that the product has are named; the others keep their default.
pub fn draw(seed: Seed, product: Product, version: &Version, number: u64) -> Settings {
    let mut rng = seed.rng("settings", number);
    let mut settings = Settings::new();
    match product {
        Product::Mysql | Product::Mariadb => innodb(&mut rng, product, version, &mut settings),
        Product::Postgres => {
            for name in POSTGRES {
                choose(&mut rng, &mut settings, name, &["on", "off"]);
            }
        }
        Product::Sqlite => {
            choose(&mut rng, &mut settings, "journal_mode", &["DELETE", "TRUNCATE", "PERSIST", "WAL"]);
            choose(&mut rng, &mut settings, "automatic_index", &["ON", "OFF"]);
            choose(&mut rng, &mut settings, "reverse_unordered_selects", &["ON", "OFF"]);
        }
        Product::Reference => {}
    }
    settings
}

/// Ways of reading that PostgreSQL's planner can be kept from.
const POSTGRES: [&str; 8] = [
    "enable_seqscan",
    "enable_indexscan",
    "enable_indexonlyscan",
    "enable_bitmapscan",
    "enable_tidscan",
    "enable_hashjoin",
    "enable_nestloop",
    "enable_sort",
];

/// What MySQL's and MariaDB's optimizers can be kept from, or told to do against their own reckoning.
const SWITCHES: [&str; 7] = [
    "index_merge=off",
    "index_condition_pushdown=off",
    "mrr=on,mrr_cost_based=off",
    "semijoin=off",
    "materialization=off",
    "batched_key_access=on",
    "derived_merge=off",
];

fn innodb(rng: &mut Rng, product: Product, version: &Version, settings: &mut Settings) {
    let since = |parts: &[u32]| version.cmp_prefix(&Version(parts.to_vec())).is_ge();
    let mut set = |name: &str, value: &str| settings.insert(name.to_string(), value.to_string());
    let log = rng.ratio(1, 2);
    set("log_bin", if log { "ON" } else { "OFF" });
    if log {
        set("binlog_format", one_of(rng, &["ROW", "MIXED"]));
        if product == Product::Mysql || since(&[10, 1, 6]) {
            set("binlog_row_image", one_of(rng, &["FULL", "MINIMAL", "NOBLOB"]));
        }
    }
    let modes =
        ["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE"];
    if rng.ratio(1, 2) {
        set("sql_mode", one_of(rng, &modes));
    }
    let has = |switch: &&&str| match **switch {
        "batched_key_access=on" => product == Product::Mysql,
        "derived_merge=off" => product == Product::Mariadb || since(&[5, 7]),
        _ => true,
    };
    let switches: Vec<&str> = SWITCHES.iter().filter(has).copied().filter(|_| rng.ratio(1, 3)).collect();
    if !switches.is_empty() {
        set("optimizer_switch", &switches.join(","));
    }
    if rng.ratio(1, 2) {
        set("innodb_rollback_on_timeout", one_of(rng, &["ON", "OFF"]));
    }
}

fn one_of(rng: &mut Rng, values: &[&'static str]) -> &'static str {
    values[rng.below(values.len())]
}

/// Sets it to one of these, or leaves it alone.
fn choose(rng: &mut Rng, settings: &mut Settings, name: &str, values: &[&str]) {
    if rng.ratio(1, 2) {
        settings.insert(name.to_string(), rng.pick(values).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_differ_and_repeat() {
        for product in [Product::Mysql, Product::Mariadb, Product::Postgres, Product::Sqlite] {
            let version = dialect::newest(product);
            let drawn: Vec<Settings> = (0..20).map(|n| draw(Seed(7), product, &version, n)).collect();
            assert!(drawn.iter().any(|settings| *settings != drawn[0]), "{product}");
            assert_eq!(drawn[7], draw(Seed(7), product, &version, 7));
        }
    }

    #[test]
    fn a_server_is_only_told_what_it_knows() {
        let old = Version(vec![10, 1, 2]);
        let drawn = (0..50).map(|n| draw(Seed(7), Product::Mariadb, &old, n));
        assert!(drawn.into_iter().all(|settings| !settings.contains_key("binlog_row_image")));
    }
}
