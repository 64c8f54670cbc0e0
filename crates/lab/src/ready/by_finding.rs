//! Items that the finding itself answers: the sentence of the manual, and whether there is something to see.

use dialect::contract::manual;
use report::{
    Finding,
    ready::{ChecklistItem, Item},
};

/// The sentence that is broken, of that version's manual.
pub fn manual(finding: &Finding) -> Item {
    let rule = finding.violation.evidence.rule;
    let sentence = rule.and_then(|rule| manual::says(&finding.server, rule));
    match sentence {
        Some(says) => {
            Item::passed(ChecklistItem::Manual, format!("\u{201c}{}\u{201d} ({})", says.text, says.place))
        }
        None => Item::failed(
            ChecklistItem::Manual,
            format!(
                "no sentence of {}'s manual is known for this rule",
                dialect::of(finding.product()).title
            ),
        ),
    }
}

/// Wrong rows or a wrong state.
pub fn visible(finding: &Finding) -> Item {
    if !finding.judged_as.is_empty() {
        let words = format!("the oracles were told {}: a test of Isopod, not a bug", finding.judged_as);
        return Item::failed(ChecklistItem::Visible, words);
    }
    match finding.visible() {
        Ok(()) => Item::passed(ChecklistItem::Visible, finding.title()),
        Err(why) => Item::failed(ChecklistItem::Visible, why),
    }
}
