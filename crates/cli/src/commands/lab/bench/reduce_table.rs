//! The figures as text.

use std::collections::{BTreeMap, BTreeSet};

use lab::bench::reduce::{
    figures::{Drift, Figures, Sizes, TaskFigures},
    listings,
};

use crate::output::say;

pub fn show(figures: &Figures) {
    families(figures);
    listed(figures);
    long(figures);
    strategies(figures);
    drift("with the fingerprint", &figures.drift);
    let loose = &figures.drift_without_fingerprint;
    if loose.same > 0 || !loose.other.is_empty() {
        drift("without it", loose);
    }
}

fn families(figures: &Figures) {
    let rows = &figures.findings;
    let different = |of: fn(&TaskFigures) -> &String| rows.iter().map(of).collect::<BTreeSet<_>>().len();
    say!(
        "{} findings of hunts with {} seeds on {} targets",
        rows.len(),
        different(|row| &row.seed),
        different(|row| &row.target)
    );
    let purged = rows.iter().filter(|row| row.purged).count();
    if purged > 0 {
        say!("{purged} come back only while purge is at work, and are run and judged that way");
    }
    let lost = rows.iter().filter(|row| row.after.values().any(Option::is_none)).count();
    if lost > 0 {
        say!("{lost} did not come back from clean runs and are left out");
    }
    say!("");
    let mut families: BTreeMap<(&str, &str), Vec<&TaskFigures>> = BTreeMap::new();
    for row in rows {
        families.entry((&row.family, &row.target)).or_default().push(row);
    }
    say!("{:<52} {:>8}  {:>21}  {:>17}  {:>23}", "", "findings", "statements", "rows", "characters");
    for ((family, target), rows) in &families {
        line(&format!("{family} · {target}"), rows);
    }
    line("all", &rows.iter().collect::<Vec<_>>());
    say!("");
}

/// Each known family beside the paper's own listing: all sizes before and after, statements and rows.
fn listed(figures: &Figures) {
    let mut families: BTreeMap<&str, Vec<&TaskFigures>> = BTreeMap::new();
    for row in figures.findings.iter().filter(|row| listings::of(&row.family).is_some()) {
        families.entry(&row.family).or_default().push(row);
    }
    say!("known families, statements/rows before and after, against the papers' listings");
    for (family, rows) in &families {
        let Some(listing) = listings::of(family) else { continue };
        let (limit, source) = (format!("{}/{}", listing.statements, listing.rows), listing.source);
        let over: Vec<&str> = rows
            .iter()
            .filter(|row| {
                row.made()
                    .is_some_and(|made| made.statements > listing.statements || made.rows > listing.rows)
            })
            .map(|row| &*row.id)
            .collect();
        say!("  {family}: {limit} in {source}; larger than that: {} of {}", over.len(), rows.len());
        say!("    before  {}", counted(rows.iter().map(|row| row.before)));
        say!("    after   {}", counted(rows.iter().filter_map(|row| row.made())));
        if !over.is_empty() {
            say!("    larger  {}", over.join(" "));
        }
    }
    for listing in listings::ALL {
        if !families.keys().any(|family| listings::of(family) == Some(&listing)) {
            say!("  {}: none found", listing.reports.join(", "));
        }
    }
    say!("");
}

/// `6/1 (31)  7/1 (12)`: how often each size comes.
fn counted(all: impl Iterator<Item = Sizes>) -> String {
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    all.for_each(|size| *counts.entry((size.statements, size.rows)).or_default() += 1);
    let one = |((statements, rows), count): ((usize, usize), usize)| match count {
        1 => format!("{statements}/{rows}"),
        _ => format!("{statements}/{rows} ({count})"),
    };
    counts.into_iter().map(one).collect::<Vec<_>>().join("  ")
}

/// From so many statements on a case is a long one.
const LONG: usize = 40;

