//! `isopod bench hunt`.

use lab::bench::hunt::{Figures, Plan, measure};

use super::{
    super::{Form, Generated, code},
    place,
};
use crate::{arguments::Where, errors::of_lab, output::say, targets};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    #[command(flatten)]
    cases: Generated<3000>,
    /// Use real-time priority where it is permitted, for both sides: less noise on a machine that does other things too. A
    /// hunt itself runs at ordinary priority
    #[arg(long)]
    realtime: bool,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    provision::share_session();
    let Generated { of, profile } = &args.cases;
    let profile = &profile.load()?;
    let plan = Plan { cases: of.cases, seed: of.seed, profile, realtime: args.realtime };
    args.form.on_each(&args.on, None, show, |lab, target| {
        targets::ensure_installed(target)?;
        measure(lab, &plan, target).map_err(of_lab)
    })?;
    Ok(code(false))
}

fn show(result: &Figures) {
    let place = place(result.pinned, result.realtime);
    say!(
        "{} · profile {} {} · settled by {} · {place}",
        result.server,
        result.profile,
        result.profile_hash,
        result.settle
    );
    say!("  {} cases, {} statements, {} waits", result.cases, result.statements, result.waits);
    say!(
        "  bare, one connection      {:>8.0} cases/s   resets and final states included",
        result.bare_per_second
    );
    say!("  the hunt's way            {:>8.0} cases/s   {:.2} of bare", result.hunt_per_second, result.ratio);
    say!(
        "    without knowing waits   {:>8.0} cases/s   {:.2} of bare",
        result.hunt_without_waits_per_second,
        result.ratio_without_waits
    );
    say!(
        "  a case takes {:.0} us to generate, {:.0} to reset, {:.0} for its steps, {:.0} to know its waits, {:.0} for the rest",
        result.generate_us,
        result.reset_us,
        result.steps_us,
        result.waits_us,
        result.rest_us
    );
    say!(
        "  workers                   {:>8.0} cases/s by one, {:.0} by two",
        result.one_worker_per_second,
        result.two_workers_per_second
    );
}
