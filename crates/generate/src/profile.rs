//! What is drawn how often: a profile, as data that a user can change.
//!
//! `profiles/wide.toml` holds every key with its meaning. Every other profile, the named ones and a user's file alike, is
//! laid over it and names only what it changes. A key that `wide` does not have is an error that says where it stands.
//! [`Profile::hash`] goes over the resolved values: two profiles with the same hash draw the same.

use crate::digest::Digest;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use toml::{Spanned, Table, Value, de::DeTable, de::DeValue};

/// The named profiles and their text.
pub const NAMED: [(&str, &str); 4] = [
    ("wide", include_str!("../profiles/wide.toml")),
    ("core", include_str!("../profiles/core.toml")),
    ("pages", include_str!("../profiles/pages.toml")),
    ("wide2", include_str!("../profiles/wide2.toml")),
];

/// The one that is drawn by where nothing is said.
pub const DEFAULT: &str = "wide2";

/// `Odds(1, 3)` is once in three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Odds(pub u32, pub u32);

impl Default for Odds {
    fn default() -> Odds {
        Odds(0, 1)
    }
}

impl Odds {
    pub fn is_never(&self) -> bool {
        self.0 == 0
    }

    pub fn draw(self, rng: &mut model::Rng) -> bool {
        rng.ratio(self.0 as usize, self.1.max(1) as usize)
    }

    /// For what came after `wide` was fixed: where it is off nothing is drawn, so that all other draws stay what they were.
    pub fn later(self, rng: &mut model::Rng) -> bool {
        !self.is_never() && self.draw(rng)
    }
}

/// Draws a place by weight; none if all weights are zero.
pub fn weighted(rng: &mut model::Rng, weights: &[u32]) -> Option<usize> {
    let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    if total == 0 {
        return None;
    }
    let mut at = rng.below(total as usize) as u64;
    weights.iter().position(|weight| {
        let here = at < u64::from(*weight);
        at = at.wrapping_sub(u64::from(*weight));
        here
    })
}

/// Declares a table of the profile: all its keys have one type.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident of $ty:ty { $($(#[$how:meta])* $key:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$how])* pub $key: $ty),* }
    };
}

section! {
    /// `[types]`: weights.
    Types of u32 {
        int, small_int, big_int, unsigned, decimal, float, double, char, varchar, text, blob, boolean, date, datetime
    }
}
section! {
    /// `[statements]`: weights.
    StatementWeights of u32 {
        select, locking_select, aggregate, update, delete, insert, insert_many, insert_select, replace, upsert,
        ignore, multi_update, multi_delete,
        #[serde(skip_serializing_if = "is_zero")]
        ordered_multi_update,
    }
}
section! {
    /// `[details]`: odds.
    Details of Odds {
        no_filter, rich_filter, rich_value, known_value, key_update, index_projection, order_by_index, limit,
        subquery, hint, lock_wait, share
    }
}
section! {
    /// `[orders]`: weights.
    OrderWeights of u32 { uniform, few, shaped }
}

/// `[cases]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    pub orders_per_set: u64,
    pub sets_per_schema: u64,
    /// Each session has a level of its own.
    pub mixed_levels: Odds,
    /// Weights of 2, 3, ... sessions.
    pub sessions: Vec<u32>,
}

/// `[schema]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaOdds {
    pub tables: Vec<u32>,
    pub columns: Vec<u32>,
    pub no_primary: Odds,
    pub composite_primary: Odds,
    pub unique: Odds,
    pub composite_unique: Odds,
    pub nullable_unique: Odds,
    pub not_null: Odds,
    pub default: Odds,
    pub check: Odds,
    pub generated: Odds,
    pub foreign_key: Odds,
    pub foreign_key_action: Odds,
    pub index: Odds,
    pub all_indexed: Odds,
    pub composite_index: Odds,
    pub descending: Odds,
    pub prefix: Odds,
    pub partitions: Odds,
    pub long_rows: Odds,
    #[serde(skip_serializing_if = "Odds::is_never")]
    pub triangle: Odds,
    #[serde(skip_serializing_if = "Odds::is_never")]
    pub late_indexes: Odds,
}

/// `[rows]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowOdds {
    pub one_row: Odds,
    pub most: u32,
    pub null_unique: Odds,
    pub null_other: Odds,
    pub boundary: Odds,
}

