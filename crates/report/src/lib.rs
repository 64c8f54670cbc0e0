//! What people see: timelines and summaries, as text. Pure: data in, a string out; who prints it is not known here.
//!
//! * [`timeline`](timeline()): one run of a case, session beside session;
//! * [`summary`](summary()): many runs, a line each.
//!
//! What an oracle thought of a run comes in as [`Marks`], plain data, so that this crate needs no oracle.

mod grid;
pub mod marks;
pub mod style;
pub mod summary;
mod text;
pub mod timeline;

pub use marks::{Mark, Marks};
pub use style::Style;
pub use summary::{Status, SummaryRow, summary};
pub use timeline::timeline;
