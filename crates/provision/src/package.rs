//! A single package of a Debian suite with everything that it needs, unpacked: the client that belongs to a server, for one.

use std::{fs, path::Path};

use super::{
    apt::{self, Apt},
    error::{ErrorKind, IoContext, Result, ServerError},
    install::{self, Progress},
    scratch::{Scratch, remove_tree},
    unpack,
};

/// Fetches a package and unpacks it into `folder`, which is there whole or not at all.
pub fn fetch_package(
    suite: &str,
    package: &str,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(obstacle) = apt::obstacle() {
        let title = format!("the package {package} cannot be had here");
        return Err(ServerError::new(ErrorKind::MissingTool, title).help(obstacle));
    }
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent).doing("make", parent)?;
    let name = format!("{package}-{}", std::process::id());
    let scratch = Scratch::create(parent, &name).doing("make", &parent.join(&name))?;
    let apt = Apt::new(&scratch.path().join("fetched"), suite, false)?;
    progress(Progress::Lists);
    apt.update(progress)?;
    progress(Progress::Found { version: apt.candidate(package)? });
    let files = apt.download(Some(package), &[], progress)?;
    let whole = scratch.path().join("whole");
    unpack::debs(&files, &whole, progress)?;
    remove_tree(&scratch.path().join("fetched")).doing("remove", scratch.path())?;
    install::put(&whole, folder)
}
