//! What Linux says of processes in the files of /proc, from their bytes. Names in them are those of others, and hold anything: brackets,
//! line ends, what is no UTF-8.

/// The size of a page, in which memory is counted.
const PAGE: u64 = 4096;

/// A file `stat`, of a process or a thread: what stands behind the name.
#[derive(Clone, Copy, Debug)]
pub struct Stat<'a>(&'a [u8]);

impl<'a> Stat<'a> {
    /// None if there is no name in brackets. Nothing behind it holds a bracket.
    #[inline]
    pub fn parse(stat: &'a [u8]) -> Option<Stat<'a>> {
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        Some(Stat(stat.get(end + 1..)?.trim_ascii_start()))
    }

    /// `R`, `S`, `Z`, ...
    #[inline]
    pub fn state(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The flags of the kernel.
    pub fn flags(&self) -> Option<u64> {
        self.number(9)
    }

    /// When it began, in ticks since the machine did.
    pub fn started(&self) -> Option<u64> {
        self.number(22)
    }

    /// Where its arguments begin in its memory.
    pub fn arguments(&self) -> Option<u64> {
        self.number(48)
    }

    /// Where its environment begins in its memory.
    pub fn environment(&self) -> Option<u64> {
        self.number(50)
    }

    /// A field by its number in the manual, proc(5); the state is the third.
    fn number(&self, field: usize) -> Option<u64> {
        number(words(self.0).nth(field - 3)?)
    }
}

/// A file `children`: the processes that a thread has started.
pub fn children(file: &[u8]) -> Vec<u32> {
    words(file).filter_map(|word| u32::try_from(number(word)?).ok()).collect()
}

/// A file `statm`: the bytes that a process holds for itself.
pub fn own_memory(file: &[u8]) -> u64 {
    let mut pages = words(file).skip(1).map(|word| number(word).unwrap_or(0));
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared).saturating_mul(PAGE)
}

/// A file `status`: the most bytes that a process has held so far.
pub fn most_memory(file: &[u8]) -> Option<u64> {
    let mut lines = file.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"VmHWM:"))?;
    number(line.trim_ascii().strip_suffix(b" kB")?.trim_ascii())?.checked_mul(1024)
}

/// A file `schedstat`: how long a thread has run, in nanoseconds.
pub fn run_time(file: &[u8]) -> Option<u64> {
    number(words(file).next()?)
}

/// A file `uid_map`: is there such a user in this container?
pub fn has_user(file: &[u8], user: u32) -> bool {
    file.split(|byte| *byte == b'\n').any(|line| {
        let numbers: Vec<u64> = words(line).filter_map(number).collect();
        matches!(numbers[..], [first, _, many] if (first..first.saturating_add(many)).contains(&u64::from(user)))
    })
}

fn words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 1000 50 18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 \
         140731 140732 140733 140734 140735 0";

    #[test]
    fn fields_stand_behind_the_name_whatever_it_is() {
        for name in [&b"mariadbd"[..], b"a) S (b", b") Z 1 2 3 4 5 4", b"\xff\xfe", b"", b"a\nb"] {
            let stat = [b"12 (", name, b") S 1 12 12 0 -1 ", STAT.as_bytes(), b"\n"].concat();
            let stat = Stat::parse(&stat).unwrap();
            assert_eq!(stat.state(), Some(b'S'), "{name:?}");
            assert_eq!(stat.flags(), Some(4_194_560));
            assert_eq!(stat.started(), Some(777));
            assert_eq!((stat.arguments(), stat.environment()), (Some(140_732), Some(140_734)));
        }
        assert!(Stat::parse(b"12 (cut").is_none());
        assert_eq!(Stat::parse(b"12 (cut)").unwrap().state(), None);
        assert_eq!(Stat::parse(b"12 (a) S 1").unwrap().flags(), None);
    }

    #[test]
    fn memory_children_and_users() {
        assert_eq!(own_memory(b"1000 30 10 5 0 40 0\n"), 20 * 4096);
        assert_eq!(own_memory(b"1000 18446744073709551615 1"), u64::MAX);
        assert_eq!(own_memory(b""), 0);
        assert_eq!(most_memory(b"Name:\tx\nVmHWM:\t    5124 kB\nVmRSS:\t1 kB\n"), Some(5124 * 1024));
        assert_eq!(most_memory(b"VmHWM:\t18446744073709551615 kB\n"), None);
        assert_eq!(children(b"12 13 \n"), [12, 13]);
        assert_eq!(children(b"4294967296 -1 x 7"), [7]);
        assert_eq!(run_time(b"123 4 5\n"), Some(123));
        assert!(has_user(b"         0          0 4294967295\n", 65_534));
        assert!(!has_user(b"0 1000 1\n", 65_534));
        assert!(has_user(b"0 1000 1\n1 100000 65536\n", 65_534));
        assert!(!has_user(b"1 1\n", 1));
    }
}
