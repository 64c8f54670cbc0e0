//! Arguments that several subcommands share: where to run, at which level, and how.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use execute::{Options, Placement, Reset};
use model::{Level, Product};

use crate::{choice::Choice, errors::Advised, output::short};

/// Where and how cases run.
#[derive(Args, Clone, Debug)]
pub struct Where {
    /// A server: sqlite, mariadb@10.11, postgres@18, with settings 'mysql@9.7?log_bin=OFF', one that runs already:
    /// mysql://user@host:port; or all that are installed. May be given several times
    #[arg(long = "target", short = 't', value_name = "TARGET", default_value = "sqlite")]
    pub chosen: Vec<Choice>,

    /// Run the one target in this folder, where its server was unpacked or built: --target mysql --basedir /opt/mysql
    #[arg(long, value_name = "DIR")]
    pub basedir: Option<PathBuf>,

    #[command(flatten)]
    pub how: How,
}

/// How cases run.
#[derive(Args, Clone, Debug)]
pub struct How {
    /// How it is known that a statement waits: the server's threads in /proc (by default on servers that Isopod
    /// starts), or its lock tables (on others)
    #[arg(long, value_enum)]
    pub settle: Option<SettleBy>,

    /// The cases are trusted: they may reach files, programs and other servers (COPY ... PROGRAM, INTO OUTFILE, ATTACH); on a
    /// server that is not ours, too, they may name other schemas and do what Isopod cannot read
    #[arg(long)]
    pub trust: bool,

    /// Do not pin Isopod and its server to one CPU (and use no real-time priority)
    #[arg(long)]
    pub no_pin: bool,

    /// Use no real-time priority, even where it is permitted
    #[arg(long)]
    pub no_realtime: bool,

    /// A statement that neither answers completely nor waits for so many seconds is hung and is killed
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = count)]
    pub hung_after: u64,
}

/// How waits are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SettleBy {
    /// By the server's own threads in /proc: certain and fast; the server runs on this machine
    Proc,
    /// By the server's lock tables, with a search for cycles: works anywhere, slower
    Sql,
}

impl How {
    pub fn placement(&self) -> Placement {
        Placement { pin: !self.no_pin, realtime: !self.no_pin && !self.no_realtime, cpu: None }
    }

    pub fn options(&self, reset: Reset) -> Options {
        Options { reset, hung_after: Duration::from_secs(self.hung_after), ..Options::default() }
    }
}

/// Reads a number of times, cases, seconds: at least one.
pub fn count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".into()),
        Ok(count) => Ok(count),
        Err(_) => Err("it must be a whole number, at least 1".into()),
    }
}

/// One level, or all that the product has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    One(Level),
    All,
}

/// Reads `RR` or `all`.
pub fn levels(text: &str) -> Result<Levels, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(Levels::All);
    }
    text.parse().map(Levels::One).map_err(|error: model::level::UnknownLevel| format!("{error}, or all"))
}

impl Levels {
    /// The levels chosen, or the product's default.
    pub fn or_default(chosen: Option<Levels>, product: Product) -> anyhow::Result<Vec<Level>> {
        chosen.unwrap_or(Levels::One(dialect::of(product).default_level)).on(product)
    }

    /// The levels to run at on this product; an error if it does not have the one asked for.
    pub fn on(self, product: Product) -> anyhow::Result<Vec<Level>> {
        let dialect = dialect::of(product);
        match self {
            Levels::All => Ok(dialect.levels.to_vec()),
            Levels::One(level) if dialect.levels.contains(&level) => Ok(vec![level]),
            Levels::One(level) => Err(Advised::new(
                format!("{product} has no level {level}"),
                [format!("its levels: {} (or --level all)", short(dialect.levels, ", "))],
            )
            .into()),
        }
    }
}