/// `[scripts]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scripts {
    pub statements: Vec<u32>,
    pub savepoint: Odds,
    pub rollback_to: Odds,
    pub release: Odds,
    pub snapshot: Odds,
    pub reader: Odds,
    pub read_only: Odds,
    /// Of the transactions that write, which READ ONLY lets fail. No profile draws it; the test of who notices a server that lets them write does.
    #[serde(default, skip_serializing_if = "Odds::is_never")]
    pub read_only_writer: Odds,
    pub autocommit_off: Odds,
    pub autocommit: Odds,
    pub immediate: Odds,
    pub rollback: Odds,
    pub give_up: Odds,
}

/// `[observers]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observers {
    /// A plain SELECT after a write.
    pub after_write: Odds,
    /// A plain and a locking one before the end.
    pub before_end: Odds,
    /// Weights of the place of the first read.
    pub first_read: [u32; 3],
}

/// What is drawn how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name, or the file's without its folder.
    #[serde(skip)]
    pub name: String,
    pub cases: Cases,
    #[serde(serialize_with = "without_later")]
    pub strategies: BTreeMap<String, u32>,
    pub orders: OrderWeights,
    pub schema: SchemaOdds,
    pub types: Types,
    pub rows: RowOdds,
    pub statements: StatementWeights,
    pub details: Details,
    pub scripts: Scripts,
    pub observers: Observers,
}

/// Strategies that came after `wide` was fixed. A profile that never draws one has the text and the hash that it had before.
const LATER: [&str; 3] = ["unique-search", "cascade-triangle", "replace-two"];

fn without_later<S: Serializer>(weights: &BTreeMap<String, u32>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(weights.iter().filter(|(name, weight)| **weight > 0 || !LATER.contains(&name.as_str())))
}

fn is_zero(weight: &u32) -> bool {
    *weight == 0
}

/// A profile that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadProfile {
    /// No such name.
    #[error(
        "no profile is called `{0}`; the named ones are wide2, wide, core and pages, and a file can be given"
    )]
    Unknown(String),
    /// Something in a file is wrong.
    #[error("{file}:{line}: {what}")]
    File {
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
}

impl Profile {
    /// One of the named profiles.
    pub fn named(name: &str) -> Result<Profile, BadProfile> {
        match NAMED.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => Profile::parse(name, text),
            None => Err(BadProfile::Unknown(name.to_string())),
        }
    }

    /// Reads a profile: what it names, and `wide` for the rest.
    pub fn parse(file: &str, text: &str) -> Result<Profile, BadProfile> {
        let bad = |at: usize, what: String| {
            let line = text[..at.min(text.len())].matches('\n').count() + 1;
            BadProfile::File { file: file.to_string(), line, what }
        };
        let mut base = wide();
        let read = DeTable::parse(text)
            .map_err(|error| bad(error.span().map_or(0, |span| span.start), error.message().to_string()))?;
        lay(&mut base, read.get_ref(), "").map_err(|(at, what)| bad(at, what))?;
        let mut profile: Profile =
            base.try_into().map_err(|error: toml::de::Error| bad(0, error.message().to_string()))?;
        // Where it lies on this machine is no part of the cases.
        profile.name = file.rsplit('/').next().unwrap_or(file).to_string();
        profile.check().map_err(|what| bad(0, what))?;
        Ok(profile)
    }

    /// What no draw could survive.
    fn check(&self) -> Result<(), String> {
        let some = |name: &str, weights: &[u32], most: usize| {
            let sum = weights.iter().map(|&weight| u64::from(weight)).sum::<u64>();
            if sum == 0 || sum > 1_000_000 || weights.len() > most {
                return Err(format!(
                    "{name} wants 1 to {most} weights, not all 0, of at most a million together"
                ));
            }
            Ok(())
        };
        some("cases.sessions", &self.cases.sessions, 5)?;
        some("schema.tables", &self.schema.tables, 3)?;
        some("schema.columns", &self.schema.columns, 6)?;
        some("scripts.statements", &self.scripts.statements, 12)?;
        some("strategies", &self.strategies.values().copied().collect::<Vec<_>>(), 100)?;
        if !(1..=50).contains(&self.cases.sets_per_schema) {
            return Err("cases.sets_per_schema must be from 1 to 50".to_string());
        }
        if !(1..=1000).contains(&self.cases.orders_per_set) {
            return Err("cases.orders_per_set must be from 1 to 1000".to_string());
        }
        Ok(())
    }

    /// A short name for everything in it, sixteen hexadecimal digits.
    pub fn hash(&self) -> String {
        let mut digest = Digest::default();
        digest.add(&self.text());
        digest.to_string()
    }

    /// The resolved profile as a file.
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::named("wide").expect("the embedded profile is read by a test")
    }
}

