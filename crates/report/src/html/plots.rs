//! The plots of a run: what came when, which levels show bugs, and how good the cases were. Drawn as SVG, by hand.

use std::{collections::BTreeMap, fmt::Write};

use model::Level;

use super::escape::escape;
use crate::{
    findings::{clock, share, thousands},
    run::{Chance, Group, Run},
};

/// The inner size of a plot.
const WIDTH: u64 = 480;
const HEIGHT: u64 = 180;
const LEFT: u64 = 52;
const BOTTOM: u64 = 24;
const TOP: u64 = 14;

/// All of them.
pub fn section(run: &Run) -> String {
    let mut out = String::from("<section id=\"plots\">\n<h2>The run</h2>\n<div class=\"plots\">\n");
    out += &over_time("cases", "Cases over time", &cases_words(run), run.elapsed, &run.progress, "");
    out += &over_time(
        "found",
        "Findings over time",
        &found_words(run),
        run.elapsed,
        &counted(&run.found_at),
        " bad",
    );
    out += &first_times(run);
    out += &by_level(run);
    out += "</div>\n</section>\n";
    out += &conflicts(run);
    out += &chances(run);
    out += &features(run);
    out
}

fn cases_words(run: &Run) -> String {
    let rate = run.cases() * 1000 / run.elapsed.max(1);
    format!("{} in {}: {} in a second.", thousands(run.cases()), clock(run.elapsed), thousands(rate))
}

fn found_words(run: &Run) -> String {
    format!(
        "{} kept, with {} signatures.",
        thousands(run.found_at.len() as u64),
        thousands(run.groups.len() as u64)
    )
}

/// How many there were at each moment.
fn counted(moments: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = moments.to_vec();
    sorted.sort_unstable();
    sorted.iter().zip(1..).map(|(at, count)| (*at, count)).collect()
}

/// A plot with its words.
fn plot(id: &str, title: &str, words: &str, svg: &str) -> String {
    format!(
        "<figure class=\"plot\" id=\"plot-{id}\" style=\"margin:0\"><h3>{title}</h3><p>{}</p>{svg}</figure>\n",
        escape(words)
    )
}

/// A curve that only goes up. Counts grow in steps where they are few, and steadily where they are many.
fn over_time(id: &str, title: &str, words: &str, elapsed: u64, points: &[(u64, u64)], class: &str) -> String {
    let most = points.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most == 0 {
        return plot(id, title, words, "<p>Nothing to draw.</p>");
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
    let mut svg = open(id, HEIGHT);
    for count in [0, top / 2, top] {
        if count == 0 || count * 2 == top || count == top {
            let _ = write!(
                svg,
                "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/><text x=\"{2}\" y=\"{3}\" text-anchor=\"end\">{4}</text>",
                y(count),
                WIDTH - 8,
                LEFT - 8,
                y(count) + 4,
                thousands(count)
            );
        }
    }
    for (at, anchor) in [(0, "start"), (end / 2, "middle"), (end, "end")] {
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            x(at),
            HEIGHT - 6,
            clock(at)
        );
    }
    let last = points.last().map_or(0, |(at, _)| *at);
    let close = if stepped { end } else { last };
    let _ = write!(
        svg,
        "<path class=\"area\" d=\"{line}V{}H{}Z\"/><path class=\"curve{class}\" d=\"{line}\"/></svg>",
        y(0),
        x(0).min(x(close))
    );
    plot(id, title, words, &svg)
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

fn open(id: &str, height: u64) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" style=\"width:100%;height:auto\" role=\"img\" aria-labelledby=\"plot-{id}\">"
    )
}

