//! The names of our schemas on servers that are not ours: `isopod_`, sixteen digits that nobody else draws, and eight
//! that are computed from them. A schema that somebody happened to name alike does not have the right eight.

use std::{fs::File, io::Read, time::SystemTime};

use provision::checksum::hex;
use sha2::{Digest, Sha256};

use crate::options::PREFIX;

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

/// Is this the name of a schema of ours?
pub fn is_ours(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    rest.len() == 24 && rest.chars().all(digit) && check(&rest[..16]) == rest[16..]
}

fn check(digits: &str) -> String {
    hex(&Sha256::digest(format!("schema of isopod {digits}"))[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
