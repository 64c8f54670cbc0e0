//! `isopod bench`: Isopod measured against the bare server.

mod execute;
mod fold;
mod fold_table;
mod hunt;
mod judge;
mod oracles;
mod reduce;
mod reduce_table;
mod strategies;

/// What to measure.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Measure statements without waits against the bare wire, how fast a wait is known, and what each reset costs
    #[command(after_help = "\
Example:
  isopod bench execute --target mariadb@10.11 --target mysql@9.7

What it costs to know that a statement waits is measured for both ways, --settle proc and sql. Times
depend on the machine and on what else it does; the ratio to the bare wire much less so.")]
    Execute(execute::Args),
    /// Fold the findings of many runs by signature, and see that the groups are the true families
    #[command(after_help = "\
Example:
  for seed in 1 2 3; do isopod hunt mariadb@10.11 --for 15s --seed $seed --keep 3 --out runs/$seed; done
  isopod bench fold runs/*

The true family of a finding is found out without its signature: by what explains the case as it was
before it was reduced, judged afresh on a new server with its twin; and, where nothing explains it,
by where it is wrong over all installed versions and levels. Exit code 1 if a group mixes two families,
or if a family is in more than two groups.")]
    Fold(fold::Args),
    /// Measure generated cases, executed and reset, against the same statements sent bare
    #[command(after_help = "\
Example:
  isopod bench hunt --target mariadb@10.11 --cases 5000

Bare means: one connection, one transaction after the other, the same resets and the same queries of the
final state, in turns with the hunt's own way on the same server and CPU. What it takes to know that
statements wait, which nothing bare has to know, is shown apart.")]
    Hunt(hunt::Args),
    /// Measure how many cases an oracle judges per second of CPU time, on traces in memory
    #[command(after_help = "\
Example:
  isopod hunt --target mariadb@10.11 --cases 5000 --keep-traces --out runs/1
  isopod bench judge runs/1

The traces are read before the clock starts and judged in the order in which they were kept, as a hunt
does; every round begins with an oracle that remembers nothing. CPU time is that of the one thread that
judges, so what else the machine does hardly counts.")]
    Judge(judge::Args),
    /// Compare the oracles on the same cases: what they decide, what they find, what they cost
    #[command(after_help = "\
Example:
  isopod bench oracles --target mariadb@10.11 --cases 1000

Each case is executed once and then judged by every oracle in turn. `vote` is what a hunt asks: the model
on all cases, the decoupled run on those that call for it and on one in fifty of the rest.")]
    Oracles(oracles::Args),
    /// Make the cases of findings smaller, with each strategy, and see that they stay the same bug
    #[command(after_help = "\
Example:
  isopod hunt mariadb@10.11 --for 60s --no-reduce --keep 50 --out runs/1
  isopod bench reduce runs/1

Sizes before and after, the share of smaller cases that worked for each strategy over time, and what
explains each case before and after, judged afresh: with the fingerprint held fixed, and without it.")]
    Reduce(reduce::Args),
    /// Compare the ways to make transactions collide with each other and with none
    #[command(after_help = "\
Example:
  isopod bench strategies --target mariadb@10.11 --seeds 10 --cases 100

Each strategy alone, over several seeds, in the same number of cases: cases that truly conflicted,
opportunities for each known family, and distinct pairs of statements that met, with their level.")]
    Strategies(strategies::Args),
}

/// Where worker and server ran.
fn place(pinned: bool, realtime: bool) -> &'static str {
    match (pinned, realtime) {
        (true, true) => "one CPU, real-time priority",
        (true, false) => "one CPU",
        (false, _) => "not pinned",
    }
}

pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Execute(args) => execute::run(&args),
        Command::Fold(args) => fold::run(&args),
        Command::Hunt(args) => hunt::run(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Oracles(args) => oracles::run(&args),
        Command::Reduce(args) => reduce::run(&args),
        Command::Strategies(args) => strategies::run(&args),
    }
}