/// How long it took until each signature was there.
fn first_times(run: &Run) -> String {
    let groups: Vec<&Group> = run.groups.iter().take(16).collect();
    if groups.is_empty() {
        return plot("first", "Time to each signature", "Nothing was found.", "");
    }
    let end = run.elapsed.max(1);
    let height = groups.len() as u64 * 24 + BOTTOM + 6;
    let left = 178;
    let x = |at: u64| left + at.min(end) * (WIDTH - left - 52) / end;
    let mut svg = open("first", height);
    for (i, group) in groups.iter().enumerate() {
        let y = i as u64 * 24 + 14;
        let name = short(group);
        let class = if group.known.is_some() { "" } else { " bad" };
        let _ = write!(
            svg,
            "<g class=\"first\" data-id=\"{}\"><title>{}</title><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <line class=\"axis\" x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/><circle class=\"point{class}\" cx=\"{}\" cy=\"{y}\" r=\"4.5\"/>\
             <text class=\"value\" x=\"{}\" y=\"{}\">{}</text></g>",
            escape(&group.id),
            escape(&group.title),
            left - 10,
            y + 4,
            escape(&crate::text::cut(&name, 19)),
            x(group.first_at),
            x(group.first_at),
            x(group.first_at) + 10,
            y + 4,
            clock(group.first_at)
        );
    }
    svg += "</svg>";
    let more = run.groups.len().saturating_sub(groups.len());
    let words = match more {
        0 => "When the first finding of each was there.".to_string(),
        more => format!("When the first finding of each was there; {more} later ones are not drawn."),
    };
    plot("first", "Time to each signature", &words, &svg)
}

/// A name that fits beside a plot: the first of several, and how many more there are.
fn short(group: &Group) -> String {
    let Some(known) = &group.known else { return group.id.clone() };
    let mut names = known.split(", ");
    let first = names.next().unwrap_or_default();
    match names.count() {
        0 => first.to_string(),
        more => format!("{first} +{more}"),
    }
}

/// How many signatures each level shows, and which sets of levels.
fn by_level(run: &Run) -> String {
    let mut counts: BTreeMap<Level, (u64, u64)> = BTreeMap::new();
    for group in &run.groups {
        for level in group.levels.keys() {
            let count = counts.entry(*level).or_default();
            count.0 += 1;
            count.1 += u64::from(group.known.is_none());
        }
    }
    if counts.is_empty() {
        return plot("levels", "Signatures by level", "Nothing was found.", "");
    }
    let most = counts.values().map(|(all, _)| *all).max().unwrap_or(1).max(1);
    let left = 170;
    let width = |count: u64| count * (WIDTH - left - 52) / most;
    let height = Level::ALL.len() as u64 * 30 + 6;
    let mut svg = open("levels", height);
    for (i, level) in Level::ALL.into_iter().enumerate() {
        let y = i as u64 * 30 + 4;
        let (all, new) = counts.get(&level).copied().unwrap_or_default();
        let _ = write!(
            svg,
            "<g class=\"level\" data-level=\"{level}\" data-signatures=\"{all}\"><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar\" x=\"{left}\" y=\"{y}\" width=\"{}\" height=\"16\" rx=\"3\"/>\
             <rect class=\"bar bad\" x=\"{left}\" y=\"{y}\" width=\"{}\" height=\"16\" rx=\"3\"/>\
             <text class=\"value\" x=\"{}\" y=\"{}\">{all}</text></g>",
            left - 10,
            y + 12,
            level.sql(),
            width(all),
            width(new),
            left + width(all) + 8,
            y + 12
        );
    }
    svg += "</svg>";
    plot("levels", "Signatures by level", &sets(run), &svg)
}

/// The sets of levels, most frequent first: what shows at some levels only is the more telling.
fn sets(run: &Run) -> String {
    let mut sets: BTreeMap<String, u64> = BTreeMap::new();
    for group in run.groups.iter().filter(|group| !group.levels.is_empty()) {
        let names: Vec<&str> = group.levels.keys().map(|level| level.short()).collect();
        *sets.entry(names.join(" ")).or_default() += 1;
    }
    let mut sets: Vec<(String, u64)> = sets.into_iter().collect();
    sets.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words: Vec<String> = sets.iter().take(6).map(|(set, count)| format!("{count} at {set}")).collect();
    format!("{}.", words.join(", "))
}

