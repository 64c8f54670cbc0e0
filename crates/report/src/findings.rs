//! Findings as text: the table of a hunt, and the five lines of one finding.

use crate::{Style, style::Tone, text, words::Words};

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The name under which it is known; none is new.
    pub known: Option<String>,
    /// The name of its first case.
    pub id: String,
    /// What it is, in a few words.
    pub what: String,
    /// Where, if the hunt had several targets.
    pub target: Option<String>,
    /// When it was first found, in milliseconds of hunting.
    pub first_at: u64,
    /// How many cases showed it.
    pub cases: u64,
    /// The levels that show it, by their short names.
    pub levels: Vec<&'static str>,
}

/// The table, one line each.
pub fn table(lines: &[Line], style: &Style) -> String {
    let name = |line: &Line| line.known.clone().unwrap_or_else(|| line.id.clone());
    let what = |line: &Line| match &line.target {
        Some(target) => format!("{} on {target}", line.what),
        None => line.what.clone(),
    };
    let wide = |of: &dyn Fn(&Line) -> String, least: usize| {
        lines.iter().map(|line| text::width(&of(line))).max().unwrap_or(0).max(least)
    };
    let (names, whats) = (wide(&name, 8), wide(&what, 40));
    let head = format!("{}  first at    cases", text::pad("findings", names + whats + 12));
    let mut out = style.paint(Tone::Head, &head) + "\n";
    for line in lines {
        let (word, tone) = if line.known.is_some() { ("known", Tone::Plain) } else { ("NEW", Tone::Wrong) };
        out += &format!(
            "  {}  {}  {}  {:>9}  {:>7}   {}\n",
            style.paint(tone, &text::pad(word, 5)),
            text::pad(&name(line), names),
            text::pad(&what(line), whats),
            clock(line.first_at),
            thousands(line.cases),
            line.levels.join(" ")
        );
    }
    out
}

/// What is said about one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// The name under which it is known; none is new.
    pub known: Option<String>,
    pub id: String,
    /// Product and version.
    pub server: String,
    /// The level, as SQL words it.
    pub level: &'static str,
    /// So many runs showed it, of so many.
    pub runs: [u32; 2],
    pub what: What,
    pub oracle: String,
    /// Under which condition it comes back; empty for none.
    pub condition: String,
    pub statements: usize,
    /// How many it had before it was reduced; none if it was not.
    pub reduced_from: Option<usize>,
    pub replay: String,
}

/// What is wrong, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct What {
    /// One sentence: what came, and what should have.
    pub story: String,
    pub rule: String,
    /// The first of what it rests on; empty for nothing.
    pub evidence: String,
}

impl What {
    /// Of a violation. The rule is said once.
    pub fn of(words: &Words<'_>) -> What {
        let lines = if words.begins_with_the_rule() { Vec::new() } else { words.lines() };
        let evidence = lines.into_iter().next().unwrap_or_default();
        What { story: words.story(), rule: words.rule(), evidence }
    }
}

/// The five lines of a finding.
pub fn story(of: &Story, style: &Style) -> String {
    let [first, rest @ ..] = lines(of);
    let (head, more) = first.split_once(" · ").unwrap_or((&first, ""));
    let first = format!("{} · {more}", style.paint(Tone::Wrong, head));
    std::iter::once(first).chain(rest).map(|line| line + "\n").collect()
}

/// The same, without colours.
pub fn lines(of: &Story) -> [String; 5] {
    let head = match &of.known {
        Some(name) => format!("known {name}"),
        None => format!("NEW {}", of.id),
    };
    let (rule, evidence) = (text::clean(&of.what.rule), text::clean(&of.what.evidence));
    let evidence = match evidence.as_str() {
        "" => String::new(),
        line => format!("{line}{} ", if line.ends_with('.') { "" } else { "." }),
    };
    let condition =
        if of.condition.is_empty() { String::new() } else { format!(" It shows {}.", of.condition) };
    let [showed, all] = of.runs;
    [
        format!("{head} · {} · {} · {showed} of {all} runs", of.server, of.level),
        text::clean(&of.what.story),
        format!("{evidence}Rule: {rule}."),
        format!("Found by {}{}{condition}", of.oracle, size(of)),
        format!("Replay: {}", of.replay),
    ]
}

