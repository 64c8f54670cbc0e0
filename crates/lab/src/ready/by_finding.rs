//! Items that the finding itself answers: the sentence of the manual, and whether there is something to see.

use dialect::contract::manual;
use report::{
    BugReport,
    ready::{ChecklistItem, Item},
};

/// The sentence that is broken, of that version's manual.
pub fn manual(bug: &BugReport) -> Item {
    let sentence = bug.words().broken().and_then(|rule| manual::says(bug.server(), rule));
    match sentence {
        Some(says) => {
            Item::passed(ChecklistItem::Manual, format!("\u{201c}{}\u{201d} ({})", says.text, says.place))
        }
        None => Item::failed(
            ChecklistItem::Manual,
            format!("no sentence of {}'s manual is known for this rule", dialect::of(bug.product()).title),
        ),
    }
}

/// Wrong rows or a wrong state.
pub fn visible(bug: &BugReport) -> Item {
    if !bug.finding.judged_as.is_empty() {
        let words = format!("the oracles were told {}: a test of Isopod, not a bug", bug.finding.judged_as);
        return Item::failed(ChecklistItem::Visible, words);
    }
    match bug.visible() {
        Ok(()) => Item::passed(ChecklistItem::Visible, bug.title()),
        Err(why) => Item::failed(ChecklistItem::Visible, why),
    }
}
