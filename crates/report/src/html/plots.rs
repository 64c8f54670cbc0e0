//! The plots of a run: what came when, which levels show bugs, and how good the cases were. Where their points are; `plots.html` draws them.

use std::{collections::BTreeMap, fmt::Write, iter};

use model::{Chance, FindingGroup, Level, TargetSummary};

use crate::{
    findings::{clock, share, thousands},
    overview::{ListedGroup, Overview},
};

/// The size of a plot, and what its axes take of it; `plots.html` has the same numbers.
pub const WIDTH: u64 = 480;
pub const HEIGHT: u64 = 180;
const LEFT: u64 = 52;
const BOTTOM: u64 = 24;
const TOP: u64 = 14;
/// Where a plot with names at its left begins.
const NAMES: u64 = 178;
const LEVELS: u64 = 170;

pub struct Section<'a> {
    pub plots: [Plot<'a>; 4],
    pub conflicts: Option<Conflicts<'a>>,
    pub chances: Vec<Chances<'a>>,
    pub features: Vec<Meter<'a>>,
}

pub struct Plot<'a> {
    pub id: &'static str,
    pub title: &'static str,
    pub words: String,
    pub chart: Chart<'a>,
}

pub enum Chart<'a> {
    /// Its words say why.
    Missing,
    Empty,
    Curve(Curve),
    /// With the height.
    Firsts(u64, Vec<First<'a>>),
    Levels(u64, Vec<Bar>),
}

pub struct Curve {
    /// Place and text of what is written beside the axes.
    pub counts: Vec<(u64, String)>,
    pub times: [(u64, &'static str, String); 3],
    pub line: String,
    /// Where the area below it closes.
    pub bottom: u64,
    pub back: u64,
    pub bad: bool,
}

/// When the first finding of a signature came.
pub struct First<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub name: String,
    pub new: bool,
    pub x: u64,
    pub y: u64,
    pub time: String,
}

/// The signatures of a level: their number, and the widths of all and of the new ones.
pub struct Bar {
    pub level: Level,
    pub all: u64,
    pub width: u64,
    pub new: u64,
    pub y: u64,
}

/// How many cases of each strategy conflict.
pub struct Conflicts<'a> {
    pub share: String,
    pub cases: String,
    pub strategies: Vec<Meter<'a>>,
}

pub struct Meter<'a> {
    pub name: &'a str,
    pub part: u64,
    pub percent: u64,
    pub words: String,
}

/// What could have shown on a target, by level.
pub struct Chances<'a> {
    pub target: String,
    pub levels: Vec<Level>,
    /// The title of each table and its rows: a name, then class and count of each level.
    pub tables: [(&'static str, Vec<ChanceRow<'a>>); 2],
}

