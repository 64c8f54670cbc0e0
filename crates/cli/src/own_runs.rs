//! Run folders of others: what they name is started only if the user says so.
//!
//! A run folder says on which targets to go on, and a target may be a program in some folder, a server with settings that run programs, or an
//! address that gets the user's password. So a run that is begun here is marked with a code of its settings under a key of this user, which
//! never leaves the cache folder. Whose files they are decides nothing: an archive belongs to whoever unpacked it.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use campaign::{RunReader, RunWriter};
use dialect::Hosting;
use model::{Place, Target, shell};
use provision::{Store, checksum::hex};
use sha2::{Digest, Sha256};

use crate::errors::Advised;

/// In the folder of a run: `format 1` and the code.
const MARK: &str = "mark";

/// In the cache folder.
const KEY: &str = "run-key";

const BYTES: usize = 32;

/// Marks a run that has just begun. Without a key it stays without a mark, and counts as somebody else's.
pub fn mark(run: &RunWriter) -> anyhow::Result<()> {
    if let Some(code) = code(run.path()) {
        run.write(MARK, code.as_bytes())?;
    }
    Ok(())
}

fn is_own(run: &Path) -> bool {
    let mark = fs::read_to_string(run.join(MARK)).ok();
    mark.is_some() && mark == code(run)
}

/// The code of the settings of a run.
fn code(run: &Path) -> Option<String> {
    let settings = fs::read(run.join("settings.json")).ok()?;
    Some(format!("format 1 {}\n", hex(&hmac(&key()?, &settings))))
}

/// HMAC with SHA-256 (RFC 2104); the key is shorter than a block.
fn hmac(key: &[u8; BYTES], text: &[u8]) -> Vec<u8> {
    let padded = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}

/// The key of this user, made when it is needed first. One that others could read or have made is none.
fn key() -> Option<[u8; BYTES]> {
    let path = Store::open().ok()?.root().join(KEY);
    let mut key = [0; BYTES];
    if let Ok(mut file) = File::options().write(true).create_new(true).mode(0o600).open(&path) {
        File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut key)).ok()?;
        file.write_all(&key).ok()?;
        return Some(key);
    }
    let found = fs::symlink_metadata(&path).ok()?;
    let ours = found.uid() == fs::metadata("/proc/self").ok()?.uid();
    let closed = found.is_file() && found.mode() & 0o077 == 0;
    let bytes = (ours && closed).then(|| fs::read(&path).ok()).flatten()?;
    bytes.try_into().ok()
}

/// Refuses a run of somebody else that would start a program or connect to an address of his choice. Of its targets those count that
/// are `used`; `command` is what goes on with it.
pub fn check(
    run: &RunReader,
    trust: bool,
    used: impl Fn(&Target) -> bool,
    command: &[&str],
) -> anyhow::Result<()> {
    if trust {
        return Ok(());
    }
    let own = is_own(&run.path);
    let hunted: BTreeSet<&Target> = run.settings.targets.iter().map(|hunted| &hunted.target).collect();
    let of_settings = hunted.iter().filter(|_| !own).map(|target| (*target).clone());
    // The mark is one of the settings. Findings were made on those targets, with settings that we draw.
    let of_findings = run.findings.iter().map(|recorded| {
        let finding = &recorded.finding;
        let known = own && hunted.contains(&finding.target);
        let bare = Target { settings: Default::default(), place: Place::Cache, ..finding.target.clone() };
        let rest = if known { bare } else { finding.target.clone() };
        let mut settings = rest.settings.clone();
        settings.extend(finding.drawn.clone());
        Target { settings, ..rest }
    });
    let would: BTreeSet<String> = of_settings
        .chain(of_findings)
        .filter(|target| used(target))
        .flat_map(|target| starts(&target))
        .collect();
    if would.is_empty() {
        return Ok(());
    }
    let again = shell::command(command.iter().copied().chain(["--trust"]));
    let lines = would.into_iter().map(|line| format!("it would {line}"));
    let advice = lines.chain([format!("if you trust whoever made it: {again}")]);
    let title = format!("{} is not a run that was begun here by you", run.path.display());
    Err(Advised::new(title, advice).into())
}

/// The same for several runs, whose findings are run again. What is no run is named by whoever reads it.
pub fn check_all(runs: &[PathBuf], trust: bool, command: &[&str]) -> anyhow::Result<()> {
    let names: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    let command: Vec<&str> = command.iter().copied().chain(names.iter().map(String::as_str)).collect();
    let read = runs.iter().filter_map(|run| RunReader::read(run).ok());
    read.into_iter().try_for_each(|run| check(&run, trust, |_| true, &command))
}

/// What a target makes Isopod do beside starting a server of its own cache with settings of its own.
fn starts(target: &Target) -> Vec<String> {
    match &target.place {
        Place::Attached(_) => {
            vec![format!("connect to {}, with your user and your password there", target.bare())]
        }
        Place::Folder(folder) => {
            vec![format!("start the programs of the server in {}", folder.display())]
        }
        Place::Cache => {
            let dialect = dialect::of(target.product);
            let drawn = |(name, value): &(&String, &String)| {
                dialect
                    .swarm
                    .iter()
                    .any(|(of, values)| *of == name.as_str() && values.contains(&value.as_str()))
            };
            // Others check what they are told; a server may run programs or load libraries that a setting names.
            let set =
                target.settings.iter().filter(|setting| dialect.runs == Hosting::Server && !drawn(setting));
            set.map(|(name, value)| format!("start {} with {name}={value}", target.product)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_that_of_the_standard() {
        // RFC 4231, test case 1, whose key is shorter and filled up with zeros.
        let mut key = [0; BYTES];
        key[..20].fill(0x0b);
        assert_eq!(
            hex(&hmac(&key, b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }

    #[test]
    fn what_a_target_starts_is_said() {
        let of = |text: &str| starts(&text.parse().unwrap());
        for tame in ["sqlite?journal_mode=WAL", "mariadb@10.11", "reference?plant=aborted-read"] {
            assert_eq!(of(tame), Vec::<String>::new(), "{tame}");
        }
        assert_eq!(of("mysql?basedir=/tmp/x"), ["start the programs of the server in /tmp/x"]);
        assert_eq!(of("postgres@18?archive_command=id"), ["start postgres with archive_command=id"]);
        let attached = "connect to mysql://u@h:3306, with your user and your password there";
        assert_eq!(of("mysql://u:p@h:3306?x=1"), [attached]);
    }
}
