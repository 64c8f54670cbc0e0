//! The `isopod` command: arguments to settings, one file per subcommand, and the only crate that prints.
//!
//! Exit codes: 0 nothing found, 1 something found, 2 the job could not be done.

mod arguments;
mod choice;
mod clock;
mod commands;
mod corpus;
mod errors;
mod files;
mod installing;
mod interrupt;
mod judged;
mod learned;
mod loading;
mod oracle_args;
mod output;
mod own_runs;
mod problems;
mod profiles;
mod progress;
mod targets;

use std::process::ExitCode;

use clap::Parser;

/// Judging allocates and frees small things all the time: with this a case takes three quarters of the time that it takes with
/// glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Hunts isolation bugs in databases.
#[derive(Parser)]
#[command(name = "isopod", version, about, long_about = None, max_term_width = 100, after_help = AFTER)]
struct Isopod {
    #[command(subcommand)]
    command: commands::Command,
}

const AFTER: &str = "\
Try:
  isopod hunt                                            20 seconds on embedded SQLite
  isopod hunt mariadb@10.11 --for 1m                     on a real server; it is fetched when missing
  isopod corpus test                                     the corpus on embedded SQLite
  isopod run FILE.iso --target mariadb@10.11 --level RR  one case, as a timeline
  isopod server list                                     which servers can be had here

Exit codes: 0 nothing found, 1 something found, 2 the job could not be done.";

fn main() -> ExitCode {
    // Our own binary is also the process that embedded engines run in and the one that keeps servers.
    let args = dbms::attach::secrets::take_arguments();
    match args.get(1).and_then(|arg| arg.to_str()) {
        Some("__sqlite") => {
            return dbms::sqlite::child::main(args.get(2).map_or("".as_ref(), |arg| arg.as_ref()));
        }
        Some("__keeper") => provision::supervisor_main(),
        _ => {}
    }
    let isopod = Isopod::try_parse_from(args).unwrap_or_else(|error| errors::exit(error));
    match commands::run(isopod.command) {
        Ok(_) if output::failed() => ExitCode::from(2),
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            errors::show(&error);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Isopod;

    /// What can be called: the subcommands that have none of their own, each with all of its words.
    fn leaves(command: &Command, words: &str, found: &mut Vec<String>) {
        let mut below = command.get_subcommands().filter(|one| one.get_name() != "help").peekable();
        if below.peek().is_none() {
            found.push(words.to_string());
        }
        below.for_each(|one| leaves(one, &format!("{words} {}", one.get_name()), found));
    }

    #[test]
    fn every_subcommand_is_in_the_readme() {
        let readme = include_str!("../../../README.md");
        let mut found = Vec::new();
        leaves(&Isopod::command(), "isopod", &mut found);
        assert!(found.len() > 20, "{found:?}");
        found.retain(|words| !readme.contains(words));
        assert!(found.is_empty(), "the README does not mention {found:?}");
    }
}
