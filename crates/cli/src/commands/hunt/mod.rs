//! `isopod hunt`: makes cases that collide, runs them on all CPUs, and keeps what is wrong.

mod arguments;
mod progress;
mod resolve;
mod summary;
mod verdicts;

pub use arguments::{Args, seconds};

use campaign::{Campaign, TimedEvent};
use model::TargetSummary;

use crate::{
    errors::Advised,
    interrupt,
    output::{plural, say},
    targets::LocalServers,
};

pub fn run(args: Args) -> anyhow::Result<u8> {
    interrupt::listen();
    provision::share_session();
    let resolved = resolve::resolve(&args)?;
    let campaign = Campaign {
        panel: resolved.panel,
        settings: resolved.settings,
        folder: resolved.folder,
        profile: resolved.profile,
        known: resolved.known,
        servers: &LocalServers(&args.how),
        stop: &interrupt::asked,
    };
    if !args.json {
        summary::head(&campaign, resolved.by_default);
    }
    let mut shown = progress::Shown::new(&campaign.settings, args.json);
    let summary = campaign::hunt(&campaign, &mut |event: &TimedEvent| shown.show(event));
    shown.end();
    let summary = summary.map_err(|error| Advised {
        message: error.to_string(),
        advice: vec![format!(
            "when that is mended: isopod hunt --resume {}",
            campaign.folder.path().display()
        )],
    })?;
    campaign.folder.write("junit.xml", summary::junit(&summary)?.as_bytes())?;
    if args.json {
        say!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        summary::show(&campaign, &summary, resolved.by_default);
    }
    let lost = |hunted: &TargetSummary| Some(format!("{}: {}", hunted.target, hunted.lost.as_ref()?));
    let advice: Vec<String> = summary.targets.iter().filter_map(lost).collect();
    if !advice.is_empty() {
        let (what, was) =
            (plural(advice.len() as u64, "target"), if advice.len() == 1 { "was" } else { "were" });
        return Err(Advised { message: format!("{what} {was} abandoned"), advice }.into());
    }
    let found = match args.fail_on {
        arguments::FailOn::Any => !summary.findings.is_empty(),
        arguments::FailOn::New => summary.new_ones().next().is_some(),
    };
    Ok(u8::from(found))
}
