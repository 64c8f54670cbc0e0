//! Which settings a target may name (`sqlite?journal_mode=WAL`), and the PRAGMAs that make them so.
//!
//! Whatever changes what SQLite owes keeps its makers' default unless the target says otherwise. The library
//! that is linked here was compiled with foreign keys on; they are switched off, as SQLite ships.

use model::{RowSet, target::Settings};

/// What a setting may be.
#[derive(Clone, Copy, Debug)]
enum AllowedValues {
    /// ON or OFF.
    Switch,
    /// One of these; SQLite reads it back as the word.
    Words(&'static [&'static str]),
    /// One of these; SQLite reads it back as its place in the list.
    Places(&'static [&'static str]),
    Number,
}

/// In the order in which they are applied: the page layout must come before anything is written.
const KNOWN: [(&str, AllowedValues); 10] = [
    ("page_size", AllowedValues::Number),
    ("auto_vacuum", AllowedValues::Places(&["NONE", "FULL", "INCREMENTAL"])),
    ("journal_mode", AllowedValues::Words(&["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"])),
    ("wal_autocheckpoint", AllowedValues::Number),
    ("cache_size", AllowedValues::Number),
    ("cache_spill", AllowedValues::Number),
    ("foreign_keys", AllowedValues::Switch),
    ("recursive_triggers", AllowedValues::Switch),
    ("automatic_index", AllowedValues::Switch),
    ("reverse_unordered_selects", AllowedValues::Switch),
];

/// A setting that cannot be had.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadSetting {
    #[error("sqlite has no setting `{name}` here; the known ones are {known}")]
    Unknown { name: String, known: String },
    #[error("`{value}` is no value for sqlite's {name}; write {allowed}")]
    Value { name: String, value: String, allowed: String },
    #[error("sqlite was set to {name}={asked} but says {found}")]
    Kept { name: String, asked: String, found: String },
}

/// The settings of a run, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSettings(Vec<(&'static str, String)>);

impl CheckedSettings {
    /// Checks what the target asks for.
    pub fn new(asked: &Settings) -> Result<CheckedSettings, BadSetting> {
        if let Some(name) = asked.keys().find(|name| KNOWN.iter().all(|(known, _)| known != name)) {
            let mut known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            known.sort_unstable();
            return Err(BadSetting::Unknown { name: name.clone(), known: known.join(", ") });
        }
        let mut chosen = Vec::new();
        for (name, values) in KNOWN {
            match asked.get(name) {
                Some(value) => chosen.push((name, values.check(name, value)?)),
                None if name == "foreign_keys" => chosen.push((name, "OFF".to_string())),
                None => {}
            }
        }
        Ok(CheckedSettings(chosen))
    }

    /// What every new connection runs first.
    pub fn opening(&self) -> Vec<String> {
        // A folder in memory, thrown away after the run: nothing needs to reach a disk.
        let mut sql = vec!["PRAGMA synchronous = OFF".to_string()];
        // WAL is a property of the file, and setting it again would need the file for itself.
        let per_connection =
            self.0.iter().filter(|(name, value)| (*name, &**value) != ("journal_mode", "WAL"));
        sql.extend(per_connection.map(|(name, value)| format!("PRAGMA {name} = {value}")));
        sql
    }

    /// What the first connection runs once.
    pub fn once(&self) -> Option<String> {
        let wal = self.0.iter().any(|(name, value)| (*name, &**value) == ("journal_mode", "WAL"));
        wal.then(|| "PRAGMA journal_mode = WAL".to_string())
    }

    /// What to read back: always the journal mode, and all that was asked for.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = vec!["journal_mode"];
        names.extend(self.0.iter().map(|(name, _)| *name).filter(|name| *name != "journal_mode"));
        names
    }

    /// What SQLite read back, in the words of [`Settings`]; an error if it is not what was asked for.
    pub fn read_back(&self, name: &str, rows: &RowSet) -> Result<String, BadSetting> {
        let raw = match rows.len() {
            0 => String::new(),
            _ => rows.cell(0, 0).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default(),
        };
        let values = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, values)| *values);
        let found = values.map_or(raw.clone(), |values| values.word(&raw));
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, asked)) if *asked != found => {
                Err(BadSetting::Kept { name: name.to_string(), asked: asked.clone(), found })
            }
            Some(_) | None => Ok(found),
        }
    }
}

impl AllowedValues {
    /// The value as it is written everywhere else.
    fn check(self, name: &str, value: &str) -> Result<String, BadSetting> {
        let upper = value.to_ascii_uppercase();
        let (fits, allowed) = match self {
            AllowedValues::Switch => (["ON", "OFF"].contains(&&*upper), "ON or OFF".to_string()),
            AllowedValues::Words(words) | AllowedValues::Places(words) => {
                (words.contains(&&*upper), words.join(", "))
            }
            AllowedValues::Number => (value.parse::<i32>().is_ok(), "a whole number".to_string()),
        };
        if fits {
            Ok(upper)
        } else {
            Err(BadSetting::Value { name: name.to_string(), value: value.to_string(), allowed })
        }
    }

    /// SQLite's answer as the word that one writes.
    fn word(self, raw: &str) -> String {
        match self {
            AllowedValues::Switch => match raw {
                "0" => "OFF".to_string(),
                "1" => "ON".to_string(),
                other => other.to_string(),
            },
            AllowedValues::Places(words) => {
                match raw.parse::<usize>().ok().and_then(|place| words.get(place)) {
                    Some(word) => word.to_string(),
                    None => raw.to_string(),
                }
            }
            AllowedValues::Words(_) | AllowedValues::Number => raw.to_ascii_uppercase(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(&str, &str)]) -> Settings {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn the_layout_comes_before_the_journal() {
        let chosen =
            CheckedSettings::new(&asked(&[("journal_mode", "persist"), ("page_size", "512")])).unwrap();
        assert_eq!(
            chosen.opening(),
            [
                "PRAGMA synchronous = OFF",
                "PRAGMA page_size = 512",
                "PRAGMA journal_mode = PERSIST",
                "PRAGMA foreign_keys = OFF",
            ]
        );
        assert_eq!(chosen.once(), None);
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        let unknown = CheckedSettings::new(&asked(&[("log_bin", "ON")])).unwrap_err().to_string();
        assert!(unknown.contains("`log_bin`") && unknown.contains("journal_mode"), "{unknown}");
        let value = CheckedSettings::new(&asked(&[("journal_mode", "OFF")])).unwrap_err().to_string();
        assert!(value.contains("`OFF`") && value.contains("WAL"), "{value}");
    }
}
