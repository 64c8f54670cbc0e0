//! `isopod selftest`: Isopod tested on a real server.

pub mod determinism;
pub mod differences;
pub mod expressions;
pub mod recovery;
pub mod resume;

/// Which test.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Run random cases twice, the second time in shuffled order, and compare the traces
    #[command(after_help = "\
Examples:
  isopod selftest determinism --target mariadb@10.11 --cases 10000
  isopod selftest determinism --target mysql@9.7 --level all --json

Exit code 1: two traces of a case differ and nothing that a server may choose explains it, or a
statement was said to wait and did not.")]
    Determinism(determinism::Args),
    /// Kill the server in the middle of a case, again and again, and see that the next case runs
    #[command(after_help = "\
Example:
  isopod selftest recovery --target mariadb@10.11 --times 20

Only servers that Isopod started itself are killed. Exit code 1: a trace did not say so, or a next
case did not run.")]
    Recovery(recovery::Args),
    /// Kill a hunt at random moments, resume it each time, and compare it with one that nobody killed
    #[command(after_help = "\
Example:
  isopod selftest resume --target 'reference?plant=aborted-read' --times 50

Exit code 1: a case was left out or done twice, or a finding was lost.")]
    Resume(resume::Args),
    /// Compute random expressions over random rows, here and on the server, and compare
    #[command(after_help = "\
Examples:
  isopod selftest expressions --target mysql@9.7 --cases 1000000
  isopod selftest expressions --target sqlite --json

Exit code 1: the server gave another value than the evaluator. What the evaluator left open is counted
by reason.")]
    Expressions(expressions::Args),
}

/// Runs it.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Determinism(args) => determinism::run(args),
        Command::Recovery(args) => recovery::run(args),
        Command::Resume(args) => resume::run(&args),
        Command::Expressions(args) => expressions::run(args),
    }
}
