//! A finding as Markdown, for a bug tracker: what to do, what comes, what should come, and who says so.

use crate::{
    bug_report::{BugReport, Elsewhere},
    compare::{self, About, Compared, Side},
    ready::{Checklist, State},
    scripts::{ended, real_order},
    steps, text,
    trackers::{self, Part},
};

pub fn markdown(bug: &BugReport) -> String {
    let compared = compare::of(bug);
    let mut out = format!("# {}\n\n", inline(&bug.title()));
    out += &facts(bug);
    out += &format!("\n{}\n", inline(&bug.words().story()));
    out += "\n## How to repeat\n\nSetup:\n\n";
    out += &fenced(
        "sql",
        &bug.execution.case.setup.statements.iter().map(|sql| ended(sql)).collect::<Vec<_>>().join("\n"),
    );
    out += &match bug.execution.case.sessions.len() {
        1 => "\nThen, in one session:\n\n".to_string(),
        sessions => format!(
            "\nThen, in {sessions} sessions, in this order; each statement is sent when the one before has answered or waits:\n\n"
        ),
    };
    out += &fenced("sql", &real_order(bug).join("\n"));
    out += &sides(bug, &compared);
    out += "\n## Why this is wrong\n";
    for line in bug.why().iter().chain(&bug.finding.violation.evidence.log) {
        out += &format!("\n{}\n", linked(line));
    }
    out += &seen(bug);
    out += &bug.ready.as_ref().map(checklist).unwrap_or_default();
    out += &format!("\n## Settings in force\n\n{}", folded("Settings", &settings(bug)));
    let flags = bug.flags().join("\n");
    if !flags.is_empty() {
        out += &format!("\n{}", folded("What the server was started with", &fenced("", &flags)));
    }
    let background: Vec<String> =
        bug.background().iter().map(|line| format!("- {}\n", linked(line))).collect();
    let hunt = match bug.hunt.is_empty() {
        true => String::new(),
        false => format!("Hunt: {}\n", code(&bug.hunt)),
    };
    let replay = format!("{}\n{hunt}Replay: {}\n", background.concat(), code(&bug.replay));
    out += &format!("\n---\n{}", folded("How Isopod found it", &replay));
    out
}

/// What a triager wants to know first.
fn facts(bug: &BugReport) -> String {
    let [showed, all] = bug.finding.runs;
    let mut rows = vec![
        ("Server", bug.server_text()),
        ("Isolation level", levels(bug)),
        ("Reproduces", format!("{showed} of {all} runs{}", condition(bug))),
    ];
    if let Some(rate) = bug.ready.as_ref().and_then(Checklist::rate) {
        rows.push(("With the client alone", rate.to_string()));
    }
    rows.push(match &bug.finding.known {
        Some(name) => ("Known as", name.clone()),
        None => ("Known as", "no report that Isopod knows of".to_string()),
    });
    if !bug.date.is_empty() {
        rows.push(("Found", bug.date.clone()));
    }
    if !bug.finding.judged_as.is_empty() {
        rows.push(("Judged as", format!("{}: a test of Isopod, not a bug", bug.finding.judged_as)));
    }
    let rows: String = rows.iter().map(|(name, value)| format!("| {name} | {} |\n", linked(value))).collect();
    format!("| | |\n|---|---|\n{rows}")
}

fn condition(bug: &BugReport) -> String {
    match bug.finding.condition.words() {
        "" => String::new(),
        words => format!(", {words}"),
    }
}

