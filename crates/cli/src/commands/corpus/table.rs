//! The file that `corpus test --table` writes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// Can this file be written? Tried before anything runs, with the draft; the file itself is not touched.
pub fn writable(file: &Path) -> anyhow::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    anyhow::ensure!(!file.is_dir(), "{} is a folder", file.display());
    anyhow::ensure!(
        folder.is_dir(),
        "{} cannot be written: there is no folder {}",
        file.display(),
        folder.display()
    );
    let draft = draft(file);
    let tried = fs::File::create(&draft).and_then(|_| fs::remove_file(&draft));
    tried.with_context(|| format!("cannot write {}", file.display()))
}

/// Stands beside the file until it is whole.
fn draft(file: &Path) -> PathBuf {
    let mut draft = file.as_os_str().to_owned();
    draft.push(".new");
    PathBuf::from(draft)
}

/// Writes the file, whole or not at all.
pub fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let draft = draft(file);
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.with_context(|| format!("cannot write {}", file.display()))
}
