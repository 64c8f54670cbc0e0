//! Families of what nothing explains: cases that are wrong in the same places, over the installed versions and all levels.

use std::collections::BTreeMap;

use campaign::{confirm::Rerun, judge::Judge, past::Kept};
use model::{Level, Target, Verdict};

use crate::{
    arguments::{How, Levels},
    asked,
    commands::{hunt::judges, where_else::places},
    interrupt,
    progress::Progress,
};

/// Where a case is wrong and where it is right; nothing where nobody can tell.
type Pattern = BTreeMap<(String, Level), bool>;

/// A name for each of them: the same for those that are of one family.
pub fn families(all: &[&Kept], how: &How, quick: bool) -> anyhow::Result<impl Iterator<Item = String>> {
    let mut everywhere: Vec<Target> = Vec::new();
    for kept in all {
        let mut own = vec![kept.filed.dressed()];
        if !quick {
            own.extend(places(&[], &kept.case)?);
        }
        own.into_iter().for_each(|target| {
            if !everywhere.contains(&target) {
                everywhere.push(target);
            }
        });
    }
    let mut patterns = vec![Pattern::new(); all.len()];
    let mut progress = Progress::new("where what nothing explains is wrong", everywhere.len() as u64);
    for target in &everywhere {
        if interrupt::asked() {
            anyhow::bail!("stopped before everything was run");
        }
        fill(target, all, how, &mut patterns);
        progress.step();
    }
    progress.end();
    // Two are one family if nowhere one of them is wrong and the other one right.
    let mut known: Vec<Pattern> = Vec::new();
    let mut names = Vec::new();
    for pattern in patterns {
        let fits =
            |of: &Pattern| pattern.iter().all(|(place, wrong)| of.get(place).is_none_or(|is| is == wrong));
        let at = match known.iter().position(fits) {
            Some(at) => at,
            None => {
                known.push(Pattern::new());
                known.len() - 1
            }
        };
        known[at].extend(pattern);
        names.push(at);
    }
    let words: Vec<String> = known.iter().enumerate().map(|(at, pattern)| words(at, pattern)).collect();
    Ok(names.into_iter().map(move |at| words[at].clone()))
}

/// Runs all of them on one server. One that does not come up says nothing.
fn fill(target: &Target, all: &[&Kept], how: &How, patterns: &mut [Pattern]) {
    let Ok(mut server) = asked::open(target, how) else { return };
    let Ok(levels) = Levels::All.on(target.product) else { return };
    for (kept, pattern) in all.iter().zip(patterns) {
        let Ok(oracles) = judges::named(std::slice::from_ref(&kept.filed.oracle)) else { continue };
        for &level in &levels {
            let mut case = kept.case.clone();
            case.sessions.iter_mut().for_each(|session| session.level = None);
            let seen = server.rerun(&case, level, kept.filed.condition.reset());
            let (Some(seen), Some(oracle)) = (seen, oracles.first()) else { continue };
            let judge = Judge { oracle: oracle.as_ref(), guise: &kept.filed.judged_as };
            let wrong = match judge.verdict(&seen, &mut server) {
                Verdict::Violated(_) => true,
                Verdict::Holds { .. } => false,
                Verdict::Undecided { .. } => continue,
            };
            pattern.insert((target.to_string(), level), wrong);
        }
    }
}

/// `new 1: RR on mariadb@10.5.29, mysql@9.7.4`
fn words(at: usize, pattern: &Pattern) -> String {
    let mut by_levels: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((target, level), wrong) in pattern {
        if *wrong {
            targets.entry(target).or_default().push(level.short());
        }
    }
    for (target, levels) in targets {
        by_levels.entry(levels.join(" ")).or_default().push(target);
    }
    let parts: Vec<String> =
        by_levels.iter().map(|(levels, targets)| format!("{levels} on {}", targets.join(", "))).collect();
    format!("new {}: {}", at + 1, parts.join("; "))
}
