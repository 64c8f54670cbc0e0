//! Shows a run to the oracles as they are told that it was. Only what they are shown is changed; what is run, and run again, stays as
//! it is.

use std::{borrow::Cow, sync::Arc};

use dialect::Execution;
use model::JudgeOverrides;

/// The run as the oracles see it.
pub fn overridden<'a>(overrides: &JudgeOverrides, seen: &'a Execution) -> Cow<'a, Execution> {
    if overrides.is_empty() {
        return Cow::Borrowed(seen);
    }
    let mut shown = seen.clone();
    if let Some(level) = overrides.level {
        shown.trace.level = level;
        Arc::make_mut(&mut shown.case).set_level(level);
    }
    let server = &mut shown.trace.server;
    if let Some(version) = &overrides.version {
        server.version = version.clone();
        server.version_text = version.to_string();
    }
    for (name, value) in &overrides.settings {
        // InnoDB's settings are known by the rest of their names, too.
        let long = format!("innodb_{name}");
        let name = if server.settings.contains_key(&long) { &long } else { name };
        server.settings.insert(name.clone(), value.clone());
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use model::Level;

    use super::*;

    fn overrides(words: &[&str]) -> JudgeOverrides {
        JudgeOverrides::all(&words.iter().map(|word| word.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_is_shown_changes() {
        let seen = crate::confirm::tests::execution(&Default::default(), false);
        assert!(matches!(overridden(&overrides(&[]), &seen), Cow::Borrowed(_)));
        let shown = overridden(&overrides(&["SER", "9.9", "snapshot_isolation=ON"]), &seen).into_owned();
        assert_eq!(shown.trace.level, Level::Serializable);
        assert_eq!(shown.trace.server.version.to_string(), "9.9");
        assert_eq!(shown.trace.server.settings["snapshot_isolation"], "ON");
        let mut seen = seen;
        seen.trace.server.settings.insert("innodb_snapshot_isolation".into(), "OFF".into());
        let shown = overridden(&overrides(&["snapshot_isolation=ON"]), &seen).into_owned();
        assert_eq!(shown.trace.server.settings["innodb_snapshot_isolation"], "ON");
        assert_eq!(shown.trace.server.settings.len(), 1);
    }
}
