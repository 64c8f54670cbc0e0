//! Files that are replaced whole or not at all: written beside the old one, and renamed.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;

/// Can this file be written? Tried before anything runs, beside it; the file itself is not touched.
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
    draft.push(format!(".{}.tmp", std::process::id()));
    PathBuf::from(draft)
}

/// Writes the file with the permissions that it has, so that no one ever finds half a file.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let draft = draft(file);
    let written = fs::File::create(&draft).and_then(|mut new| {
        if let Ok(old) = fs::metadata(file) {
            new.set_permissions(old.permissions())?;
        }
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&draft, file)
    });
    if written.is_err() {
        // The error that matters is the first one; what is left behind is removed as well as can be.
        let _ = fs::remove_file(&draft);
    }
    written
}
