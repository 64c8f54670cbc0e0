//! What `corpus test` prints: the cases of a target as it is done, all targets side by side, and the last line.

use crate::{
    interrupt,
    output::{plural, say, short},
};
use lab::corpus::cell::{Cell, Tested};

/// One line per case: its levels side by side. Without `every`, cases that are as they should be at every level are
/// only counted.
pub fn target(tested: &Tested, every: bool) {
    let (cells, levels) = (&tested.cells, &tested.levels);
    say!("{}", tested.name());
    let mut names: Vec<&str> = cells.iter().map(|cell| cell.case).collect();
    names.dedup();
    let row = |name: &str| cells.iter().filter(|cell| cell.case == name).collect::<Vec<&Cell>>();
    // A case that was interrupted between two levels is listed with those it has.
    let quiet =
        |name: &str| !every && row(name).len() == levels.len() && row(name).iter().all(|cell| cell.fine());
    let (counted, listed): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| quiet(name));
    if !listed.is_empty() {
        let width = listed.iter().map(|name| name.len()).max().unwrap_or(0);
        let heads: String = levels.iter().map(|level| format!("{:10}", level.short())).collect();
        say!("  {:width$}  {}", "", heads.trim_end());
        for name in &listed {
            let here = |level| row(name).iter().find(|cell| cell.level == level).map(|cell| words(cell));
            let words: String = levels
                .iter()
                .map(|&level| format!("{:10}", here(level).unwrap_or_else(|| "not run".into())))
                .collect();
            let mut links: Vec<&str> =
                row(name).iter().flat_map(|cell| &cell.known).map(String::as_str).collect();
            links.sort_unstable();
            links.dedup();
            say!("{}", format!("  {name:width$}  {words}{}", links.join(", ")).trim_end());
        }
    }
    if !counted.is_empty() {
        let case = if listed.is_empty() { "case" } else { "other case" };
        say!("  {} as they should be at {}", plural(counted.len() as u64, case), short(levels, ", "));
    }
    say!("");
}

fn words(cell: &Cell) -> String {
    match (cell.surprise, cell.known.is_empty()) {
        (true, _) if cell.alike < cell.runs => format!("DIFFER {}/{}", cell.alike, cell.runs),
        (true, _) => "SURPRISE".into(),
        (false, false) => "known".into(),
        (false, true) if cell.unjudged() => "no word".into(),
        (false, true) => "ok".into(),
    }
}

/// All targets, a line each, where there are more than a few.
pub fn targets(all: &[Tested]) {
    if all.len() <= 2 {
        return;
    }
    let width = all.iter().map(|tested| tested.name().chars().count()).max().unwrap_or(0);
    say!("{:width$}  {:>6}  {:>6}  {:>6}  {:>9}", "", "checks", "ok", "known", "surprises");
    for tested in all {
        let count = |which: fn(&Cell) -> bool| tested.cells.iter().filter(|cell| which(cell)).count();
        say!(
            "{:width$}  {:>6}  {:>6}  {:>6}  {:>9}",
            tested.name(),
            tested.cells.len(),
            count(Cell::fine),
            count(Cell::known),
            count(|cell| cell.surprise)
        );
    }
    say!("");
}

/// The last line.
pub fn total(cells: &[&Cell], repeat: u64, surprises: usize) {
    if interrupt::asked() {
        say!("interrupted; so far:");
    }
    if cells.is_empty() {
        say!("none of these cases is for the chosen targets, so nothing was run");
        return;
    }
    let count = |which: fn(&Cell) -> bool| cells.iter().filter(|cell| which(cell)).count();
    let (all, fine, known, unjudged) =
        (cells.len(), count(Cell::fine), count(Cell::known), count(Cell::unjudged));
    let each = match (repeat, interrupt::asked()) {
        (1, _) => String::new(),
        (times, false) => format!(", {times} times each"),
        (times, true) => format!(", up to {times} times each"),
    };
    let surprises_text = plural(surprises as u64, "surprise");
    let nothing = match unjudged {
        0 => String::new(),
        count => format!(", {count} about which their files say nothing"),
    };
    say!(
        "{} (case, target, level){each}: {fine} as they should be, {known} known to fail, {surprises_text}{nothing}",
        plural(all as u64, "check"),
    );
}
