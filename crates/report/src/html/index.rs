//! The page of a run: what was found, folded, and how it went.

use super::{escape::escape, page::page, plots, ready};
use crate::{
    findings::{clock, share, thousands},
    run::{Group, Run},
};

/// The page.
pub fn index(run: &Run) -> String {
    let mut body = head(run);
    body += &table(run);
    body += &plots::section(run);
    let foot = format!(
        "isopod {} · seed {} · profile {} · oracles: {}",
        run.isopod,
        run.seed,
        run.profile,
        run.oracles.join(", ")
    );
    page(&format!("isopod: {}", run.name), &body, &foot)
}

fn head(run: &Run) -> String {
    let new = run.groups.iter().filter(|group| group.known.is_none()).count();
    let title = match (run.groups.len(), new) {
        (0, _) => "Nothing was found".to_string(),
        (1, 0) => "One finding, known already".to_string(),
        (1, _) => "One new finding".to_string(),
        (all, 0) => format!("{all} findings, all of them known"),
        (all, new) => format!("{all} findings, {new} of them new"),
    };
    let targets: Vec<String> = run
        .targets
        .iter()
        .map(|hunted| match &hunted.version {
            Some(version) => format!("{} ({version})", hunted.target),
            None => format!("{} (never came up)", hunted.target),
        })
        .collect();
    let cases = run.cases();
    let facts = [
        (thousands(cases), "cases"),
        (thousands(cases * 1000 / run.elapsed.max(1)), "cases in a second"),
        (clock(run.elapsed), "of hunting"),
        (share(run.sum(|hunted| hunted.conflicts), cases), "with a conflict"),
        (share(run.sum(|hunted| hunted.undecided), cases), "undecided"),
        (thousands(run.sum(|hunted| hunted.flaky)), "flaky suspicions"),
    ];
    let facts: String = facts
        .iter()
        .map(|(value, words)| format!("<div class=\"fact\"><b>{value}</b><span>{words}</span></div>"))
        .collect();
    let mut remarks = String::new();
    if !run.judged_as.is_empty() {
        remarks += &format!(
            "<p class=\"wrong\">The oracles were told {} instead of what is true: this is a test of Isopod.</p>\n",
            escape(&run.judged_as)
        );
    }
    for hunted in &run.targets {
        if let Some(why) = &hunted.lost {
            remarks +=
                &format!("<p class=\"wrong\">{} was given up: {}</p>\n", escape(&hunted.target), escape(why));
        }
    }
    if run.unreadable > 0 {
        remarks +=
            &format!("<p class=\"soft small\">{} lines of the log could not be read.</p>\n", run.unreadable);
    }
    format!(
        "<header>\n<span class=\"pill\">isopod hunt</span>\n<h1>{}</h1>\n<p class=\"meta\">{}</p>\n<div class=\"facts\">{facts}</div>\n{remarks}</header>\n",
        escape(&title),
        escape(&targets.join(" · "))
    )
}

fn table(run: &Run) -> String {
    if run.groups.is_empty() {
        return String::new();
    }
    let rows: String = run.groups.iter().map(row).collect();
    format!(
        "<section id=\"findings\">\n<h2>Findings</h2>\n<p class=\"lead\">Folded by signature: the bug that explains them, or else what goes wrong, by \
         which rule and with which kinds of statements.</p>\n<table class=\"wide fold\"><thead><tr><th></th><th>finding</th><th>levels</th><th class=\"n\">first at</th>\
         <th class=\"n\">cases</th><th class=\"n\">statements</th></tr></thead><tbody>\n{rows}</tbody></table>\n</section>\n"
    )
}

fn row(group: &Group) -> String {
    let (class, word) = match &group.known {
        Some(_) => ("pill", "known"),
        None => ("pill new", "NEW"),
    };
    let like = group.like.as_ref().map_or(String::new(), |name| format!("; behaves like {name}"));
    let name = group.known.clone().unwrap_or_else(|| group.rule.clone() + &like);
    let levels: Vec<&str> = group.levels.keys().map(|level| level.short()).collect();
    let others: Vec<String> = group
        .findings
        .iter()
        .filter(|id| **id != group.id)
        .take(12)
        .map(|id| format!("<a href=\"{0}.html\">{0}</a>", escape(id)))
        .collect();
    let more = group.findings.len().saturating_sub(13);
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(
            "<details><summary>{} more kept</summary><span class=\"small mono\">{}{}</span></details>",
            group.findings.len() - 1,
            others.join(" "),
            if more > 0 { " …" } else { "" }
        ),
    };
    format!(
        "<tr data-id=\"{id}\"><td><span class=\"{class}\">{word}</span></td>\
         <td class=\"what\"><a href=\"{id}.html\"><b>{}</b></a><br><span class=\"small soft\">{} · {}</span>{}{others}</td>\
         <td>{}</td><td class=\"n\" data-before=\"first at \">{}</td><td class=\"n\" data-after=\" cases\">{}</td>\
         <td class=\"n\" data-after=\" statements\">{}</td></tr>\n",
        escape(&group.title),
        escape(&name),
        escape(&group.servers.join(", ")),
        group.ready.as_ref().map(ready::word).unwrap_or_default(),
        levels.join(" "),
        clock(group.first_at),
        thousands(group.cases),
        group.statements,
        id = escape(&group.id),
    )
}
