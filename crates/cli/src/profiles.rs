//! What `--profile` may say: the name of a profile, or a file.

use std::{fs, path::Path};

use generate::{
    Profile,
    profile::{BadProfile, NAMED},
};

use crate::errors::Advised;

/// The profile of this name, or in this file.
pub fn load(name: &str) -> anyhow::Result<Profile> {
    if NAMED.iter().any(|(known, _)| *known == name) {
        return Ok(Profile::named(name)?);
    }
    let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
    let advice = || {
        let named = format!("the named profiles: {}", names.join(", "));
        let own = "a file of your own names only the keys that it changes".to_string();
        vec![named, own]
    };
    if !Path::new(name).is_file() {
        anyhow::bail!(Advised::new(BadProfile::Unknown(name.to_string()).to_string(), advice()));
    }
    let text = fs::read_to_string(name)
        .map_err(|error| Advised::new(format!("{name} cannot be read: {error}"), advice()))?;
    Ok(Profile::parse(name, &text).map_err(|error| Advised::new(error.to_string(), advice()))?)
}
