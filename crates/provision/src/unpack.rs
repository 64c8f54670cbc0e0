//! Unpacks packages into one folder, without installing anything, and finds what starts a server in there.

use std::{
    fs::{self, File, Permissions},
    io::{self, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{
    cancellation,
    client::{self, quiet},
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

/// Unpacks Debian packages into `root`.
pub fn debs(packages: &[PathBuf], root: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    fs::create_dir_all(root).doing("make", root)?;
    for (done, package) in packages.iter().enumerate() {
        progress(Progress::Unpack { done, of: packages.len() });
        let mut command = quiet("dpkg-deb");
        command.arg("-x").arg(package).arg(root);
        client::run(&mut command, Some(root), &mut |_| {})?;
        // The file is not needed any more, and room may be short.
        let _ = fs::remove_file(package);
    }
    for part in NEEDLESS {
        remove_tree(&root.join(part)).doing("remove", &root.join(part))?;
    }
    Ok(())
}

/// Is this file of an archive, below the folder with the server, of use to a server? The rest is clients, tests, headers,
/// dictionaries and builds for debugging, which can be ten times as large as the server.
pub fn wanted(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let name = parts.last().copied().unwrap_or_default();
    match parts.as_slice() {
        ["bin", name] => ["mysqld", "mariadbd", "postgres", "initdb", "pg_ctl"].contains(name),
        ["lib", "plugin", "debug", ..] | ["lib", "mecab", ..] => false,
        ["lib", "postgresql", "pgxs", ..] | ["lib", "pkgconfig", ..] => false,
        ["lib", "private", ..] => true,
        ["lib" | "libs", ..] => name.contains(".so") && !name.starts_with("libmysqlclient"),
        ["share", ..] => true,
        ["mysqld" | "pg-symlinks.json"] => true,
        [_] => name.contains(".so"),
        _ => false,
    }
}

/// Unpacks the folder `within` of a compressed tar into `root`: only what is [`wanted`].
pub fn tar(file: &Path, within: &str, root: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    progress(Progress::Unpack { done: 0, of: 1 });
    fs::create_dir_all(root).doing("make", root)?;
    let strip = within.split('/').count();
    let mut command = quiet("tar");
    command
        .args(["--no-same-owner", "-xzf"])
        .arg(file)
        .arg("-C")
        .arg(root)
        .arg(format!("--strip-components={strip}"))
        .arg(within);
    client::run(&mut command, Some(root), &mut |_| {})?;
    sift(root, Path::new(""))
}

/// Removes what is not wanted, and folders that are empty then.
fn sift(root: &Path, below: &Path) -> Result<()> {
    let folder = root.join(below);
    for entry in fs::read_dir(&folder).doing("read", &folder)? {
        let entry = entry.doing("read", &folder)?;
        let (path, relative) = (entry.path(), below.join(entry.file_name()));
        if entry.file_type().doing("read", &path)?.is_dir() {
            sift(root, &relative)?;
            let _ = fs::remove_dir(&path);
        } else if !wanted(&relative) {
            fs::remove_file(&path).doing("remove", &path)?;
        }
    }
    Ok(())
}

/// Some archives have the server itself at the top: puts it where others have it, and its libraries too.
pub fn arrange(root: &Path) -> Result<()> {
    if !root.join("mysqld").is_file() {
        return Ok(());
    }
    for entry in fs::read_dir(root).doing("read", root)? {
        let entry = entry.doing("read", root)?;
        let name = entry.file_name();
        let to = if name == "mysqld" { root.join("bin") } else { root.join("lib") };
        if entry.file_type().doing("read", &entry.path())?.is_file() {
            fs::create_dir_all(&to).doing("make", &to)?;
            fs::rename(entry.path(), to.join(&name)).doing("move", &entry.path())?;
        }
    }
    Ok(())
}

/// Unpacks the folder `within` of a zip file (a jar is one too) into `root`: only what is wanted.
pub fn zip(
    file: &Path,
    within: &str,
    root: &Path,
    wanted: &dyn Fn(&Path) -> bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let broken = |error: zip::result::ZipError| match error {
        zip::result::ZipError::Io(error) => ServerError::io("read", file, &error),
        error => ServerError::new(ErrorKind::Tool, format!("cannot unpack {}: {error}", file.display())),
    };
    let opened = File::open(file).doing("read", file)?;
    let mut archive = zip::ZipArchive::new(BufReader::new(opened)).map_err(broken)?;
    let of = archive.len();
    for i in 0..of {
        if i % 16 == 0 {
            progress(Progress::Unpack { done: i, of });
        }
        cancellation::check()?;
        let mut entry = archive.by_index(i).map_err(broken)?;
        // A name that would lead out of the folder is none.
        let Some(name) = entry.enclosed_name() else { continue };
        let Ok(relative) = name.strip_prefix(within) else { continue };
        if entry.is_dir() || entry.size() == 0 || !wanted(relative) {
            continue;
        }
        let path = root.join(relative);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).doing("make", folder)?;
        }
        let mut to = File::create(&path).doing("write", &path)?;
        io::copy(&mut entry, &mut to).doing("write", &path)?;
        // Jars do not say which files are programs.
        if relative.starts_with("bin") {
            fs::set_permissions(&path, Permissions::from_mode(0o755)).doing("write", &path)?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_server_needs_is_unpacked() {
        for (path, expected) in [
            ("bin/mysqld", true),
            ("bin/mysqld-debug", false),
            ("bin/initdb", true),
            ("lib/private/icudt69l/brkitr/cjdict.dict", true),
            ("lib/plugin/debug/group_replication.so", false),
            ("lib/plugin/group_replication.so", true),
            ("lib/libmysqlclient.so.21", false),
            ("lib/libpq.a", false),
            ("lib/libicuuc.so.60.2", true),
            ("lib/postgresql/plpgsql.so", true),
            ("lib/postgresql/pgxs/src/Makefile.global", false),
            ("share/english/errmsg.sys", true),
            ("libaio.so.1", true),
            ("start.sh", false),
            ("data/mysql/ibdata1", false),
        ] {
            assert_eq!(wanted(Path::new(path)), expected, "{path}");
        }
    }
}
