//! The checklist of a finding: is it ready to be filed?

use super::escape::escape;
use crate::{
    finding::Finding,
    ready::{Checklist, Item, State},
};

/// The section; nothing where nothing was checked.
pub fn section(finding: &Finding) -> String {
    let Some(list) = &finding.ready else { return String::new() };
    let items: String = list.items.iter().map(item).collect();
    let items = match items.is_empty() {
        true => String::new(),
        false => format!("<ol class=\"checks\">{items}</ol>\n"),
    };
    format!(
        "<section id=\"ready\">\n<h2>Ready to file?</h2>\n<p class=\"lead\">{}{}</p>\n{items}</section>\n",
        escape(&crate::text::upper(&list.verdict())),
        escape(&on_behalf(finding, list))
    )
}

/// Who was checked, if not this finding itself.
fn on_behalf(finding: &Finding, list: &Checklist) -> String {
    match list.items.is_empty() || list.checked == finding.id {
        true => ".".to_string(),
        false => format!(". Checked with {}, the smallest of its signature.", list.checked),
    }
}

fn item(item: &Item) -> String {
    let class = match item.state {
        State::Passed => "passed",
        State::Failed => "failed",
        State::NotChecked => "unknown",
    };
    format!(
        "<li class=\"{class}\" data-state=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span>\
         <div><b>{}</b><span class=\"state\">{}</span><p>{}</p></div></li>",
        item.state.word(),
        item.state.sign(),
        item.asked.title(),
        item.state.word(),
        escape(&item.words)
    )
}

/// A link to it from the head of the page.
pub fn mark(finding: &Finding) -> String {
    match &finding.ready {
        Some(list) => format!(" <a class=\"pill{}\" href=\"#ready\">{}</a>", good(list), short(list)),
        None => String::new(),
    }
}

/// A word about it in the list of findings.
pub fn word(list: &Checklist) -> String {
    match &list.known {
        Some(_) => String::new(),
        None => format!("<br><span class=\"pill{}\">{}</span>", good(list), escape(&list.verdict())),
    }
}

fn good(list: &Checklist) -> &'static str {
    if list.ready() { " good" } else { "" }
}

fn short(list: &Checklist) -> &'static str {
    match (&list.known, list.ready()) {
        (Some(_), _) => "nothing to file",
        (None, true) => "ready to file",
        (None, false) => "not ready to file",
    }
}
