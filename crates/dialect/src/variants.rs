//! The settings that matter to a product, as targets to be tested one after the other.

use model::{Target, Version, target::Settings};

/// The settings under which a target's corpus is tested, beside those that the user gave. Combinations that
/// contradict the user's are left out, and so are settings that this version does not have, or may not have. A server
/// that runs already is taken as it is.
pub fn variants(target: &Target, version: Option<&Version>) -> Vec<Target> {
    if target.attached().is_some() {
        return vec![target.clone()];
    }
    let dialect = crate::of(target.product);
    let has = |name: &str| match version {
        Some(version) => dialect.lacks(version, name).is_none(),
        None => dialect.since.iter().all(|since| since.setting != name),
    };
    let mut found: Vec<Target> = Vec::new();
    for variant in dialect.variants {
        let contradicts = |(name, value): &&(&str, &str)| {
            target.settings.get(*name).is_some_and(|given| !given.eq_ignore_ascii_case(value))
        };
        if variant.iter().any(|pair| contradicts(&pair)) {
            continue;
        }
        let wanted = variant.iter().filter(|(name, _)| has(name));
        let mut settings: Settings =
            wanted.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        settings.extend(target.settings.clone());
        let variant = Target { settings, ..target.clone() };
        if !found.contains(&variant) {
            found.push(variant);
        }
    }
    if found.is_empty() { vec![target.clone()] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(target: &str, version: Option<&str>) -> Vec<String> {
        let version = version.map(|text| text.parse().unwrap());
        variants(&target.parse().unwrap(), version.as_ref()).iter().map(Target::to_string).collect()
    }

    #[test]
    fn a_version_is_only_given_settings_that_it_has() {
        let bare = ["mariadb@10.11?log_bin=OFF", "mariadb@10.11?binlog_format=MIXED&log_bin=ON"];
        assert_eq!(of("mariadb@10.11", Some("10.11.5")), bare);
        assert_eq!(of("mariadb@10.11", None), bare);
        assert_eq!(
            of("mariadb@10.11", Some("10.11.8")),
            [
                "mariadb@10.11?innodb_snapshot_isolation=OFF&log_bin=OFF",
                "mariadb@10.11?binlog_format=MIXED&innodb_snapshot_isolation=OFF&log_bin=ON",
                "mariadb@10.11?innodb_snapshot_isolation=ON&log_bin=OFF",
            ]
        );
        assert_eq!(
            of("mysql@5.6", Some("5.6.24")),
            ["mysql@5.6?binlog_format=ROW&log_bin=ON", "mysql@5.6?log_bin=OFF"]
        );
        assert_eq!(of("postgres@13", Some("13.20")), ["postgres@13"]);
    }

    #[test]
    fn what_the_user_sets_stays() {
        assert_eq!(
            of("mariadb?innodb_snapshot_isolation=on", Some("11.8.2")),
            ["mariadb?innodb_snapshot_isolation=on&log_bin=OFF"]
        );
        assert_eq!(of("mysql://root@127.0.0.1:3306", None).len(), 1, "a server that runs is taken as it is");
    }
}
