//! `isopod report --ready`: the checklist of what may be filed, filled in by running it.
//!
//! | item | how it is known |
//! |---|---|
//! | plain client, default settings | [`by_client`]: the shell script of the finding, 20 times |
//! | newest release, build | [`release`]: what the catalogue has of the line, and the same script there |
//! | snapshot isolation, level | [`by_place`]: the table of `isopod where` |
//! | manual, something to see | [`by_finding`]: what the finding says of itself |
//!
//! The scripts of all signatures come first: nothing of this process is pinned to a CPU before that.

mod by_client;
mod by_finding;
mod by_place;
mod release;

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use report::{
    Finding,
    ready::{Checklist, ChecklistItem, Item, State},
    run::Group,
};

use super::{elsewhere, gather::Told};
use crate::{arguments::How, clock, commands::where_else::Row, errors::Advised, interrupt, output::say};

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
    fn of(&self, group: &Group) -> Option<String> {
        match self {
            Which::New => group.known.is_none().then(|| group.id.clone()),
            Which::All => Some(group.id.clone()),
            Which::One(id) => group.findings.contains(id).then(|| id.clone()),
        }
    }
}

/// Fills in the checklists, and with them the tables of other servers. `tables`: of all signatures, not only of those that are checked.
pub fn fill(told: &mut Told, how: &How, which: &Which, tables: bool) -> anyhow::Result<()> {
    if let Which::One(id) = which
        && !told.findings.iter().any(|one| one.id == *id)
    {
        let ids: Vec<&str> = told.run.groups.iter().map(|group| group.id.as_str()).collect();
        return Err(Advised {
            message: format!("this run has no finding {id}"),
            advice: vec![
                format!("its findings, one of each signature: {}", ids.join(", ")),
                "--ready checks the new ones, --ready=all all of them".into(),
            ],
        }
        .into());
    }
    // An engine of our own has no vendor, and other servers say nothing of it.
    let ours: BTreeSet<String> = told
        .findings
        .iter()
        .filter(|one| one.product() == reference::PRODUCT)
        .map(|one| one.id.clone())
        .collect();
    let checked = |group: &Group| which.of(group).filter(|id| !ours.contains(id));
    let mut ran: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for id in told.run.groups.iter().filter_map(checked) {
        if let Some(finding) = told.findings.iter().find(|one| one.id == id) {
            ran.insert(id, release::items(finding));
        }
    }
    let tried = |group: &Group| checked(group).or_else(|| tables.then(|| group.id.clone()));
    let places = elsewhere::fill(told, how, tried)?;
    let today = clock::today();
    for group in &mut told.run.groups {
        let id = which.of(group);
        if id.is_none() && group.known.is_none() {
            continue;
        }
        let finding = id.as_ref().and_then(|id| told.findings.iter().find(|one| one.id == *id));
        let items = finding.map(|finding| match ran.remove(&finding.id) {
            Some(ran) => items(finding, ran, places.get(&finding.id).map_or(&[], Vec::as_slice), &today),
            None => nobody(),
        });
        let list = Checklist {
            known: group.known.clone(),
            checked: id.unwrap_or_default(),
            items: items.unwrap_or_default(),
        };
        for one in told.findings.iter_mut().filter(|one| group.findings.contains(&one.id)) {
            one.ready = Some(list.clone());
        }
        group.ready = Some(list);
    }
    Ok(())
}

/// Nobody takes reports about Isopod's own engine.
fn nobody() -> Vec<Item> {
    let words = "Isopod's own engine, which has no server, no client and no vendor";
    ChecklistItem::ALL.into_iter().map(|asked| Item::unchecked(asked, words)).collect()
}

/// All items in their order, from what the script showed and what the other servers did.
fn items(finding: &Finding, ran: Vec<Item>, rows: &[Row], today: &str) -> Vec<Item> {
    let mut items: Vec<Item> = ran
        .into_iter()
        .map(|item| match item.asked {
            ChecklistItem::NewestRelease => match item.state {
                State::Passed => in_whole(release::alive(finding, item, rows, today)),
                State::Failed | State::NotChecked => release::alive(finding, item, rows, today),
            },
            ChecklistItem::PlainClient
            | ChecklistItem::Build
            | ChecklistItem::SnapshotIsolation
            | ChecklistItem::Manual
            | ChecklistItem::Visible
            | ChecklistItem::Level => item,
        })
        .collect();
    items.extend([
        by_finding::manual(finding),
        by_finding::visible(finding),
        in_whole(by_place::snapshot_isolation(finding, rows)),
        in_whole(by_place::level(finding, rows)),
    ]);
    items.sort_by_key(|item| item.asked);
    items
}

/// What a table lacks that was not finished must not be held against anybody.
fn in_whole(item: Item) -> Item {
    match item.state {
        State::Failed | State::NotChecked if interrupt::asked() => {
            Item::unchecked(item.asked, "it was stopped")
        }
        State::Passed | State::Failed | State::NotChecked => item,
    }
}

/// The short list for the terminal.
pub fn show(told: &Told) {
    for group in &told.run.groups {
        let Some(list) = &group.ready else { continue };
        match &list.known {
            Some(name) => say!("known {name}: nothing to file"),
            None => say!("{}: {} · {}", list.checked, group.title, list.verdict()),
        }
        for item in list.open() {
            say!("  {} {}: {}", item.state.sign(), item.asked.title(), item.words);
        }
    }
}
