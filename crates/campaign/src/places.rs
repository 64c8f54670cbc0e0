//! The same server with a setting turned over that changes what it owes.

use model::{Product, Target, Version};

/// Where else a case of this target is worth running, without another version: at most one place.
pub fn turned(target: &Target, version: &Version) -> Vec<Target> {
    let since = |parts: &[u32]| version.0.as_slice() >= parts;
    // From 11.6 on it is ON by default; 10.11 was given it late.
    let (name, usual) = match target.product {
        Product::Mariadb if since(&[11, 6]) => ("innodb_snapshot_isolation", true),
        Product::Mariadb if since(&[10, 11, 8]) => ("innodb_snapshot_isolation", false),
        Product::Mysql if since(&[8]) => ("log_bin", true),
        Product::Mariadb | Product::Mysql | Product::Postgres | Product::Sqlite | Product::Reference => {
            return Vec::new();
        }
    };
    // A server that is not ours is taken as it is.
    if target.attached().is_some() {
        return Vec::new();
    }
    let is =
        target.settings.get(name).map_or(usual, |value| value.eq_ignore_ascii_case("ON") || value == "1");
    let mut other = target.clone();
    other.settings.insert(name.into(), if is { "OFF" } else { "ON" }.into());
    vec![other]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_is_turned_off() {
        for (target, version, other) in [
            ("mariadb@10.11", "10.11.19", Some("mariadb@10.11?innodb_snapshot_isolation=ON")),
            (
                "mariadb@10.11?innodb_snapshot_isolation=ON",
                "10.11.19",
                Some("mariadb@10.11?innodb_snapshot_isolation=OFF"),
            ),
            ("mariadb@11.8", "11.8.6", Some("mariadb@11.8?innodb_snapshot_isolation=OFF")),
            ("mariadb@10.5", "10.5.29", None),
            ("mysql@9.7", "9.7.4", Some("mysql@9.7?log_bin=OFF")),
            ("sqlite", "3.54.1", None),
            ("mysql://root@localhost", "9.7.4", None),
        ] {
            let all = turned(&target.parse().unwrap(), &version.parse().unwrap());
            let found = all.first().map(Target::to_string);
            assert_eq!(found.as_deref(), other, "{target}");
        }
    }
}
