//! Items that the table of other servers and levels answers: MariaDB's snapshot isolation, and READ UNCOMMITTED.

use model::{Level, Product, Target, Version};
use report::{
    BugReport,
    ready::{ChecklistItem, Item},
};

use crate::places::{Cell, PlaceResult, word};

const SWITCH: &str = "innodb_snapshot_isolation";

/// Since this version it is on by default.
const BY_DEFAULT: [u32; 3] = [11, 6, 2];

/// A row, its target, and the cell at the level of the finding.
struct Place<'a> {
    target: Target,
    row: &'a PlaceResult,
    cell: &'a Cell,
}

/// The rows that could be asked.
fn places<'a>(bug: &BugReport, rows: &'a [PlaceResult]) -> Vec<Place<'a>> {
    let head = if bug.one_level().is_some() { bug.finding.shown_at().short() } else { "mixed" };
    let place = |row: &'a PlaceResult| {
        Some(Place { target: row.target.parse().ok()?, row, cell: row.levels.get(head)? })
    };
    rows.iter().filter(|row| row.refused.is_none()).filter_map(place).collect()
}

/// MariaDB: does it stay when the switch is on?
pub fn snapshot_isolation(bug: &BugReport, rows: &[PlaceResult]) -> Item {
    let asked = ChecklistItem::SnapshotIsolation;
    if !has_switch(bug.product()) {
        return Item::passed(asked, "not MariaDB");
    }
    if bug.server().settings.get(SWITCH).is_some_and(|value| value.eq_ignore_ascii_case("ON")) {
        return Item::passed(asked, format!("it was found with {SWITCH}=ON"));
    }
    let all: Vec<Place<'_>> = places(bug, rows).into_iter().filter(|place| on(&place.target)).collect();
    let own = dialect::of(bug.product()).series(&bug.server().version);
    let of_line =
        |place: &&Place<'_>| place.target.version.as_ref().is_some_and(|version| version.within(&own));
    let same: Vec<&Place<'_>> = all.iter().filter(of_line).collect();
    // A line without the switch is answered by one that has it.
    let looked: Vec<&Place<'_>> = if same.is_empty() { all.iter().collect() } else { same };
    let told = |place: &Place<'_>| format!("{}: {}", place.row.target, word(Some(place.cell)));
    let print = &bug.finding.violation.fingerprint;
    if let Some(place) = looked.iter().find(|place| place.cell.shows(print)) {
        return Item::passed(asked, format!("still there with it ({})", told(place)));
    }
    if let Some(place) = looked.iter().find(|place| !place.cell.as_what().is_empty()) {
        let other = format!("{}, but by {}", told(place), place.cell.as_what());
        return Item::failed(
            asked,
            format!("answered by that switch: {SWITCH}=ON; something else is wrong there ({other})"),
        );
    }
    match looked.iter().find(|place| place.cell.right()) {
        Some(place) => Item::failed(asked, format!("answered by that switch: {SWITCH}=ON ({})", told(place))),
        None if looked.is_empty() => Item::unchecked(
            asked,
            format!("no installed MariaDB ran it with {SWITCH}=ON: isopod server install mariadb@10.11"),
        ),
        None => Item::unchecked(asked, "nobody can tell what is right there with it"),
    }
}

/// Is there such a switch?
fn has_switch(product: Product) -> bool {
    dialect::of(product).switches.iter().any(|switch| switch.setting == SWITCH)
}

/// Is the switch on there?
fn on(target: &Target) -> bool {
    has_switch(target.product)
        && match target.settings.get(SWITCH) {
            Some(value) => value.eq_ignore_ascii_case("ON"),
            None => target
                .version
                .as_ref()
                .is_some_and(|version: &Version| version.0.as_slice() >= BY_DEFAULT.as_slice()),
        }
}

/// READ UNCOMMITTED alone ranks low, unless data is damaged.
pub fn level(bug: &BugReport, rows: &[PlaceResult]) -> Item {
    let asked = ChecklistItem::Level;
    if bug.finding.shown_at() != Level::ReadUncommitted {
        return Item::passed(asked, format!("it shows at {}", bug.finding.shown_at().sql()));
    }
    let own =
        |row: &&PlaceResult| row.target.parse::<Target>().is_ok_and(|target| target.product == bug.product());
    let print = &bug.finding.violation.fingerprint;
    let higher = |row: &PlaceResult| {
        let shows = [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable]
            .into_iter()
            .find(|level| row.levels.get(level.short()).is_some_and(|cell| cell.shows(print)));
        shows.map(|level| format!("also at {} ({})", level.sql(), row.target))
    };
    if let Some(words) = rows.iter().filter(own).find_map(higher) {
        return Item::passed(asked, words);
    }
    if bug.damaged() {
        return Item::passed(asked, "at READ UNCOMMITTED alone, but what is stored is wrong");
    }
    let mixed = bug.one_level().is_none();
    match rows.iter().filter(own).any(|row| row.refused.is_none() && !row.levels.is_empty()) {
        true if mixed => Item::unchecked(asked, "its sessions have different levels"),
        true => Item::failed(asked, "at READ UNCOMMITTED alone, and no data is damaged: ranks low"),
        false => Item::unchecked(asked, "it could not be run at higher levels"),
    }
}
