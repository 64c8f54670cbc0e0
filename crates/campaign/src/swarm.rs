//! Settings drawn anew for every start of a server: rare combinations happen, and every one is noted with what it found.
//!
//! Which ones a case runs under follows from its number, so that a hunt that was resumed, or has more workers, does the same. What
//! may be drawn is the dialect's to say.

use model::{Rng, Seed, Target, target::Settings};

/// This many schemas in a row run on servers with the same settings.
pub const SCHEMAS: u64 = 5;

/// The settings of the server that a schema runs on, beside those of the target, which stay as they are.
pub fn draw(seed: Seed, target: &Target, schema: u64) -> Settings {
    // What is not ours is taken as it is.
    if target.attached().is_some() {
        return Settings::new();
    }
    let mut rng: Rng = seed.rng(&format!("settings {target}"), schema / SCHEMAS);
    let mut drawn = Settings::new();
    for (name, values) in dialect::of(target.product).swarm {
        let (taken, value) = (rng.ratio(1, 3), *rng.pick(values));
        if taken && !target.settings.contains_key(*name) {
            drawn.insert(name.to_string(), value.to_string());
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_follow_from_the_number() {
        let target: Target = "mysql@9.7?log_bin=OFF".parse().unwrap();
        let of = |schema| draw(Seed(7), &target, schema);
        assert_eq!(of(0), of(SCHEMAS - 1));
        let all: std::collections::BTreeSet<Settings> = (0..100).map(|i| of(i * SCHEMAS)).collect();
        assert!(all.len() > 20, "{}", all.len());
        assert!(all.iter().all(|settings| !settings.contains_key("log_bin")));
        assert_eq!(draw(Seed(7), &"reference".parse().unwrap(), 3), Settings::new());
    }
}
