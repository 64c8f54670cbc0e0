//! Where things are in an unpacked server, and what the server says of itself.
//!
//! Three sorts of folders are known: Debian packages unpacked into one folder (`usr/sbin/mysqld`, with a loader of their
//! own), the vendors' archives (`bin/mysqld`, `share`), and whatever the user has built or unpacked somewhere.

use std::path::{Path, PathBuf};

use dialect::SqlFamily;
use model::{Product, Version};
use serde::{Deserialize, Serialize};

use super::{
    cache::Manifest,
    client::{self, quiet},
    error::{ErrorKind, Result, ServerError},
    settings, unpack,
};

/// The machine's own loader: with it, folders of libraries can be named without the environment.
pub const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// The paths of a [`Manifest`], relative to its `root` folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The loader that starts the server, if not the machine's own in the ordinary way.
    pub loader: Option<PathBuf>,
    /// Folders of shared libraries, for the loader.
    pub libraries: Vec<PathBuf>,
    /// What the server takes for the folder that it was installed in.
    pub basedir: PathBuf,
    pub server: PathBuf,
    /// Messages, character sets, SQL files.
    pub share: PathBuf,
    /// Plugins, if they are not where the server looks by itself.
    pub plugins: Option<PathBuf>,
}

impl Layout {
    /// The manifest of a server with this layout that consists of no packages.
    pub fn describe(self, product: Product, version: Version, origin: String) -> Manifest {
        Manifest {
            format: Manifest::FORMAT,
            product,
            line: version.clone(),
            package_version: version.to_string(),
            version,
            origin,
            pinned: None,
            packages: Vec::new(),
            layout: self,
            bytes: 0,
            template_bytes: 0,
        }
    }
}

/// Debian packages of the MySQL family.
pub fn of_debian(product: Product, root: &Path) -> Result<Layout> {
    let (loader, libraries) = unpack::loader(root)?;
    let server = match dialect::of(product).family {
        SqlFamily::Mysql => unpack::first_of(root, &["usr/sbin/mariadbd", "usr/sbin/mysqld"])?,
        SqlFamily::Postgres | SqlFamily::Sqlite => {
            return Err(ServerError::new(
                ErrorKind::UnknownVersion,
                format!("{product} does not come from Debian"),
            ));
        }
    };
    Ok(Layout {
        loader: Some(loader),
        libraries,
        basedir: "usr".into(),
        server,
        share: unpack::first_of(root, &["usr/share/mysql", "usr/share/mariadb"])?,
        plugins: Some(unpack::first_of(root, &["usr/lib/mysql/plugin", "usr/lib/mariadb/plugin"])?),
    })
}

/// A vendor's archive.
pub fn of_archive(product: Product, root: &Path) -> Result<Layout> {
    let mut layout = find(product, root)?;
    // A server of the MySQL family needs libraries that may be beside it and are not found by themselves.
    if dialect::of(product).family != SqlFamily::Postgres {
        layout.loader = Some(LOADER.into());
        layout.libraries = libraries(root);
    }
    Ok(layout)
}

/// Folders in an archive that hold shared libraries.
pub fn libraries(root: &Path) -> Vec<PathBuf> {
    ["lib", "lib/private", "libs"]
        .map(PathBuf::from)
        .into_iter()
        .filter(|path| root.join(path).is_dir())
        .collect()
}

