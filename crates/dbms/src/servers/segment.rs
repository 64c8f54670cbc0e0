//! The one thing of a PostgreSQL server that does not go with its folder: a few bytes of System V shared memory, by
//! which it knows that nobody else uses the same data. A server that is asked to end removes them; a killed one
//! does not, so we do. Its `postmaster.pid` says which they are.

use std::{fs, path::Path};

use super::{os, settings};

/// The line of the file with the key and the number of the segment.
const LINE: usize = 6;

/// Removes the segment of the server that had this instance's folder, if there is one and nobody uses it.
pub fn remove(folder: &Path) {
    let Ok(text) = fs::read_to_string(folder.join(settings::DATA).join("postmaster.pid")) else { return };
    if let Some((key, number)) = named(&text) {
        os::remove_segment(key, number);
    }
}

fn named(text: &str) -> Option<(i32, i32)> {
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
        assert_eq!(named(text), Some((-1, 7)));
        assert_eq!(named("1000\n/dev/shm/x/data\n"), None);
    }
}
