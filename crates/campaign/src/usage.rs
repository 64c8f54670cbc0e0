//! How much a server has grown: the bytes of its data folder and of its memory. A hunt of days must not fill the machine.

use std::{fs, path::Path};

use dialect::Hosting;
use model::{Product, procfs};

/// Data and memory of a server that we started, in bytes; zero for what cannot be told.
pub fn bytes(product: Product, pid: u32) -> u64 {
    let memory: u64 = execute::os::processes(pid).into_iter().map(resident).sum();
    let data = match dialect::of(product).runs {
        // In its data folder.
        Hosting::Server => size(Path::new(&format!("/proc/{pid}/cwd/"))),
        // Wherever we are, with its data in memory or in a file of its own.
        Hosting::Child | Hosting::Thread => 0,
    };
    memory + data
}

/// The memory that a process holds for itself.
fn resident(pid: u32) -> u64 {
    procfs::own_memory(&fs::read(format!("/proc/{pid}/statm")).unwrap_or_default())
}

fn size(folder: &Path) -> u64 {
    let mut sum = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => sum += size(&entry.path()),
            Ok(metadata) => sum += metadata.len(),
            Err(_) => {}
        }
    }
    sum
}
