//! Settings of servers, as data: which came late, which are drawn in a swarm, which are worth turning over.

use model::{Target, Version};

use crate::Dialect;

/// A setting that came with a later version.
pub struct SettingSince {
    pub setting: &'static str,
    /// The first release with it in each branch that got one, oldest first. Branches after the last have it from their
    /// beginning; all others never got it.
    pub releases: &'static [[u32; 3]],
    /// The value of which a version without it behaves.
    pub without: &'static str,
}

/// A setting that a swarm draws, and what it may be. Every supported version has it, and it changes how things are done, not
/// what a statement means.
pub type SettingChoices = (&'static str, &'static [&'static str]);

/// A switch that changes what the product owes.
pub struct SettingSwitch {
    pub setting: &'static str,
    /// The first version of which the next line is true.
    pub since: &'static [u32],
    /// Is it on by default?
    pub on: bool,
}

impl Dialect {
    /// If this version does not have the setting yet: the value of which it behaves.
    pub fn lacks(&self, version: &Version, setting: &str) -> Option<&'static str> {
        let since = self.since.iter().find(|since| since.setting == setting)?;
        let branch = |release: &&[u32; 3]| version.cmp_prefix(&Version(release[..2].to_vec())).is_eq();
        let has = match (since.releases.iter().find(branch), since.releases.last()) {
            (Some(first), _) => version.cmp_prefix(&Version(first.to_vec())).is_ge(),
            (None, Some(last)) => version.cmp_prefix(&Version(last.to_vec())).is_gt(),
            (None, None) => false,
        };
        (!has).then_some(since.without)
    }

    /// The same target with its switch turned over: where else a case is worth running, without another version.
    pub fn with_flipped_switch(&self, target: &Target, version: &Version) -> Option<Target> {
        // A server that is not ours is taken as it is.
        if target.attached().is_some() {
            return None;
        }
        let switch = self.switches.iter().find(|switch| version.0.as_slice() >= switch.since)?;
        let set = target.settings.get(switch.setting);
        let on = set.map_or(switch.on, |value| value.eq_ignore_ascii_case("ON") || value == "1");
        let mut other = target.clone();
        other.settings.insert(switch.setting.into(), if on { "OFF" } else { "ON" }.into());
        Some(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mariadb, mysql};

    #[test]
    fn a_setting_comes_with_a_release_of_each_branch() {
        let lacks = |version: &str| {
            mariadb::DIALECT.lacks(&version.parse().unwrap(), "innodb_snapshot_isolation").is_some()
        };
        for version in ["10.1.23", "10.2.11", "10.5.23", "10.6.17", "10.7.8", "10.11.5", "10.11.7", "11.4.1"]
        {
            assert!(lacks(version), "{version}");
        }
        for version in ["10.6.18", "10.11.8", "10.11.19", "11.4.2", "11.4.5", "11.6.1", "11.8.2", "12.0.1"] {
            assert!(!lacks(version), "{version}");
        }
        assert_eq!(mariadb::DIALECT.lacks(&Version(vec![10, 1, 23]), "log_bin"), None);
        assert_eq!(mysql::DIALECT.lacks(&Version(vec![5, 6, 24]), "log_bin"), None);
    }

    #[test]
    fn a_switch_that_is_on_is_turned_off() {
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
            let target: Target = target.parse().unwrap();
            let found = crate::of(target.product).with_flipped_switch(&target, &version.parse().unwrap());
            assert_eq!(found.map(|other| other.to_string()).as_deref(), other, "{target}");
        }
    }
}
