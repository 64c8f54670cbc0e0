//! What people see: timelines and summaries, as text. Pure: data in, a string out; who prints it is not known here.
//!
//! * [`timeline`](timeline()): one run of a case, session beside session;
//!
//! What an oracle thought of a run comes in as [`Marks`], plain data, so that this crate needs no oracle.

mod grid;
pub mod marks;
pub mod style;
mod text;
pub mod timeline;

pub use marks::{Mark, Marks};
pub use style::Style;
pub use timeline::timeline;
