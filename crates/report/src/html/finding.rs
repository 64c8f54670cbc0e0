//! The page of one finding.

use super::{chains, compared, escape::escape, page::page, ready, timeline};
use crate::{
    compare,
    finding::{Elsewhere, Finding},
    findings,
    scripts::Script,
};

/// The page. `files` are those that stand beside it: the case file first, the Markdown, the scripts.
pub fn finding(finding: &Finding, files: &[Script]) -> String {
    let compared = compare::of(finding);
    let mut body = head(finding);
    body += &compared::section(finding, &compared);
    body += &timeline::section(finding);
    body += &chains::section(finding);
    if let Some(graph) = &finding.graph {
        body += &format!(
            "<section id=\"graph\">\n<h2>Dependency graph</h2>\n<pre>{}</pre>\n</section>\n",
            escape(graph)
        );
    }
    body += &why(finding);
    body += &places(finding);
    body += &ready::section(finding);
    body += &reproduce(finding, files);
    let (seed, case) = &finding.origin;
    let foot = format!("isopod {} · seed {seed} · case {case} · {}", finding.isopod, finding.target);
    page(&finding.title(), &body, &foot)
}

fn head(finding: &Finding) -> String {
    let class = if finding.known.is_some() { "pill" } else { "pill new" };
    let lines = findings::lines(&finding.story());
    let last = lines.len() - 1;
    let items: String = lines
        .iter()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("<li class=\"headline\">{}</li>", escape(line)),
            i if i == last => match line.split_once(": ") {
                Some((word, command)) => {
                    format!("<li>{}: <code>{}</code></li>", escape(word), escape(command))
                }
                None => format!("<li>{}</li>", escape(line)),
            },
            _ => format!("<li>{}</li>", escape(line)),
        })
        .collect();
    format!(
        "<nav><a href=\"index.html\">← all findings of the run</a></nav>\n<header>\n<span class=\"{class}\">{}</span>{}\n\
         <h1>{}</h1>\n<p class=\"meta\">{}</p>\n<ol class=\"story\">{items}</ol>\n</header>\n",
        if finding.known.is_some() { "known" } else { "NEW" },
        ready::mark(finding),
        escape(&finding.title()),
        escape(&format!("{} · {}", finding.server_text(), finding.level.sql())),
    )
}

/// What the verdict rests on.
fn why(finding: &Finding) -> String {
    let lines: String = finding
        .violation
        .evidence
        .iter()
        .take(60)
        .map(|line| format!("<li>{}</li>", escape(&crate::text::clean(line))))
        .collect();
    let told = match finding.judged_as.is_empty() {
        true => String::new(),
        false => format!(
            "<p class=\"wrong\">The oracles were told {} instead of what is true: this is a test of Isopod, not a bug.</p>",
            escape(&finding.judged_as)
        ),
    };
    let log: String = if finding.aftermath.log.is_empty() {
        String::new()
    } else {
        let lines: Vec<&str> = finding.aftermath.log.iter().take(200).map(String::as_str).collect();
        format!(
            "<details><summary>What the server's error log gained</summary><pre>{}</pre></details>",
            escape(&lines.join("\n"))
        )
    };
    format!(
        "<section id=\"why\">\n<h2>Why it is wrong</h2>\n{told}<p>{}.</p>\n\
         <details><summary>All of the evidence</summary><ul class=\"small\">{lines}</ul></details>{log}\n</section>\n",
        escape(&crate::text::upper(finding.rule().trim_end_matches('.')))
    )
}

/// Servers, levels and settings.
fn places(finding: &Finding) -> String {
    let rows: String = finding
        .seen
        .iter()
        .map(|seen| {
            format!(
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
                escape(&seen.server),
                seen.level.sql(),
                seen.findings
            )
        })
        .collect();
    let elsewhere = elsewhere(finding);
    let settings: String = finding
        .server
        .settings
        .iter()
        .map(|(name, value)| {
            format!("<tr><td><code>{}</code></td><td><code>{}</code></td></tr>", escape(name), escape(value))
        })
        .collect();
    let flags = finding.flags();
    let flags = match flags.is_empty() {
        true => String::new(),
        false => format!(
            "<details><summary>What the server was started with</summary><pre>{}</pre></details>",
            escape(&flags.join("\n"))
        ),
    };
    format!(
        "<section id=\"where\">\n<h2>Where it was seen</h2>\n\
         <table><thead><tr><th>server</th><th>level</th><th class=\"n\">findings kept</th></tr></thead><tbody>{rows}</tbody></table>\n{elsewhere}\
         <details><summary>Settings in force</summary><div class=\"scroll plain\"><table><tbody>{settings}</tbody></table></div></details>{flags}\n</section>\n"
    )
}

/// What came of it on other servers, at other levels.
fn elsewhere(finding: &Finding) -> String {
    let Some(first) = finding.elsewhere.first() else { return String::new() };
    let heads: String = first.levels.iter().map(|(level, _)| format!("<th>{}</th>", escape(level))).collect();
    let row = |one: &Elsewhere| {
        let cell = |(_, word): &(String, String)| {
            let class = if word.ends_with("wrong") { " class=\"bad\"" } else { "" };
            format!("<td{class}>{}</td>", escape(word))
        };
        let cells: String = one.levels.iter().map(cell).collect();
        format!("<tr><td>{}</td>{cells}</tr>", escape(&one.server))
    };
    let rows: String = finding.elsewhere.iter().map(row).collect();
    format!(
        "<h3>Where else</h3>\n<p class=\"lead\">The same case, run afterwards at every level on other servers. A question mark: nobody can \
         tell there.</p>\n<div class=\"scroll plain\"><table id=\"elsewhere\"><thead><tr><th>server</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )
}

/// The files, each with a button that copies it.
fn reproduce(finding: &Finding, files: &[Script]) -> String {
    let items: String = files
        .iter()
        .enumerate()
        .map(|(i, file)| {
            format!(
                "<div class=\"file\"><details><summary><span class=\"label\">{}</span><span class=\"about\">{}</span>\
                 <button type=\"button\" data-copy=\"file-{i}\">Copy</button></summary>\
                 <p class=\"small soft\"><a href=\"{}\">{}</a> · {}</p><pre id=\"file-{i}\">{}</pre></details></div>\n",
                escape(file.label),
                escape(file.about),
                escape(&file.name),
                escape(&file.name),
                escape(file.about),
                escape(&file.text)
            )
        })
        .collect();
    let condition = match finding.condition.is_empty() {
        true => String::new(),
        false => format!("<p>It shows {}.</p>", escape(&finding.condition)),
    };
    format!(
        "<section id=\"reproduce\">\n<h2>Reproduce</h2>\n{condition}<div class=\"files\">\n{items}</div>\n</section>\n"
    )
}
