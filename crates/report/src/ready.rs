//! Is a finding ready to be filed with the vendor? A checklist of seven items, filled in by running them; what is filled in here is
//! only shown.
//!
//! An item has passed, has failed with a reason, or was not checked with a reason. Only what has passed all seven, and is not known
//! already, is called ready.

use serde::Serialize;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChecklistItem {
    /// Does the plain client's script show it, every time, on a server with the vendor's settings?
    PlainClient,
    /// Is it there in the newest release of its line, and is that line alive?
    NewestRelease,
    /// Is it known who built the server?
    Build,
    /// MariaDB: is it there with snapshot isolation, too?
    SnapshotIsolation,
    /// Is there a sentence in the manual that it breaks?
    Manual,
    /// Are there wrong rows or a wrong state that one can see?
    Visible,
    /// Is it more than a read at READ UNCOMMITTED?
    Level,
}

impl ChecklistItem {
    /// All of them, in the order in which they are shown.
    pub const ALL: [ChecklistItem; 7] = [
        ChecklistItem::PlainClient,
        ChecklistItem::NewestRelease,
        ChecklistItem::Build,
        ChecklistItem::SnapshotIsolation,
        ChecklistItem::Manual,
        ChecklistItem::Visible,
        ChecklistItem::Level,
    ];

    pub fn title(self) -> &'static str {
        match self {
            ChecklistItem::PlainClient => "Plain client, default settings",
            ChecklistItem::NewestRelease => "Newest release of its line",
            ChecklistItem::Build => "Upstream or distribution build",
            ChecklistItem::SnapshotIsolation => "Snapshot isolation",
            ChecklistItem::Manual => "Sentence of the manual",
            ChecklistItem::Visible => "Something to see",
            ChecklistItem::Level => "Not only READ UNCOMMITTED",
        }
    }
}

/// What came of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Passed,
    Failed,
    NotChecked,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            State::Passed => "passed",
            State::Failed => "failed",
            State::NotChecked => "not checked",
        }
    }

    /// In the style sheet of the pages.
    pub(crate) fn class(self) -> &'static str {
        match self {
            State::NotChecked => "unknown",
            State::Passed | State::Failed => self.word(),
        }
    }

    /// A sign in front of a line.
    pub fn sign(self) -> char {
        match self {
            State::Passed => '✓',
            State::Failed => '✗',
            State::NotChecked => '?',
        }
    }
}

/// An item with what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    #[serde(rename = "item")]
    pub asked: ChecklistItem,
    pub state: State,
    /// How, or why not, in one line.
    pub words: String,
}

impl Item {
    pub fn passed(asked: ChecklistItem, words: impl Into<String>) -> Item {
        Item { asked, state: State::Passed, words: words.into() }
    }

    pub fn failed(asked: ChecklistItem, words: impl Into<String>) -> Item {
        Item { asked, state: State::Failed, words: words.into() }
    }

    pub fn unchecked(asked: ChecklistItem, words: impl Into<String>) -> Item {
        Item { asked, state: State::NotChecked, words: words.into() }
    }
}

/// The checklist of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Checklist {
    /// The name under which it is known: then there is nothing to file.
    pub known: Option<String>,
    /// The finding that was checked, which stands for the others of its signature.
    pub checked: String,
    /// The items; none if nothing was checked because it is known.
    pub items: Vec<Item>,
}

impl Checklist {
    /// May it be filed? An item that is missing has not passed.
    pub fn ready(&self) -> bool {
        let passed = |asked: &ChecklistItem| {
            let mut of = self.items.iter().filter(|item| item.asked == *asked).peekable();
            of.peek().is_some() && of.all(|item| item.state == State::Passed)
        };
        self.known.is_none() && ChecklistItem::ALL.iter().all(passed)
    }

    /// What stands in its way.
    pub fn open(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.state != State::Passed)
    }

    /// In a few words.
    pub fn verdict(&self) -> String {
        let count = |state| self.items.iter().filter(|item| item.state == state).count();
        let of = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}"));
        match &self.known {
            Some(name) => format!("known as {name}: nothing to file"),
            None if self.ready() => "ready to file".to_string(),
            None => {
                let parts = [of(count(State::Failed), "failed"), of(count(State::NotChecked), "not checked")];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                format!("not ready: {} of {} items", parts.join(", "), ChecklistItem::ALL.len())
            }
        }
    }

    /// How often the plain client's script showed it, as its item says.
    pub fn rate(&self) -> Option<&str> {
        let ran = |item: &&Item| item.asked == ChecklistItem::PlainClient && item.state != State::NotChecked;
        self.items.iter().find(ran).map(|item| item.words.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Checklist {
        let items = ChecklistItem::ALL.iter().map(|asked| Item::passed(*asked, "fine")).collect();
        Checklist { known: None, checked: "9b1f".into(), items }
    }

    #[test]
    fn only_what_has_passed_everything_is_ready() {
        assert!(all().ready());
        assert_eq!(all().verdict(), "ready to file");
        assert!(!Checklist::default().ready(), "nothing was checked");
        for (at, asked) in ChecklistItem::ALL.into_iter().enumerate() {
            let with = |item: Item| {
                let mut list = all();
                list.items[at] = item;
                list
            };
            let failed = with(Item::failed(asked, "no"));
            assert!(!failed.ready() && failed.open().count() == 1);
            assert_eq!(failed.verdict(), "not ready: 1 failed of 7 items");
            let unknown = with(Item::unchecked(asked, "who knows"));
            assert!(!unknown.ready(), "not checked reads as passed: {asked:?}");
            assert_eq!(unknown.verdict(), "not ready: 1 not checked of 7 items");
            let mut missing = all();
            missing.items.remove(at);
            assert!(!missing.ready(), "{asked:?} is missing");
            let mut twice = all();
            twice.items.push(Item::failed(asked, "no"));
            assert!(!twice.ready());
        }
    }

    #[test]
    fn what_is_known_is_never_ready() {
        let known = Checklist { known: Some("MDEV-1".into()), ..all() };
        assert!(!known.ready());
        assert_eq!(known.verdict(), "known as MDEV-1: nothing to file");
    }
}