type ChanceRow<'a> = (&'a str, Vec<(&'static str, String)>);

impl<'a> Section<'a> {
    pub fn new(run: &'a Overview) -> Section<'a> {
        let cases = over_time(run.summary.elapsed_ms, &run.progress, false);
        let found = over_time(run.summary.elapsed_ms, &counted(&run.found_after_ms), true);
        let plot = |id, title, (words, chart)| Plot { id, title, words, chart };
        Section {
            plots: [
                plot("cases", "Cases over time", (cases_words(run), cases)),
                plot("found", "Findings over time", (found_words(run), found)),
                plot("first", "Time to each signature", first_times(run)),
                plot("levels", "Signatures by level", by_level(run)),
            ],
            conflicts: conflicts(run),
            chances: run
                .summary
                .targets
                .iter()
                .filter(|hunted| !hunted.chances.is_empty())
                .map(chances)
                .collect(),
            features: features(run),
        }
    }
}

fn cases_words(run: &Overview) -> String {
    let rate = run.cases() * 1000 / run.summary.elapsed_ms.max(1);
    format!(
        "{} in {}: {} in a second.",
        thousands(run.cases()),
        clock(run.summary.elapsed_ms),
        thousands(rate)
    )
}

fn found_words(run: &Overview) -> String {
    format!(
        "{} kept, with {} signatures.",
        thousands(run.found_after_ms.len() as u64),
        thousands(run.groups.len() as u64)
    )
}

/// How many there were at each moment.
fn counted(moments: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = moments.to_vec();
    sorted.sort_unstable();
    sorted.iter().zip(1..).map(|(at, count)| (*at, count)).collect()
}

/// A curve that only goes up. Counts grow in steps where they are few, and steadily where they are many.
fn over_time<'a>(elapsed: u64, points: &[(u64, u64)], bad: bool) -> Chart<'a> {
    let most = points.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most == 0 {
        return Chart::Empty;
    }
    let end = elapsed.max(points.iter().map(|(at, _)| *at).max().unwrap_or(0)).max(1);
    let top = nice(most);
    let x = |at: u64| LEFT + at * (WIDTH - LEFT - 8) / end;
    let y = |count: u64| HEIGHT - BOTTOM - count * (HEIGHT - BOTTOM - TOP) / top;
    let stepped = most <= 200;
    let mut line = format!("M{} {}", x(0), y(0));
    for (at, count) in points {
        let _ = match stepped {
            true => write!(line, "H{}V{}", x(*at), y(*count)),
            false => write!(line, "L{} {}", x(*at), y(*count)),
        };
    }
    if stepped {
        let _ = write!(line, "H{}", x(end));
    }
    let half = top.is_multiple_of(2).then_some(top / 2);
    let counts = iter::once(0).chain(half).chain([top]);
    let last = points.last().map_or(0, |(at, _)| *at);
    let close = if stepped { end } else { last };
    Chart::Curve(Curve {
        counts: counts.map(|count| (y(count), thousands(count))).collect(),
        times: [(0, "start"), (end / 2, "middle"), (end, "end")]
            .map(|(at, anchor)| (x(at), anchor, clock(at))),
        line,
        bottom: y(0),
        back: x(0).min(x(close)),
        bad,
    })
}

/// A round number that is not smaller.
fn nice(number: u64) -> u64 {
    let mut unit = 1;
    loop {
        for step in [1, 2, 4, 6, 8] {
            if unit * step >= number && (unit > 1 || step != 6) {
                return unit * step;
            }
        }
        unit *= 10;
    }
}

/// How long it took until each signature was there.
fn first_times(run: &Overview) -> (String, Chart<'_>) {
    if run.groups.is_empty() {
        return ("Nothing was found.".to_string(), Chart::Missing);
    }
    let end = run.summary.elapsed_ms.max(1);
    let x = |at: u64| NAMES + at.min(end) * (WIDTH - NAMES - 52) / end;
    let firsts: Vec<First> = run
        .groups
        .iter()
        .take(16)
        .zip(0..)
        .map(|(ListedGroup { group, title, .. }, i)| First {
            id: &group.id,
            title,
            name: crate::text::cut(&short(group), 19),
            new: group.known.is_none(),
            x: x(group.found_after_ms),
            y: i * 24 + 14,
            time: clock(group.found_after_ms),
        })
        .collect();
    let words = match run.groups.len() - firsts.len() {
        0 => "When the first finding of each was there.".to_string(),
        more => format!("When the first finding of each was there; {more} later ones are not drawn."),
    };
    (words, Chart::Firsts(firsts.len() as u64 * 24 + BOTTOM + 6, firsts))
}

/// A name that fits beside a plot: the first of several, and how many more there are.
fn short(group: &FindingGroup) -> String {
    let Some(known) = &group.known else { return group.id.clone() };
    let mut names = known.split(", ");
    let first = names.next().unwrap_or_default();
    match names.count() {
        0 => first.to_string(),
        more => format!("{first} +{more}"),
    }
}

/// How many signatures each level shows, and which sets of levels.
fn by_level(run: &Overview) -> (String, Chart<'_>) {
    let mut counts: BTreeMap<Level, (u64, u64)> = BTreeMap::new();
    for ListedGroup { group, .. } in &run.groups {
        for level in group.levels.keys() {
            let count = counts.entry(*level).or_default();
            count.0 += 1;
            count.1 += u64::from(group.known.is_none());
        }
    }
    if counts.is_empty() {
        return ("Nothing was found.".to_string(), Chart::Missing);
    }
    let most = counts.values().map(|(all, _)| *all).max().unwrap_or(1).max(1);
    let width = |count: u64| count * (WIDTH - LEVELS - 52) / most;
    let bar = |(level, i): (Level, u64)| {
        let (all, new) = counts.get(&level).copied().unwrap_or_default();
        Bar { level, all, width: width(all), new: width(new), y: i * 30 + 4 }
    };
    let bars = Level::ALL.into_iter().zip(0..).map(bar).collect();
    (sets(run), Chart::Levels(Level::ALL.len() as u64 * 30 + 6, bars))
}

/// The sets of levels, most frequent first: what shows at some levels only is the more telling.
fn sets(run: &Overview) -> String {
    let mut sets: BTreeMap<String, u64> = BTreeMap::new();
    let groups = run.groups.iter().map(|listed| &listed.group);
    for group in groups.filter(|group| !group.levels.is_empty()) {
        let names: Vec<&str> = group.levels.keys().map(|level| level.short()).collect();
        *sets.entry(names.join(" ")).or_default() += 1;
    }
    let mut sets: Vec<(String, u64)> = sets.into_iter().collect();
    sets.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words: Vec<String> = sets.iter().take(6).map(|(set, count)| format!("{count} at {set}")).collect();
    format!("{}.", words.join(", "))
}

fn conflicts(run: &Overview) -> Option<Conflicts<'_>> {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for hunted in &run.summary.targets {
        for (name, share) in &hunted.quality.strategies {
            let sum = all.entry(name).or_default();
            *sum = (sum.0 + share.cases, sum.1 + share.conflicting);
        }
    }
    let (cases, conflicting) = all.values().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let mut rows: Vec<(&str, (u64, u64))> = all.into_iter().collect();
    rows.sort_by_key(|(_, (cases, _))| std::cmp::Reverse(*cases));
    let strategies: Vec<Meter> =
        rows.iter().map(|(name, (cases, conflicting))| meter(name, *conflicting, *cases)).collect();
    let share = share(conflicting, cases);
    (!strategies.is_empty()).then(|| Conflicts { share, cases: thousands(cases), strategies })
}

