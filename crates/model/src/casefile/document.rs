//! A case file as the list of its items, in the order of the file, with the comments around each of them.

use std::ops::Range;

use crate::{
    case::SessionSpec,
    expect::{Expectation, Expected, Selector},
    target::Product,
};

/// A whole file.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    pub items: Vec<Item>,
    /// What stands below the last item.
    pub end: Vec<Trivia>,
}

/// One item with what stands around it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Blank lines and comment lines above it.
    pub above: Vec<Trivia>,
    pub kind: Kind,
    /// The comment behind its last line.
    pub comment: Option<String>,
    /// The bytes that a problem of this item points at: its name, its selector. Empty if it has no file.
    pub span: Range<usize>,
}

impl Item {
    /// An item with nothing around it.
    pub fn bare(kind: Kind) -> Item {
        Item { above: Vec::new(), kind, comment: None, span: 0..0 }
    }
}

/// What a line may hold besides items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trivia {
    Blank,
    Comment {
        text: String,
        /// Did it stand further right than the names of sections do?
        indented: bool,
    },
}

/// The sections, in the order in which a file has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Setup,
    Steps,
    Final,
    FailsOn,
}

impl Section {
    pub const ALL: [Section; 4] = [Section::Setup, Section::Steps, Section::Final, Section::FailsOn];

    pub fn name(self) -> &'static str {
        match self {
            Section::Setup => "setup",
            Section::Steps => "steps",
            Section::Final => "final",
            Section::FailsOn => "fails on",
        }
    }

    /// The section that a line names, if it holds nothing else but a comment.
    pub fn named_by(line: &str) -> Option<Section> {
        let words: Vec<&str> = super::source::without_comment(line).split_whitespace().collect();
        Section::ALL.into_iter().find(|section| section.name().split(' ').eq(words.iter().copied()))
    }
}

/// An outcome as the file lays it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Laid<T> {
    pub what: T,
    /// How its rows are spread over lines; empty where they were not read from a file.
    pub lines: Vec<RowLine>,
}

/// One line of a list of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowLine {
    /// Comment lines above it.
    pub above: Vec<String>,
    /// How many rows it holds.
    pub rows: usize,
    /// The comment behind it. The last line's is the item's own.
    pub comment: Option<String>,
}

/// What an item can be.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `title   A lost update`
    Title(String),
    /// `link    MDEV-1, MySQL#2`
    Link(Vec<String>),
    /// `note    found on 9.7.4`
    Note(String),
    /// `for     mysql, mariadb`
    For(Vec<Product>),
    /// `session T3 level SER`
    Session(SessionSpec),
    /// `steps`
    Section(Section),
    /// `CREATE TABLE t(a INT);`
    Statement(String),
    /// `T1: BEGIN;`
    Step { session: String, sql: String },
    /// `=> 1 row` below a step or a table
    Expect(Laid<Expectation>),
    /// `t => (1)`
    Table { table: String, expect: Laid<Expectation> },
    /// `mysql@9.7, at RR:`
    Group(Selector),
    /// `step 7 => 0 rows`
    GroupStep { number: usize, expected: Laid<Expected> },
    /// `final t => (1)`
    GroupTable { table: String, expected: Laid<Expected> },
}

impl Kind {
    /// Is it one of the lines above the sections?
    pub fn is_header(&self) -> bool {
        matches!(self, Kind::Title(_) | Kind::Link(_) | Kind::Note(_) | Kind::For(_) | Kind::Session(_))
    }
}
