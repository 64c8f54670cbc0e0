//! Opens a page in whatever browser the machine has.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::errors::Advised;

/// Opens it. The browser goes on by itself.
pub fn open(page: &Path) -> anyhow::Result<()> {
    let programs: &[&str] =
        if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "sensible-browser"] };
    for program in programs {
        let mut command = Command::new(program);
        command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.spawn().is_ok() {
            return Ok(());
        }
    }
    Err(Advised::new(
        format!("no browser was found ({})", programs.join(", ")),
        [format!("the page is written: {}", page.display())],
    )
    .into())
}
