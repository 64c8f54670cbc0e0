//! Groups and families as text.

use lab::bench::fold::{Folding, homes};

use crate::output::{plural, say};

pub fn show(folding: &Folding) {
    let sum = plural(folding.findings as u64, "finding");
    say!(
        "{sum} of {} ({}), folded by signature into {}",
        plural(folding.seeds as u64, "seed"),
        plural(folding.runs as u64, "run"),
        plural(folding.groups.len() as u64, "group")
    );
    if folding.large > 0 {
        say!("{} more were not reduced when the hunt ended and are left out", folding.large);
    }
    if !folding.lost.is_empty() {
        say!("{} more did not come back and are left out: {}", folding.lost.len(), folding.lost.join(" "));
    }
    say!("");
    say!("{:<62} {:>8}  true families", "group", "findings");
    for group in &folding.groups {
        let count: usize = group.families.values().map(Vec::len).sum();
        let mut families = group.families.iter().map(|(name, ids)| format!("{name} ({})", ids.len()));
        let first = families.next().unwrap_or_default();
        say!("{:<62} {count:>8}  {first}", short(&group.signature.to_string()));
        families.for_each(|family| say!("{:<62} {:>8}  {family}", "", ""));
    }
    if !folding.places.is_empty() {
        say!("\nwrong at these levels:");
    }
    for (family, places) in &folding.places {
        say!("{family}: {places}");
    }
    let homes = homes(&folding.groups);
    say!("");
    for groups in 1..=homes.values().copied().max().unwrap_or(0) {
        let count = homes.values().filter(|home| **home == groups).count() as u64;
        if count > 0 {
            let word = if count == 1 { "family is" } else { "families are" };
            say!("{count} {word} in {}", plural(groups as u64, "group"));
        }
    }
    match folding.mixed.as_slice() {
        [] => say!("no group mixes two families"),
        mixed => mixed.iter().for_each(|name| say!("MIXED: {name}")),
    }
    match folding.split.as_slice() {
        [] => say!("no family is in more than two groups"),
        split => split.iter().for_each(|name| say!("IN MORE THAN TWO GROUPS: {name}")),
    }
}

/// A rule may be a sentence of a manual.
fn short(text: &str) -> String {
    match text.chars().count() > 60 {
        true => text.chars().take(59).chain(['…']).collect(),
        false => text.to_string(),
    }
}
