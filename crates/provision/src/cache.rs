//! The cache folder: which servers are installed, and how they are installed, started and removed.
//!
//! ```text
//! installs/mysql-9.7.4/{manifest.json, root/, template/}     whole, or not there
//! folders/KEY/{manifest.json, root -> the user's, template/} for a server in a folder of the user's
//! maven/                                                     Maven's plugins
//! tmp/NAME, tmp/NAME.lock                                    an installation in progress, or a dead one's leftovers
//! locks/mysql-9.7.lock                                       held while that line is installed
//! ```

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use model::{Place, Product, Target, Version};
use serde::{Deserialize, Serialize};

use super::{
    cancellation,
    catalog::{self, ReleaseLine},
    copy::disk_use,
    debug_build,
    error::{ErrorKind, IoContext, Result, ServerError},
    folder,
    install::{self, Progress},
    layout::Layout,
    running,
    scratch::{self, FileLock, Scratch},
    view,
};

/// The cache folder.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// What an installation consists of; stored in it as `manifest.json`. Paths are relative to its `root` folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this format.
    pub format: u32,
    pub product: Product,
    /// The line that was asked for.
    pub line: Version,
    /// The exact version.
    pub version: Version,
    /// The version in the package client's words.
    pub package_version: String,
    pub origin: String,
    /// Was it compared with a checksum of the catalogue? None where the packages are signed, or from before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Every package that was unpacked.
    pub packages: Vec<PackageVersion>,
    #[serde(flatten)]
    pub layout: Layout,
    /// Size on disk.
    pub bytes: u64,
    /// Size on disk of the template, which is part of it.
    pub template_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageVersion {
    pub package: String,
    pub version: String,
}

impl Manifest {
    /// The format that this release writes, and the only one it takes.
    pub const FORMAT: u32 = 2;

    /// Writes it into an installation.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join("manifest.json");
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            ServerError::new(ErrorKind::Io, format!("cannot write {}: {error}", path.display()))
        })?;
        fs::write(&path, text + "\n").doing("write", &path)
    }

    fn read(folder: &Path) -> Option<Manifest> {
        let text = fs::read_to_string(folder.join("manifest.json")).ok()?;
        serde_json::from_str::<Manifest>(&text).ok().filter(|manifest| manifest.format == Manifest::FORMAT)
    }
}

#[derive(Clone, Debug)]
pub struct Installed {
    folder: PathBuf,
    manifest: Manifest,
}

