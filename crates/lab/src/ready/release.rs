//! Items about releases: does the script show it on the version that it was found on and on the newest of its line, is that line still
//! maintained, and who built it.

use dialect::Hosting;
use model::{Place, Target, Version, target::Settings};
use provision::{Build, Installed, lifetime};
use report::{
    BugReport,
    ready::{ChecklistItem, Item, State},
    scripts,
};

use super::{
    Plan,
    by_client::{self, Rate},
};
use crate::{Lab, places::PlaceResult};

/// What the script shows on the version at hand, on the newest, and whose builds these are.
pub fn items(lab: &Lab<'_>, plan: &Plan<'_>, bug: &BugReport) -> Vec<Item> {
    let own = installed(plan, bug, &bug.server().version);
    if let Err(withheld) = scripts::shell::script(bug) {
        let plain = Item::failed(ChecklistItem::PlainClient, format!("there is no script: {withheld}"));
        let newest = Item::unchecked(ChecklistItem::NewestRelease, "there is no script");
        return vec![plain, newest, build(bug, own.as_ref().ok())];
    }
    let rate = own.as_ref().map_err(Clone::clone).and_then(|server| by_client::rate(lab, plan, bug, server));
    let first = plain_client(bug, &rate);
    let newest = newest(lab, plan, bug, &rate);
    vec![first, newest, build(bug, own.as_ref().ok())]
}

/// The server of the finding's product in this version, or the newest of it. What is missing is installed.
fn installed(plan: &Plan<'_>, bug: &BugReport, version: &Version) -> Result<Installed, String> {
    let product = bug.product();
    let dialect = dialect::of(product);
    if dialect.runs != Hosting::Server {
        return Err(format!("{} has no server and no client of its own", dialect.title));
    }
    let place = match &bug.finding.target.place {
        place @ Place::Folder(_) => place.clone(),
        Place::Cache | Place::Attached(_) => Place::Cache,
    };
    let target = Target { product, version: Some(version.clone()), settings: Settings::new(), place };
    (plan.install)(&target)
}

fn name(bug: &BugReport, version: &Version) -> String {
    format!("{} {version}", bug.product())
}

/// Twenty of twenty.
fn plain_client(bug: &BugReport, rate: &Result<Rate, String>) -> Item {
    let asked = ChecklistItem::PlainClient;
    let rate = match rate {
        Ok(rate) => rate,
        Err(why) => return Item::unchecked(asked, why),
    };
    let words = format!(
        "{} with {} on {}, its vendor's settings, ordinary scheduling",
        rate.words(),
        rate.client,
        bug.server_name()
    );
    if rate.always() {
        return Item::passed(asked, words);
    }
    let target = bug.finding.effective_target();
    let settings: Vec<String> =
        target.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let found = match settings.is_empty() {
        true => String::new(),
        false => format!("; it was found with {}", settings.join(", ")),
    };
    Item::failed(asked, words + &found)
}

/// The newest release of the line.
fn newest(lab: &Lab<'_>, plan: &Plan<'_>, bug: &BugReport, rate: &Result<Rate, String>) -> Item {
    let asked = ChecklistItem::NewestRelease;
    let own = &bug.server().version;
    let line = dialect::of(bug.product()).series(own);
    let newest = match installed(plan, bug, &line) {
        Ok(newest) => newest,
        Err(why) => return Item::unchecked(asked, why),
    };
    let version = newest.version();
    let told = format!("{} is the newest of {line} that can be had here", name(bug, version));
    // Found on a newer one than can be had, by a server that is not ours.
    if version <= own {
        return match rate {
            Ok(rate) if rate.showed == 0 => {
                Item::failed(asked, format!("{told}, and the script does not show it there"))
            }
            Ok(_) | Err(_) => Item::passed(asked, format!("found there: {told}")),
        };
    }
    match by_client::rate(lab, plan, bug, &newest) {
        Ok(rate) if rate.always() => Item::passed(asked, format!("{told}: {} there", rate.words())),
        Ok(rate) if rate.showed == 0 => {
            Item::failed(asked, format!("gone: found on {own}; {told}: {} there", rate.words()))
        }
        Ok(rate) => Item::failed(asked, format!("{told}: {} there", rate.words())),
        Err(why) => Item::unchecked(asked, why),
    }
}

/// Marks a line that has ended: it passes only if one that is alive shows it, too. Nobody takes reports about others.
pub fn alive(bug: &BugReport, item: Item, rows: &[PlaceResult], today: &str) -> Item {
    let product = bug.product();
    let ended = |version: &Version| lifetime(product, version).filter(|lifetime| lifetime.over(today));
    let own = &bug.server().version;
    let Some(lifetime) = ended(own) else {
        let until = lifetime(product, own).map(|lifetime| format!("; maintained until {}", lifetime.until));
        return Item { words: item.words + &until.unwrap_or_default(), ..item };
    };
    let mark = format!(
        "{} {} is at its end of life since {} ({})",
        product,
        dialect::of(product).series(own),
        lifetime.until,
        lifetime.source
    );
    let print = &bug.finding.violation.fingerprint;
    let shows = |row: &PlaceResult| {
        let cell = row.levels.get(bug.finding.shown_at().short()).or_else(|| row.levels.get("mixed"));
        cell.is_some_and(|cell| cell.shows(print))
    };
    let maintained = |row: &PlaceResult| {
        row.target.parse::<Target>().is_ok_and(|target| {
            target.product == product
                && target.version.as_ref().is_some_and(|version| ended(version).is_none())
        })
    };
    let living = rows.iter().find(|row| shows(row) && maintained(row));
    match (item.state, living) {
        (State::Passed, Some(row)) => {
            Item { words: format!("{}; {mark}; {} shows it, too", item.words, row.target), ..item }
        }
        (State::Passed, None) => {
            Item::failed(item.asked, format!("{mark}, and no maintained line is known to show it"))
        }
        (State::Failed | State::NotChecked, _) => Item { words: format!("{}; {mark}", item.words), ..item },
    }
}

/// Who built it: what the catalogue knows, and what the server says of itself.
fn build(bug: &BugReport, own: Option<&Installed>) -> Item {
    let asked = ChecklistItem::Build;
    let says = format!("it calls itself {}", bug.server_text());
    let Some(line) = own.and_then(Installed::line) else {
        let dialect = dialect::of(bug.product());
        return match dialect.runs {
            Hosting::Server => Item::unchecked(asked, format!("it is not one that Isopod installed; {says}")),
            Hosting::Child => Item::passed(
                asked,
                format!("upstream: {}'s own amalgamation, built into Isopod", dialect.title),
            ),
            Hosting::Thread => Item::unchecked(asked, "Isopod's own engine"),
        };
    };
    let package = own.map(|server| server.manifest().package_version.clone()).unwrap_or_default();
    let build = match line.build() {
        Build::Upstream => "upstream build",
        Build::Distribution => "distribution build",
        Build::Others => "built by others from the vendor's sources",
    };
    Item::passed(asked, format!("{build}: {} {package}; {says}", line.origin()))
}
