//! Fetches packages with the machine's own npm, into a private folder.
//!
//! The registry and its proxy are whatever npm is set up for. npm is given a cache folder of ours, so that nothing is
//! left in the user's, and is told not to try again by itself: we do, and say so. What it fetched is compared with the
//! checksum in the catalogue, and of a version that the catalogue does not have with that which the registry publishes.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
    process::Command,
};

use model::Version;
use serde::Deserialize;
use sha2::Sha512;

use super::{
    checksum,
    client::{self, Download, quiet},
    error::{ErrorKind, IoContext, Result, ServerError},
    install::Progress,
};

/// An npm with a folder of our own.
pub struct Npm {
    folder: PathBuf,
    /// About how much will be fetched, in bytes.
    about: u64,
}

impl Npm {
    /// Prepares the folder.
    pub fn new(folder: &Path, about: u64) -> Result<Npm> {
        fs::create_dir_all(folder).doing("make", folder)?;
        Ok(Npm { folder: folder.to_path_buf(), about })
    }

    /// The newest version of a package that is of a line, and of what was asked for if there is such a one.
    pub fn newest(
        &self,
        package: &str,
        line: &Version,
        asked: Option<&Version>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<String> {
        let text = self.run(&["view", "--json", package, "versions"], progress)?;
        let versions = match serde_json::from_str(&text) {
            Ok(Versions::Many(versions)) => versions,
            Ok(Versions::One(version)) => vec![version],
            Err(error) => return Err(misread("versions", &error)),
        };
        choose(versions, line, asked).ok_or_else(|| {
            ServerError::new(ErrorKind::Gone, format!("npm's registry has no {line} of {package} any more"))
        })
    }

    /// Fetches a package and checks it, by what the registry itself says of one that is not pinned; gives the file.
    pub fn pack(
        &self,
        package: &str,
        version: &str,
        pinned: Option<&str>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf> {
        let exact = format!("{package}@{version}");
        let integrity: String = match pinned {
            Some(checksum) => checksum.to_string(),
            None => {
                let text = self.run(&["view", "--json", &exact, "dist.integrity"], progress)?;
                serde_json::from_str(&text).map_err(|error| misread("checksum", &error))?
            }
        };
        self.run(&["pack", &exact], progress)?;
        let mut found = None;
        for entry in fs::read_dir(&self.folder).doing("read", &self.folder)? {
            let path = entry.doing("read", &self.folder)?.path();
            if path.extension().is_some_and(|e| e == "tgz") {
                found = Some(path);
            }
        }
        let file = found
            .ok_or_else(|| ServerError::new(ErrorKind::Tool, format!("npm pack left no file for {exact}")))?;
        check(&exact, &file, &integrity)?;
        Ok(file)
    }

    fn run(&self, args: &[&str], progress: &mut dyn FnMut(Progress)) -> Result<String> {
        let command = || -> Command {
            let mut command = quiet("npm");
            command
                .args(args)
                // Its notices are nobody's business; its errors are, whatever the user's own settings keep quiet.
                .args(["--loglevel=error", "--fetch-retries=0", "--no-update-notifier", "--cache"])
                .arg(self.folder.join("cache"))
                .current_dir(&self.folder);
            command
        };
        // The package comes into the cache first and is copied from there.
        let fetch = Download { into: &self.folder, about: Some(2 * self.about), status: |_| None };
        client::fetch(&command, &fetch, progress)
    }
}

/// Is this the version that the user asks for?
pub fn is_asked(version: &str, asked: Option<&Version>) -> bool {
    asked.is_none_or(|asked| numbers(version).is_some_and(|numbers| numbers.within(asked)))
}

/// A package with one version gives a text, not a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Versions {
    Many(Vec<String>),
    One(String),
}

fn misread(what: &str, error: &serde_json::Error) -> ServerError {
    ServerError::new(ErrorKind::Tool, format!("npm's answer about the {what} cannot be read: {error}"))
}

/// The numbers of a version of npm: `18.4.0-beta.17` is 18.4.0.
pub fn numbers(version: &str) -> Option<Version> {
    version.split(['-', '+']).next()?.parse().ok()
}

/// Newer is greater: first the numbers; a release is newer than what came before it; then `beta.17` over `beta.9`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NpmVersion {
    numbers: Version,
    release: bool,
    before: Vec<(u64, String)>,
}

fn age(version: &str) -> Option<NpmVersion> {
    let (_, before) = version.split_once('-').unwrap_or((version, ""));
    let parts = before.split('.').map(|part| (part.parse().unwrap_or(0), part.to_string())).collect();
    Some(NpmVersion { numbers: numbers(version)?, release: before.is_empty(), before: parts })
}

fn choose(versions: Vec<String>, line: &Version, asked: Option<&Version>) -> Option<String> {
    let within =
        |version: &String, wanted: &Version| numbers(version).is_some_and(|numbers| numbers.within(wanted));
    let of_line: Vec<String> = versions.into_iter().filter(|version| within(version, line)).collect();
    let newest = |some: &mut dyn Iterator<Item = &String>| some.max_by_key(|version| age(version)).cloned();
    let exact = asked.and_then(|asked| newest(&mut of_line.iter().filter(|version| within(version, asked))));
    exact.or_else(|| newest(&mut of_line.iter()))
}

