//! Shared libraries that a vendor's archive leaves to the machine, and that the machine may not have.
//!
//! The loader is asked which libraries it does not find. Those are fetched from the Debian archive and unpacked beside the
//! server; that is repeated, because libraries need libraries. Nothing is fetched on a machine that has them all.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use super::{
    apt::Apt,
    cache::{Manifest, PackageVersion},
    client::quiet,
    error::{ErrorKind, Result, ServerError},
    install::{Progress, package_of},
    settings, unpack,
};

/// A suite whose libraries have the names that older programs ask for, and run on any machine of the last years.
const SUITE: &str = "bookworm";

/// Which package of that suite holds which library.
const PACKAGES: &[(&str, &str)] = &[
    ("libaio.so.1", "libaio1"),
    ("libnuma.so.1", "libnuma1"),
    ("libcrypt.so.1", "libcrypt1"),
    ("libsystemd.so.0", "libsystemd0"),
    ("libcap.so.2", "libcap2"),
    ("libgcrypt.so.20", "libgcrypt20"),
    ("libgpg-error.so.0", "libgpg-error0"),
    ("liblzma.so.5", "liblzma5"),
    ("libzstd.so.1", "libzstd1"),
    ("liblz4.so.1", "liblz4-1"),
    ("libncurses.so.5", "libncurses5"),
    ("libtinfo.so.5", "libtinfo5"),
    ("libstdc++.so.6", "libstdc++6"),
    ("libgcc_s.so.1", "libgcc-s1"),
];

/// Libraries need libraries, but not without end.
const ROUNDS: usize = 4;

/// Fetches what is missing; adds the folders to the manifest's libraries and the packages to its packages.
pub fn complete(
    root: &Path,
    manifest: &mut Manifest,
    scratch: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let mut missing = lacking(root, manifest);
    for round in 0..ROUNDS {
        if missing.is_empty() {
            return Ok(());
        }
        let packages: Vec<&str> = missing.iter().filter_map(|library| package(library)).collect();
        if packages.len() < missing.len() {
            break;
        }
        let folder = scratch.join(format!("libraries-{round}"));
        let apt = Apt::new(&folder, SUITE, true).map_err(|error| wanting(&missing, error))?;
        progress(Progress::Lists);
        apt.update(progress)?;
        let files = apt.download(None, &packages, progress)?;
        manifest
            .packages
            .extend(files.iter().filter_map(|file| package_of(file)).collect::<Vec<PackageVersion>>());
        let extra = Path::new("extra");
        unpack::debs(&files, &root.join(extra), progress)?;
        for lib in ["lib", "usr/lib"] {
            let path: PathBuf = extra.join(lib).join("x86_64-linux-gnu");
            if root.join(&path).is_dir() && !manifest.layout.libraries.contains(&path) {
                manifest.layout.libraries.push(path);
            }
        }
        missing = lacking(root, manifest);
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(wanting(&missing, ServerError::new(ErrorKind::MissingTool, "no package is known that holds them")))
}

fn package(library: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == library).map(|(_, package)| *package)
}

/// The libraries that the loader does not find.
fn lacking(root: &Path, manifest: &Manifest) -> Vec<String> {
    let program = settings::program(root, manifest);
    let traced = quiet(&program[0])
        .args(&program[1..])
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stderr(Stdio::null())
        .output();
    traced.map(|output| not_found(&String::from_utf8_lossy(&output.stdout))).unwrap_or_default()
}

/// `libaio.so.1 => not found`
fn not_found(traced: &str) -> Vec<String> {
    let mut names: Vec<String> = traced
        .lines()
        .filter_map(|line| line.trim().strip_suffix("=> not found"))
        .map(|name| name.trim().to_string())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn wanting(missing: &[String], error: ServerError) -> ServerError {
    let packages: Vec<&str> = missing.iter().filter_map(|library| package(library)).collect();
    let mut wanting = ServerError::new(
        error.kind,
        format!("this machine has no {}, which the server needs", missing.join(", ")),
    )
    .help(error.title);
    if !packages.is_empty() {
        wanting = wanting.help(format!("Debian calls the packages {}", packages.join(", ")));
    }
    wanting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_libraries_are_named() {
        let traced = "\tlinux-vdso.so.1 (0x00007f52ddcf1000)\n\tlibaio.so.1 => not found\n\
                      \tlibnuma.so.1 => /lib/x86_64-linux-gnu/libnuma.so.1 (0x00007f52dd750000)\n";
        assert_eq!(not_found(traced), ["libaio.so.1"]);
        assert_eq!(package("libaio.so.1"), Some("libaio1"));
    }
}