/// How many cases of each strategy conflict.
fn conflicts(run: &Run) -> String {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for hunted in &run.targets {
        for (name, (cases, conflicting)) in &hunted.strategies {
            let sum = all.entry(name).or_default();
            *sum = (sum.0 + cases, sum.1 + conflicting);
        }
    }
    if all.is_empty() {
        return String::new();
    }
    let (cases, conflicting) = all.values().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let mut rows: Vec<(&str, (u64, u64))> = all.into_iter().collect();
    rows.sort_by_key(|(_, (cases, _))| std::cmp::Reverse(*cases));
    let items: String = rows
        .iter()
        .map(|(name, (cases, conflicting))| meter(name, *conflicting, *cases, &share(*conflicting, *cases)))
        .collect();
    format!(
        "<section id=\"conflicts\">\n<h2>Conflicts</h2>\n<p class=\"lead\">In {} of {} cases a statement waited or was refused because of \
         another transaction. By the way in which the transactions were made to collide:</p>\n<div class=\"features\">{items}</div>\n</section>\n",
        share(conflicting, cases),
        thousands(cases)
    )
}

fn meter(name: &str, part: u64, of: u64, words: &str) -> String {
    let percent = (part * 100).checked_div(of).unwrap_or(0).min(100);
    let zero = if part == 0 { " class=\"zero\"" } else { "" };
    format!(
        "<div{zero} data-name=\"{0}\" data-part=\"{part}\"><span>{0}</span><i><b style=\"width:{percent}%\"></b></i><span class=\"n\">{words}</span></div>",
        escape(name)
    )
}

/// What could have shown, by level.
fn chances(run: &Run) -> String {
    let mut out = String::new();
    for hunted in run.targets.iter().filter(|hunted| !hunted.chances.is_empty()) {
        let levels: Vec<Level> = Level::ALL
            .into_iter()
            .filter(|level| hunted.chances.iter().any(|chance| chance.cases.contains_key(level)))
            .collect();
        let head: String = levels.iter().map(|level| format!("<th class=\"n\">{level}</th>")).collect();
        let row = |chance: &Chance| {
            let cells: String = levels
                .iter()
                .map(|level| match chance.cases.get(level) {
                    None => "<td class=\"n zero\">–</td>".to_string(),
                    Some(0) => "<td class=\"n wrong\">0</td>".to_string(),
                    Some(count) => format!("<td class=\"n\">{}</td>", thousands(*count)),
                })
                .collect();
            format!("<tr><td>{}</td>{cells}</tr>", escape(&chance.name))
        };
        let table = |family: bool, words: &str| {
            let rows: String =
                hunted.chances.iter().filter(|chance| chance.family == family).map(row).collect();
            format!(
                "<div class=\"scroll\"><table><thead><tr><th>{words}</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
            )
        };
        out += &format!(
            "<h3>{}</h3><div class=\"pair\">{}{}</div>\n",
            escape(&hunted.target),
            table(true, "families of known bugs"),
            table(false, "phenomena")
        );
    }
    if out.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"chances\">\n<h2>What could have shown</h2>\n<p class=\"lead\">Cases in which it could have been seen at all, by the level of \
         the session that would have seen it. What did not show in n of them has a rate below 3/n with 95% confidence; zero says nothing.</p>\n{out}</section>\n"
    )
}

/// How many cases have each feature.
fn features(run: &Run) -> String {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for hunted in &run.targets {
        hunted.features.iter().for_each(|(name, cases)| *all.entry(name).or_default() += cases);
    }
    if all.is_empty() {
        return String::new();
    }
    let cases = run.cases();
    let mut rows: Vec<(&str, u64)> = all.into_iter().collect();
    let count = rows.len();
    rows.sort_by_key(|(name, cases)| (std::cmp::Reverse(*cases), *name));
    let items: String = rows.iter().map(|(name, of)| meter(name, *of, cases, &share(*of, cases))).collect();
    format!(
        "<section id=\"features\">\n<h2>Features</h2>\n<p class=\"lead\">The share of cases that have each of {count} features.</p>\n\
         <div class=\"features\">{items}</div>\n</section>\n"
    )
}
