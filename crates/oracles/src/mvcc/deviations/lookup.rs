//! Deviations by the ids that a verdict has of them.

use model::{DeviationId, Fingerprint, verdict::Deviations};

use super::{KnownDeviation, Status, all, find};

pub fn ids<'a>(all: impl IntoIterator<Item = &'a &'static KnownDeviation>) -> Deviations {
    all.into_iter().map(|by| by.name.into()).collect()
}

/// The known deviations that explain a fingerprint; none if nothing does.
pub fn named(fingerprint: &Fingerprint) -> Option<Vec<&'static KnownDeviation>> {
    ordered(fingerprint.deviations()?)
}

/// Is it explained by what the decoupled run sees nothing wrong in: what a statement meets with nobody else there, and a refusal that does
/// not come?
pub fn is_nothing_alone(fingerprint: &Fingerprint) -> bool {
    let unseen = |by: &&'static KnownDeviation| by.alone || by.misses_conflict.is_some();
    named(fingerprint).is_some_and(|by| !by.is_empty() && by.iter().all(unseen))
}

/// The bug reports by which a fingerprint is known. What was found but is in no tracker has a name, and is new.
pub fn known(fingerprint: &Fingerprint) -> Option<String> {
    reports(fingerprint.deviations()?)
}

/// The bug reports of these deviations; none if one of them is in no tracker.
pub fn reports(all: &Deviations) -> Option<String> {
    let all = ordered(all)?;
    let reported = all.iter().all(|by| by.status == Status::Reported);
    let numbers: Vec<String> = all.iter().flat_map(|by| by.reports).map(ToString::to_string).collect();
    reported.then(|| numbers.join(", "))
}

/// The deviations of these ids, in the order of the registry; none if one of them is not in it.
fn ordered(ids: &Deviations) -> Option<Vec<&'static KnownDeviation>> {
    let is = |by: &&'static KnownDeviation| ids.iter().any(|id| id.0 == by.name);
    let all: Vec<_> = all().filter(is).collect();
    (all.len() == ids.len()).then_some(all)
}

/// Where a deviation is documented or reported.
pub fn source(id: &DeviationId) -> Option<&'static str> {
    find(&id.0).map(|by| by.source)
}

#[cfg(test)]
mod tests {
    use dialect::contract::deviation;

    use super::*;

    #[test]
    fn reports_have_words_for_each() {
        let silent: Vec<&str> =
            all().map(|by| by.name).filter(|name| deviation(&(*name).into()).is_none()).collect();
        assert!(silent.is_empty(), "no words in dialect::contract::deviation for {silent:?}");
    }
}
