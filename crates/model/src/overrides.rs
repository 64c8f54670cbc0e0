//! A real server as a planted bug: what the oracles are told instead of what is true. A server that ran at READ COMMITTED and is
//! judged as if it had run at REPEATABLE READ must be found out.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Level, Version, target::Settings};

/// What the oracles are told instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeOverrides {
    /// The level of every session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The server's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Settings of the server.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

impl JudgeOverrides {
    /// Are they told the truth?
    pub fn is_empty(&self) -> bool {
        *self == JudgeOverrides::default()
    }

    /// A level for another.
    pub fn of_level(level: Level) -> JudgeOverrides {
        JudgeOverrides { level: Some(level), ..JudgeOverrides::default() }
    }

    /// Takes over what another one says.
    pub fn and(mut self, more: JudgeOverrides) -> JudgeOverrides {
        self.level = more.level.or(self.level);
        self.version = more.version.or(self.version);
        self.settings.extend(more.settings);
        self
    }

    /// All of these; of two that contradict each other the later one.
    pub fn all(parts: &[JudgeOverrides]) -> JudgeOverrides {
        parts.iter().cloned().fold(JudgeOverrides::default(), JudgeOverrides::and)
    }
}

impl FromStr for JudgeOverrides {
    type Err = String;

    /// A level, a version, or a setting.
    fn from_str(text: &str) -> Result<JudgeOverrides, String> {
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty()) {
            let name = name.trim().to_ascii_lowercase().replace('-', "_");
            let settings = [(name, value.trim().to_string())].into();
            return Ok(JudgeOverrides { settings, ..JudgeOverrides::default() });
        }
        if let Ok(level) = text.parse() {
            return Ok(JudgeOverrides::of_level(level));
        }
        match text.parse() {
            Ok(version) => Ok(JudgeOverrides { version: Some(version), ..JudgeOverrides::default() }),
            Err(_) => Err("write a level (RC), a version (10.11.19) or a setting (name=value)".to_string()),
        }
    }
}

impl fmt::Display for JudgeOverrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.map(|level| level.to_string());
        let version = self.version.as_ref().map(Version::to_string);
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        let parts: Vec<String> = level.into_iter().chain(version).chain(settings).collect();
        f.pad(&parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(words: &[&str]) -> JudgeOverrides {
        words.iter().fold(JudgeOverrides::default(), |sum, word| sum.and(word.parse().unwrap()))
    }

    #[test]
    fn levels_versions_and_settings() {
        let all = overrides(&["RC", "10.11.19", "Snapshot-Isolation=ON"]);
        assert_eq!(all.to_string(), "RC 10.11.19 snapshot_isolation=ON");
        assert_eq!(all.level, Some(Level::ReadCommitted));
        assert_eq!(overrides(&["RC", "repeatable read"]).level, Some(Level::RepeatableRead));
        for wrong in ["", "X", "=1", "10.x"] {
            assert!(wrong.parse::<JudgeOverrides>().is_err(), "{wrong}");
        }
    }
}