impl Installed {
    /// Reads the installation in a folder of the cache.
    pub(crate) fn read(folder: &Path) -> Option<Installed> {
        Manifest::read(folder).map(|manifest| Installed { folder: folder.to_path_buf(), manifest })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub fn version(&self) -> &Version {
        &self.manifest.version
    }

    /// The line of the catalog that it was installed from; none if it is in a folder of the user's.
    pub fn line(&self) -> Option<&'static ReleaseLine> {
        let of = |line: &&ReleaseLine| {
            line.product == self.manifest.product && line.version() == self.manifest.line
        };
        catalog::lines().iter().find(of).filter(|line| line.origin() == self.manifest.origin)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder that the paths of the manifest begin in.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The same, with another program of it as the server.
    pub(crate) fn with_server(&self, program: &Path) -> Installed {
        let mut other = self.clone();
        other.manifest.layout.server = program.to_path_buf();
        other
    }
}

/// A line that can be had, with what is installed of it.
#[derive(Debug)]
pub struct ListedLine {
    pub line: &'static ReleaseLine,
    /// What is installed of it, oldest first.
    pub installed: Vec<Installed>,
    /// Why it cannot be fetched on this machine, and what to do about it.
    pub obstacle: Option<String>,
}

#[derive(Debug, Default)]
pub struct PrunedCache {
    /// Folders that dead processes had left.
    pub leftovers: Vec<PathBuf>,
    pub installs: Vec<PathBuf>,
    /// Installations that were left alone, each with the name of an instance that runs from it.
    pub in_use: Vec<(PathBuf, String)>,
}

impl Store {
    /// The cache folder of this user: `$ISOPOD_CACHE`, else `$XDG_CACHE_HOME/isopod`, else `~/.cache/isopod`.
    pub fn open() -> Result<Store> {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = named("ISOPOD_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|path| path.join("isopod")))
            .or_else(|| named("HOME").map(|path| path.join(".cache/isopod")))
            .ok_or_else(|| {
                ServerError::new(ErrorKind::Io, "there is no folder for the cache")
                    .help("set ISOPOD_CACHE, XDG_CACHE_HOME or HOME")
            })?;
        Store::at(&root)
    }

    /// A cache in this folder. What dead processes left in it, and beside running instances, is removed.
    pub fn at(root: &Path) -> Result<Store> {
        let root = std::path::absolute(root).doing("use", root)?;
        fs::create_dir_all(&root).doing("make", &root).map_err(|error| {
            error.help("it is for servers: set ISOPOD_CACHE to a folder that you can write to")
        })?;
        let store = Store { root };
        store.prune_leftovers();
        Ok(store)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(crate) fn folders(&self) -> PathBuf {
        self.root.join("folders")
    }

    pub(crate) fn installs(&self) -> PathBuf {
        self.root.join("installs")
    }

    /// Everything that can be had, and what of it is installed.
    pub fn list(&self) -> Vec<ListedLine> {
        let mut lines: Vec<&'static ReleaseLine> = catalog::lines().iter().collect();
        lines.sort_by_key(|line| (line.product, line.version()));
        let all = self.all();
        let obstacles = install::MissingTools::look();
        let listed = |line| ListedLine {
            line,
            installed: all.iter().filter(|i| of_line(&i.manifest, line)).cloned().collect(),
            obstacle: obstacles.of(line).map(str::to_string),
        };
        lines.into_iter().map(listed).collect()
    }

    /// What is there but cannot be read (there may be no more descriptors) is not fetched again.
    fn readable(&self) -> Result<()> {
        let there = |error: &io::Error| error.kind() != io::ErrorKind::NotFound;
        let installs = self.installs();
        let entries = match fs::read_dir(&installs) {
            Err(error) if there(&error) => return Err(error).doing("read", &installs),
            entries => entries.into_iter().flatten().flatten(),
        };
        for manifest in entries.map(|entry| entry.path().join("manifest.json")) {
            if let Err(error) = fs::read(&manifest)
                && there(&error)
            {
                return Err(error).doing("read", &manifest);
            }
        }
        Ok(())
    }

    /// Every installation, oldest version first.
    fn all(&self) -> Vec<Installed> {
        let entries = fs::read_dir(self.installs()).into_iter().flatten().flatten();
        let mut all: Vec<Installed> =
            entries.map(|entry| entry.path()).filter_map(|folder| Installed::read(&folder)).collect();
        all.sort_by(|a, b| {
            (a.manifest.product, &a.manifest.version).cmp(&(b.manifest.product, &b.manifest.version))
        });
        all
    }

    /// The installation that the target asks for, if it is there already. Asks no network.
    ///
    /// A target without a version means the newest line, not the newest that happens to be installed.
    pub fn installed(&self, target: &Target) -> Option<Installed> {
        match &target.place {
            Place::Cache => {}
            Place::Folder(folder) => return folder::installed(self, target, folder),
            Place::Attached(_) => return None,
        }
        let installed = self.plain(target)?;
        if debug_build::asked(&target.settings).ok()? { debug_build::of(&installed) } else { Some(installed) }
    }

    /// The installation that the target asks for, whichever build it wants.
    fn plain(&self, target: &Target) -> Option<Installed> {
        let line = catalog::find(target).ok()?;
        self.all().into_iter().rev().find(|installed| {
            of_line(&installed.manifest, line)
                && target.version.as_ref().is_none_or(|asked| installed.manifest.version.within(asked))
        })
    }

    /// The server that the target asks for, installed now if it is not there yet.
    pub fn ensure(&self, target: &Target, progress: &mut dyn FnMut(Progress)) -> Result<Installed> {
        match &target.place {
            Place::Cache => {}
            Place::Folder(folder) => return folder::ensure(self, target, folder, progress),
            Place::Attached(url) => {
                return Err(ServerError::new(
                    ErrorKind::UnknownVersion,
                    format!("{url} is not ours to install"),
                ));
            }
        }
        let line = catalog::find(target)?;
        let debug = debug_build::asked(&target.settings)?;
        if let Some(installed) = self.installed(target) {
            return Ok(installed);
        }
        self.readable()?;
        let _lock = self.lock(&format!("{}-{}", line.product, line.version()), progress)?;
        let installed = match self.plain(target) {
            Some(installed) => installed,
            None => {
                let folder = install::install(self, line, target, progress)?;
                Installed::read(&folder).ok_or_else(|| unreadable(&folder))?
            }
        };
        if debug { debug_build::ensure(self, line, &installed, target, progress) } else { Ok(installed) }
    }

    /// Only one process at a time does what this name stands for.
    pub(crate) fn lock(&self, name: &str, progress: &mut dyn FnMut(Progress)) -> Result<FileLock> {
        let locks = self.root.join("locks");
        fs::create_dir_all(&locks).doing("make", &locks)?;
        let path = locks.join(format!("{name}.lock"));
        match FileLock::try_acquire(&path).doing("lock", &path)? {
            Some(lock) => Ok(lock),
            None => {
                progress(Progress::WaitForOther);
                loop {
                    cancellation::pause(cancellation::LOOK)?;
                    if let Some(lock) = FileLock::try_acquire(&path).doing("lock", &path)? {
                        return Ok(lock);
                    }
                }
            }
        }
    }

    /// What the cache takes on disk, in bytes.
    pub fn size(&self) -> u64 {
        disk_use(&self.root)
    }

    fn prune_leftovers(&self) -> Vec<PathBuf> {
        let mut removed = scratch::prune(&self.tmp());
        let _ = fs::remove_dir(self.tmp());
        for parent in running::parents() {
            removed.extend(scratch::prune(&parent));
            let _ = fs::remove_dir(&parent);
        }
        removed.extend(view::prune());
        removed
    }

    /// Removes an installation. Out of the way by one rename first, so that no half of it is ever taken for a whole one.
    pub(crate) fn remove(&self, install: &Path) -> Result<()> {
        let name = format!("removed-{}-{}", std::process::id(), running::id(install));
        let scratch = Scratch::create(&self.tmp(), &name).doing("make", &self.tmp().join(&name))?;
        fs::rename(install, scratch.path().join("install")).doing("remove", install)
    }

    /// Removes what dead processes left behind, and the installations too if asked, but for those that a running
    /// instance uses.
    pub fn prune(&self, installs: bool) -> Result<PrunedCache> {
        let mut pruned = PrunedCache { leftovers: self.prune_leftovers(), ..PrunedCache::default() };
        if installs {
            let parents = [self.installs(), self.folders()];
            let entries =
                parents.iter().flat_map(|parent| fs::read_dir(parent).into_iter().flatten().flatten());
            let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            folders.push(self.root.join("maven"));
            folders.retain(|folder| folder.exists());
            folders.sort();
            for folder in folders {
                if let Some(user) = running::user_of(&folder) {
                    pruned.in_use.push((folder, user.id));
                    continue;
                }
                self.remove(&folder)?;
                pruned.installs.push(folder);
            }
            pruned.leftovers.extend(view::prune());
        }
        Ok(pruned)
    }
}

/// An installation was made, but is not there.
pub(crate) fn unreadable(folder: &Path) -> ServerError {
    ServerError::new(ErrorKind::Io, format!("the installation in {} cannot be read", folder.display()))
}

/// Two lines may have one beginning (`10.11` and `10.11.5`): which one it is was written down.
fn of_line(manifest: &Manifest, line: &ReleaseLine) -> bool {
    manifest.product == line.product && manifest.line == line.version()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store { root: folder.path().to_path_buf() };
        fs::create_dir_all(store.installs().join("mariadb-10.11.19/manifest.json")).unwrap();
        let target: Target = "mariadb@10.11".parse().unwrap();
        let error = store.ensure(&target, &mut |_| panic!("it is fetched")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Io, "{error}");
    }
}
