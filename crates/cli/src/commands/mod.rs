//! The subcommands, one file each.

pub mod corpus;
pub mod demo;
pub mod fmt;
pub mod generate;
pub mod hunt;
pub mod judge;
pub mod lab;
pub mod reduce;
pub mod report;
pub mod run;
pub mod server;
pub mod where_else;

/// What to do.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Hunt: make cases that collide, run them on all CPUs, keep what is wrong
    Hunt(hunt::Args),
    /// Run case files and show what happened as a timeline
    Run(run::Args),
    /// Judge stored traces again, without a server
    Judge(judge::Args),
    /// Make a case smaller that an oracle complains about
    Reduce(reduce::Args),
    /// Where else: a case at all levels, on all installed versions
    Where(where_else::Args),
    /// Write the pages of a run: findings with timelines, Markdown for bug trackers, scripts
    Report(report::Args),
    /// See a bug in Isopod's own engine found: planted by name, nothing to install
    Demo(demo::Args),
    /// List or test the built-in cases
    #[command(subcommand)]
    Corpus(corpus::Command),
    /// Install, start and stop real servers, without root
    #[command(subcommand)]
    Server(server::Command),
    /// Make random cases that conflict, the same for the same seed
    Generate(generate::Args),
    /// Put case files into their usual layout
    Fmt(fmt::Args),
    /// Test Isopod itself on a real server
    #[command(subcommand)]
    Selftest(lab::selftest::Command),
    /// Measure Isopod against the bare server
    #[command(subcommand)]
    Bench(lab::bench::Command),
}

/// Does it. The number is the exit code.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Hunt(args) => hunt::run(args),
        Command::Run(args) => run::run(args),
        Command::Judge(args) => judge::run(&args),
        Command::Reduce(args) => reduce::run(&args),
        Command::Where(args) => where_else::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Corpus(command) => corpus::run(command),
        Command::Server(command) => server::run(command),
        Command::Generate(args) => generate::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Selftest(command) => lab::selftest::run(command),
        Command::Bench(command) => lab::bench::run(command),
    }
}