/// Looks for a server in a folder of unknown making. It is taken to start in the ordinary way.
pub fn find(product: Product, root: &Path) -> Result<Layout> {
    let (servers, shares): (&[&str], &[&str]) = match dialect::of(product).family {
        SqlFamily::Mysql => (
            &[
                "bin/mariadbd",
                "bin/mysqld",
                "sbin/mariadbd",
                "sbin/mysqld",
                "libexec/mariadbd",
                "libexec/mysqld",
                // A build folder that was not installed.
                "runtime_output_directory/mysqld",
                "sql/mariadbd",
                "sql/mysqld",
            ],
            &["share", "share/mysql", "share/mariadb", "sql/share"],
        ),
        SqlFamily::Postgres => (&["bin/postgres"], &["share/postgresql", "share"]),
        SqlFamily::Sqlite => (&[], &[]),
    };
    // Debian's packages, and folders of that form, have everything below `usr`.
    for basedir in [".", "usr"] {
        let base = root.join(basedir);
        let at =
            |path: &str| if basedir == "." { PathBuf::from(path) } else { Path::new(basedir).join(path) };
        let Some(server) = servers.iter().find(|path| base.join(path).is_file()) else { continue };
        let postgres = dialect::of(product).family == SqlFamily::Postgres;
        let messages = if postgres { "postgres.bki" } else { "english/errmsg.sys" };
        let has_messages = |path: &&&str| base.join(path).join(messages).exists();
        let share = match shares.iter().find(has_messages) {
            Some(share) => at(share),
            // PostgreSQL finds its own, wherever it was built to be.
            None if postgres => ".".into(),
            None => return Err(not_in(root, "the server's messages", "share/english/errmsg.sys")),
        };
        let plugins = ["lib/plugin", "lib/mysql/plugin", "lib/mariadb/plugin", "lib64/mysql/plugin"];
        return Ok(Layout {
            loader: None,
            libraries: Vec::new(),
            basedir: basedir.into(),
            server: at(server),
            share,
            plugins: plugins.iter().find(|path| base.join(path).is_dir()).map(|path| at(path)),
        });
    }
    Err(not_in(root, &format!("a server of {product}"), &servers.join(", ")))
}

fn not_in(root: &Path, what: &str, looked_for: &str) -> ServerError {
    ServerError::new(ErrorKind::UnknownVersion, format!("{} does not hold {what}", root.display()))
        .help(format!("looked for {looked_for}"))
}

/// What the server says of itself: its product and its exact version.
pub fn ask(root: &Path, manifest: &Manifest) -> Result<(Product, Version)> {
    let program = settings::program(root, manifest);
    let mut command = quiet(&program[0]);
    command.args(&program[1..]);
    if dialect::of(manifest.product).family != SqlFamily::Postgres {
        command.arg("--no-defaults");
    }
    command.arg("--version");
    let said = client::run(&mut command, None, &mut |_| {}).map_err(|error| ServerError {
        title: format!("{} does not run on this machine", root.join(&manifest.layout.server).display()),
        ..error
    })?;
    read_version(&said).ok_or_else(|| {
        ServerError::new(
            ErrorKind::Tool,
            format!("{} does not say its version", manifest.layout.server.display()),
        )
        .help(format!("it says: {}", said.trim()))
    })
}

/// `mysqld  Ver 10.1.23-MariaDB for Linux on x86_64`, `postgres (PostgreSQL) 18.4`
fn read_version(said: &str) -> Option<(Product, Version)> {
    let (product, rest) = match said.split_once("(PostgreSQL) ") {
        Some((_, rest)) => (Product::Postgres, rest),
        None if said.contains("MariaDB") => (Product::Mariadb, said.split_once("Ver ")?.1),
        None => (Product::Mysql, said.split_once("Ver ")?.1),
    };
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.trim_end_matches('.').parse().ok().map(|version| (product, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_what_they_are() {
        for (said, product, version) in [
            (
                "/x/mysqld  Ver 10.1.23-MariaDB for Linux on x86_64 (MariaDB Server)",
                Product::Mariadb,
                "10.1.23",
            ),
            (
                "/x/bin/mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
                Product::Mysql,
                "8.0.33",
            ),
            ("mysqld  Ver 5.6.24-log for Linux on x86_64 (Source distribution)", Product::Mysql, "5.6.24"),
            ("postgres (PostgreSQL) 18.4\n", Product::Postgres, "18.4"),
            ("postgres (PostgreSQL) 19beta1", Product::Postgres, "19"),
        ] {
            assert_eq!(read_version(said), Some((product, version.parse().unwrap())), "{said}");
        }
        assert_eq!(read_version("usage: x"), None);
    }
}
