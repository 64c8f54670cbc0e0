//! Checksums of files that were fetched, in the forms in which registries publish them.

use std::{fs::File, io, io::Read, path::Path};

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::Digest;

/// What to do when a checksum does not fit.
pub const ADVICE: &str =
    "try again; if it stays so, something between here and the registry changes what it hands out";

/// The digest of a file.
pub fn of_file<D: Digest>(path: &Path) -> io::Result<Vec<u8>> {
    let mut digest = D::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(digest.finalize().to_vec());
        }
        digest.update(&buffer[..n]);
    }
}

/// `0a1b`
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_as_registries_write_them() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }

    #[test]
    fn a_file_is_digested() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        let digest = of_file::<sha2::Sha256>(file.path()).unwrap();
        assert_eq!(hex(&digest), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
