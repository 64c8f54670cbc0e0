//! What people see: timelines and summaries, as text, Markdown and HTML. Pure: data in, a string out; who prints it or writes it to a
//! file is not known here.
//!
//! * [`timeline`](timeline()): one run of a case, session beside session;
//! * [`findings`]: the table of a hunt, and the five lines of one finding;
//! * [`html`]: the pages of a run; [`markdown`]: a finding for a bug tracker; [`scripts`]: a finding without Isopod;
//! * [`ready`]: the checklist of what may be filed;
//! * [`json`]: the same for other programs.
//!
//! What an oracle thought of a run comes in as [`Marks`] or as a [`Finding`], plain data, so that this crate needs no oracle.

pub mod compare;
pub mod finding;
pub mod findings;
mod grid;
pub mod html;
pub mod json;
pub mod markdown;
pub mod marks;
pub mod ready;
pub mod run;
pub mod scripts;
pub mod steps;
pub mod style;
mod text;
pub mod timeline;
pub mod words;

pub use finding::Finding;
pub use marks::{Mark, Marks};
pub use run::Run;
pub use style::Style;
pub use timeline::timeline;
pub use words::Words;
