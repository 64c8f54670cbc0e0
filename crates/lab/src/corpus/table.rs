//! The results of the corpus as Markdown: one table per product, a row per case, a column per version.
//!
//! A version is tested under several settings and at several levels. Its cell says what is worth saying, at which
//! levels, and in a footnote under which settings:
//!
//! ```text
//! | case             | 10.11.19                                |
//! | seeds/mdev-34108 | fails RU, RC (1); write-conflict SER (2) |
//!
//! - (1) only with innodb_snapshot_isolation=OFF
//! - (2) only with innodb_snapshot_isolation=ON
//! ```
//!
//! The text depends on the results alone: two runs that came out the same give the same bytes.

use std::collections::BTreeSet;

use model::{Case, Level, Product, Version, target::Settings};
use oracles::expectations;
use report::findings::plural;

use super::cell::{Cell, Tested};

pub fn markdown(cases: &[(&str, &Case)], all: &[Tested], repeat: u64) -> String {
    let cells: Vec<&Cell> = all.iter().flat_map(|tested| &tested.cells).collect();
    let count = |which: fn(&Cell) -> bool| cells.iter().filter(|cell| which(cell)).count() as u64;
    let times = if repeat == 1 { "once".to_string() } else { format!("{repeat} times") };
    let mut text = format!(
        "# The corpus, case by case\n\n\
         Made by `isopod corpus test --table`, isopod {}. Every case ran {times} on every server below, under each of the\n\
         settings named, at each level: {}, {} known to fail, {}.\n\n\
         A cell says where a case is known to fail (`fails`, by what its file expects of the product), which errors the\n\
         server answered conflicts with, and at which levels. A number in brackets belongs to the levels before it, back to\n\
         the comma, and stands for a note below the table. `ok`: as it should be at every level, without such an error.\n\
         What is by design is ok: what each level owes stands in the case's file. A case that is not for a product has no\n\
         row there.\n",
        env!("CARGO_PKG_VERSION"),
        plural(cells.len() as u64, "check"),
        count(Cell::known),
        plural(count(|cell| cell.surprise), "surprise"),
    );
    for product in Product::ALL {
        let of: Vec<&Tested> = all.iter().filter(|tested| tested.product == product).collect();
        if !of.is_empty() {
            section(&mut text, product, cases, &of);
        }
    }
    text
}

fn section(text: &mut String, product: Product, cases: &[(&str, &Case)], all: &[&Tested]) {
    let versions: BTreeSet<&Version> = all.iter().map(|tested| &tested.version).collect();
    let columns: Vec<Column<'_>> = versions.iter().map(|&version| Column::new(version, all)).collect();
    let levels: Vec<&str> = dialect::of(product)
        .levels
        .iter()
        .filter(|level| all.iter().any(|tested| tested.levels.contains(level)))
        .map(|level| level.short())
        .collect();
    text.push_str(&format!("\n## {}\n\nLevels: {}.\n", dialect::of(product).title, levels.join(", ")));
    for column in &columns {
        let settings: Vec<String> =
            column.variants.iter().map(|tested| words(&tested.target.settings)).collect();
        text.push_str(&format!("- {}: {}\n", column.version, settings.join("; ")));
    }
    let mut notes = Vec::new();
    let mut rows = vec![vec!["case".to_string()]];
    rows[0].extend(columns.iter().map(|column| column.version.to_string()));
    for (name, _) in cases.iter().filter(|(_, case)| expectations::applies(case, product)) {
        let mut row = vec![name.to_string()];
        row.extend(columns.iter().map(|column| column.cell(name, &mut notes)));
        rows.push(row);
    }
    text.push('\n');
    grid(text, &rows);
    if !notes.is_empty() {
        text.push('\n');
    }
    for (i, note) in notes.iter().enumerate() {
        text.push_str(&format!("- ({}) {note}\n", i + 1));
    }
}

fn words(settings: &Settings) -> String {
    if settings.is_empty() {
        return "settings of its own".into();
    }
    let pairs: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(", ")
}

/// Cells padded to their column's width, so that the text reads as a table too.
fn grid(text: &mut String, rows: &[Vec<String>]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for (i, row) in rows.iter().enumerate() {
        let cells: String =
            row.iter().zip(&widths).map(|(cell, &width)| format!("| {cell:width$} ")).collect();
        text.push_str(&format!("{cells}|\n"));
        if i == 0 {
            let line: String = widths.iter().map(|width| format!("|{}", "-".repeat(width + 2))).collect();
            text.push_str(&format!("{line}|\n"));
        }
    }
}

/// One version under all settings that it was tested under.
struct Column<'a> {
    version: &'a Version,
    variants: Vec<&'a Tested>,
}

