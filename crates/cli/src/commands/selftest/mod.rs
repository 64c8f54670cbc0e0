//! `isopod selftest`: Isopod tested on a real server.

pub mod determinism;
pub mod differences;
pub mod recovery;

/// Which test.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Run random cases twice, the second time in shuffled order, and compare the traces
    Determinism(determinism::Args),
    /// Kill the server in the middle of a case, again and again, and see that the next case runs
    Recovery(recovery::Args),
}

/// Runs it.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Determinism(args) => determinism::run(args),
        Command::Recovery(args) => recovery::run(args),
    }
}
