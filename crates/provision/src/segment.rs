//! What of a PostgreSQL server does not go with its folder: a few bytes of System V shared memory, by which it knows that
//! nobody else uses the same data, and, if its keeper was killed too, sessions that are at work and do not notice for a
//! long time that their server is dead. A server that is asked to end removes the one and ends the others; a killed one
//! does not, so we do. Its `postmaster.pid` says which memory it is, and every process of it works in its data folder.

use std::{fs, path::Path};

use super::{os, settings};

/// The line of the file with the key and the number of the segment.
const LINE: usize = 6;

/// Removes what the server that had this instance's folder left outside of it. The folder must be nobody's.
pub fn remove(folder: &Path) {
    end_processes(&folder.join(settings::DATA));
    let Ok(text) = fs::read_to_string(folder.join(settings::DATA).join("postmaster.pid")) else { return };
    if let Some((key, number)) = segment(&text) {
        os::remove_segment(key, number);
    }
}

/// Ends what still runs on these data.
fn end_processes(data: &Path) {
    if !data.join("PG_VERSION").exists() {
        return;
    }
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}"));
        let works_there = link("cwd").is_ok_and(|cwd| cwd == data);
        if works_there && link("exe").is_ok_and(|exe| exe.file_name().is_some_and(|name| name == "postgres"))
        {
            os::kill(pid);
        }
    }
}

/// Key and number of the shared memory that a `postmaster.pid` names.
pub fn segment(text: &str) -> Option<(i32, i32)> {
    let mut words = text.lines().nth(LINE)?.split_whitespace();
    // Keys are printed without a sign.
    let key = words.next()?.parse::<u32>().ok()? as i32;
    Some((key, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_is_named_in_the_seventh_line() {
        let text = "1000\n/dev/shm/x/data\n1763\n5432\n/dev/shm/x/tmp\n\n 4294967295         7\nready   \n";
        assert_eq!(segment(text), Some((-1, 7)));
        assert_eq!(segment("1000\n/dev/shm/x/data\n"), None);
    }
}
