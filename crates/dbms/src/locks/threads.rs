//! Threads of a server as /proc shows them: asleep or not, and how often and how long they have run.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, MetadataExt},
};

use model::procfs::Stat;

/// The number of threads of a process.
#[derive(Debug)]
pub struct ThreadCount {
    /// The folder that holds them.
    pub folder: File,
    /// How many there were when they were listed.
    pub listed: u64,
}

impl ThreadCount {
    /// The kernel counts a thread as a link of the folder that holds them, which is cheaper to ask than any file in it.
    pub fn now(&self) -> Option<u64> {
        self.folder.metadata().ok().map(|folder| folder.nlink())
    }
}

/// Two files of a thread, kept open: reading them again gives their present content.
#[derive(Debug)]
pub struct Thread {
    stat: File,
    schedstat: File,
}

/// What is kept of one reading: how often and how long the thread has run, if it was asleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    text: [u8; 64],
    length: usize,
}

impl Thread {
    pub fn open(pid: u32, thread: u32) -> io::Result<Thread> {
        let folder = format!("/proc/{pid}/task/{thread}");
        Ok(Thread {
            stat: File::open(format!("{folder}/stat"))?,
            schedstat: File::open(format!("{folder}/schedstat"))?,
        })
    }

    /// None if it is not asleep, or is gone: then its socket will tell.
    pub fn asleep(&self) -> Option<Sample> {
        if !self.sleeps() {
            return None;
        }
        let mut sample = Sample { text: [0; 64], length: 0 };
        sample.length = self.schedstat.read_at(&mut sample.text, 0).ok()?;
        Some(sample)
    }

    /// Has it ended?
    pub fn gone(&self) -> bool {
        self.stat.read_at(&mut [0; 8], 0).is_err()
    }

    /// Is it asleep at this moment?
    pub fn sleeps(&self) -> bool {
        let mut stat = [0; 128]; // The state stands near the front, behind a name of at most 15 bytes.
        let Ok(length) = self.stat.read_at(&mut stat, 0) else { return false };
        stat.get(..length).and_then(Stat::parse).and_then(|stat| stat.state()) == Some(b'S')
    }
}

/// The threads of a process whose names begin like this.
pub fn find(pid: u32, names: &[&str]) -> io::Result<Vec<Thread>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let entry = entry?;
        // A thread may end while we look.
        let Ok(comm) = fs::read(entry.path().join("comm")) else { continue };
        if names.iter().any(|name| comm.starts_with(name.as_bytes()))
            && let Some(thread) = entry.file_name().to_str().and_then(|number| number.parse().ok())
        {
            found.extend(Thread::open(pid, thread));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::parent_id, process::id, sync::mpsc};

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_waits_is_asleep_and_one_that_reads_itself_is_not() {
        let (send, receive) = mpsc::channel::<()>();
        let sleeper = std::thread::Builder::new().name("isopod-sleeper".into());
        let handle = sleeper.spawn(move || receive.recv()).unwrap();
        let thread = loop {
            // It takes its name only after it was started.
            if let Some(thread) = find(id(), &["isopod-sleeper"]).unwrap().pop() {
                break thread;
            }
        };
        let sample = loop {
            if let Some(sample) = thread.asleep() {
                break sample;
            }
        };
        assert!(sample.length > 0);
        assert_eq!(thread.asleep(), Some(sample));
        send.send(()).unwrap();
        handle.join().unwrap().unwrap();
        assert!(thread.asleep().is_none(), "it is gone");
        assert!(find(parent_id(), &["no such name"]).unwrap().is_empty());
        let me = fs::read_link("/proc/thread-self").unwrap();
        let me: u32 = me.file_name().unwrap().to_str().unwrap().parse().unwrap();
        assert!(Thread::open(id(), me).unwrap().asleep().is_none(), "it runs");
    }

    #[test]
    fn threads_that_come_are_counted() {
        let folder = File::open(format!("/proc/{}/task", id())).unwrap();
        let thread_count = ThreadCount { folder, listed: 0 };
        let before = thread_count.now().unwrap();
        let (stop, stopped) = mpsc::channel::<()>();
        let stopped = std::sync::Arc::new(std::sync::Mutex::new(stopped));
        // Many, because other tests of this process come and go meanwhile.
        let threads: Vec<_> = (0..100)
            .map(|_| {
                let stopped = stopped.clone();
                std::thread::spawn(move || stopped.lock().unwrap().recv().is_err())
            })
            .collect();
        assert!(thread_count.now().unwrap() > before + 50);
        drop(stop);
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap()));
    }
}
