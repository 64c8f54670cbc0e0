//! What `--target` may say: one target, or `all` that are installed.

use std::{path::Path, str::FromStr};

use dialect::Hosting;
use model::{Place, Product, Target, shell::quoted, target::Settings};
use provision::Store;

use crate::{
    arguments::{Levels, Where},
    errors::Advised,
    output::tell,
    targets,
};

/// What one `--target` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    One(Target),
    /// Every server that is installed, and the embedded ones.
    All,
}

impl FromStr for Choice {
    type Err = model::target::BadTarget;

    fn from_str(text: &str) -> Result<Choice, Self::Err> {
        if text.eq_ignore_ascii_case("all") { Ok(Choice::All) } else { text.parse().map(Choice::One) }
    }
}

/// What is there to choose from.
pub struct Choices {
    /// Everything that is installed, with its exact version, and what is embedded: by product and version.
    pub here: Vec<Target>,
    /// Names of what could be had beside it, here.
    pub more: Vec<String>,
}

/// Looks into the cache. Nothing is installed by this.
pub fn choices() -> anyhow::Result<Choices> {
    let store = Store::open().map_err(Advised::from)?;
    let child = |product: &Product| dialect::of(*product).runs == Hosting::Child;
    let mut here: Vec<Target> =
        Product::databases().filter(child).map(|product| plain(product, None)).collect();
    let mut more = Vec::new();
    for listed in store.list() {
        if listed.installed.is_empty() && listed.obstacle.is_none() {
            more.push(listed.line.name().to_string());
        }
        let exact = |version| plain(listed.line.product, Some(version));
        here.extend(listed.installed.iter().map(|installed| exact(installed.version().clone())));
    }
    here.sort();
    Ok(Choices { here, more })
}

/// What runs everywhere without being installed.
pub fn embedded() -> Target {
    plain(dialect::sqlite::DIALECT.product, None)
}

fn plain(product: Product, version: Option<model::Version>) -> Target {
    Target { product, version, settings: Settings::new(), place: Place::Cache }
}

impl Where {
    pub fn all(&self) -> bool {
        self.chosen.contains(&Choice::All)
    }

    /// The targets that were chosen, each once, at the level chosen. Servers that run already are asked what they are. A
    /// target that does not have the level is an error if it was named, and is left out with a note if it is one of `all`.
    pub fn targets(&self, level: Option<Levels>) -> anyhow::Result<Vec<Target>> {
        if let Some(folder) = &self.basedir {
            let target = self.in_folder(folder)?;
            Levels::or_default(level, target.product)?;
            return Ok(vec![target]);
        }
        let mut found: Vec<Target> = Vec::new();
        for choice in &self.chosen {
            let new = match choice {
                Choice::One(target) => {
                    let target = targets::resolve(target)?;
                    Levels::or_default(level, target.product)?;
                    vec![target]
                }
                Choice::All => self.installed(level)?,
            };
            for target in new {
                if !found.contains(&target) {
                    found.push(target);
                }
            }
        }
        Ok(found)
    }

    /// `--target mysql --basedir DIR` is another way to write `--target 'mysql?basedir=DIR'`.
    fn in_folder(&self, folder: &Path) -> anyhow::Result<Target> {
        match self.chosen.as_slice() {
            [Choice::One(target)]
                if target.place == Place::Cache
                    && target.version.is_none()
                    && dialect::of(target.product).runs == Hosting::Server =>
            {
                let place = Place::Folder(std::path::absolute(folder)?);
                let target = Target { place, ..target.clone() };
                // It is stored with what it finds.
                match target.to_string().parse() {
                    Ok(back) if target == back => Ok(target),
                    _ => Err(Advised::new(
                        format!("the path {} cannot be written as part of a target", folder.display()),
                        ["a link to it without `&` in its name will do"],
                    )
                    .into()),
                }
            }
            _ => Err(Advised::new(
                "--basedir goes with one --target that is a product without a version",
                [format!("write --target mysql --basedir {}", quoted(&folder.display().to_string()))],
            )
            .into()),
        }
    }

    fn installed(&self, level: Option<Levels>) -> anyhow::Result<Vec<Target>> {
        let Choices { mut here, more } = choices()?;
        if !more.is_empty() {
            tell!(
                "note: all means the {} that are here; {} more can be had: isopod server list",
                here.len(),
                more.len()
            );
        }
        let has = |product: Product| Levels::or_default(level, product).is_ok();
        let mut without: Vec<&str> = here
            .iter()
            .map(|target| target.product)
            .filter(|&product| !has(product))
            .map(Product::name)
            .collect();
        without.dedup();
        if !without.is_empty() {
            tell!("note: {} does not have this level and is left out", without.join(", "));
        }
        here.retain(|target| has(target.product));
        Ok(here)
    }
}
