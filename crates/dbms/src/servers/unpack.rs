//! Unpacks packages into one folder, without installing anything, and finds what starts a server in there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{
    apt,
    error::{ErrorKind, IoContext, Result, ServerError},
    install::Progress,
    scratch::remove_tree,
};

/// Large parts of the packages that no server reads.
const NEEDLESS: &[&str] = &[
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/bash-completion",
    "usr/share/perl",
    "usr/share/perl5",
    "usr/share/mysql/mysql-test",
    "usr/include",
    "etc",
    "var",
];

/// Unpacks every package into `root`.
pub fn unpack(packages: &[PathBuf], root: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    fs::create_dir_all(root).doing("make", root)?;
    for (done, package) in packages.iter().enumerate() {
        progress(Progress::Unpack { done, of: packages.len() });
        let mut command = Command::new("dpkg-deb");
        command.arg("-x").arg(package).arg(root).stdin(Stdio::null());
        apt::run(&mut command, None, &mut |_| {})?;
        // The file is not needed any more, and room may be short.
        let _ = fs::remove_file(package);
    }
    for part in NEEDLESS {
        remove_tree(&root.join(part)).doing("remove", &root.join(part))?;
    }
    Ok(())
}

/// The folders of shared libraries and the loader that came with them, all relative to `root`.
///
/// A server is always started through this loader: its suite may need a newer C library than the machine has.
/// `lib64/ld-linux*` is not it: in older suites that is an absolute link to the machine's own loader.
pub fn loader(root: &Path) -> Result<(PathBuf, Vec<PathBuf>)> {
    let mut loader = None;
    let mut libraries = Vec::new();
    for lib in ["lib", "usr/lib"] {
        let mut names: Vec<_> = fs::read_dir(root.join(lib))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .filter(|name| name.to_string_lossy().contains("-linux-gnu"))
            .collect();
        names.sort();
        for name in names {
            let folder = Path::new(lib).join(name);
            let found = fs::read_dir(root.join(&folder))
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.file_name())
                .find(|name| name.to_string_lossy().starts_with("ld-linux"));
            if loader.is_none() {
                loader = found.map(|name| folder.join(name));
            }
            libraries.push(folder);
        }
    }
    match loader {
        Some(loader) => Ok((loader, libraries)),
        None => Err(ServerError::new(ErrorKind::Tool, "the packages hold no loader of their own")
            .help("servers can be installed on Linux with the GNU C library only")),
    }
}

/// The first of these paths that is there.
pub fn first_of(root: &Path, candidates: &[&str]) -> Result<PathBuf> {
    candidates.iter().find(|path| root.join(path).exists()).map(PathBuf::from).ok_or_else(|| {
        ServerError::new(ErrorKind::Tool, format!("the packages do not hold {}", candidates.join(" or ")))
    })
}
