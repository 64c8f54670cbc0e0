//! The checklist of what may be filed, filled in by running it.
//!
//! | item | how it is known |
//! |---|---|
//! | plain client, default settings | [`by_client`]: the shell script of the finding, 20 times |
//! | newest release, build | [`release`]: what the catalogue has of the line, and the same script there |
//! | snapshot isolation, level | [`by_place`]: the table of other servers and levels |
//! | manual, something to see | [`by_finding`]: what the finding says of itself |
//!
//! The scripts of all signatures come first: nothing of this process is pinned to a CPU before that.

mod by_client;
mod by_finding;
mod by_place;
pub mod elsewhere;
mod release;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    str::FromStr,
};

use model::Target;
use provision::Installed;
use report::{
    BugReport,
    overview::ListedGroup,
    ready::{Checklist, ChecklistItem, Item, State},
};

use crate::{Everywhere, Lab, places::PlaceResult};

/// Which signatures are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that nobody knows of.
    New,
    /// The known ones, too.
    All,
    /// The one of this finding, by this finding.
    One(String),
}

impl FromStr for Which {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Which, Self::Err> {
        Ok(match text {
            "new" => Which::New,
            "all" => Which::All,
            id => Which::One(id.to_string()),
        })
    }
}

impl Which {
    /// The finding of this signature that is checked, if any is.
    fn of(&self, listed: &ListedGroup) -> Option<String> {
        match self {
            Which::New => listed.group.known.is_none().then(|| listed.group.id.clone()),
            Which::All => Some(listed.group.id.clone()),
            Which::One(id) => listed.group.findings.contains(id).then(|| id.clone()),
        }
    }
}

/// What is checked, and with what.
pub struct Plan<'a> {
    pub which: &'a Which,
    /// Are the tables of other servers made for all signatures, not only for those that are checked?
    pub tables: bool,
    /// `2026-11-16`
    pub today: &'a str,
    pub places: &'a Everywhere<'a>,
    /// Installs a server if it is missing; a reason where that cannot be done.
    pub install: &'a dyn Fn(&Target) -> Result<Installed, String>,
    /// Isopod's own binary.
    pub exe: &'a Path,
}

/// Fills in the checklists, and with them the tables of other servers.
pub fn fill(
    lab: &Lab<'_>,
    plan: &Plan<'_>,
    groups: &mut [ListedGroup],
    findings: &mut [BugReport],
) -> crate::Result<()> {
    let &Plan { which, tables, today, .. } = plan;
    // An engine of our own has no vendor, and other servers say nothing of it.
    let ours: BTreeSet<String> = findings
        .iter()
        .filter(|one| one.product() == reference::PRODUCT)
        .map(|one| one.finding.id.clone())
        .collect();
    let checked = |listed: &ListedGroup| which.of(listed).filter(|id| !ours.contains(id));
    let mut ran: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for id in groups.iter().filter_map(checked) {
        if let Some(bug) = findings.iter().find(|one| one.finding.id == id) {
            ran.insert(id, release::items(lab, plan, bug));
        }
    }
    let tried = |listed: &ListedGroup| checked(listed).or_else(|| tables.then(|| listed.group.id.clone()));
    let places = elsewhere::fill(lab, (groups, findings), plan.places, tried)?;
    for listed in groups.iter_mut() {
        let id = which.of(listed);
        if id.is_none() && listed.group.known.is_none() {
            continue;
        }
        let bug = id.as_ref().and_then(|id| findings.iter().find(|one| one.finding.id == *id));
        let items = bug.map(|bug| match ran.remove(&bug.finding.id) {
            Some(ran) => items(lab, bug, ran, places.get(&bug.finding.id).map_or(&[], Vec::as_slice), today),
            None => nobody(),
        });
        let list = Checklist {
            known: listed.group.known.clone(),
            checked: id.unwrap_or_default(),
            items: items.unwrap_or_default(),
        };
        for one in findings.iter_mut().filter(|one| listed.group.findings.contains(&one.finding.id)) {
            one.ready = Some(list.clone());
        }
        listed.ready = Some(list);
    }
    Ok(())
}

/// Nobody takes reports about Isopod's own engine.
fn nobody() -> Vec<Item> {
    let words = "Isopod's own engine, which has no server, no client and no vendor";
    ChecklistItem::ALL.into_iter().map(|asked| Item::unchecked(asked, words)).collect()
}

/// All items in their order, from what the script showed and what the other servers did.
fn items(lab: &Lab<'_>, bug: &BugReport, ran: Vec<Item>, rows: &[PlaceResult], today: &str) -> Vec<Item> {
    let released = |item: Item| match item.asked {
        ChecklistItem::NewestRelease => {
            let passed = item.state == State::Passed;
            let item = release::alive(bug, item, rows, today);
            if passed { in_whole(lab, item) } else { item }
        }
        _ => item,
    };
    let mut items: Vec<Item> = ran.into_iter().map(released).collect();
    items.extend([
        by_finding::manual(bug),
        by_finding::visible(bug),
        in_whole(lab, by_place::snapshot_isolation(bug, rows)),
        in_whole(lab, by_place::level(bug, rows)),
    ]);
    items.sort_by_key(|item| item.asked);
    items
}

/// What a table lacks that was not finished must not be held against anybody.
fn in_whole(lab: &Lab<'_>, item: Item) -> Item {
    let short = item.state != State::Passed && lab.stopped();
    if short { Item::unchecked(item.asked, "it was stopped") } else { item }
}
