//! Proving the password, as far as servers usually ask for it: `mysql_native_password`, `caching_sha2_password` (its
//! short way, and its long way over a Unix socket or an encrypted connection, where the password may be sent as
//! it is) and the socket's own user.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// A way to log in that we speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// `mysql_native_password`
    Native,
    /// `caching_sha2_password`
    CachingSha2,
    /// The server looks at who opened the socket, and needs nothing from us.
    Socket,
}

impl Plugin {
    /// By the server's name for it.
    pub fn by_name(name: &[u8]) -> Option<Plugin> {
        match name {
            b"mysql_native_password" => Some(Plugin::Native),
            b"caching_sha2_password" => Some(Plugin::CachingSha2),
            b"auth_socket" | b"unix_socket" => Some(Plugin::Socket),
            _ => None,
        }
    }

    /// The server's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Plugin::Native => "mysql_native_password",
            Plugin::CachingSha2 => "caching_sha2_password",
            Plugin::Socket => "auth_socket",
        }
    }

    /// The answer to the server's challenge of twenty bytes. An empty password is proved by nothing.
    pub fn proof(self, password: &str, challenge: &[u8]) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            Plugin::Native => {
                let once = Sha1::digest(password.as_bytes());
                let twice = Sha1::digest(once);
                xor(&once, &Sha1::new().chain_update(challenge).chain_update(twice).finalize())
            }
            Plugin::CachingSha2 => {
                let once = Sha256::digest(password.as_bytes());
                let twice = Sha256::digest(once);
                xor(&once, &Sha256::new().chain_update(twice).chain_update(challenge).finalize())
            }
            Plugin::Socket => Vec::new(),
        }
    }
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_password_is_proved_by_nothing() {
        assert!(Plugin::Native.proof("", &[7; 20]).is_empty());
        assert!(Plugin::CachingSha2.proof("", &[7; 20]).is_empty());
    }

    /// The server knows SHA1(SHA1(password)) and must be able to find SHA1(password) in the proof.
    #[test]
    fn the_server_can_check_a_native_proof() {
        let challenge = *b"abcdefghijklmnopqrst";
        let proof = Plugin::Native.proof("secret", &challenge);
        let stored = Sha1::digest(Sha1::digest(b"secret"));
        let mask = Sha1::new().chain_update(challenge).chain_update(stored).finalize();
        assert_eq!(Sha1::digest(xor(&proof, &mask)), stored);
    }

    #[test]
    fn the_server_can_check_a_caching_sha2_proof() {
        let challenge = *b"abcdefghijklmnopqrst";
        let proof = Plugin::CachingSha2.proof("secret", &challenge);
        let stored = Sha256::digest(Sha256::digest(b"secret"));
        let mask = Sha256::new().chain_update(stored).chain_update(challenge).finalize();
        assert_eq!(Sha256::digest(xor(&proof, &mask)), stored);
    }
}