fn meter(name: &str, part: u64, of: u64) -> Meter<'_> {
    let percent = (part * 100).checked_div(of).unwrap_or(0).min(100);
    Meter { name, part, percent, words: share(part, of) }
}

fn chances(hunted: &TargetSummary) -> Chances<'_> {
    let at = |level: &Level| hunted.chances.iter().any(|chance| chance.level == *level);
    let levels: Vec<Level> = Level::ALL.into_iter().filter(at).collect();
    let cell = |chance: Option<&Chance>| match chance.map(|chance| chance.cases) {
        None => (" zero", "–".to_string()),
        Some(0) => (" wrong", "0".to_string()),
        Some(count) => ("", thousands(count)),
    };
    let rows = |family| {
        let mut rows: Vec<ChanceRow<'_>> = Vec::new();
        for chance in hunted.chances.iter().filter(|chance| chance.family == family) {
            let name = chance.name.as_str();
            if rows.iter().any(|(there, _)| *there == name) {
                continue;
            }
            let of =
                |level: &Level| hunted.chances.iter().find(|one| one.name == name && one.level == *level);
            rows.push((name, levels.iter().map(|level| cell(of(level))).collect()));
        }
        rows
    };
    let tables = [("families of known bugs", rows(true)), ("phenomena", rows(false))];
    Chances { target: hunted.target.to_string(), levels, tables }
}

/// How many cases have each feature.
fn features(run: &Overview) -> Vec<Meter<'_>> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for hunted in &run.summary.targets {
        hunted.quality.features.iter().for_each(|(name, cases)| *all.entry(name).or_default() += cases);
    }
    let mut rows: Vec<(&str, u64)> = all.into_iter().collect();
    rows.sort_by_key(|(name, cases)| (std::cmp::Reverse(*cases), *name));
    rows.iter().map(|(name, of)| meter(name, *of, run.cases())).collect()
}