fn levels(bug: &BugReport) -> String {
    match bug.one_level() {
        Some(level) => level.sql().to_string(),
        None => {
            let each = (0..bug.execution.case.sessions.len())
                .map(|session| format!("{}: {}", bug.session(session), bug.level_of(session).sql()));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

fn sides(bug: &BugReport, compared: &Compared) -> String {
    let about = match &compared.about {
        About::Step(step) => {
            format!("Step {}: {}", step + 1, code(&text::clean(&bug.execution.case.steps[*step].sql)))
        }
        About::Table(table) => format!("The rows of {} in the end", code(table)),
        About::Run => "The run as a whole".to_string(),
    };
    let expected = match &compared.expected {
        Some(side) => fenced("", &lines(side, &compared.columns)),
        None => "What came is impossible by itself.\n".to_string(),
    };
    format!(
        "\n## Expected\n\n{about}\n\n{expected}\n## Actual\n\n{}",
        fenced("", &lines(&compared.actual, &compared.columns))
    )
}

fn lines(side: &Side, columns: &[String]) -> String {
    match side {
        Side::Words(words) => words.clone(),
        Side::Rows(rows) if rows.is_empty() => "no rows".to_string(),
        Side::Rows(rows) => {
            let (shown, alike) = compare::shown(rows);
            let head = std::iter::once(columns.join(" | "));
            let rows = shown.iter().map(|row| row.cells.join(" | "));
            head.chain(rows).chain(alike).collect::<Vec<_>>().join("\n")
        }
    }
}

fn seen(bug: &BugReport) -> String {
    if bug.seen.is_empty() {
        return String::new();
    }
    let rows: String = bug
        .seen
        .iter()
        .map(|seen| format!("| {} | {} |\n", inline(&seen.server), seen.level.sql()))
        .collect();
    format!("\n## Seen on\n\n| server | level |\n|---|---|\n{rows}{}", elsewhere(bug))
}

/// What came of it on other servers, at other levels.
fn elsewhere(bug: &BugReport) -> String {
    let Some(first) = bug.elsewhere.first() else { return String::new() };
    let heads: Vec<&str> = first.levels.iter().map(|(level, _)| level.as_str()).collect();
    let row = |one: &Elsewhere| {
        let cells: Vec<String> = one.levels.iter().map(|(_, word)| inline(word)).collect();
        format!("| {} | {} |\n", inline(&one.server), cells.join(" | "))
    };
    let rows: String = bug.elsewhere.iter().map(row).collect();
    format!(
        "\n## Where else\n\n| server | {} |\n|---|{}\n{rows}",
        heads.join(" | "),
        "---|".repeat(heads.len())
    )
}

/// A box for each item, with a mark in those that have passed.
fn checklist(list: &Checklist) -> String {
    let item = |item: &crate::ready::Item| {
        let (mark, state) = match item.state {
            State::Passed => ('x', String::new()),
            State::Failed | State::NotChecked => (' ', format!(" {}:", item.state.word())),
        };
        format!("- [{mark}] **{}**:{state} {}\n", item.asked.title(), inline(&item.words))
    };
    let items: String = list.items.iter().map(item).collect();
    let gap = if items.is_empty() { "" } else { "\n" };
    format!("\n## Ready to file\n\n{}.\n{gap}{items}", inline(&text::upper(&list.verdict())))
}

fn settings(bug: &BugReport) -> String {
    let settings = bug.server().settings.iter().map(|(name, value)| format!("{name} = {value}"));
    fenced("", &settings.collect::<Vec<_>>().join("\n"))
}

/// A part that is closed until somebody opens it. Trackers that know no HTML show it open.
fn folded(title: &str, text: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{text}\n</details>\n")
}

/// A block that its text cannot end.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// Code in a line.
fn code(text: &str) -> String {
    let text = text::clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The same, with the numbers of bug reports as links.
fn linked(text: &str) -> String {
    let part = |part: &Part| match &part.url {
        Some(url) => format!("[{}]({url})", inline(&part.text)),
        None => escaped(&part.text),
    };
    trackers::parts(&text::clean(text)).iter().map(part).collect()
}

/// Text that means nothing but itself. Trackers turn `#1` into links and `<b>` into markup.
fn inline(text: &str) -> String {
    escaped(&text::clean(text))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A step of the script with what came of it.
pub(crate) fn step_line(bug: &BugReport, step: usize, said: &str) -> String {
    let of = &bug.execution.case.steps[step];
    let sql = ended(&of.sql);
    let wrong = if bug.finding.violation.step == Some(step) && !bug.execution.trace.waited(step) {
        "   <-- wrong"
    } else {
        ""
    };
    let said = if said.is_empty() { String::new() } else { format!("   -- {}", text::clean(said)) };
    format!("/* {:>2} {} */ {sql}{said}{wrong}", step + 1, bug.session(of.session))
}

/// What came back late.
pub(crate) fn back_line(bug: &BugReport, step: usize) -> String {
    let wrong = if bug.finding.violation.step == Some(step) { "   <-- wrong" } else { "" };
    let session = bug.session(bug.execution.case.steps[step].session);
    format!(
        "-- {session}: step {} comes back: {}{wrong}",
        step + 1,
        text::clean(&steps::said(&bug.execution.trace.outcomes[step]))
    )
}
