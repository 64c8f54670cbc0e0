//! What people see: timelines and summaries, as text, Markdown and HTML. Pure: data in, a string out; who prints it or writes it to a
//! file is not known here.
//!
//! * [`timeline`](timeline()): one run of a case, session beside session;
//! * [`findings`]: the table of a hunt, and the five lines of one finding;
//! * [`html`]: the pages of a run; [`markdown`]: a finding for a bug tracker; [`scripts`]: a finding without Isopod;
//! * [`ready`]: the checklist of what may be filed;
//! * [`json`]: the same for other programs.
//!
//! What an oracle thought of a run comes in as [`Marks`] or as a [`BugReport`], plain data, so that this crate needs no oracle.

mod answers;
pub mod bug_report;
pub mod compare;
pub mod findings;
mod grid;
pub mod html;
pub mod json;
pub mod markdown;
pub mod marks;
pub mod overview;
pub mod ready;
pub mod scripts;
pub mod steps;
pub mod style;
pub mod text;
pub mod timeline;
pub mod trackers;
pub mod words;

pub use bug_report::BugReport;
pub use marks::{Mark, Marks};
pub use overview::Overview;
pub use style::Style;
pub use timeline::timeline;
pub use words::Words;