fn wide() -> Table {
    NAMED[0].1.parse().expect("the embedded profile is read by a test")
}

/// Lays what a file names over the values that are there. An error has its place.
fn lay(base: &mut Table, over: &DeTable<'_>, path: &str) -> Result<(), (usize, String)> {
    for (key, value) in over {
        let at = key.span().start;
        let name = format!("{path}{}", key.get_ref());
        let Some(old) = base.get_mut(key.get_ref().as_ref()) else {
            let known: Vec<&str> = base.keys().map(String::as_str).collect();
            return Err((at, format!("unknown key `{name}`; known here: {}", known.join(", "))));
        };
        match (old, value.get_ref()) {
            (Value::Table(inner), DeValue::Table(table)) => lay(inner, table, &format!("{name}."))?,
            (old, _) => *old = number_or_list(value, old, &name)?,
        }
    }
    Ok(())
}

/// A value of the same kind as the old one.
fn number_or_list(value: &Spanned<DeValue<'_>>, old: &Value, name: &str) -> Result<Value, (usize, String)> {
    let at = value.span().start;
    let number = |value: &DeValue<'_>| match value {
        DeValue::Integer(text) => {
            u32::from_str_radix(text.as_str(), text.radix()).ok().map(|n| Value::Integer(i64::from(n)))
        }
        _ => None,
    };
    let (new, wanted) = match (old, value.get_ref()) {
        (Value::Integer(_), value) => (number(value), "a whole number, 0 or more"),
        (Value::Array(_), DeValue::Array(list)) => {
            let numbers: Option<Vec<Value>> = list.iter().map(|item| number(item.get_ref())).collect();
            let fits = !name.ends_with(".first_read") || list.len() == 3;
            (numbers.filter(|_| fits).map(Value::Array), "a list of whole numbers as in `wide`")
        }
        _ => (None, "something of the kind that `wide` has there"),
    };
    new.ok_or_else(|| (at, format!("`{name}` wants {wanted}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_may_be_large() {
        let mut rng = model::Seed(1).rng("weights", 0);
        let drawn: Vec<_> = (0..100).map(|_| weighted(&mut rng, &[u32::MAX, u32::MAX, u32::MAX])).collect();
        assert!((0..3).all(|place| drawn.contains(&Some(place))), "{drawn:?}");
        assert_eq!(weighted(&mut rng, &[0, 0]), None);
    }

    #[test]
    fn the_named_profiles_are_fixed() {
        let hashes: Vec<String> = NAMED
            .iter()
            .map(|(name, _)| format!("{name} {}", Profile::named(name).unwrap().hash()))
            .collect();
        expect_test::expect![[r#"
            wide bcf0debe111f68c2
            core c3536eb553f226ce
            pages 14418d7fc8ebc072
            wide2 5ec09cfcd05e79c6"#]]
        .assert_eq(&hashes.join("\n"));
    }

    #[test]
    fn what_a_file_does_not_name_is_as_in_wide() {
        let mine = Profile::parse("mine.toml", "[cases]\norders_per_set = 3\n").unwrap();
        assert_eq!(mine.cases.orders_per_set, 3);
        assert_eq!(mine.types, Profile::default().types);
        let again = Profile::parse("again.toml", &mine.text()).unwrap();
        assert_eq!(again.hash(), mine.hash());
        assert_eq!(Profile::parse("some/where/mine.toml", "").unwrap().name, "mine.toml");
    }

    #[test]
    fn a_mistake_is_told_with_file_line_and_key() {
        let error = |text: &str| Profile::parse("mine.toml", text).unwrap_err().to_string();
        assert!(
            error("[cases]\n\norder_per_set = 3")
                .starts_with("mine.toml:3: unknown key `cases.order_per_set`")
        );
        assert!(
            error("[cases]\norders_per_set = 'x'").starts_with("mine.toml:2: `cases.orders_per_set` wants")
        );
        assert!(error("[cases]\nsets_per_schema = 51").contains("from 1 to 50"));
        assert!(error("[cases").starts_with("mine.toml:1: "));
    }

    #[test]
    fn a_weight_of_zero_is_never_drawn() {
        let mut rng = model::Rng::new(1);
        let mut seen = [0; 3];
        (0..1000).for_each(|_| seen[weighted(&mut rng, &[1, 0, 3]).unwrap()] += 1);
        assert!(seen[1] == 0 && seen[2] > seen[0] * 2);
        assert_eq!(weighted(&mut rng, &[0, 0]), None);
    }
}
