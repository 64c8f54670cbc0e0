//! Installs a line: fetch, unpack, make the template, and put the whole in place by one rename.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{Product, Target, Version};

use super::{
    apt::Apt,
    cache::{Manifest, PackageVersion, Store},
    catalog::{Line, Source},
    copy::disk_use,
    error::{ErrorKind, IoContext, Result, ServerError},
    os,
    scratch::{Scratch, remove_tree},
    template, unpack,
};

/// What an installation is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process installs the same; this one waits for it.
    WaitForOther,
    /// It begins.
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
        /// From 0 to 100.
        percent: u8,
        /// In the client's words.
        what: String,
    },
    /// The registry was busy or away; another attempt follows.
    Retry {
        /// Which attempt failed, from 1.
        attempt: u32,
        /// When the next one begins.
        after: Duration,
        /// What the client said.
        reason: String,
    },
    /// Packages are unpacked.
    Unpack {
        /// So many are done.
        done: usize,
        /// Of so many.
        of: usize,
    },
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
    line: &Line,
    target: &Target,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf> {
    progress(Progress::Begin { line: line.name(), origin: line.origin() });
    if let Some(free) = os::free_bytes(store.root()).filter(|free| *free < line.room << 20) {
        let error = ServerError::disk_full(store.root());
        return Err(error.help(format!("{} takes {} MiB; {} are free", line.name(), line.room, free >> 20)));
    }
    let tmp = store.tmp();
    let name = format!("{}-{}-{}", line.product, line.version(), std::process::id());
    let scratch = Scratch::create(&tmp, &name).doing("make", &tmp.join(&name))?;
    let whole = scratch.path().join("whole");
    let root = whole.join("root");
    let mut manifest = match &line.source {
        Source::Debian { suite, stable, server, alone } => {
            let folder = scratch.path().join("apt");
            let apt = Apt::new(&folder, suite, *stable)?;
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
            let files = apt.download(server, alone, progress)?;
            let packages = files.iter().filter_map(|file| package_of(file)).collect();
            unpack::unpack(&files, &root, progress)?;
            remove_tree(&folder).doing("remove", &folder)?;
            describe(line, &root, version, package, packages)?
        }
    };
    progress(Progress::Template);
    let template = whole.join("template");
    template::make(&root, &manifest, &scratch.path().join("work"), &template)?;
    manifest.template_bytes = disk_use(&template);
    manifest.bytes = disk_use(&whole);
    manifest.write(&whole)?;

    let place = store.installs().join(format!("{}-{}", manifest.product, manifest.version));
    fs::create_dir_all(store.installs()).doing("make", &store.installs())?;
    remove_tree(&place).doing("remove", &place)?;
    fs::rename(&whole, &place).doing("move the installation to", &place)?;
    progress(Progress::Done { version: manifest.version.to_string(), bytes: manifest.bytes });
    Ok(place)
}

/// Is what the client offers what was asked for? A rolling suite may have moved on to another line.
fn check(line: &Line, target: &Target, offered: &Version) -> Result<()> {
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

/// Where things are in an unpacked server of the MySQL family.
fn describe(
    line: &Line,
    root: &Path,
    version: Version,
    package_version: String,
    packages: Vec<PackageVersion>,
) -> Result<Manifest> {
    let (loader, libraries) = unpack::loader(root)?;
    let server = match line.product {
        Product::Mysql => unpack::first_of(root, &["usr/sbin/mysqld"])?,
        Product::Mariadb => unpack::first_of(root, &["usr/sbin/mariadbd", "usr/sbin/mysqld"])?,
        Product::Postgres | Product::Sqlite => {
            return Err(ServerError::new(ErrorKind::UnknownVersion, "SQLite has no server"));
        }
    };
    Ok(Manifest {
        format: Manifest::FORMAT,
        product: line.product,
        line: line.version(),
        version,
        package_version,
        origin: line.origin(),
        packages,
        loader: Some(loader),
        libraries,
        basedir: "usr".into(),
        server,
        share: unpack::first_of(root, &["usr/share/mysql", "usr/share/mariadb"])?,
        plugins: Some(unpack::first_of(root, &["usr/lib/mysql/plugin", "usr/lib/mariadb/plugin"])?),
        bytes: 0,
        template_bytes: 0,
    })
}

/// `1:10.11.14-0+deb12u2` is a package of 10.11.14.
fn upstream(package: &str) -> Option<Version> {
    let version = package.split_once(':').map_or(package, |(_, rest)| rest);
    let digits: String = version.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.trim_end_matches('.').parse().ok()
}

/// `libc6_2.36-9_amd64.deb`
fn package_of(file: &Path) -> Option<PackageVersion> {
    let name = file.file_name()?.to_str()?;
    let mut parts = name.split('_');
    let package = parts.next()?.to_string();
    let version = parts.next()?.replace("%3a", ":");
    Some(PackageVersion { package, version })
}

#[cfg(test)]
mod tests {
    fn offered(line: &str, asked: &str, offered: &str) -> Option<ErrorKind> {
        let line = crate::servers::lines().iter().find(|l| l.name() == line)?;
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
}
