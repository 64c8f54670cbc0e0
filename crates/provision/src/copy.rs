//! Copies a data folder and leaves holes where the files hold only zeros: half of a fresh data folder is room that was
//! set aside, and on tmpfs it would cost memory and time.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

const BLOCK: usize = 4096;
static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Copies a folder of ordinary files and folders. Sockets, pipes and links are left out.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut buffer = vec![0; 256 * BLOCK];
    copy_folder(from, to, &mut buffer)
}

fn copy_folder(from: &Path, to: &Path, buffer: &mut [u8]) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir_all(&target)?;
            copy_folder(&source, &target, buffer)?;
        } else if kind.is_file() {
            copy_file(&source, &target, buffer)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, buffer: &mut [u8]) -> io::Result<()> {
    let mut source = File::open(from)?;
    let metadata = source.metadata()?;
    let mut target = File::create(to)?;
    loop {
        let n = fill(&mut source, buffer)?;
        if n == 0 {
            break;
        }
        // Write runs of blocks that hold something; step over the others.
        let mut at = 0;
        while at < n {
            let zero = is_zero(&buffer[at..n.min(at + BLOCK)]);
            let mut end = n.min(at + BLOCK);
            while end < n && is_zero(&buffer[end..n.min(end + BLOCK)]) == zero {
                end = n.min(end + BLOCK);
            }
            if zero {
                target.seek(SeekFrom::Current((end - at) as i64))?;
            } else {
                target.write_all(&buffer[at..end])?;
            }
            at = end;
        }
    }
    target.set_len(metadata.len())?;
    target.set_permissions(metadata.permissions())
}

fn is_zero(block: &[u8]) -> bool {
    // A comparison of slices is one memcmp, quick in every build profile.
    block == &ZEROS[..block.len()]
}

fn fill(source: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < buffer.len() {
        match source.read(&mut buffer[n..])? {
            0 => break,
            read => n += read,
        }
    }
    Ok(n)
}

/// How much disk a folder takes, holes not counted.
pub fn disk_use(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    let mut bytes = metadata.blocks() * 512;
    if metadata.is_dir()
        && let Ok(entries) = fs::read_dir(path)
    {
        bytes += entries.flatten().map(|entry| disk_use(&entry.path())).sum::<u64>();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_equal_and_no_larger_than_what_it_holds() {
        let base = tempfile::tempdir().unwrap();
        let (from, to) = (base.path().join("from"), base.path().join("to"));
        fs::create_dir_all(from.join("deep")).unwrap();
        let mut bytes = vec![0; 3 * 1024 * 1024 + 17];
        bytes[5000] = 1;
        bytes[2 * 1024 * 1024] = 2;
        fs::write(from.join("deep/holes"), &bytes).unwrap();
        fs::write(from.join("full"), vec![7; 9000]).unwrap();
        fs::write(from.join("empty"), "").unwrap();
        copy_tree(&from, &to).unwrap();
        for name in ["deep/holes", "full", "empty"] {
            assert_eq!(fs::read(from.join(name)).unwrap(), fs::read(to.join(name)).unwrap(), "{name}");
        }
        assert!(disk_use(&to) * 10 < disk_use(&from), "{} {}", disk_use(&to), disk_use(&from));
    }
}
