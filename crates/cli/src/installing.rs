//! Says what an installation is doing.

use dbms::servers::Progress;

use crate::progress::Line;

/// Shows one event. On a terminal all of them, in one line; elsewhere only the milestones.
pub fn say(line: &Line, event: &Progress) {
    match event {
        Progress::WaitForOther => line.say("another isopod installs the same; waiting for it".into()),
        Progress::Begin { line: name, origin } => {
            line.say(format!("{name} is not installed yet; installing it from {origin}"));
        }
        Progress::Lists => line.detail("fetching the lists of packages".into()),
        Progress::Found { version } => line.say(format!("fetching {version}")),
        Progress::Download { percent, what } => line.detail(format!("fetching {percent}%  {what}")),
        Progress::Retry { attempt, after, reason } => {
            line.say(format!("attempt {attempt} failed ({reason}); the next in {} s", after.as_secs()));
        }
        Progress::Unpack { done, of } => line.detail(format!("unpacking {done} of {of}")),
        Progress::Template => line.say("making the data folder that instances start from".into()),
        Progress::Done { version, bytes } => line.say(format!("installed {version}, {} MB", bytes >> 20)),
    }
}
