//! Which servers can be had, and where each comes from: data, and the search in it.
//!
//! A line such as `mariadb@10.11` is a branch of a product. To offer another one, add a row to [`LINES`].

use model::{Product, Target, Version};

use super::error::{ErrorKind, Result, ServerError};

/// A branch of a product that can be installed.
#[derive(Debug)]
pub struct Line {
    /// The product.
    pub product: Product,
    version: &'static str,
    /// What an installation takes at its fullest moment, in MiB.
    pub room: u64,
    /// Where it comes from.
    pub source: Source,
}

/// Where the packages of a line come from.
#[derive(Debug)]
pub enum Source {
    /// A suite of the Debian archive that the machine's apt is configured for.
    Debian {
        /// `bookworm`
        suite: &'static str,
        /// Does the suite have `-updates` and `-security` beside it? A rolling suite has not.
        stable: bool,
        /// The package that holds the server: fetched with everything that it depends on.
        server: &'static str,
        /// Packages of which only the files are wanted, not what they depend on.
        alone: &'static [&'static str],
    },
}

/// Every line, in the order in which they are listed; within a product the newest comes last.
const LINES: &[Line] = &[
    Line {
        product: Product::Mariadb,
        version: "10.11",
        room: 350,
        // mariadb-server is wanted for the SQL files that make the system tables; its scripts drag in much else.
        source: Source::Debian {
            suite: "bookworm",
            stable: true,
            server: "mariadb-server-core",
            alone: &["mariadb-server"],
        },
    },
    Line {
        product: Product::Mysql,
        version: "9.7",
        room: 600,
        source: Source::Debian { suite: "sid", stable: false, server: "mysql-server-core", alone: &[] },
    },
];

/// All lines.
pub fn lines() -> &'static [Line] {
    LINES
}

impl Line {
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
        }
    }

    /// Does its source go on to other versions by itself?
    pub fn rolls(&self) -> bool {
        match &self.source {
            Source::Debian { stable, .. } => !stable,
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
}

/// The newest line that fits a target.
pub fn find(target: &Target) -> Result<&'static Line> {
    LINES
        .iter()
        .filter(|line| line.fits(target))
        .max_by_key(|line| line.version())
        .ok_or_else(|| unknown(target))
}

/// The message for a version that nobody offers.
pub fn unknown(target: &Target) -> ServerError {
    let asked = target.bare();
    let mut offered: Vec<&Line> = LINES.iter().filter(|line| line.product == target.product).collect();
    offered.sort_by_key(|line| line.version());
    let error = ServerError::new(ErrorKind::UnknownVersion, format!("{asked} cannot be installed here"));
    if offered.is_empty() {
        let products: Vec<String> = LINES.iter().map(Line::name).collect();
        return error.help(format!("available: {}", products.join(", ")));
    }
    let names: Vec<String> = offered.iter().map(|line| line.name()).collect();
    error
        .help(format!("available: {}", names.join(", ")))
        .help("what is installed and what else can be had: isopod server list")
        .help(format!("to use a server of your own: --target {0}://user@host:port, or '{0}?basedir=DIR'", target.product))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(target: &str) -> std::result::Result<String, String> {
        find(&target.parse().unwrap()).map(Line::name).map_err(|e| format!("{e}\n{}", e.help.join("\n")))
    }

    #[test]
    fn a_target_finds_its_line() {
        for asked in ["mysql", "mysql@9", "mysql@9.7", "mysql@9.7.4?log_bin=OFF"] {
            assert_eq!(found(asked).as_deref(), Ok("mysql@9.7"), "{asked}");
        }
        assert_eq!(found("mariadb").as_deref(), Ok("mariadb@10.11"));
        assert_eq!(found("mysql@9.8").as_deref(), Ok("mysql@9.7"), "the rolling suite may have it by now");
        assert!(found("mariadb@10.12").is_err());
    }

    #[test]
    fn an_unknown_version_says_what_there_is() {
        assert_eq!(
            found("mysql@8.0?log_bin=OFF"),
            Err("mysql@8.0 cannot be installed here\navailable: mysql@9.7\n\
                 what is installed and what else can be had: isopod server list\n\
                 to use a server of your own: --target mysql://user@host:port, or 'mysql?basedir=DIR'"
                .to_string())
        );
        assert!(found("mariadb@10.110").is_err());
        assert!(found("sqlite").is_err());
    }
}
