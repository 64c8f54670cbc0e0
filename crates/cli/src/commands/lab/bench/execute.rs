//! `isopod bench execute`.

use lab::bench::execute::{Figures, Waits, measure};

use super::{
    super::{Form, code},
    place,
};
use crate::{
    arguments::{How, SettleBy, Where, count},
    errors::of_lab,
    output::say,
    targets::LocalServers,
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// How often each is measured; what is shown is the median
    #[arg(long, default_value_t = 50, value_parser = count)]
    turns: u64,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let other = other_way(&args.on.how);
    let servers = LocalServers(&other);
    args.form.on_each(&args.on, None, show, |lab, target| {
        // Of a server that somebody else started only the way that was asked for is sure to work.
        let other = target.attached().is_none().then_some(&servers as _);
        measure(lab, target, args.turns, other).map_err(of_lab)
    })?;
    Ok(code(false))
}

/// The other way to know that a statement waits.
fn other_way(how: &How) -> How {
    let settle = Some(match how.settle {
        None | Some(SettleBy::Proc) => SettleBy::Sql,
        Some(SettleBy::Sql) => SettleBy::Proc,
    });
    How { settle, ..how.clone() }
}

fn show(result: &Figures) {
    let place = place(result.pinned, result.realtime);
    say!("{} · settled by {} · {place}", result.server, result.settle);
    say!("  bare, one connection      {:>10.0} statements/s", result.bare_per_second);
    say!(
        "  through the executor      {:>10.0} statements/s   {:.2} of bare",
        result.executor_per_second,
        result.ratio
    );
    if result.waits.is_empty() {
        say!("  nothing waits here");
    }
    for Waits { settle, known_median_us: median, known_p99_us: p99 } in &result.waits {
        say!("  a wait is known after     {median:>10.0} us median, {p99:.0} us p99   by {settle}");
    }
    say!(
        "  reset                     {:>10.0} us clean, {:.0} us fast",
        result.reset_clean_us,
        result.reset_fast_us
    );
}
