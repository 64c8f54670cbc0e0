//! Bugs that can be planted, by name.
//!
//! Each is a mistake that a real engine could make, and shows only when transactions meet in a certain way. With
//! `one_in=N` only one occasion in N is taken. Which one is decided by the text of the statement and the rows at hand, not by
//! chance: the same case gives the same trace. What follows asks [`Plants::hits`] at the one place where the engine would go
//! wrong; nothing else in this crate knows about bugs.

use model::target::Settings;

macro_rules! bugs {
    ($($name:ident = $text:literal: $sentence:literal,)*) => {
        /// A bug that can be planted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Bug { $(#[doc = $sentence] $name,)* }

        impl Bug {
            /// All of them.
            pub const ALL: &'static [Bug] = &[$(Bug::$name,)*];

            /// Its name in targets.
            pub fn name(self) -> &'static str {
                match self { $(Bug::$name => $text,)* }
            }

            /// What goes wrong.
            pub fn sentence(self) -> &'static str {
                match self { $(Bug::$name => $sentence,)* }
            }
        }
    };
}

bugs! {
    Crash = "crash": "An UPDATE or DELETE that has waited and then finds its rows gone takes the whole server down.",
    Hang = "hang": "A statement that waits for a transaction which is rolled back is never woken.",
    InternalError = "internal-error": "The victim of a deadlock is answered with an internal error.",
    AbortedRead = "aborted-read": "A plain SELECT above READ UNCOMMITTED sees what another transaction has not committed yet.",
    DuplicateUnique = "duplicate-unique": "A write that has waited does not look again whether its UNIQUE value is taken meanwhile.",
}

/// What is planted in one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plants {
    bugs: Vec<Bug>,
    one_in: u64,
}

impl Default for Plants {
    fn default() -> Plants {
        Plants { bugs: Vec::new(), one_in: 1 }
    }
}

/// A target's settings are not understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadPlant {
    /// No such bug.
    #[error("the reference engine has no bug called `{0}`")]
    Bug(String),
    /// Not a rate.
    #[error("`one_in={0}` is not a whole number from 1 on")]
    Rate(String),
    /// No such setting.
    #[error("the reference engine has no setting `{0}`")]
    Setting(String),
}

impl BadPlant {
    /// What to do about it, a line each.
    pub fn advice(&self) -> Vec<String> {
        match self {
            BadPlant::Bug(_) => {
                let width = Bug::ALL.iter().map(|bug| bug.name().len()).max().unwrap_or(0);
                let line = |bug: &Bug| format!("{:width$}  {}", bug.name(), bug.sentence());
                std::iter::once("it has these:".to_string()).chain(Bug::ALL.iter().map(line)).collect()
            }
            BadPlant::Rate(_) => vec!["one_in=100 takes one occasion in a hundred".to_string()],
            BadPlant::Setting(_) => {
                vec!["write plant=NAME, or plant=NAME,NAME, and one_in=N to have it now and then".to_string()]
            }
        }
    }
}

impl Plants {
    /// Reads the settings of a target: `plant=crash,hang` and `one_in=100`.
    pub fn read(settings: &Settings) -> Result<Plants, BadPlant> {
        let mut plants = Plants::default();
        for (name, value) in settings {
            match name.as_str() {
                "plant" => {
                    for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                        let found = Bug::ALL.iter().find(|bug| bug.name().eq_ignore_ascii_case(word));
                        plants.bugs.push(*found.ok_or_else(|| BadPlant::Bug(word.to_string()))?);
                    }
                }
                "one_in" => {
                    let rate = value.parse().ok().filter(|rate| *rate > 0);
                    plants.one_in = rate.ok_or_else(|| BadPlant::Rate(value.clone()))?;
                }
                _ => return Err(BadPlant::Setting(name.clone())),
            }
        }
        Ok(plants)
    }

    /// Does the bug show on this occasion, which is told from others by `what`?
    pub fn hits(&self, bug: Bug, what: impl FnOnce() -> String) -> bool {
        self.bugs.contains(&bug) && (self.one_in == 1 || sum(&what()).is_multiple_of(self.one_in))
    }
}

/// FNV-1a, with its high bits folded in: its low bits alone are poor.
fn sum(text: &str) -> u64 {
    let sum = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    sum ^ (sum >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Plants, BadPlant> {
        Plants::read(&pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    #[test]
    fn settings_name_bugs_and_their_rate() {
        let plants = read(&[("plant", "crash,aborted-read"), ("one_in", "3")]).unwrap();
        assert_eq!(plants.bugs, [Bug::Crash, Bug::AbortedRead]);
        let hits = (0..300).filter(|n| plants.hits(Bug::Crash, || format!("case {n}"))).count();
        assert!((60..140).contains(&hits), "{hits}");
        assert!(!plants.hits(Bug::Hang, || "x".into()));
        assert_eq!(read(&[]), Ok(Plants::default()));
    }

    #[test]
    fn what_is_unknown_is_an_error_with_the_list() {
        let error = read(&[("plant", "crush")]).unwrap_err();
        assert_eq!(error, BadPlant::Bug("crush".into()));
        for bug in Bug::ALL {
            assert!(error.advice().iter().any(|line| line.contains(bug.name())));
        }
        assert!(matches!(read(&[("one_in", "0")]), Err(BadPlant::Rate(_))));
        assert!(matches!(read(&[("log_bin", "ON")]), Err(BadPlant::Setting(_))));
    }
}
