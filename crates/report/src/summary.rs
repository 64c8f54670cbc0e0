//! Many runs at once: a line for each case, target and level, in aligned columns.

use model::{Level, Target};

use crate::{
    style::{Style, Tone},
    text::{pad, width},
};

/// One line: a case on a target at a level, run one or more times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRow {
    /// The case as its user knows it.
    pub case: String,
    /// What it ran on.
    pub target: Target,
    /// At this level.
    pub level: Level,
    /// What came of it.
    pub status: Status,
    /// In so many of its runs...
    pub times: usize,
    /// ...out of so many.
    pub runs: usize,
}

/// What came of a line's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// As expected.
    Passed,
    /// Not as expected, but as it is known to fail, under these names.
    Known(Vec<String>),
    /// Not as expected.
    Failed,
    /// As expected, where it is known to fail.
    Fixed(Vec<String>),
    /// It ran; nobody said what should come.
    Unspecified,
    /// Not run, and why.
    Skipped(String),
}

impl Status {
    fn text(&self) -> (String, Tone) {
        match self {
            Status::Passed => ("passed".into(), Tone::Quiet),
            Status::Known(names) if names.is_empty() => ("known to fail".into(), Tone::Waits),
            Status::Known(names) => (format!("known: {}", names.join(", ")), Tone::Waits),
            Status::Failed => ("✗ FAILED".into(), Tone::Wrong),
            Status::Fixed(names) if names.is_empty() => ("✗ passed, known to fail".into(), Tone::Wrong),
            Status::Fixed(names) => (format!("✗ passed, known: {}", names.join(", ")), Tone::Wrong),
            Status::Unspecified => ("unspecified".into(), Tone::Plain),
            Status::Skipped(why) => (format!("skipped: {why}"), Tone::Plain),
        }
    }
}

/// The table; empty if there are no lines.
pub fn summary(rows: &[SummaryRow], style: &Style) -> String {
    let lines: Vec<[(String, Tone); 5]> = rows
        .iter()
        .map(|row| {
            let count = match row.status {
                Status::Skipped(_) => String::new(),
                _ => format!("{} of {}", row.times, row.runs),
            };
            [
                (row.case.clone(), Tone::Plain),
                (row.target.to_string(), Tone::Plain),
                (row.level.short().to_string(), Tone::Plain),
                (count, Tone::Plain),
                row.status.text(),
            ]
        })
        .collect();
    let widest = |i: usize| lines.iter().map(|line| width(&line[i].0)).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(widest);
    let mut out = String::new();
    for line in &lines {
        let mut text = String::new();
        for (i, (cell, tone)) in line.iter().enumerate() {
            match i {
                // Counts are read from their end.
                3 => text += &format!("{cell:>0$}   ", widths[3]),
                4 => text += &style.paint(*tone, cell),
                _ => text += &format!("{}   ", pad(cell, widths[i])),
            }
        }
        out += text.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(case: &str, target: &str, level: Level, status: Status, times: usize, runs: usize) -> SummaryRow {
        SummaryRow { case: case.into(), target: target.parse().unwrap(), level, status, times, runs }
    }

    #[test]
    fn columns_line_up() {
        let known = vec!["MDEV-32898".to_string(), "MySQL#113228".to_string()];
        let rows = [
            row("key-change.iso", "mysql@9.7", Level::RepeatableRead, Status::Known(known.clone()), 20, 20),
            row("dirty-read.iso", "mariadb@10.11?log_bin=ON", Level::Serializable, Status::Passed, 20, 20),
            row("skew.iso", "sqlite", Level::Serializable, Status::Failed, 3, 20),
            row("skew.iso", "mysql@9.7", Level::ReadCommitted, Status::Fixed(known), 1, 1),
            row("skew.iso", "mysql@5.6", Level::ReadCommitted, Status::Skipped("not for it".into()), 0, 0),
        ];
        expect![[r#"
            key-change.iso   mysql@9.7                  RR    20 of 20   known: MDEV-32898, MySQL#113228
            dirty-read.iso   mariadb@10.11?log_bin=ON   SER   20 of 20   passed
            skew.iso         sqlite                     SER    3 of 20   ✗ FAILED
            skew.iso         mysql@9.7                  RC      1 of 1   ✗ passed, known: MDEV-32898, MySQL#113228
            skew.iso         mysql@5.6                  RC               skipped: not for it
        "#]]
        .assert_eq(&summary(&rows, &Style::default()));
        assert_eq!(summary(&[], &Style::default()), "");
    }
}
