//! What a case runs on: a product, a version and the settings that change its behaviour.
//!
//! `mysql@9.7?log_bin=OFF` is a [`Target`]: what the user asks for. `mysql?basedir=/opt/mysql` is a server that the user
//! unpacked or built, `mysql://user@host:3306` one that runs already. [`ServerInfo`] is what was found when that server
//! answered: its exact version and the settings that are really in force.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    named::stored_as_text,
    url::{BadUrl, Url},
};

stored_as_text!(Version, Target);

/// The products, a line for each: variant, name in targets and case files, and other names that are understood.
macro_rules! products {
    ($($(#[doc = $about:literal])* $product:ident $name:literal [$($alias:literal)*])+) => {
        /// A database product with a dialect of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Product {
            $($(#[doc = $about])* #[serde(rename = $name)] $product,)+
        }

        impl Product {
            /// All that a target can name.
            pub const ALL: [Product; [$($name),+].len()] = [$(Product::$product),+];

            /// Its name in targets and case files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Product::$product => $name,)+
                }
            }

            fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(Product::$product => &[$($alias),*],)+
                }
            }
        }
    };
}

products! {
    Mysql "mysql" []
    Mariadb "mariadb" []
    // The product's own name for itself is the longer one.
    Postgres "postgres" ["postgresql"]
    Sqlite "sqlite" []
    /// Isopod's own small engine, in process. It speaks MySQL's SQL and answers with MySQL's error numbers.
    Reference "reference" []
}

impl Product {
    /// The databases of others. The reference engine is no database that anybody wants to know about, so it stands in no
    /// list of those, and `--target all` does not mean it.
    pub fn databases() -> impl Iterator<Item = Product> {
        Product::ALL.into_iter().filter(|product| *product != Product::Reference)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Product {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let named = |product: &Product| {
            let mut names = [product.name()].into_iter().chain(product.aliases().iter().copied());
            names.any(|name| name.eq_ignore_ascii_case(text))
        };
        Product::ALL.into_iter().find(named).ok_or_else(|| BadTarget::Product(text.to_string()))
    }
}

/// A dotted version, complete or a prefix: `9.7`, `10.11.19`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub Vec<u32>);

impl Version {
    /// Is `self` this version, or a release of it? `10.11.19` is within `10.11`.
    pub fn within(&self, prefix: &Version) -> bool {
        self.0.len() >= prefix.0.len() && self.0[..prefix.0.len()] == prefix.0[..]
    }

    /// Is it this version or a later one, as far as both say? `8.0` counts as its newest release.
    pub fn since(&self, parts: &[u32]) -> bool {
        let n = self.0.len().min(parts.len());
        self.0[..n] >= parts[..n]
    }

    /// Compares only as many parts as both have: `10.11.19` against `10.11` is equal.
    pub fn cmp_prefix(&self, other: &Version) -> std::cmp::Ordering {
        let n = self.0.len().min(other.0.len());
        self.0[..n].cmp(&other.0[..n])
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.pad(&parts.join("."))
    }
}

impl FromStr for Version {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        text.split('.')
            .map(|part| part.parse().map_err(|_| BadTarget::Version(text.to_string())))
            .collect::<Result<_, _>>()
            .map(Version)
    }
}

/// Settings by name. Names are lower case with underscores; values keep their case.
pub type Settings = BTreeMap<String, String>;

/// What the user asks for: `mariadb@10.11?innodb_snapshot_isolation=ON`.
///
/// Written out it is the text that gives it again, without a password.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The product. Of an attached server that speaks MySQL's protocol it is known only once it has answered.
    pub product: Product,
    /// The version or version line; none means the newest that can be had.
    pub version: Option<Version>,
    /// Settings that the server is started with, or that are set in every session of an attached one.
    pub settings: Settings,
    pub place: Place,
}

/// Where a target's server is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In Isopod's cache; fetched when it is needed.
    #[default]
    Cache,
    /// In a folder of the user's, unpacked or built there. We start it.
    Folder(PathBuf),
    /// It runs already, and is not ours.
    Attached(Url),
}