/// Refuses a file that has none of these checksums.
fn check(exact: &str, file: &Path, integrity: &str) -> Result<()> {
    let real = sha512(file).doing("read", file)?;
    if integrity.split_whitespace().any(|sum| sum == real) {
        return Ok(());
    }
    let title = format!("what npm fetched for {exact} is not what was published");
    Err(ServerError::new(ErrorKind::Tool, title)
        .help(format!("published {integrity}"))
        .help(format!("fetched   {real}"))
        .help(checksum::ADVICE))
}

/// The checksum of a file in npm's way of writing: `sha512-` and Base64.
fn sha512(file: &Path) -> io::Result<String> {
    checksum::of_file::<Sha512>(file).map(|digest| format!("sha512-{}", checksum::base64(&digest)))
}

/// What such a file names: pairs of what is there and its second name, both below the folder.
pub fn linked(text: &str, within: &str) -> Result<Vec<(PathBuf, PathBuf)>> {
    #[derive(Deserialize)]
    struct Symlink {
        source: PathBuf,
        target: PathBuf,
    }
    let links: Vec<Symlink> = serde_json::from_str(text).map_err(|error| misread("links", &error))?;
    let prefix = Path::new(within).strip_prefix("package").unwrap_or(Path::new(within));
    let inside = |path: &Path| -> Option<PathBuf> {
        let path = path.strip_prefix(prefix).ok()?.to_path_buf();
        path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
    };
    Ok(links.iter().filter_map(|link| inside(&link.source).zip(inside(&link.target))).collect())
}

/// npm's packages hold no links. A package that needs some names them in a file, for a script that would make them: we
/// do, as names beside or below the folder only.
pub fn links(root: &Path, within: &str) -> Result<()> {
    let list = root.join("pg-symlinks.json");
    if !list.exists() {
        return Ok(());
    }
    let text = fs::read_to_string(&list).doing("read", &list)?;
    for (source, target) in linked(&text, within)? {
        // What was not unpacked needs no second name.
        if !root.join(&source).exists() || root.join(&target).exists() {
            continue;
        }
        let up: PathBuf = target.parent().into_iter().flat_map(Path::components).map(|_| "..").collect();
        let place = root.join(&target);
        symlink(up.join(&source), &place).doing("make the link", &place)?;
    }
    fs::remove_file(&list).doing("remove", &list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pinned_version_is_taken_unless_another_one_is_named() {
        let asked = |text: &str| is_asked("18.4.0-beta.17", Some(&text.parse().unwrap()));
        assert!(is_asked("18.4.0-beta.17", None) && asked("18") && asked("18.4"));
        assert!(!asked("18.3") && !asked("17"));
    }

    #[test]
    fn a_package_with_another_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.tgz");
        fs::write(&file, "x").unwrap();
        let sum = sha512(&file).unwrap();
        assert!(check("x@1", &file, &format!("sha1-abc {sum}")).is_ok());
        fs::write(&file, "y").unwrap();
        let error = check("x@1", &file, &sum).unwrap_err();
        assert!(error.title.contains("is not what was published"), "{error}");
        assert!(check("x@1", &file, "").is_err());
    }

    #[test]
    fn the_newest_of_the_line_is_chosen() {
        let all = [
            "17.9.0-beta.17",
            "18.0.0-beta.15",
            "18.3.0-beta.16",
            "18.3.0-beta.9",
            "18.10.0-beta.17",
            "18.3.0-alpha.20",
        ];
        let chosen = |line: &str, asked: Option<&str>| {
            let asked = asked.map(|asked| asked.parse().unwrap());
            choose(all.map(str::to_string).to_vec(), &line.parse().unwrap(), asked.as_ref())
        };
        assert_eq!(chosen("18", None).as_deref(), Some("18.10.0-beta.17"));
        assert_eq!(chosen("18", Some("18")).as_deref(), Some("18.10.0-beta.17"));
        assert_eq!(chosen("18", Some("18.3")).as_deref(), Some("18.3.0-beta.16"));
        assert_eq!(chosen("17", None).as_deref(), Some("17.9.0-beta.17"));
        assert_eq!(chosen("16", None), None);
        assert!(age("1.0.0") > age("1.0.0-rc.1"));
    }

    #[test]
    fn links_stay_inside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("lib")).unwrap();
        fs::write(root.join("lib/libx.so.1.2"), "x").unwrap();
        fs::write(
            root.join("pg-symlinks.json"),
            r#"[{"source": "native/lib/libx.so.1.2", "target": "native/lib/libx.so"},
                {"source": "native/../../etc/passwd", "target": "native/lib/out"},
                {"source": "native/lib/libx.so.1.2", "target": "native/../out"}]"#,
        )
        .unwrap();
        links(&root, "package/native").unwrap();
        assert_eq!(fs::read_to_string(root.join("lib/libx.so")).unwrap(), "x");
        assert!(!root.join("lib/out").exists() && !root.join("../out").exists());
    }
}
