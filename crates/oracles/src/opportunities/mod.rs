//! Could it have shown at all? For each known family of bugs and each phenomenon a small predicate over (case, trace).
//!
//! Zero findings from cases that cannot show a bug say nothing. A family is a shape: who did what when, a query on the
//! [`History`] of the run, whatever the product is. The rows themselves are not computed, so that this can run on
//! every case of a hunt. A shape is necessary for the bug, so that no case can show it without being counted; it is not sufficient.

mod aborted_read;
mod dirty_read;
mod dirty_write;
mod intermediate_read;
mod lost_update;
mod mdev_26642;
mod mdev_27992;
mod mdev_32898;
mod mdev_33802;
mod mdev_34106;
mod mysql_104833;
mod non_repeatable_read;
mod phantom;
mod read_skew;
mod write_skew;

use dialect::AccessSet;
use history::{History, StepInfo, Transaction};
use model::{
    Level, Product,
    schema::{KeyKind, SetupData, Table},
};

/// A set of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelSet(u8);

impl LevelSet {
    pub const NONE: LevelSet = LevelSet(0);

    /// Is it among them?
    pub fn has(self, level: Level) -> bool {
        self.0 & (1 << level as u8) != 0
    }

    /// Is there none?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are in it, weakest first.
    pub fn iter(self) -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(move |level| self.has(*level))
    }
}

impl Extend<Level> for LevelSet {
    fn extend<T: IntoIterator<Item = Level>>(&mut self, levels: T) {
        levels.into_iter().for_each(|level| self.0 |= 1 << level as u8);
    }
}

impl FromIterator<Level> for LevelSet {
    fn from_iter<T: IntoIterator<Item = Level>>(levels: T) -> LevelSet {
        let mut all = LevelSet::NONE;
        all.extend(levels);
        all
    }
}

/// What an opportunity is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpportunityKind {
    /// A family of known bugs.
    Family,
    /// A phenomenon that levels are defined by.
    Phenomenon,
}

/// Something that a case could have shown.
pub struct Opportunity {
    /// Its name: that of the first report, or of the phenomenon.
    pub name: &'static str,
    /// A family or a phenomenon.
    pub sort: OpportunityKind,
    /// The shape, in a few words.
    pub shape: &'static str,
    /// The levels at which the shape can exist on a product at all.
    pub exists: fn(Product) -> &'static [Level],
    /// Could the first of two transactions that overlap have seen it, by what the other did?
    seen: fn(&History<'_>, &SetupData, &Transaction, &Transaction) -> bool,
}

impl Opportunity {
    /// The levels of the transactions that could have seen it. A transaction whose level is not known counts at none.
    pub fn levels(&self, history: &History<'_>, schema: &SetupData) -> LevelSet {
        let pairs = history.concurrent().filter(|(mine, other)| (self.seen)(history, schema, mine, other));
        pairs.filter_map(|(mine, _)| mine.level).collect()
    }
}

/// All of them: the families, then the phenomena.
pub const ALL: [Opportunity; 15] = [
    mysql_104833::OPPORTUNITY,
    mdev_26642::OPPORTUNITY,
    mdev_27992::OPPORTUNITY,
    mdev_32898::OPPORTUNITY,
    mdev_33802::OPPORTUNITY,
    mdev_34106::OPPORTUNITY,
    dirty_write::OPPORTUNITY,
    dirty_read::OPPORTUNITY,
    aborted_read::OPPORTUNITY,
    intermediate_read::OPPORTUNITY,
    non_repeatable_read::OPPORTUNITY,
    phantom::OPPORTUNITY,
    lost_update::OPPORTUNITY,
    read_skew::OPPORTUNITY,
    write_skew::OPPORTUNITY,
];

/// Where statements re-read rows that they waited for and go on: the weak levels.
fn weak_levels(product: Product) -> &'static [Level] {
    let levels = dialect::of(product).levels;
    &levels[..levels.iter().take_while(|level| **level <= Level::ReadCommitted).count()]
}

/// Where a plain read goes on seeing a view that is older than what others commit.
fn view_levels(product: Product) -> &'static [Level] {
    dialect::of(product).semantics.snapshot_levels
}

/// Every level that the product tells apart.
fn all_levels(product: Product) -> &'static [Level] {
    dialect::of(product).levels
}

/// May this change have reached a row of the table? A foreign key may carry it there.
fn reaches(schema: &SetupData, change: &AccessSet, table: &str) -> bool {
    let tied = |name: &str| table_of(schema, name).is_some_and(|table| table.foreign_keys);
    change.writes(table) || (tied(table) && change.writes.iter().any(|name| tied(name)))
}

/// Has the other changed, before this statement of mine answered, a table that it works on? Each change with when it was made.
fn changes_met<'a>(
    history: &'a History<'_>,
    schema: &'a SetupData,
    mine: &'a StepInfo<'a>,
    other: &'a Transaction,
) -> impl Iterator<Item = (&'a StepInfo<'a>, &'a AccessSet)> {
    let met = move |change: &AccessSet| {
        let tables = mine.access().into_iter().flat_map(|access| access.writes.iter().chain(&access.reads));
        tables.into_iter().any(|table| reaches(schema, change, table))
    };
    history
        .steps_of(other)
        .filter(|step| step.answered < mine.answered)
        .filter_map(|step| Some((step, step.change()?)))
        .filter(move |(_, change)| met(change))
}

/// Is my view older than a commit of the other?
fn sees_older(mine: &Transaction, other: &Transaction) -> bool {
    other.committed() && mine.snapshot.is_some_and(|view| view < other.end)
}

/// My statements that waited and go on by the rows that they find: UPDATE, DELETE, locking SELECT, and what brings rows from elsewhere.
fn waiters<'a>(history: &'a History<'_>, mine: &'a Transaction) -> impl Iterator<Item = &'a StepInfo<'a>> {
    history.steps_of(mine).filter(|step| step.waited && (step.succeeded() || step.refused()))
}

fn table_of<'a>(schema: &'a SetupData, name: &str) -> Option<&'a Table> {
    schema.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
}

/// Is a column part of a key of this table, of one of these kinds?
fn is_key(schema: &SetupData, table: &str, column: &str, kinds: &[KeyKind]) -> bool {
    table_of(schema, table).is_some_and(|table| {
        table.keys.iter().any(|key| kinds.contains(&key.kind) && key.columns.iter().any(|c| c == column))
    })
}
