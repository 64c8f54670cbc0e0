//! `isopod corpus`: the built-in cases. `test` knows for each case, target, setting and level whether it must pass or
//! is known to fail, and fails on either surprise; `bisect` asks in which version a case changed its ways.

mod bisect;
mod summary;
mod test;

use crate::{
    corpus,
    output::{self, say},
};

/// What to do with the corpus.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Show the built-in cases: their names, titles and links
    #[command(after_help = "\
Examples:
  isopod corpus list                    all of them
  isopod corpus list mdev write-skew    those with such a name or link
  isopod corpus list own-writes-visible --show > my.iso")]
    List(ListArgs),
    /// Run the built-in cases; exit code 0 only without a surprise in either direction
    #[command(after_help = "\
Examples:
  isopod corpus test                                        on embedded SQLite
  isopod corpus test mdev-32898 --target mysql@9.7 --show   one case, with its timelines
  isopod corpus test --target mariadb@10.11 --target mysql@9.7 --repeat 20
  isopod corpus test --target all --repeat 20 --table corpus.md

Each target is tested under the settings that matter to it (binary log on and off, snapshot
isolation on and off, journal mode), unless the target sets them or --as-is is given. `all` are the
servers that are installed, and SQLite. Exit code 0 only if every case came out as its file says:
as it should, or as it is known to fail.")]
    Test(test::Args),
    /// Say in which version the behaviour of a case changed
    #[command(after_help = "\
Examples:
  isopod corpus bisect mdev-33802                            on every installed version of its products
  isopod corpus bisect mdev-33802 --product mariadb --level SER
  isopod corpus bisect my.iso --from mysql@5.6 --to mysql@9.7
  isopod corpus bisect mdev-32898 --from 'mariadb@10.11?innodb_snapshot_isolation=OFF' \\
                                  --to 'mariadb@11.8?innodb_snapshot_isolation=OFF'

Every installed version from the first to the last is run, in order; nothing is halved, because what
changed once may change back. The ends are installed if they are missing, those between are not.
Settings of one end hold for all; ends with different settings are compared with each other only, and
so is a server of your own.
Exit code 0: no change, 1: a change, 2: it could not be said.")]
    Bisect(Box<bisect::Args>),
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// Only cases whose name or link holds one of these
    words: Vec<String>,
    /// Print the case files themselves
    #[arg(long)]
    show: bool,
}

pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::List(args) => list(args),
        Command::Test(args) => test::run(args),
        Command::Bisect(args) => bisect::run(&args),
    }
}

fn list(args: ListArgs) -> anyhow::Result<u8> {
    let entries = corpus::matching(&args.words)?;
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    for entry in &entries {
        if args.show {
            output::data(&format!("-- {}\n{}", entry.name, entry.text.trim_end()));
            if entries.len() > 1 {
                say!("");
            }
            continue;
        }
        let links = if entry.case.links.is_empty() {
            String::new()
        } else {
            format!("  [{}]", entry.case.links.join(", "))
        };
        say!("{:width$}  {}{links}", entry.name, entry.case.title);
    }
    Ok(0)
}
