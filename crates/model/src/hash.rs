//! FNV-1a with 64 bits: the same number for the same bytes on every machine and for ever, which the standard library's hashes do not
//! promise. Its low bits are the weaker ones.

/// Takes bytes one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash64(u64);

impl Default for Hash64 {
    fn default() -> Hash64 {
        Hash64(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash64 {
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

pub fn hash64(bytes: &[u8]) -> u64 {
    let mut hash = Hash64::default();
    hash.add(bytes);
    hash.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As published with the algorithm.
    #[test]
    fn it_is_fnv_1a() {
        assert_eq!(hash64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash64(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