impl Target {
    /// The same target without its settings.
    pub fn bare(&self) -> Target {
        Target { settings: Settings::new(), ..self.clone() }
    }

    /// Does it run already, started by somebody else?
    pub fn attached(&self) -> Option<&Url> {
        match &self.place {
            Place::Attached(url) => Some(url),
            Place::Cache | Place::Folder(_) => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, folder) = match &self.place {
            Place::Cache => (self.product.to_string(), None),
            Place::Folder(folder) => {
                (self.product.to_string(), Some(("basedir", folder.display().to_string())))
            }
            Place::Attached(url) => (format!("{}://{url}", self.product), None),
        };
        if let Some(version) = &self.version {
            text.push_str(&format!("@{version}"));
        }
        let settings = self.settings.iter().map(|(name, value)| (name.as_str(), value.clone()));
        for (i, (name, value)) in folder.into_iter().chain(settings).enumerate() {
            text.push_str(&format!("{}{name}={value}", if i == 0 { '?' } else { '&' }));
        }
        f.pad(&text)
    }
}

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let (server, query) = text.split_once('?').unwrap_or((text, ""));
        let mut settings = Settings::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let named = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty());
            let (name, value) = named.ok_or_else(|| match text.contains("://") {
                // It may be the second half of a password.
                true => BadTarget::Url(BadUrl("after `?` stand name=value, and in a password `?` is %3F")),
                false => BadTarget::Setting(pair.to_string()),
            })?;
            let name = name.to_ascii_lowercase().replace('-', "_");
            // Settings are shown; a password never is.
            if text.contains("://") && ["password", "passwd", "pwd"].iter().any(|word| name.ends_with(word)) {
                return Err(BadTarget::Url(BadUrl("a password cannot stand after `?`")));
            }
            settings.insert(name, value.to_string());
        }
        if let Some((product, url)) = server.split_once("://") {
            let url = url.parse().map_err(BadTarget::Url)?;
            return Ok(Target {
                product: product.parse()?,
                version: None,
                settings,
                place: Place::Attached(url),
            });
        }
        let (product, version) = match server.split_once('@') {
            Some((product, version)) => (product, Some(version.parse()?)),
            None => (server, None),
        };
        let place = match settings.remove("basedir") {
            Some(folder) => Place::Folder(folder.into()),
            None => Place::Cache,
        };
        Ok(Target { product: product.parse()?, version, settings, place })
    }
}

/// What a server said of itself when it was first asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub product: Product,
    /// Its exact version.
    pub version: Version,
    /// The version as the server words it, for people.
    pub version_text: String,
    /// Settings that change what it owes, with the values in force (`log_bin`, `innodb_snapshot_isolation`, ...).
    pub settings: Settings,
    /// What it was started with, if we started it: every flag, also those that change only durability or memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

impl ServerInfo {
    /// With the settings of its defaults.
    pub fn bare(product: Product, version: Version) -> ServerInfo {
        ServerInfo {
            product,
            version_text: version.to_string(),
            version,
            settings: Settings::new(),
            flags: Vec::new(),
        }
    }
}

/// The text names no target.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadTarget {
    /// No such product.
    #[error("`{0}` is not a product that Isopod knows; it knows {names}", names = names())]
    Product(String),
    #[error("`{0}` is not a version; write digits and dots, such as 10.11")]
    Version(String),
    #[error("`{0}` is not a setting; write name=value")]
    Setting(String),
    /// Not a server's address.
    #[error(transparent)]
    Url(BadUrl),
}

/// The products in a sentence.
fn names() -> String {
    let [all @ .., last] = Product::ALL.map(Product::name);
    format!("{} and {last}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_can_be_written_and_read_again() {
        for text in ["sqlite?x=://", "mysql@9.7?a-B=c", "mysql://u@[::1]:3306/db?x=1", "mysql?basedir=/a?b=c"]
        {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string().parse(), Ok(target), "{text}");
        }
        for text in ["sqlite?=a", "sqlite?=a&x=://", "sqlite? =a", "mysql://h?=a", "mysql://u@[]/db"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
