//! `isopod hunt`: makes cases that collide, runs them on all CPUs, and keeps what is wrong.

mod arguments;
mod junit;
mod progress;
mod resolve;
mod summary;
mod verdicts;

pub use arguments::{Args, seconds};

use campaign::TimedEvent;
use model::TargetSummary;

use crate::{
    errors::Advised,
    interrupt,
    output::{self, plural},
    targets::LocalServers,
};

pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    provision::share_session();
    let servers = LocalServers(&args.how);
    let campaign = resolve::resolve(&args, &servers)?;
    // Was nothing said, so that the summary should tell what else there is?
    let by_default =
        args.resume.is_none() && args.targets.is_empty() && args.time.is_none() && args.cases.is_none();
    if !args.json {
        summary::head(&campaign, by_default);
    }
    let mut shown = progress::HuntProgress::new(&campaign.settings, args.json);
    let summary = campaign::hunt(&campaign, &mut |event: &TimedEvent| shown.show(event));
    shown.end();
    let summary = summary.map_err(|error| {
        Advised::new(
            error.to_string(),
            [format!("when that is mended: {}", resolve::resume_command(campaign.folder.path()))],
        )
    })?;
    campaign.folder.write("junit.xml", junit::junit(&summary)?.as_bytes())?;
    output::show(args.json, &summary, |summary| summary::show(&campaign, summary, by_default))?;
    let lost = |hunted: &TargetSummary| Some(format!("{}: {}", hunted.target, hunted.lost.as_ref()?));
    let advice: Vec<String> = summary.targets.iter().filter_map(lost).collect();
    if !advice.is_empty() {
        let (what, was) =
            (plural(advice.len() as u64, "target"), if advice.len() == 1 { "was" } else { "were" });
        anyhow::bail!(Advised::new(format!("{what} {was} abandoned"), advice));
    }
    let found = match args.fail_on {
        arguments::FailOn::Any => !summary.findings.is_empty(),
        arguments::FailOn::New => summary.new_ones().next().is_some(),
    };
    Ok(u8::from(found))
}
