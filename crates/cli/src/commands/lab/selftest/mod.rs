//! `isopod selftest`: Isopod tested on a real server.

mod determinism;
mod expressions;
mod fuzz;
mod hostile;
mod levels;
mod mutation;
mod oracles;
mod proxy;
mod recovery;
mod resume;

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
    /// Change files, statements and messages of others at random, and see that nothing that reads them breaks
    #[command(after_help = "\
Examples:
  isopod selftest fuzz --inputs 1000000
  isopod selftest fuzz --only sql,case --seed 7 --out failing
  isopod selftest fuzz --seeds fuzz/corpus            what cargo-fuzz begins with

Kinds: case files; sql of every product; json of every file of a run; targets and addresses; option files of
clients; the status of InnoDB; packets of MySQL; frames of the process with SQLite; whole runs, judged and
reported. An input follows from the seed and its number. Exit code 1: something panicked, was read back
otherwise than written, or took longer than a second.")]
    Fuzz(fuzz::Args),
    /// Make accepted traces wrong in one place each, and see whether the oracle notices
    #[command(after_help = "\
Examples:
  isopod selftest mutation --target mariadb@10.11 --cases 10000
  isopod selftest mutation --target reference --level RR --oracle model --show 20
  isopod selftest mutation --traces runs/1 --accepted 10000

Rows are dropped, values of another version put in, counts changed by one, waits dropped and added.
Exit code 1: less than 95% of the mutants were called violated or suspected to lack a lock.")]
    Mutation(mutation::Args),
    /// Plant every bug in Isopod's own engine and let a hunt find it; then hunt there without one
    #[command(after_help = "\
Examples:
  isopod selftest oracles
  isopod selftest oracles --bug lost-update --bug write-skew --cases 5000
  isopod selftest oracles --oracle model --level RR --json

Exit code 1: a bug was not caught, or something was found in the engine without a bug.")]
    Oracles(oracles::Args),
    /// Lie to the oracles about the level at which a server ran, and see whether they find out
    #[command(after_help = "\
Examples:
  isopod selftest levels --target mysql@9.7 --cases 20000
  isopod selftest levels --target 'mariadb@11.8?innodb_snapshot_isolation=OFF' --judge-as snapshot_isolation=ON
  isopod selftest levels --target mariadb@10.11.5 --judge-as 10.11.19

READ UNCOMMITTED is judged as READ COMMITTED, that as REPEATABLE READ, and that as SERIALIZABLE.
Exit code 1: a lie was not found out.")]
    Levels(levels::Args),
    /// Put a proxy that lies between a hunt and a real server, and see whether the hunt finds out
    #[command(after_help = "\
Examples:
  isopod selftest proxy --list
  isopod selftest proxy --target mariadb@10.11 --lie honest,row-dropped,count-plus-1 --cases 500
  isopod selftest proxy --target mysql@9.7 --level RR --often 50 --json

The server is a throw-away one, and the hunt attaches to the proxy as to a server of yours. A finding is
the lie's doing if a lie is told when its case is run again and the server alone does not show it.
Exit code 1: a lie that is judged was missed, never told, or hidden under known names in more cases than it
was new in; or the honest proxy made something new.")]
    Proxy(proxy::Args),
    /// Run a case on servers that send garbage, too much, too little or without end, and see that Isopod ends in time
    #[command(after_help = "\
Examples:
  isopod selftest hostile
  isopod selftest hostile --talks 1000 --workers 4
  isopod selftest hostile --only 'endless rows'

The servers are Isopod's own, on 127.0.0.1, and speak the protocols of MySQL and PostgreSQL. First come the scenes
that have names, then honest talks that are cut after each byte, in turn with some that are drawn. Exit code 1: a run of Isopod took longer than --limit or more than
500 MB of memory, ended by a signal, a panic or with the wrong exit code, sent the password in clear or printed it.")]
    Hostile(hostile::Args),
}

pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Determinism(args) => determinism::run(&args),
        Command::Recovery(args) => recovery::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Expressions(args) => expressions::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Mutation(args) => mutation::run(&args),
        Command::Oracles(args) => oracles::run(&args),
        Command::Levels(args) => levels::run(&args),
        Command::Proxy(args) => proxy::run(&args),
        Command::Hostile(args) => hostile::run(&args),
    }
}
