//! The names of our schemas on servers that are not ours: `isopod_`, sixteen digits that nobody else draws, and eight
//! that are computed from them. A schema that somebody happened to name alike does not have the right eight. The scratch
//! schemas of a stay have the same name with a number behind it ([`crate::options::scratch_name`]), so that one mark is that of all.

use std::{fs::File, io::Read, time::SystemTime};

use provision::checksum::hex;
use sha2::{Digest, Sha256};

use crate::options::{PREFIX, scratch_of};

/// What follows the prefix, for a new schema.
pub fn draw() -> String {
    let mut seed = [0; 32];
    if File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut seed)).is_err() {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        seed = Sha256::digest(format!("{} {}", std::process::id(), time.as_nanos())).into();
    }
    let digits = hex(&seed[..8]);
    format!("{digits}{}", check(&digits))
}

/// Is this the name of a schema of ours, in which cases run?
pub fn is_ours(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    rest.len() == 24 && rest.chars().all(digit) && check(&rest[..16]) == rest[16..]
}

/// The schema of ours to which this one belongs: itself, or the one whose scratch schema it is. None if it is not ours.
pub fn stay(name: &str) -> Option<&str> {
    Some(scratch_of(name).unwrap_or(name)).filter(|name| is_ours(name))
}

fn check(digits: &str) -> String {
    hex(&Sha256::digest(format!("schema of isopod {digits}"))[..4])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::scratch_name;

    #[test]
    fn only_what_we_drew_is_ours() {
        let (one, two) = (draw(), draw());
        assert_ne!(one, two);
        assert!(is_ours(&format!("isopod_{one}")) && is_ours(&format!("isopod_{two}")));
        assert!(!is_ours(&one));
        for other in ["isopod_", "isopod_case", "isopod_000000000000000000000000", "isopodé"] {
            assert!(!is_ours(other), "{other}");
        }
        assert!(!is_ours(&format!(
            "isopod_{}",
            one.to_uppercase().replace(|c: char| c.is_ascii_digit(), "A")
        )));
        assert!(!is_ours(&format!("isopod_{one}0")));
        assert!(!is_ours(&format!("isopod_{}{}", &one[..16], &two[16..])));
    }

    #[test]
    fn a_scratch_schema_belongs_to_the_schema_that_it_stands_beside() {
        let ours = format!("isopod_{}", draw());
        assert_eq!(stay(&ours), Some(&ours[..]));
        assert_eq!(stay(&scratch_name(&ours, 1)), Some(&ours[..]));
        assert!(!is_ours(&scratch_name(&ours, 1)));
        for other in ["shop", "isopod_notes", "isopod_notes_stage0"] {
            assert_eq!(stay(other), None);
        }
        for end in ["_stage", "_stage1x", "_stage1_stage1", "_stages1", "stage1"] {
            assert_eq!(stay(&format!("{ours}{end}")), None, "{end}");
        }
    }
}
