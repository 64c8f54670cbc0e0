//! A server in a folder of the user's, unpacked or built there: `mysql?basedir=/opt/mysql`.
//!
//! The folder is only read. What we need beside it, a template and a manifest, stands in the cache, under a name made from
//! the folder's real path and from the server program's date, size and version: after a new build there is a new template.

use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
};

use model::{Product, Target, Version};
use sha2::{Digest, Sha256};

use super::{
    cache::{Installed, Manifest, Store, unreadable},
    checksum,
    error::{ErrorKind, IoContext, Result, ServerError},
    install::{self, Progress},
    layout::{self, LOADER, Layout},
    running,
    scratch::Scratch,
    unpack,
};

/// What was found in the folder.
struct ServerFolder {
    /// The folder's real path.
    folder: PathBuf,
    manifest: Manifest,
    /// The name in the cache.
    key: String,
}

/// The server in this folder, if its template was made already.
pub fn installed(store: &Store, target: &Target, folder: &Path) -> Option<Installed> {
    let found = find(target, folder).ok()?;
    Installed::read(&store.folders().join(&found.key))
}

/// The server in this folder, with a template that is made now if it is not there yet.
pub fn ensure(
    store: &Store,
    target: &Target,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Installed> {
    let mut found = find(target, folder)?;
    let place = store.folders().join(&found.key);
    if let Some(installed) = Installed::read(&place) {
        return Ok(installed);
    }
    let _lock = store.lock(&found.key, progress)?;
    if let Some(installed) = Installed::read(&place) {
        return Ok(installed);
    }
    let tmp = store.tmp();
    let name = format!("{}-{}", found.key, std::process::id());
    let scratch = Scratch::create(&tmp, &name).doing("make", &tmp.join(&name))?;
    let whole = scratch.path().join("whole");
    fs::create_dir_all(&whole).doing("make", &whole)?;
    symlink(&found.folder, whole.join("root")).doing("make the link", &whole.join("root"))?;
    install::finish(&mut found.manifest, &whole, &scratch.path().join("work"), progress)?;
    install::put(&whole, &place)?;
    forget_former(store, &found.folder, &place);
    Installed::read(&place).ok_or_else(|| unreadable(&place))
}

/// After a new build nobody asks for the templates of the former ones any more.
fn forget_former(store: &Store, folder: &Path, newest: &Path) {
    for entry in fs::read_dir(store.folders()).into_iter().flatten().flatten() {
        let place = entry.path();
        let same = fs::read_link(place.join("root")).is_ok_and(|root| root == folder);
        if same && place != newest && running::user_of(&place).is_none() {
            // What cannot be removed is in nobody's way.
            let _ = store.remove(&place);
        }
    }
}

fn find(target: &Target, given: &Path) -> Result<ServerFolder> {
    let folder = fs::canonicalize(given).doing("use", given)?;
    if !folder.is_dir() {
        return Err(ServerError::new(ErrorKind::Io, format!("{} is not a folder", given.display())));
    }
    let layout = layout::find(target.product, &folder)?;
    let unknown = Version(Vec::new());
    let ordinary = layout.describe(target.product, unknown, folder.display().to_string());
    // In the ordinary way, else with the libraries beside it, else with a loader of its own.
    let loaded = |(loader, libraries): (PathBuf, Vec<PathBuf>)| {
        let layout = Layout { loader: Some(loader), libraries, ..ordinary.layout.clone() };
        Manifest { layout, ..ordinary.clone() }
    };
    let beside = loaded((LOADER.into(), layout::libraries(&folder)));
    let own = unpack::loader(&folder).ok().map(loaded);
    let mut said = layout::ask(&folder, &ordinary);
    let mut manifest = ordinary;
    for other in [Some(beside), own].into_iter().flatten() {
        if said.is_err()
            && let Ok(answer) = layout::ask(&folder, &other)
        {
            said = Ok(answer);
            manifest = other;
        }
    }
    let (product, version) = said?;
    check(target, given, product, &version)?;
    let server = folder.join(&manifest.layout.server);
    let metadata = fs::metadata(&server).doing("read", &server)?;
    let stamp = format!("{}.{}.{}", metadata.mtime(), metadata.mtime_nsec(), metadata.len());
    let digest = Sha256::digest(format!("{}\0{stamp}\0{version}", folder.display()));
    let key = format!("{product}-{version}-{}", &checksum::hex(&digest)[..12]);
    manifest.line = version.clone();
    manifest.package_version = version.to_string();
    manifest.version = version;
    Ok(ServerFolder { folder, manifest, key })
}

/// Is it what the target says?
fn check(target: &Target, folder: &Path, product: Product, version: &Version) -> Result<()> {
    let asked = target.version.as_ref();
    if product == target.product && asked.is_none_or(|asked| version.within(asked)) {
        return Ok(());
    }
    let asked = asked.map_or(target.product.to_string(), |asked| format!("{}@{asked}", target.product));
    let title = format!("{} holds {product} {version}, not {asked}", folder.display());
    Err(ServerError::new(ErrorKind::UnknownVersion, title).help(format!(
        "write --target {}",
        model::shell::quoted(&format!("{product}?basedir={}", folder.display()))
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(target: &str, version: &str, product: Product) -> Option<String> {
        let target: Target = target.parse().unwrap();
        let found = check(&target, Path::new("/opt/x"), product, &version.parse().unwrap());
        found.err().map(|error| error.title)
    }

    #[test]
    fn another_product_or_version_is_refused() {
        assert_eq!(refusal("mysql", "9.7.4", Product::Mysql), None);
        assert_eq!(refusal("mysql@9.7", "9.7.4", Product::Mysql), None);
        assert_eq!(
            refusal("mysql", "10.11.5", Product::Mariadb).as_deref(),
            Some("/opt/x holds mariadb 10.11.5, not mysql")
        );
        assert_eq!(
            refusal("mysql@9.7", "8.0.33", Product::Mysql).as_deref(),
            Some("/opt/x holds mysql 8.0.33, not mysql@9.7")
        );
    }

    #[test]
    fn a_folder_without_a_server_says_what_was_looked_for() {
        let target: Target = "postgres".parse().unwrap();
        let error = find(&target, &std::env::temp_dir()).err().unwrap();
        assert!(error.title.ends_with("does not hold a server of postgres"), "{error}");
        assert_eq!(error.help, ["looked for bin/postgres"]);
        assert_eq!(find(&target, Path::new("/no/such/folder")).err().unwrap().kind, ErrorKind::Io);
    }
}
