//! Says what an installation is doing.

use provision::Progress;

use crate::progress::Line;

/// Does what installs something, and shows how far it is.
pub fn shown<T>(install: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
    let line = Line::new();
    let installed = install(&mut |event| say(&line, &event));
    line.end();
    installed
}

/// Shows one event. On a terminal all of them, in one line; elsewhere the milestones, and between them a line every ten
/// seconds.
fn say(line: &Line, event: &Progress) {
    match event {
        Progress::WaitForOther => line.say("another isopod installs the same; waiting for it".into()),
        Progress::Begin { line: name, origin } => {
            line.say(format!("{name} is not installed yet; installing it from {origin}"));
        }
        Progress::Lists => line.detail("fetching the lists of packages".into()),
        Progress::Found { version } => line.say(format!("fetching {version}")),
        Progress::Download { percent, bytes, rate, what } => {
            let percent = percent.map(|percent| format!("{percent}%  ")).unwrap_or_default();
            let tenth = |bytes: &u64| *bytes as f64 / 1e6;
            let come = format!("{:.1} MB, {:.1} MB/s", tenth(bytes), tenth(rate));
            line.detail(format!("fetching {percent}{come}  {what}").trim_end().to_string());
        }
        Progress::Retry { attempt, after, reason } => {
            line.say(format!("attempt {attempt} failed ({reason}); the next in {} s", after.as_secs()));
        }
        Progress::Unpack { done, of } => line.detail(format!("unpacking {done} of {of}")),
        Progress::Template => line.say("making the data folder that instances start from".into()),
        Progress::Done { version, bytes } => {
            line.say(format!("installed {version}, {} MB", bytes.div_ceil(1_000_000)))
        }
    }
}
