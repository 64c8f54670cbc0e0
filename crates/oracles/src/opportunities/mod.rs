//! Could it have shown at all? For each known family of bugs and each phenomenon a small predicate over (case, trace).
//!
//! Zero findings from cases that cannot show a bug say nothing. A family is a shape: who did what when, told from the parsed
//! steps and the rounds of the trace, whatever the product is. The rows themselves are not computed, so that this can run on
//! every case of a hunt: a shape is necessary for the bug, and nearly sufficient where the right rows meet.
//!
//! ```text
//! case, trace --Reader--> Story (who did what when) --each predicate--> levels of the sessions that could have seen it
//! ```

mod aborted_read;
mod deed;
mod dirty_read;
mod dirty_write;
mod intermediate_read;
mod lost_update;
mod mdev_26642;
mod mdev_27992;
mod mdev_32898;
mod mdev_33802;
mod mdev_34108;
mod mysql_104833;
mod non_repeatable_read;
mod phantom;
mod read_skew;
mod story;
mod write_skew;

use model::{Level, Product};

pub use deed::Deed;
pub use story::{Life, Reader, Story, Told, refused_by_others};

/// A set of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels(u8);

impl Levels {
    /// None.
    pub const NONE: Levels = Levels(0);

    /// Adds one.
    pub fn add(&mut self, level: Level) {
        self.0 |= 1 << level as u8;
    }

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

impl FromIterator<Level> for Levels {
    fn from_iter<T: IntoIterator<Item = Level>>(levels: T) -> Levels {
        let mut all = Levels::NONE;
        levels.into_iter().for_each(|level| all.add(level));
        all
    }
}

/// What an opportunity is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
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
    pub sort: Sort,
    /// The shape, in a few words.
    pub shape: &'static str,
    /// The levels at which the shape can exist on a product at all.
    pub exists: fn(Product) -> &'static [Level],
    /// The levels of the sessions of this story that could have seen it.
    pub seen: fn(&Story) -> Levels,
}

/// All of them: the families, then the phenomena.
pub const ALL: [Opportunity; 15] = [
    mysql_104833::OPPORTUNITY,
    mdev_26642::OPPORTUNITY,
    mdev_27992::OPPORTUNITY,
    mdev_32898::OPPORTUNITY,
    mdev_33802::OPPORTUNITY,
    mdev_34108::OPPORTUNITY,
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
