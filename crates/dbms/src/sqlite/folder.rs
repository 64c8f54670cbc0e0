//! The private folder of one child, with the database and its socket: `isopod-<uid>/sqlite-<pid>-<n>` beside those
//! of other servers, in memory where the machine has a place for that.
//!
//! The parent chooses the name; the child makes the folder and holds its lock, so that a folder is owned exactly
//! as long as its child lives. The child removes it when the parent is gone, the parent removes it when the child
//! is, and what both left behind after being killed together is found by [`prune`].

use std::{
    io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use provision::{
    running,
    scratch::{self, Scratch},
};

/// A folder that a child is to make. Removed when dropped; the child must be dead by then.
#[derive(Debug)]
pub struct ChildFolder(PathBuf);

impl ChildFolder {
    /// A name that nobody else uses, where we can write.
    pub fn choose() -> io::Result<ChildFolder> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("sqlite-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let parents = running::parents();
        match parents.iter().find(|parent| scratch::usable(parent)) {
            Some(parent) => Ok(ChildFolder(parent.join(name))),
            None => {
                let tried: Vec<String> = parents.iter().map(|parent| parent.display().to_string()).collect();
                Err(io::Error::other(format!("cannot write to {}", tried.join(" or "))))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ChildFolder {
    fn drop(&mut self) {
        // The child had no time to do it. Owning the folder once more, empty, also removes its lock.
        let _ = make(&self.0);
    }
}

/// Makes the folder and owns it; dropping what this gives removes it.
pub fn make(path: &Path) -> io::Result<Scratch> {
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => Scratch::create(parent, name),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

/// The socket that the child listens on.
pub fn socket(folder: &Path) -> PathBuf {
    folder.join("socket")
}

/// The database that all sessions share.
pub fn database(folder: &Path) -> PathBuf {
    folder.join("isopod.db")
}

/// Removes what dead processes left behind, of other servers too, and says what it was.
pub fn prune() -> Vec<PathBuf> {
    running::parents().iter().flat_map(|parent| scratch::prune(parent)).collect()
}
