//! Programs of others that these tests run: found on the machine, or fetched without root; skipped loudly where they cannot be had.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
};

use model::sync::lock;

use crate::tools::skip;

/// A program of this name on the machine.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let all = env::split_paths(&path).flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    all.into_iter().find(|file| file.is_file())
}

/// One that must be installed.
pub fn program(names: &[&str], package: &str) -> Option<PathBuf> {
    let found = on_path(names);
    if found.is_none() {
        skip(&format!("{} is not on this machine; Debian's package is {package}", names[0]));
    }
    found
}

/// MariaDB's own mysqltest. Debian's package wants a whole server; its one program does not.
pub fn mysqltest() -> Option<Command> {
    if let Some(found) = on_path(&["mariadb-test", "mysqltest"]) {
        return Some(Command::new(found));
    }
    static ONE: Mutex<()> = Mutex::new(());
    let _one = lock(&ONE);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mariadb-test");
    let program = folder.join("usr/bin/mariadb-test");
    if !program.is_file()
        && let Err(why) = unpacked(&folder, &["mariadb-test", "libpcre2-posix3"])
    {
        skip(&format!("mysqltest cannot be had: {why}"));
        return None;
    }
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", folder.join("usr/lib/x86_64-linux-gnu"));
    Some(command)
}

/// Fetches packages with the machine's apt and unpacks them, without installing anything.
fn unpacked(folder: &Path, packages: &[&str]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let ran = |command: &mut Command| -> Result<(), String> {
        let out =
            command.stdin(Stdio::null()).current_dir(folder).output().map_err(|error| error.to_string())?;
        match out.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&out.stderr).trim().to_string()),
        }
    };
    ran(Command::new("apt-get").args(["-q", "download"]).args(packages))?;
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            ran(Command::new("dpkg-deb").arg("-x").arg(&path).arg("."))?;
        }
    }
    Ok(())
}

/// MySQL's own `mysql`; what a machine calls so is MariaDB's more often than not.
pub fn mysqls_own_client() -> Option<PathBuf> {
    if let Some(found) = on_path(&["mysql"])
        && let Ok(said) = Command::new(&found).arg("--version").output()
        && !String::from_utf8_lossy(&said.stdout).contains("MariaDB")
    {
        return Some(found);
    }
    static ONE: Mutex<()> = Mutex::new(());
    let _one = lock(&ONE);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mysql-client");
    // The suite that the server comes from; the C library comes with it, so its loader must start the client.
    if let Err(error) = provision::fetch_package("sid", "mysql-client-core", &folder, &mut |_| {}) {
        skip(&format!("MySQL's own client cannot be had: {error}"));
        return None;
    }
    let (bin, root) = (folder.join("started"), folder.display());
    fs::create_dir_all(&bin).unwrap();
    let text = format!(
        "#!/bin/sh\nexec {root}/usr/lib64/ld-linux-x86-64.so.2 --library-path {root}/usr/lib/x86_64-linux-gnu \
         {root}/usr/bin/mysql \"$@\"\n"
    );
    let started = bin.join("mysql");
    fs::write(&started, text).unwrap();
    fs::set_permissions(&started, fs::Permissions::from_mode(0o755)).unwrap();
    Some(started)
}

/// PostgreSQL's isolationtester, which Debian keeps beside psql.
pub fn isolationtester() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions
        .map(|entry| entry.path().join("lib/pgxs/src/test/isolation/isolationtester"))
        .filter(|file| file.is_file())
        .collect();
    found.sort();
    let newest = found.pop();
    if newest.is_none() {
        skip("isolationtester is not on this machine; Debian's package is postgresql-client-15");
    }
    newest
}
