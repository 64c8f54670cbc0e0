//! The program files of an installation, in a place that another user can enter.
//!
//! No server runs as root. When we are root, it runs as a user who owns nothing, and who can enter neither
//! `/root/.cache` nor any other private folder. Its files are then linked, or copied where that cannot be, into a
//! folder of ours that everybody can enter: a *view*. Its name is made from what it shows, so that a changed
//! installation gets another one; it appears by one rename; and it is removed when what it shows is gone.

use std::{
    env, fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use model::Hash64;

use super::{
    error::{IoContext, Result},
    os, running,
    scratch::{self, Scratch, remove_tree},
};

/// The file in a view that says what it shows.
const ORIGIN: &str = "origin";

/// The folders in which views are made, best first. A disk, because they are as large as the programs.
fn parents() -> Vec<PathBuf> {
    let mut bases = vec![PathBuf::from("/var/tmp"), env::temp_dir()];
    bases.retain(|base| base.is_dir() && enterable(base));
    bases.iter().map(|base| base.join(format!("isopod-programs-{}", os::uid()))).collect()
}

/// May everybody enter this folder, and all those above it?
fn enterable(path: &Path) -> bool {
    path.ancestors().all(|folder| fs::metadata(folder).is_ok_and(|folder| folder.mode() & 0o001 != 0))
}

/// Where `user` finds what is in `root`: there itself, or in a view of it.
pub fn of(root: &Path, user: Option<u32>) -> Result<PathBuf> {
    let root = &fs::canonicalize(root).doing("use", root)?;
    if user.is_none() || enterable(root) {
        return Ok(root.clone());
    }
    let parent = parents().into_iter().find(|parent| scratch::usable(parent)).ok_or_else(|| {
        super::ServerError::new(
            super::ErrorKind::Io,
            "there is no folder in which another user could run the server",
        )
        .help("no server runs as root; /var/tmp or TMPDIR must be open to everybody")
    })?;
    let mut print = TreeHash::default();
    print.tree(root, Path::new("")).doing("read", root)?;
    let view = parent.join(format!("{:016x}", print.0.get()));
    let shown = view.join("root");
    if shown.exists() {
        return Ok(shown);
    }
    let tmp = parent.join("tmp");
    let name = format!("{}-{:016x}", std::process::id(), print.0.get());
    let scratch = Scratch::create(&tmp, &name).doing("make", &tmp.join(&name))?;
    let whole = scratch.path().join("whole");
    open_folder(&whole).doing("make", &whole)?;
    fs::write(whole.join(ORIGIN), root.display().to_string()).doing("write", &whole)?;
    link_tree(root, &whole.join("root")).doing("write", &whole)?;
    match fs::rename(&whole, &view) {
        Ok(()) => {
            forget_former(&parent, root, &view);
            Ok(shown)
        }
        // Somebody else was faster with the same.
        Err(_) if shown.exists() => Ok(shown),
        Err(error) => Err(error).doing("make", &view),
    }
}

/// What was there before a new build is shown no longer, unless a server still runs from it.
fn forget_former(parent: &Path, root: &Path, newest: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let view = entry.path();
        let same = fs::read_to_string(view.join(ORIGIN)).is_ok_and(|origin| Path::new(&origin) == root);
        if same && view != newest && !running::running().iter().any(|one| uses(one.pid(), &view)) {
            let _ = remove_tree(&view);
        }
    }
}

/// Does the process run a program of this view?
fn uses(pid: u32, view: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.starts_with(view))
}

/// Removes the views of what is no longer there.
pub fn prune() -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for parent in parents() {
        scratch::prune(&parent.join("tmp"));
        for entry in fs::read_dir(&parent).into_iter().flatten().flatten() {
            let view = entry.path();
            let gone = fs::read_to_string(view.join(ORIGIN)).is_ok_and(|origin| !Path::new(&origin).exists());
            if gone && remove_tree(&view).is_ok() {
                removed.push(view);
            }
        }
        let _ = fs::remove_dir(parent.join("tmp"));
        let _ = fs::remove_dir(&parent);
    }
    removed.sort();
    removed
}

fn open_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn link_tree(from: &Path, to: &Path) -> io::Result<()> {
    open_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            link_tree(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            let mode = entry.metadata()?.mode();
            // What the owner may do everybody must be allowed to, and the original is not ours to change.
            let wanted = mode | (mode & 0o500) >> 6;
            if wanted != mode || fs::hard_link(&source, &target).is_err() {
                fs::copy(&source, &target)?;
                fs::set_permissions(&target, fs::Permissions::from_mode(wanted & 0o755))?;
            }
        }
    }
    Ok(())
}

/// A number made from the names, sizes and times of all files.
#[derive(Default)]
struct TreeHash(Hash64);

impl TreeHash {
    fn tree(&mut self, root: &Path, inside: &Path) -> io::Result<()> {
        let folder = root.join(inside);
        if inside.as_os_str().is_empty() {
            self.0.add(root.as_os_str().as_encoded_bytes());
        }
        let mut names: Vec<_> =
            fs::read_dir(&folder)?.map(|entry| entry.map(|e| e.file_name())).collect::<io::Result<_>>()?;
        names.sort();
        for name in names {
            let metadata = fs::symlink_metadata(folder.join(&name))?;
            self.0.add(name.as_encoded_bytes());
            if metadata.is_dir() {
                self.tree(root, &inside.join(&name))?;
            } else {
                for number in [metadata.len(), metadata.mtime() as u64, metadata.mtime_nsec() as u64] {
                    self.0.add(&number.to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_shows_the_same_and_goes_with_it() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("private/root");
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join("bin/program"), "x").unwrap();
        fs::set_permissions(root.join("bin/program"), fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink("program", root.join("bin/link")).unwrap();
        fs::set_permissions(base.path().join("private"), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(of(&root, None).unwrap(), fs::canonicalize(&root).unwrap());
        // Others may not pass through the folders of an ordinary user's views, and need not.
        if os::uid() == 0 {
            let view = of(&root, Some(65534)).unwrap();
            assert_ne!(view, root);
            assert!(enterable(&view.join("bin")));
            assert_eq!(fs::metadata(view.join("bin/link")).unwrap().mode() & 0o705, 0o705);
            assert_eq!(of(&root, Some(65534)).unwrap(), view);
            fs::write(root.join("bin/more"), "y").unwrap();
            let newer = of(&root, Some(65534)).unwrap();
            assert_ne!(newer, view, "a changed installation has another view");
            assert!(!view.exists(), "nobody uses the former one");
            base.close().unwrap();
            let pruned = prune();
            for view in [view, newer] {
                assert!(pruned.contains(&view.parent().unwrap().to_path_buf()) || !view.exists());
                assert!(!view.exists());
            }
        }
    }
}