/// How large the case is, and was.
fn size(of: &Story) -> String {
    match of.reduced_from {
        Some(from) => format!(". Reduced from {from} to {}.", plural(of.statements as u64, "statement")),
        None => format!(", in a case of {}.", plural(of.statements as u64, "statement")),
    }
}

/// `6:12`, or `1:06:12`.
pub fn clock(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// `1 case`, `2 cases`
pub fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `412,806`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `93%`, `0.7%`; a dash where there is nothing to divide by.
pub fn share(part: u64, of: u64) -> String {
    if of == 0 {
        return "-".to_string();
    }
    let thousandth = (part * 1000 + of / 2) / of;
    if thousandth >= 100 || thousandth == 0 && part == 0 {
        format!("{}%", (thousandth + 5) / 10)
    } else if thousandth == 0 {
        "<0.1%".to_string()
    } else {
        format!("{}.{}%", thousandth / 10, thousandth % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(
            [0, 7, 1000, 412_806, 1_000_000].map(thousands),
            ["0", "7", "1,000", "412,806", "1,000,000"]
        );
        assert_eq!([0, 3_000, 372_000, 3_972_000].map(clock), ["0:00", "0:03", "6:12", "1:06:12"]);
        let shares = [(0, 0), (0, 9), (93, 100), (7, 1000), (1, 100_000), (999, 1000), (1, 8)];
        assert_eq!(
            shares.map(|(part, of)| share(part, of)),
            ["-", "0%", "93%", "0.7%", "<0.1%", "100%", "13%"]
        );
    }

    #[test]
    fn the_table_lines_up() {
        let line = |known: Option<&str>, what: &str| Line {
            known: known.map(str::to_string),
            id: "9b1f0a2c".into(),
            what: what.into(),
            target: None,
            first_at: 280_000,
            cases: 1204,
            levels: vec!["RU", "RC"],
        };
        let text = table(
            &[line(Some("MDEV-32898"), "aborted-read, select"), line(None, "crash, update")],
            &Style::default(),
        );
        expect_test::expect![[r#"
            findings                                                        first at    cases
              known  MDEV-32898  aborted-read, select                           4:40    1,204   RU RC
              NEW    9b1f0a2c    crash, update                                  4:40    1,204   RU RC
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn five_lines() {
        let finding = Story {
            known: None,
            id: "9b1f0a2c".into(),
            server: "mysql 9.7.4".into(),
            level: "READ COMMITTED",
            runs: [3, 3],
            what: What {
                story: "T2's SELECT (step 6) returned a row that nobody wrote.".into(),
                rule: "every row was written by somebody".into(),
                evidence: "Row: (2, NULL).".into(),
            },
            oracle: "invariants".into(),
            condition: String::new(),
            statements: 12,
            reduced_from: None,
            replay: "isopod run runs/1/findings/9b1f0a2c/case.iso --target mysql@9.7 --level RC".into(),
        };
        expect_test::expect![[r#"
            NEW 9b1f0a2c · mysql 9.7.4 · READ COMMITTED · 3 of 3 runs
            T2's SELECT (step 6) returned a row that nobody wrote.
            Row: (2, NULL). Rule: every row was written by somebody.
            Found by invariants, in a case of 12 statements.
            Replay: isopod run runs/1/findings/9b1f0a2c/case.iso --target mysql@9.7 --level RC
        "#]]
        .assert_eq(&story(&finding, &Style::default()));
        let mut words = finding.clone();
        words.what.rule = "reads show the snapshot".into();
        words.what.evidence = "statement: SELECT 1".into();
        let text = story(&words, &Style::default());
        assert!(text.contains("\nstatement: SELECT 1. Rule: reads show the snapshot.\n"), "{text}");
        let reduced = Story { reduced_from: Some(31), ..finding };
        let text = story(&reduced, &Style::default());
        assert!(text.contains("\nFound by invariants. Reduced from 31 to 12 statements.\n"), "{text}");
    }
}
