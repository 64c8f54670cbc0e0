//! The pages: one for each finding and one for the run, each a file by itself. No network, no framework; light and dark as
//! the reader's system has it.
//!
//! Whatever comes from a server or a case goes through [`escape`](mod@escape) on its way in.

mod chains;
mod compared;
pub mod escape;
mod finding;
mod index;
mod page;
mod plots;
mod ready;
mod style;
mod timeline;

pub use finding::finding;
pub use index::index;