impl<'a> Column<'a> {
    fn new(version: &'a Version, all: &[&'a Tested]) -> Column<'a> {
        Column {
            version,
            variants: all.iter().copied().filter(|tested| tested.version == *version).collect(),
        }
    }

    /// What there is to say about a case: word, levels, footnotes.
    fn cell(&self, case: &str, notes: &mut Vec<String>) -> String {
        let levels: Vec<Level> = Level::ALL
            .into_iter()
            .filter(|level| self.variants.iter().any(|tested| tested.levels.contains(level)))
            .collect();
        let said: Vec<Vec<Vec<String>>> = levels
            .iter()
            .map(|&level| self.variants.iter().map(|tested| said(tested, case, level)).collect())
            .collect();
        // What matters most stands first, the errors behind it in order of their names.
        let weight = |word: &str| FIRST.iter().position(|first| *first == word).unwrap_or(FIRST.len());
        let mut all: Vec<&String> = said.iter().flatten().flatten().collect();
        all.sort_by_key(|word| (weight(word), word.as_str()));
        all.dedup();
        let mut parts = Vec::new();
        for word in all {
            // Levels under the same condition stand together.
            let mut groups: Vec<(Option<String>, Vec<&str>)> = Vec::new();
            for (level, by_variant) in levels.iter().zip(&said) {
                let having: Vec<bool> = by_variant.iter().map(|words| words.contains(word)).collect();
                if !having.contains(&true) {
                    continue;
                }
                let condition = self.condition(&having);
                match groups.iter_mut().find(|(have, _)| *have == condition) {
                    Some((_, levels)) => levels.push(level.short()),
                    None => groups.push((condition, vec![level.short()])),
                }
            }
            let mut texts = Vec::new();
            for (condition, levels) in groups {
                let note = condition.map(|text| format!(" ({})", number(notes, text))).unwrap_or_default();
                texts.push(format!("{}{note}", levels.join(" ")));
            }
            let text = format!("{word} {}", texts.join(", "));
            parts.push(text);
        }
        if parts.is_empty() { "ok".into() } else { parts.join("; ") }
    }

    /// Under which settings it is so; none if under all.
    fn condition(&self, having: &[bool]) -> Option<String> {
        if !having.contains(&false) {
            return None;
        }
        let pairs: BTreeSet<(&String, &String)> =
            self.variants.iter().flat_map(|tested| &tested.target.settings).collect();
        let exactly = |(name, value): &(&String, &String)| {
            let has = |tested: &&Tested| tested.target.settings.get(*name) == Some(*value);
            self.variants.iter().map(has).eq(having.iter().copied())
        };
        if let Some((name, value)) = pairs.into_iter().find(exactly) {
            return Some(format!("only with {name}={value}"));
        }
        let with: Vec<String> = self
            .variants
            .iter()
            .zip(having)
            .filter(|(_, having)| **having)
            .map(|(tested, _)| words(&tested.target.settings))
            .collect();
        Some(format!("only with {}", with.join("; or ")))
    }
}

/// The footnote's number.
fn number(notes: &mut Vec<String>, note: String) -> usize {
    match notes.iter().position(|have| *have == note) {
        Some(at) => at + 1,
        None => {
            notes.push(note);
            notes.len()
        }
    }
}

const FIRST: [&str; 5] = ["SURPRISE", "DIFFERS", "fails", "not judged", "not run"];

/// What there is to say about a case at one level under one set of settings; nothing if all is well.
fn said(tested: &Tested, case: &str, level: Level) -> Vec<String> {
    let Some(cell) = tested.cells.iter().find(|cell| cell.case == case && cell.level == level) else {
        return vec!["not run".into()];
    };
    let mut said: Vec<String> = cell.conflicts.iter().cloned().collect();
    if cell.alike < cell.runs {
        said.push("DIFFERS".into());
    } else if cell.surprise {
        said.push("SURPRISE".into());
    } else if cell.known() {
        said.push("fails".into());
    } else if cell.unjudged() {
        said.push("not judged".into());
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested(target: &str) -> Tested {
        let levels = vec![Level::ReadCommitted, Level::RepeatableRead];
        let target: model::Target = target.parse().unwrap();
        let (product, version) = (target.product, Version(vec![9, 7, 4]));
        Tested { target, product, version, levels, cells: Vec::new() }
    }

    #[test]
    fn a_condition_is_the_setting_that_decides() {
        let all = [tested("mariadb?s=OFF&l=OFF"), tested("mariadb?s=OFF&l=ON"), tested("mariadb?s=ON&l=OFF")];
        let version = Version(vec![9, 7, 4]);
        let column = Column::new(&version, &all.iter().collect::<Vec<_>>());
        assert_eq!(column.condition(&[true, true, true]), None);
        assert_eq!(column.condition(&[true, true, false]).as_deref(), Some("only with s=OFF"));
        assert_eq!(column.condition(&[false, true, false]).as_deref(), Some("only with l=ON"));
        assert_eq!(
            column.condition(&[false, true, true]).as_deref(),
            Some("only with l=ON, s=OFF; or l=OFF, s=ON")
        );
    }

    #[test]
    fn what_was_not_run_is_not_ok() {
        let all = [tested("mysql?log_bin=ON")];
        let version = Version(vec![9, 7, 4]);
        let column = Column::new(&version, &all.iter().collect::<Vec<_>>());
        assert_eq!(column.cell("phenomena/write-skew", &mut Vec::new()), "not run RC RR");
    }
}
