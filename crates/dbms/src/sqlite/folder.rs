//! The private folder of one child: `/dev/shm/isopod-<uid>/sqlite-<pid>-<n>`, with the database and its socket.
//!
//! The number in the name is the process that started it. The child removes the folder when that process is
//! gone, the process removes it when it is done, and what both left behind after being killed together is
//! found by [`prune`].

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use super::os;

const PREFIX: &str = "sqlite-";

/// Removed when dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a new one, in memory where the machine has a place for that.
    pub fn create() -> io::Result<Folder> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for base in bases() {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            match create_in(&base, n) {
                Ok(path) => return Ok(Folder(path)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
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

/// Removes a folder that may be written to while we do it: SQLite can make a journal in between.
pub fn remove(path: &Path) {
    for _ in 0..10 {
        match fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => {}
        }
    }
}

/// Removes the folders of processes that no longer exist, and says which.
pub fn prune() -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for base in bases() {
        let Ok(entries) = fs::read_dir(&base) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if owner(&path).is_some_and(|pid| !os::exists(pid)) {
                remove(&path);
                removed.push(path);
            }
        }
    }
    removed.sort();
    removed
}

/// The process that a folder's name names.
fn owner(path: &Path) -> Option<u32> {
    let (pid, n) = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    n.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Memory first: the journal is written and synced at every commit.
fn bases() -> [PathBuf; 2] {
    let ours = format!("isopod-{}", os::uid());
    [Path::new("/dev/shm").join(&ours), env::temp_dir().join(&ours)]
}

fn create_in(base: &Path, n: u32) -> io::Result<PathBuf> {
    match private(base) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    // Others may write to the folder above: somebody else's folder of our name is not ours.
    let found = fs::symlink_metadata(base)?;
    if !found.is_dir() || found.uid() != os::uid() {
        return Err(io::Error::other(format!("{} belongs to another user", base.display())));
    }
    let path = base.join(format!("{PREFIX}{}-{n}", process::id()));
    // Left by a process of the same number that was killed.
    remove(&path);
    private(&path)?;
    Ok(path)
}

fn private(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_dead_processes_are_pruned() {
        let alive = Folder::create().unwrap();
        let mut child = process::Command::new("true").spawn().unwrap();
        let dead = alive.path().with_file_name(format!("{PREFIX}{}-7", child.id()));
        child.wait().unwrap();
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("isopod.db"), "x").unwrap();
        let other = alive.path().with_file_name("something-else");
        fs::create_dir_all(&other).unwrap();

        assert!(prune().contains(&dead));
        assert!(!dead.exists() && alive.path().exists() && other.exists());
        fs::remove_dir(other).unwrap();

        let path = alive.path().to_path_buf();
        drop(alive);
        assert!(!path.exists());
    }
}
