//! What people see: timelines and summaries, as text. Pure: data in, a string out; who prints it is not known here.
//!
//! * [`timeline`](timeline()): one run of a case, session beside session;
//! * [`findings`]: the table of a hunt, and the five lines of one finding;
//! * [`junit`]: the same for build servers;
//!
//! What an oracle thought of a run comes in as [`Marks`], plain data, so that this crate needs no oracle.

pub mod findings;
mod grid;
pub mod junit;
pub mod marks;
pub mod style;
mod text;
pub mod timeline;

pub use marks::{Mark, Marks};
pub use style::Style;
pub use timeline::timeline;
