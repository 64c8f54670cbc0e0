//! The pages: one for each finding and one for the run, each a file by itself. No network, no framework; light and dark as
//! the reader's system has it.
//!
//! The markup is in `templates/`; here the data of each section is made ready for it. Whatever a template writes goes through
//! [`escape::Page`] on its way in, and no template has a way round it.

mod chains;
mod compared;
mod escape;
mod finding;
mod index;
mod plots;
mod ready;
mod timeline;

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

pub use finding::finding;
pub use index::index;

/// The one script that a page may run, as its policy names it. It is what stands between the tags in `page.html`.
fn script_hash() -> String {
    let script = concat!("\n", include_str!("../../templates/script.js"));
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script)))
}

fn render(page: impl askama::Template) -> String {
    page.render().expect("a page of strings and numbers can be written to a string")
}
