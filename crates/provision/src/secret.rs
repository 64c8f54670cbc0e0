//! Random numbers from the kernel: passwords of servers that listen on TCP, and what must not be guessed.

use std::{fs::File, io::Read, path::Path};

use super::error::{IoContext, Result};

/// Where they come from.
const SOURCE: &str = "/dev/urandom";

fn bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let read = File::open(SOURCE).and_then(|mut file| file.read_exact(&mut bytes));
    read.doing("read", Path::new(SOURCE))?;
    Ok(bytes)
}

/// 32 hex digits: nothing that a shell, an URL or SQL would read otherwise.
pub fn password() -> Result<String> {
    Ok(bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub fn number() -> Result<u64> {
    Ok(u64::from_le_bytes(bytes::<8>()?) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let (one, other) = (password().unwrap(), password().unwrap());
        assert_ne!(one, other);
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