/// How long the long ones took, by target.
fn long(figures: &Figures) {
    let mut targets: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in figures.findings.iter().filter(|row| row.before.statements >= LONG) {
        targets.entry(&row.target).or_default().extend(row.took());
    }
    for (target, seconds) in targets {
        let count = seconds.len();
        let (middle, most) = middle_and_most(seconds);
        say!(
            "cases of {LONG} statements and more on {target}: {count}, seconds: median {middle:.2}, most {most:.1}"
        );
    }
    say!("");
}

/// Medians before and after, the smallest and the largest in brackets, by the first strategy.
fn line(name: &str, rows: &[&TaskFigures]) {
    let pairs: Vec<(Sizes, Sizes)> = rows.iter().filter_map(|row| Some((row.before, row.made()?))).collect();
    let of = |get: fn(&Sizes) -> usize| {
        let before = median(pairs.iter().map(|(before, _)| get(before)).collect());
        let after: Vec<usize> = pairs.iter().map(|(_, after)| get(after)).collect();
        let (least, most) = (after.iter().min().copied(), after.iter().max().copied());
        let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
        format!("{before} to {} ({least} to {most})", median(after))
    };
    let share = |(before, after): &(Sizes, Sizes)| {
        100.0 - after.characters as f64 * 100.0 / before.characters.max(1) as f64
    };
    let shares = pairs.iter().map(share).collect();
    say!(
        "{name:<52} {:>8}  {:>21}  {:>17}  {:>23}  {:.1}% less",
        pairs.len(),
        of(|size| size.statements),
        of(|size| size.rows),
        of(|size| size.characters),
        middle_and_most(shares).0
    );
}

fn strategies(figures: &Figures) {
    say!(
        "share of candidates that worked, in fifths of the findings in their order; behind it the layers that drop statements"
    );
    for name in figures.strategies() {
        let share = figures.share(name);
        let percent = |(tried, worked): &(u64, u64)| format!("{:>3}%", worked * 100 / (*tried).max(1));
        let list = |counts: &[(u64, u64)]| counts.iter().map(percent).collect::<Vec<_>>().join(" ");
        let of = |get: &dyn Fn(&TaskFigures) -> Option<f64>| {
            middle_and_most(figures.findings.iter().filter_map(get).collect())
        };
        let tried = of(&|row| row.tried.get(name).map(|(tried, _)| *tried as f64));
        let seconds = of(&|row| row.seconds.get(name).copied());
        let less = of(&|row| {
            let after = row.after.get(name).copied()??;
            Some(100.0 - after.characters as f64 * 100.0 / row.before.characters.max(1) as f64)
        });
        say!(
            "  {name:<9} {}   {}   candidates: median {}, most {}   seconds: median {:.2}, most {:.1}   characters: {:.1}% less",
            list(&share.all),
            list(&share.statements),
            tried.0,
            tried.1,
            seconds.0,
            seconds.1,
            less.0
        );
    }
    let unfinished = figures.findings.iter().filter(|row| !row.finished).count();
    if unfinished > 0 {
        say!("  {unfinished} were not searched to the end by every strategy");
    }
    say!("");
}

fn drift(name: &str, drift: &Drift) {
    let all = drift.same + (drift.fewer.len() + drift.other.len()) as u64;
    say!("explained as the original, {name}: {} of {all}", drift.same);
    if !drift.fewer.is_empty() {
        say!(
            "  {} by one of the known deviations that the original needs ({})",
            drift.fewer.len(),
            drift.fewer[0].0
        );
    }
    if !drift.gone.is_empty() {
        say!(
            "  {} more originals showed nothing when they were judged afresh ({})",
            drift.gone.len(),
            drift.gone[0]
        );
    }
    let mut kinds: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (id, before, after) in &drift.other {
        kinds.entry((before, after)).or_default().push(id);
    }
    for ((before, after), ids) in kinds {
        say!("  {} from {before} to {after} ({})", ids.len(), ids[0]);
    }
}

fn middle_and_most(mut all: Vec<f64>) -> (f64, f64) {
    all.sort_by(f64::total_cmp);
    (all.get(all.len() / 2).copied().unwrap_or_default(), all.last().copied().unwrap_or_default())
}

fn median(mut all: Vec<usize>) -> usize {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
