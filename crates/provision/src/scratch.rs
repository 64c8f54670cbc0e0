//! Folders that belong to a living process, and how the leftovers of dead ones are known.
//!
//! Beside each folder `NAME` stands a file `NAME.lock` that its owner holds locked. The kernel lets go of the lock
//! however the owner ends, so a folder whose lock can be taken is nobody's and may be removed; process numbers,
//! which are used again, decide nothing. The lock is taken before the folder is made and removed after it.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock, and waits for it if need be.
    pub fn acquire(path: &Path) -> io::Result<FileLock> {
        loop {
            let file = open(path)?;
            file.lock()?;
            if let Some(lock) = FileLock::of(file, path)? {
                return Ok(lock);
            }
        }
    }

    /// Takes the lock if it is free.
    pub fn try_acquire(path: &Path) -> io::Result<Option<FileLock>> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => {
                    if let Some(lock) = FileLock::of(file, path)? {
                        return Ok(Some(lock));
                    }
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// A lock on a file that was removed between opening and locking is worth nothing.
    fn of(file: File, path: &Path) -> io::Result<Option<FileLock>> {
        Ok((file.metadata()?.nlink() > 0).then(|| FileLock { file, path: path.to_path_buf() }))
    }

    /// Removes the file while it is still held.
    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Whoever can open it can lock it.
    File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

/// A folder that is removed when it is dropped, and by anybody once its owner is dead.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    lock: FileLock,
}

impl Scratch {
    /// Makes the folder `parent/name`; what a dead owner left under that name goes first.
    pub fn create(parent: &Path, name: &str) -> io::Result<Scratch> {
        let path = parent.join(name);
        let mut attempt = 0;
        loop {
            // Another process may remove the parent, when it empties it, at any moment before the lock is in it.
            let made = private_folder(parent).and_then(|()| FileLock::acquire(&lock_path(&path)));
            match made {
                Ok(lock) => {
                    let scratch = Scratch { path, lock };
                    remove_tree(&scratch.path)?;
                    fs::DirBuilder::new().mode(0o700).create(&scratch.path)?;
                    return Ok(scratch);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < 100 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        super::segment::remove(&self.path);
        let _ = remove_tree(&self.path);
        let _ = fs::remove_file(self.path.with_added_extension("json"));
        self.lock.remove();
        if let Some(parent) = self.path.parent() {
            // Succeeds only when it is empty.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// A folder for a while that only we can enter, under a name that nobody can know before. It is removed when it is dropped.
pub fn temporary() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("isopod-").permissions(fs::Permissions::from_mode(0o700)).tempdir()
}

/// Makes a folder of ours, if it is not there. Somebody else's folder of that name is refused. Only we can enter it,
/// unless we are root: then a server may run as somebody else, who must pass through; he sees no names there, and
/// what is in it is closed by itself.
fn private_folder(path: &Path) -> io::Result<()> {
    let mode = if super::os::uid() == 0 { 0o711 } else { 0o700 };
    fs::DirBuilder::new().recursive(true).mode(mode).create(path)?;
    let found = fs::symlink_metadata(path)?;
    if found.uid() != super::os::uid() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if found.mode() & 0o777 != mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Can we make folders in there?
pub fn usable(parent: &Path) -> bool {
    private_folder(parent).is_ok()
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.with_added_extension("lock")
}

/// Is the owner of this folder alive?
pub fn owned(folder: &Path) -> bool {
    File::open(lock_path(folder)).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Removes what dead owners left in `parent`, and says what it was.
pub fn prune(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .map(|path| match path.extension().and_then(|e| e.to_str()) {
            Some("lock" | "json") => path.with_extension(""),
            Some(_) | None => path,
        })
        .collect();
    folders.sort();
    folders.dedup();
    folders.retain(|folder| {
        if owned(folder) {
            return false;
        }
        match FileLock::try_acquire(&lock_path(folder)) {
            Ok(Some(lock)) => {
                drop(Scratch { path: folder.clone(), lock });
                !folder.exists()
            }
            Ok(None) | Err(_) => false,
        }
    });
    folders
}

/// Removes a folder with all that is in it; that it is not there is fine.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let mut attempt = 0;
    loop {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A server that was killed a moment ago may still have made a file.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && attempt < 100 => attempt += 1,
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("isopod-0");
        fs::create_dir(&theirs).unwrap();
        // Only root may give it away.
        if std::os::unix::fs::chown(&theirs, Some(65_534), None).is_ok() {
            let error = Scratch::create(&theirs, "x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(!usable(&theirs) && fs::read_dir(&theirs).unwrap().next().is_none());
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(folder.path(), &link).unwrap();
            std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
            assert!(!usable(&link), "a link of somebody else");
        }
        // One that everybody could write to is closed.
        let ours = folder.path().join("ours");
        fs::create_dir(&ours).unwrap();
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o777)).unwrap();
        let made = Scratch::create(&ours, "x").unwrap();
        assert_eq!(fs::metadata(&ours).unwrap().mode() & 0o066, 0);
        assert_eq!(fs::metadata(made.path()).unwrap().mode() & 0o777, 0o700);
        let (one, other) = (temporary().unwrap(), temporary().unwrap());
        assert_eq!(fs::metadata(one.path()).unwrap().mode() & 0o777, 0o700);
        assert_ne!(one.path(), other.path());
    }

    #[test]
    fn only_what_is_dead_is_pruned() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().join("parent");
        let alive = Scratch::create(&parent, "alive").unwrap();
        let dead = Scratch::create(&parent, "dead").unwrap();
        fs::write(dead.path().join("file"), "x").unwrap();
        // What kill -9 leaves behind: the folder and an unlocked file.
        dead.lock.file.unlock().unwrap();
        let path = dead.path().to_path_buf();
        std::mem::forget(dead);

        assert!(owned(alive.path()) && !owned(&path));
        assert_eq!(prune(&parent), std::slice::from_ref(&path));
        assert!(alive.path().exists() && !path.exists() && !lock_path(&path).exists());
        drop(alive);
        assert!(!parent.exists());
    }
}
